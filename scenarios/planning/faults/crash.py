"""crash: an agent stops without a word; its memory is lost, its ledger never."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import Example, on_server, some_agents
from scenarios.planning.fault_kinds import LOSE, Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_tables import OnAgents

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, on: OnAgents) -> "Action":
    """Return the action."""
    from actors.faults.agent_actions import crash
    from actors.faults.schedule import Action

    do = partial(crash, lose=fault.get_beside(LOSE))
    return Action(at.target(on), do, undone="restart")


KIND = FaultKind(
    name="crash",
    on="agents",
    order=10,
    table=None,
    says="stop without a word; heal or restart brings it back",
    words=(
        'without a word. `lose = "volatile"` (model and mailbox), `"all"` (what it last published, '
        'too), `"nothing"`; never the ledger'
    ),
    template="crash {} for=10s",
    silences=True,
    loses=False,
    stalls=True,
    brings=Brings.AT_END,
    hits=Hits.AT_ONCE,
    state="down",
    build=build,
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
