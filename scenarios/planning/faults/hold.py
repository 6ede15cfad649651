"""hold: messages stay on the link until the fault ends."""

from scenarios.planning.fault_examples import Example, on_server, some_links
from scenarios.planning.fault_kinds import LinkFault
from scenarios.planning.fault_parts import link_actions, link_effects
from scenarios.planning.fault_tables import OnLinks

KIND: LinkFault[OnLinks] = LinkFault(
    name="hold",
    order=170,
    table=None,
    says="messages wait until it is healed",
    template="hold {}",
    loses=True,
    stalls=True,
    build=lambda at, fault, on: at.on_links(
        fault, on, link_actions.without_chance(link_effects.Hold)
    ),
    examples=(
        Example("hold", lambda luck, size: {"hold": some_links(luck, size)}),
        on_server("hold"),
    ),
)
