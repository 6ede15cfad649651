"""corrupt: a message arrives damaged, and is rejected."""

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
    from actors.faults.link_effects import Corruption

    return at.link_action(fault, value.on, with_chance(partial(Corruption, p=value.p)))


KIND = link_fault(
    name="corrupt",
    order=150,
    table=ChanceTable,
    says="messages arrive damaged, and are thrown away",
    words="a message arrives damaged and is rejected",
    template="corrupt {} p=0.3",
    loses=True,
    stalls=False,
    build=build,
    examples=(by_chance("corrupt"),),
)
