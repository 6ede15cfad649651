"""reorder: a message waits until the next one on its link has overtaken it."""

from functools import partial

from scenarios.planning.fault_examples import by_chance
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import ChanceTable

KIND = LinkFault(
    name="reorder",
    order=140,
    table=ChanceTable,
    says="messages overtake each other",
    template="reorder {} p=0.3",
    loses=True,
    stalls=False,
    build=lambda at, fault, value: at.on_links(
        fault, value.on, link_actions.with_chance(partial(link_effects.Reordering, p=value.p))
    ),
    examples=(by_chance("reorder"),),
)
