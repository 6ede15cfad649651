"""corrupt: a message arrives damaged and is rejected."""

from functools import partial

from scenarios.planning.fault_examples import by_chance
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import ChanceTable

KIND = LinkFault(
    name="corrupt",
    order=150,
    table=ChanceTable,
    says="messages arrive damaged, and are thrown away",
    template="corrupt {} p=0.3",
    loses=True,
    stalls=False,
    build=lambda at, fault, value: at.on_links(
        fault, value.on, link_actions.with_chance(partial(link_effects.Corruption, p=value.p))
    ),
    examples=(by_chance("corrupt"),),
)
