"""What a scenario does to the world: actors that act on others through their public verbs."""

from dataclasses import dataclass

from actors.events import FaultBegan, FaultEnded, Log
from actors.membership import Membership
from clocks.clock import FAULT, Clock

UNDONE_BY = {"crash": "restart", "leave": "join"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One action on some agents at an instant; after `lasts` nanoseconds it is undone."""

    number: int
    action: str
    targets: tuple[int, ...]
    at: int
    lasts: int | None = None
    lose: str = "volatile"


async def strike(fault: Fault, members: Membership, clock: Clock, log: Log) -> None:
    """Carry out one fault, and undo it when its time is over."""
    await clock.sleep_until(fault.at, FAULT)
    began = log.emit(FaultBegan, None, None, fault.number, fault.action, fault.targets)
    hit = tuple(i for i in fault.targets if _apply(fault.action, i, fault.lose, members, began))
    if fault.lasts is not None:
        await clock.sleep_until(fault.at + fault.lasts, FAULT)
        undo = UNDONE_BY[fault.action]
        ended = log.emit(FaultEnded, None, began, fault.number, undo, hit)
        for i in hit:
            _apply(undo, i, fault.lose, members, ended)
    members.faults_done()


def _apply(action: str, node: int, lose: str, members: Membership, cause: int) -> bool:
    match action:
        case "crash":
            return members.crash(node, lose, cause)
        case "restart":
            return members.restart(node, cause)
        case "leave":
            return members.leave(node, cause)
        case "join":
            return members.join(node, cause)
        case _:
            raise ValueError(f"unknown action {action!r}")
