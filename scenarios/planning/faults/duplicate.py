"""duplicate: a copy of a message arrives, too."""

from functools import partial

from scenarios.planning.fault_examples import by_chance
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import ChanceTable

KIND = LinkFault(
    name="duplicate",
    order=130,
    table=ChanceTable,
    says="messages come twice",
    template="duplicate {} p=0.3",
    loses=False,
    stalls=False,
    build=lambda at, fault, value: at.on_links(
        fault, value.on, link_actions.with_chance(partial(link_effects.Duplication, p=value.p))
    ),
    examples=(by_chance("duplicate"),),
)
