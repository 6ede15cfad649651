"""pause: an agent stands still: memory is kept, what arrives waits, wakes are missed."""

from scenarios.planning.fault_examples import on_agents, on_server
from scenarios.planning.fault_kinds import BareFault, Brings, Hits
from scenarios.planning.fault_parts import agent_actions, schedule

KIND = BareFault(
    name="pause",
    order=50,
    says="stand still; what arrives waits",
    template="pause {}",
    silences=True,
    stalls=True,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="paused",
    build=lambda at, _, on: schedule.Action(at.target(on), agent_actions.pause, undone="resume"),
    examples=(on_agents("pause"), on_server("pause")),
)
