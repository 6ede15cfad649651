"""leave: an agent goes, and its neighbours learn of it at once."""

from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import leave
    from actors.faults.schedule import Action

    del fault
    return Action(at.target(on), leave, undone="join")


KIND = FaultKind(
    name="leave",
    on="agents",
    order=30,
    table=None,
    says="say goodbye",
    words="goes, and its neighbours learn of it at once",
    template="leave {}",
    silences=True,
    loses=False,
    stalls=False,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="left",
    build=build,
    examples=(on_agents("leave"),),
)
