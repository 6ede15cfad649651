"""duplicate: a copy of a message arrives, too."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.fault_examples import by_chance
from scenarios.planning.fault_kinds import FaultTable, link_fault
from scenarios.planning.fault_tables import ChanceTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


def build(at: "FaultBuilder", fault: FaultTable, value: ChanceTable) -> "Action":
    """Return the action."""
    from actors.faults.link_actions import with_chance
    from actors.faults.link_effects import Duplication

    return at.link_action(fault, value.on, with_chance(partial(Duplication, p=value.p)))


KIND = link_fault(
    name="duplicate",
    order=130,
    table=ChanceTable,
    says="messages come twice",
    words="a copy arrives, too",
    template="duplicate {} p=0.3",
    loses=False,
    stalls=False,
    build=build,
    examples=(by_chance("duplicate"),),
)
