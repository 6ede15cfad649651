"""restart: a crashed agent comes back."""

from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import BareFault, Brings, Hits
from scenarios.planning.fault_parts import agent_actions, schedule

KIND = BareFault(
    name="restart",
    order=20,
    says="bring a crashed agent back",
    template="restart {}",
    silences=False,
    stalls=False,
    brings=Brings.AT_ONCE,
    hits=Hits.AT_ONCE,
    state="",
    build=lambda at, _, on: schedule.Action(at.target(on), agent_actions.restart, undone=""),
    examples=(on_agents("restart"),),
    lasts=False,
)
