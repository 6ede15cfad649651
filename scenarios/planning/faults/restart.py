"""restart: a crashed agent comes back."""

from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import restart
    from actors.faults.schedule import Action

    del fault
    return Action(at.target(on), restart, undone="")


KIND = FaultKind(
    name="restart",
    on="agents",
    order=20,
    table=None,
    says="bring a crashed agent back",
    words="a crashed agent comes back",
    template="restart {}",
    silences=False,
    loses=False,
    stalls=False,
    brings=Brings.AT_ONCE,
    hits=Hits.AT_ONCE,
    state="",
    build=build,
    examples=(on_agents("restart"),),
    lasts=False,
)
