"""partition: links between parts of the network are cut.

One of: `groups`, where agents in no group form one more; `isolate`: a target against all others; `bridge`: two halves that
only the target joins. `mode`: `cut`, `slow` (with `latency`) or `jam` (held until it heals).
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from scenarios.language.table_rules import Many, Table, key
from scenarios.language.value_rules import Choice
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.durations import POSITIVE_DURATION, DurationTable
from scenarios.planning.fault_examples import Example, Luck, some_agents
from scenarios.planning.fault_kinds import DIRECTION, Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import link_actions, link_effects, schedule, targets
from scenarios.planning.fault_tables import TARGET, WHOLE, OnAgents

if TYPE_CHECKING:
    from actors.faults.link_actions import MakeEffect
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def _cut(at: "FaultBuilder", value: "PartitionTable") -> "MakeEffect":
    del at, value
    return link_actions.with_chance(partial(link_effects.RandomLoss, p=1.0))


def _slow(at: "FaultBuilder", value: "PartitionTable") -> "MakeEffect":
    latency = at.needed_distribution(value.latency)
    return link_actions.with_chance(partial(link_effects.ExtraDelay, latency=latency))


def _jam(at: "FaultBuilder", value: "PartitionTable") -> "MakeEffect":
    del at, value
    return link_actions.without_chance(link_effects.Hold)


MODES: "dict[str, Callable[[FaultBuilder, PartitionTable], MakeEffect]]" = {
    "cut": _cut,
    "slow": _slow,
    "jam": _jam,
}
"""What each mode lays on the links that cross."""


class PartitionTable(Table):
    """One of: `groups`, a target to `isolate`, a target that is the only `bridge`; `latency` belongs to slow."""

    groups: list[list[int]] | None = key(
        Many(Many(WHOLE, 1), 1), words="The parts, as lists of ids; agents in none form one more."
    )
    isolate: OnAgents | None = key(TARGET, words="The agents that are cut off from all others.")
    bridge: OnAgents | None = key(
        TARGET, words="The agents that alone join the two halves of the others."
    )
    mode: str = key(
        Choice(*MODES),
        "cut",
        words="Whether links are cut, slow, or hold messages until they heal.",
    )
    latency: DurationTable | None = key(
        POSITIVE_DURATION, words="The delay of a slow link, in seconds."
    )


def check(at: ActionCheck, _: FaultTable, value: PartitionTable) -> None:
    """Report a partition of no shape or several, targets that are nowhere, and a latency without `slow`."""
    report = at.report
    shapes = [shape for shape in ("groups", "isolate", "bridge") if shape in value.given]
    if len(shapes) != 1:
        got = " and ".join(shapes) or "none"
        report.key(value.place, f"needs exactly one of groups, isolate, bridge; got {got}")
        return
    at.target(value.path_to("isolate"), value.isolate)
    at.target(value.path_to("bridge"), value.bridge)
    seen = set[int]()
    for k, group in enumerate(value.groups or []):
        at.target(value.path_to("groups", k), group, links=True)
        for node in group or []:
            if node in seen:
                report.value(value.path_to("groups", k), f"agent {node} is named twice")
            seen.add(node)
    if ("latency" in value.given) != (value.mode == "slow"):
        report.key(value.path_to("mode"), 'mode = "slow" and latency go together')


def build(at: "FaultBuilder", fault: FaultTable, value: PartitionTable) -> "Action":
    """Return the action."""
    groups = tuple(map(tuple, value.groups or ()))
    shape: Literal["groups", "isolate", "bridge"]
    if value.isolate is not None:
        shape, target = "isolate", at.target(value.isolate)
    elif value.bridge is not None:
        shape, target = "bridge", at.target(value.bridge)
    else:
        shape, target = (
            "groups",
            targets.Target("named", tuple(i for group in groups for i in group)),
        )
    make, direction = MODES[value.mode](at, value), fault.get_beside(DIRECTION)
    return schedule.Action(target, link_actions.Partition(shape, make, groups, direction).begin)


def example(luck: Luck, size: int) -> dict[str, Any]:
    """Return a partition of any shape, mode and direction."""
    half, one = max(1, size // 2), some_agents(luck, size)
    shapes: tuple[dict[str, Any], ...] = (
        {"groups": [list(range(half))]},
        {"isolate": one},
        {"bridge": [0]},
    )
    value, mode = luck.pick(shapes), luck.pick(tuple(MODES))
    more = {"latency": 1.0} if mode == "slow" else {}
    return {
        "partition": value | {"mode": mode} | more,
        "direction": luck.pick(("both", "to", "from")),
    }


KIND = FaultKind(
    name="partition",
    on="network",
    order=180,
    table=PartitionTable,
    says="cut the network; or 0..4|5..9, mode=jam",
    template="partition isolate={}",
    silences=False,
    loses=True,
    stalls=True,
    brings=Brings.NEVER,
    hits=Hits.UNTOLD,
    state="",
    build=build,
    examples=(Example("partition", example),),
    beside=(DIRECTION,),
    check=check,
)
