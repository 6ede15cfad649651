"""leave: an agent goes, and its neighbours learn of it at once."""

from scenarios.planning.fault_examples import on_agents
from scenarios.planning.fault_kinds import BareFault, Brings, Hits
from scenarios.planning.fault_parts import agent_actions, schedule

KIND = BareFault(
    name="leave",
    order=30,
    says="say goodbye",
    template="leave {}",
    silences=True,
    stalls=False,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="left",
    build=lambda at, _, on: schedule.Action(at.target(on), agent_actions.leave, undone="join"),
    examples=(on_agents("leave"),),
)
