"""delay: messages take longer."""

from functools import partial
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Number
from scenarios.planning.durations import POSITIVE_DURATION
from scenarios.planning.fault_examples import Example, Luck, some_links
from scenarios.planning.fault_kinds import FaultTable, link_fault
from scenarios.planning.fault_tables import LinksTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


class DelayTable(LinksTable):
    """Longer by a distribution; with `correlation` it repeats the delay before."""

    latency: KindTable = key(POSITIVE_DURATION, REQUIRED)
    correlation: float = key(Number(low=0, below=1), 0.0)


def build(at: "FaultBuilder", fault: FaultTable, value: DelayTable) -> "Action":
    """Return the action."""
    from actors.faults.link_actions import with_chance
    from actors.faults.link_effects import ExtraDelay

    latency = at.needed_distribution(value.latency)
    delay = partial(ExtraDelay, latency=latency, correlation=value.correlation)
    return at.link_action(fault, value.on, with_chance(delay))


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return a delay of up to two seconds."""
    on = some_links(luck, size)
    latency = luck.pick((0.3, {"kind": "uniform", "min": 0, "max": 2}))
    return {"delay": {"on": on, "latency": latency, "correlation": luck.pick((0.0, 0.5))}}


KIND = link_fault(
    name="delay",
    order=120,
    table=DelayTable,
    says="messages come later",
    words=(
        "longer by a distribution; with `correlation` it repeats the one before, which keeps the "
        "distribution"
    ),
    template="delay {} latency=500ms",
    loses=False,
    stalls=False,
    build=build,
    examples=(Example("delay", example),),
)
