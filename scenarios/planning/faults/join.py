"""join: an agent that is absent or has left comes, and its neighbours learn of it at once.

`edges = [2, 5]`: these edges and no others; `"rule"`: those of the topology.
"""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import Many
from scenarios.language.value_rules import Choice, Either
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import ActionKey, BareFault, Brings, FaultTable, Hits
from scenarios.planning.fault_parts import agent_actions, schedule
from scenarios.planning.fault_tables import WHOLE, OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder

EDGES: ActionKey[list[int] | str] = ActionKey(
    "edges",
    Either('ids or "rule"', Choice("rule"), Many(WHOLE, 1)),
    "rule",
    "only a join has edges, not {}",
    "The neighbours of an agent that joins; `rule`: those of the topology.",
)


def _named(fault: FaultTable) -> list[int] | None:
    """Return the agents to which edges are named; None where the topology says."""
    edges = fault.get_beside(EDGES)
    return edges if isinstance(edges, list) else None


def check(at: ActionCheck, fault: FaultTable, _: OnAgents) -> None:
    """Report edges to agents that are nowhere."""
    for k, node in enumerate(_named(fault) or []):
        at.agent(fault.path_to("edges", k), node)


def edges_of(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> set[tuple[int, int]]:
    """Return the edges that the agents who join name."""
    ends = _named(fault) or []
    return {(min(i, j), max(i, j)) for i in at.target(on).among for j in ends if i != j}


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    ends = _named(fault)
    named = None if ends is None else frozenset(ends)
    do = partial(agent_actions.join, edges=named)
    return schedule.Action(at.target(on), do, undone="leave")


KIND = BareFault(
    name="join",
    order=40,
    says="let in who is absent or has left",
    template="join {}",
    silences=True,
    stalls=False,
    brings=Brings.AT_ONCE,
    hits=Hits.AT_ONCE,
    state="",
    build=build,
    examples=(on_agents("join"),),
    beside=(EDGES,),
    check=check,
    edges=edges_of,
)
