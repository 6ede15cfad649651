"""hold: messages stay on the link until the fault ends."""

from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import Example, on_server, some_links
from scenarios.planning.fault_kinds import FaultTable, link_fault
from scenarios.planning.fault_tables import OnLinks

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, on: OnLinks) -> "Action":
    """Return the action."""
    from actors.faults.link_actions import without_chance
    from actors.faults.link_effects import Hold

    return at.link_action(fault, on, without_chance(Hold))


KIND = link_fault(
    name="hold",
    order=170,
    table=None,
    says="messages wait until it is healed",
    words="messages stay on the link until the fault ends",
    template="hold {}",
    loses=True,
    stalls=True,
    build=build,
    examples=(
        Example("hold", lambda luck, size: {"hold": some_links(luck, size)}),
        on_server("hold"),
    ),
)
