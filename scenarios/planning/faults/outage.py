"""outage: regions fail and come back as a whole.

Each region is up for a mean time `up` and down for a mean time `down`, both exponential, and down a share down/(up + down) of
the time; what happens in two regions has the `correlation` (0) of their being down at one instant. The agents of a region go
and come back at the same instants. A region is up while two independent Markov chains are, one of its own and one that all
share: these are up a_o = a + correlation·(1 − a) and a/a_o of the time, where a = up/(up + down). Regions are those of the
`cities` where latency is by cities, else the groups of [[nodes]], or `regions = [[0, 1], [2, 3]]`: ids, where agents in no
region never fail. All begin as if it had always been so. `by = "crash"` (default; nothing is lost) or `"leave"`
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import REQUIRED, Many, key
from scenarios.language.value_rules import Choice, duration
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, Luck
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import outage, schedule
from scenarios.planning.fault_tables import SHARE, WHOLE, AgentsTable

if TYPE_CHECKING:
    from actors.faults.outage import Chain
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder

_LONG = duration(zero=False)


class OutageTable(AgentsTable):
    """How long regions are up and down, how they hang together, and which they are."""

    up: float = key(_LONG, REQUIRED, words="The mean time that a region is up, in seconds.")
    down: float = key(_LONG, REQUIRED, words="The mean time that a region is down, in seconds.")
    correlation: float = key(
        SHARE, 0.0, words="The correlation of two regions being down at one instant."
    )
    regions: list[list[int]] | None = key(
        Many(Many(WHOLE, 1), 1),
        words="The regions as lists of ids; left out, those of the cities, else the groups.",
    )
    by: str = key(
        Choice("leave", "crash"), "crash", words="Whether agents crash, and lose nothing, or leave."
    )


def check(at: ActionCheck, _: FaultTable, value: OutageTable) -> None:
    """Report regions of agents that are not there, and agents of two regions."""
    if value.regions is None:
        return
    times = Counter(node for nodes in value.regions for node in nodes)
    for r, nodes in enumerate(value.regions):
        for k, node in enumerate(nodes):
            at.agent(value.path_to("regions", r, k), node)
    for node in sorted(node for node, count in times.items() if count > 1):
        at.report.value(value.path_to("regions"), f"agent {node} is named twice: it has one region")


def build(at: "FaultBuilder", _: FaultTable, value: OutageTable) -> "Action":
    """Return the action."""
    target = at.target(value.on)
    regions = at.regions
    if value.regions is not None:
        regions = {str(r): tuple(nodes) for r, nodes in enumerate(value.regions)}
    own, shared = _chains(value.up, value.down, value.correlation)
    failing = outage.Outage(tuple(regions.items()), own, shared, crashes=value.by == "crash")
    affected = set(target.among) & {node for nodes in regions.values() for node in nodes}
    rate = 1.0 / (value.up + value.down)
    return schedule.Action(
        target, failing.begin, undone="calm", comes_per_s=max(1, len(affected)) * rate
    )


def _chains(up_s: float, down_s: float, correlation: float) -> "tuple[Chain | None, Chain | None]":
    """Return the chain of each region and the one that all share; None for one that never fails.

    With a_o and a_s the shares of the time for which they are up, a = a_o·a_s is that of a region, and the correlation of two
    is a_o(1 − a_s)/(1 − a). Both have one mean time down, chosen so that the rates of failing add up to 1/up_s.
    """
    a = up_s / (up_s + down_s)
    own = a + correlation * (1 - a)
    shared = a / own
    lasts_s = up_s * (1 / own + 1 / shared - 2)
    return _chain(own, lasts_s), _chain(shared, lasts_s)


def _chain(share: float, down_s: float) -> "Chain | None":
    """Return a chain that is up for a share of the time, and down for a mean time."""
    from clocks.durations import exponential

    begins_down = round((1 - share) * 2**64)
    if begins_down < 2**12:
        return None  # what is lost in the difference of two floats is no chain
    mean_up_s = down_s * share / (1 - share)
    return outage.Chain(exponential(mean_up_s), exponential(down_s), begins_down)


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return outages of seconds, of groups or of two halves."""
    more: dict[str, Any] = {}
    if luck.pick((True, False)) and size > 1:
        more = {"regions": [list(range(size // 2)), list(range(size // 2, size))]}
    by, correlation = luck.pick(("leave", "crash")), luck.pick((0.0, 0.5, 1.0))
    times = {"up": 3.0, "down": luck.pick((0.5, 2.0))}
    return {"outage": {"on": "all", "by": by, "correlation": correlation} | times | more}


KIND = FaultKind(
    name="outage",
    on="agents",
    order=74,
    table=OutageTable,
    says="whole regions fail and come back",
    template="outage {} up=60s down=10s correlation=0.3",
    silences=True,
    loses=False,
    stalls=False,
    brings=Brings.BY_ITSELF,
    hits=Hits.LATER,
    state="",
    build=build,
    examples=(Example("outage", example),),
    check=check,
)
