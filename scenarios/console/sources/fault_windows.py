"""The windows of faults, folded from their events: what was, what is, what is known to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from actors.agent import DOWN, LEFT
from actors.events import FaultBegan, FaultEnded
from scenarios.console.drawing.model import Window
from scenarios.planning.fault_kinds import FAULTS, Hits, state_of

if TYPE_CHECKING:
    from scenarios.records.world_facts import Declared


_KEPT = 1000


class FaultWindows:
    """Each firing of a fault, by the number of the event that began it."""

    def __init__(self, declared: Sequence[Declared], ends: int | None = None) -> None:
        self._declared = declared
        self._ends = ends
        """What comes after it never comes."""
        self._known: dict[int, Window] = {}
        self._fired = set[int]()
        self._away: dict[int, list[int]] = {}
        """Which absences hit an agent that was not brought back since."""
        self._missing: dict[int, int] = {}
        """How many agents were not brought back since an absence began."""

    def begin(self, event: FaultBegan, *, holds: bool = False) -> None:
        """Record that a fault began; `holds` is true if a target was already in the state that the fault causes.

        A fault by hand has a number behind all that the scenario declares.
        """
        kind = FAULTS.get(event.action)  # None where an edited folder names no action
        number, by_hand = event.fault, event.fault >= len(self._declared)
        self._fired.add(number)
        if state_of(event.action) in {DOWN, LEFT}:
            self._missing[event.seq] = len(event.targets)
            for i in event.targets:
                self._away.setdefault(i, []).append(event.seq)
        self._known[event.seq] = Window(
            number=number,
            action=event.action,
            name=event.action if by_hand else self._declared[number].name,
            targets=tuple(event.targets),
            begun_s=event.t / 1e9,
            ended_s=None if kind is None or kind.lasts else event.t / 1e9,
            until_s=None if event.until < 0 else event.until / 1e9,
            by_hand=by_hand,
            struck=holds or kind is None or kind.hits is not Hits.AT_ONCE,
        )
        if len(self._known) > _KEPT:  # one that comes every so often: the oldest that is over goes
            over = next((s for s, w in self._known.items() if w.ended_s is not None), event.seq)
            del self._known[over]

    def strike(self, cause: int | None) -> None:
        """Record that a fault changed an agent's state."""
        window = None if cause is None else self._known.get(cause)
        if cause is not None and window is not None and not window.struck:
            self._known[cause] = replace(window, struck=True)

    def end(self, event: FaultEnded) -> None:
        """Note that it was undone."""
        self._close(event.cause, event.t)

    def bring_back(self, node: int, t: int) -> None:
        """Record which absences are over, because every agent that they hit was brought back."""
        for seq in self._away.pop(node, ()):
            self._missing[seq] -= 1
            if not self._missing[seq]:
                del self._missing[seq]
                self._close(seq, t)

    def _close(self, seq: int | None, t: int) -> None:
        window = None if seq is None else self._known.get(seq)
        if seq is not None and window is not None and window.ended_s is None:
            self._known[seq] = replace(window, ended_s=t / 1e9)

    def begun_by(self, seq: int | None) -> Window | None:
        """Return the window that an event began; None where it is remembered no more, or was no fault."""
        return None if seq is None else self._known.get(seq)

    def lasting(self) -> list[Window]:
        """Return what began and is not over, the newest first."""
        return [window for window in reversed(self._known.values()) if window.ended_s is None]

    def all(self, now: int) -> list[Window]:
        """Return every window that was, and those that are known to come: what did not begin in time does not."""
        return [*self._known.values(), *self._coming(now)]

    def _coming(self, now: int) -> Iterator[Window]:
        for i, fault in enumerate(self._declared):
            if (
                i not in self._fired
                and fault.at is not None
                and now <= fault.at <= (self._ends or fault.at)
            ):
                until = None if fault.lasts is None else (fault.at + fault.lasts) / 1e9
                yield Window(i, "", fault.name, (), fault.at / 1e9, None, until)
