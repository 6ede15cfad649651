"""pause: an agent stands still; its memory is kept, what arrives waits, and it misses its wakes."""

from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import on_agents, on_server
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import pause
    from actors.faults.schedule import Action

    del fault
    return Action(at.target(on), pause, undone="resume")


KIND = FaultKind(
    name="pause",
    on="agents",
    order=50,
    table=None,
    says="stand still; what arrives waits",
    words="stands still: memory is kept, what arrives waits, wakes are missed",
    template="pause {}",
    silences=True,
    loses=False,
    stalls=True,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="paused",
    build=build,
    examples=(on_agents("pause"), on_server("pause")),
)
