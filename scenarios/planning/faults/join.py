"""join: an agent that is absent or has left comes, by the edges of the topology or by named ones."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import Many
from scenarios.language.value_rules import Choice, Either
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import ActionKey, Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import WHOLE, OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder

EDGES: ActionKey[list[int] | str] = ActionKey(
    "edges",
    Either('ids or "rule"', Choice("rule"), Many(WHOLE, 1)),
    "rule",
    "only a join has edges, not {}",
)


def check(at: ActionCheck, fault: FaultTable, on: OnAgents) -> None:
    """Report edges to agents that are nowhere."""
    del on
    edges = fault.get_beside(EDGES)
    for k, node in enumerate(edges if isinstance(edges, list) else []):
        at.agent(fault.path_to("edges", k), node)


def edges_of(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> set[tuple[int, int]]:
    """Return the edges that the agents who join name."""
    edges = fault.get_beside(EDGES)
    ends = edges if isinstance(edges, list) else []
    return {(min(i, j), max(i, j)) for i in at.target(on).among for j in ends if i != j}


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import join
    from actors.faults.schedule import Action

    edges = fault.get_beside(EDGES)
    named = frozenset(edges) if isinstance(edges, list) else None
    return Action(at.target(on), partial(join, edges=named), undone="leave")


KIND = FaultKind(
    name="join",
    on="agents",
    order=40,
    table=None,
    says="let in who is absent or has left",
    words=(
        "an agent that is absent or has left comes, and its neighbours learn of it at once. `edges = "
        '[2, 5]`: these edges and no others; `"rule"`: those of the topology'
    ),
    template="join {}",
    silences=True,
    loses=False,
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
