"""delay: messages take longer by a distribution; with `correlation` it repeats the one before, which keeps the distribution."""

from functools import partial
from typing import Any

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Number
from scenarios.planning.durations import POSITIVE_DURATION, DurationTable
from scenarios.planning.fault_examples import Example, Luck, some_links
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import LinksTable


class DelayTable(LinksTable):
    """Longer by a distribution; with `correlation` it repeats the delay before."""

    latency: DurationTable = key(
        POSITIVE_DURATION, REQUIRED, words="By how much longer a message takes, in seconds."
    )
    correlation: float = key(
        Number(low=0, below=1), 0.0, words="The probability that a delay repeats the one before."
    )


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return a delay of up to two seconds."""
    on = some_links(luck, size)
    latency = luck.pick((0.3, {"kind": "uniform", "min": 0, "max": 2}))
    return {"delay": {"on": on, "latency": latency, "correlation": luck.pick((0.0, 0.5))}}


KIND = LinkFault(
    name="delay",
    order=120,
    table=DelayTable,
    says="messages come later",
    template="delay {} latency=500ms",
    loses=False,
    stalls=False,
    build=lambda at, fault, value: at.on_links(
        fault,
        value.on,
        link_actions.with_chance(
            partial(
                link_effects.ExtraDelay,
                latency=at.needed_distribution(value.latency),
                correlation=value.correlation,
            )
        ),
    ),
    examples=(Example("delay", example),),
)
