"""crash: an agent stops without a word.

It loses: `lose = "volatile"` (model and mailbox), `"all"` (what it last published, too), `"nothing"`; never the ledger.
"""

from functools import partial

from scenarios.planning.fault_examples import Example, on_server, some_agents
from scenarios.planning.fault_kinds import LOSE, BareFault, Brings, Hits
from scenarios.planning.fault_parts import agent_actions, schedule

KIND = BareFault(
    name="crash",
    order=10,
    says="stop without a word; heal or restart brings it back",
    template="crash {} for=10s",
    silences=True,
    stalls=True,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="down",
    build=lambda at, fault, on: schedule.Action(
        at.target(on),
        partial(agent_actions.crash, lose=fault.get_beside(LOSE)),
        undone="restart",
    ),
    examples=(
        Example(
            "crash",
            lambda luck, size: {
                "crash": some_agents(luck, size),
                "lose": luck.pick(("volatile", "all", "nothing")),
            },
        ),
        on_server("crash"),
    ),
    beside=(LOSE,),
)
