"""The messages that one agent sent, in order, and what became of each copy: folded from events."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from actors.events import (
    Crashed,
    Delivered,
    Derived,
    Duplicated,
    Event,
    Lost,
    Merged,
    Rejected,
    Released,
    Sent,
    Superseded,
)

_HELD = -2
"""The arrival of a copy that a fault holds (`Sent.arrives`)."""


class Fate(Enum):
    """What became of a copy, as far as it is known."""

    ON_THE_WAY = "on the way"
    LOST = "lost"
    REJECTED = "rejected"
    WAITING = "waiting"
    """It arrived, its receiver looked, and has not acted since."""
    SUPERSEDED = "superseded"
    MERGED = "merged"
    FORGOTTEN = "forgotten"
    """It arrived, and its receiver crashed before it acted."""


ARRIVED = frozenset({Fate.WAITING, Fate.SUPERSEDED, Fate.MERGED, Fate.FORGOTTEN})
"""What an event `delivered` stands for."""


@dataclass(slots=True)
class Copy:
    """One message on its way to one receiver; instants in nanoseconds."""

    receiver: int
    version: int
    due: int | None
    """When it arrives; None where it is lost, or a fault holds it."""
    doubled: bool = False
    """Whether a fault made it, beside the one that was sent."""
    held: bool = False
    fate: Fate = Fate.ON_THE_WAY
    arrived: int | None = None
    decided_at: int | None = None
    """When its fate was decided, and by which event."""
    decided_by: int | None = None
    reason: str = ""
    faults: tuple[int, ...] = ()
    """The numbers of the faults that touched it, as far as its events tell."""

    def decide(self, fate: Fate, event: Event, reason: str = "") -> None:
        """Note what became of it."""
        self.fate, self.decided_at, self.decided_by = fate, event.t, event.seq
        self.reason = reason


@dataclass(slots=True)
class Message:
    """One sending of an agent, with a copy for each receiver."""

    number: int
    """Which message of its agent it is, counted from 1: releases, derived messages and resends alike."""
    event: Sent
    release: int | None
    """The number of the release that it carries (from 0, as ledgers count); None where it is derived, or resent."""
    derived: bool
    """Whether it was made of what was released and heard before."""
    copies: list[Copy] = field(default_factory=list)

    def count(self, *fates: Fate) -> int:
        """Return how many copies have one of some fates."""
        return sum(copy.fate in fates for copy in self.copies)


class SentMessages:
    """A fold over the messages of one agent."""

    def __init__(self, agent: int) -> None:
        self.agent = agent
        self.messages: list[Message] = []
        self._releases: dict[int, int] = {}
        self._derived = set[int]()
        self._copies: dict[tuple[int, int], Copy] = {}
        """Copies by the event that put them on their way, and their receiver."""
        self._of_event: dict[int, Message] = {}
        self._unread: dict[int, list[Copy]] = {}
        """Copies that arrived and whose receiver has not acted, by receiver."""
        self._delivered: dict[int, Copy] = {}
        self._routes: Mapping[type[Event], Callable[[Any], None]] = {
            Released: self._note_released,
            Derived: self._note_derived,
            Sent: self._note_sent,
            Duplicated: self._note_doubled,
            Lost: self._note_lost,
            Delivered: self._note_delivered,
            Rejected: self._note_rejected,
            Superseded: self._note_superseded,
            Merged: self._note_merged,
            Crashed: self._note_crashed,
        }

    def note(self, event: Event) -> None:
        """Take the next event."""
        act = self._routes.get(type(event))
        if act is not None:
            act(event)

    def copies(self) -> Iterator[Copy]:
        """Yield every copy of every message."""
        for message in self.messages:
            yield from message.copies

    def _note_released(self, event: Released) -> None:
        if event.node == self.agent:
            self._releases[event.seq] = event.k

    def _note_derived(self, event: Derived) -> None:
        if event.node == self.agent:
            self._derived.add(event.seq)

    def _note_sent(self, event: Sent) -> None:
        if event.node != self.agent:
            return
        cause = -1 if event.cause is None else event.cause
        release = None if event.resent else self._releases.get(cause)
        message = Message(len(self.messages) + 1, event, release, cause in self._derived)
        for to, due in zip(event.to, event.arrives, strict=True):
            copy = Copy(to, event.version, due if due >= 0 else None, held=due == _HELD)
            message.copies.append(copy)
            self._copies[event.seq, to] = copy
        self.messages.append(message)
        self._of_event[event.seq] = message

    def _note_doubled(self, event: Duplicated) -> None:
        if event.node != self.agent:
            return
        due = event.arrives if event.arrives >= 0 else None
        copy = Copy(event.receiver, event.version, due, doubled=True, held=event.arrives == _HELD)
        message = self._of_event.get(-1 if event.cause is None else event.cause)
        if (
            message is None
        ):  # a fault replays the first message: it is under way by the fault's event
            message = self._first_with(event.version)
            self._copies[-1 if event.cause is None else event.cause, event.receiver] = copy
        if message is not None:
            message.copies.append(copy)
        self._copies[event.seq, event.receiver] = copy

    def _first_with(self, version: int) -> Message | None:
        return next((one for one in self.messages if one.event.version == version), None)

    def _note_lost(self, event: Lost) -> None:
        if event.node == self.agent and event.cause is not None:
            copy = self._copies.get((event.cause, event.receiver))
            if copy is not None:
                copy.decide(Fate.LOST, event)
                copy.faults = tuple(event.by)

    def _note_delivered(self, event: Delivered) -> None:
        copy = self._received(event)
        if copy is not None:
            copy.arrived = event.arrived
            copy.decide(Fate.WAITING, event)
            self._unread.setdefault(copy.receiver, []).append(copy)
            self._delivered[event.seq] = copy

    def _note_rejected(self, event: Rejected) -> None:
        copy = self._received(event)
        if copy is not None:
            copy.arrived = event.arrived
            copy.decide(Fate.REJECTED, event, event.reason or "its receiver was not up")

    def _received(self, event: Delivered | Rejected) -> Copy | None:
        """Return the copy that an event at its receiver is about; None where another agent sent it."""
        if event.sender != self.agent or event.cause is None or event.node is None:
            return None
        return self._copies.get((event.cause, event.node))

    def _note_superseded(self, event: Superseded) -> None:
        if event.sender != self.agent or event.node is None:
            return
        late = self._delivered.get(-1 if event.cause is None else event.cause)
        waiting = self._unread.get(event.node, ())
        copy = next((one for one in waiting if one.version == event.version), None)
        if late is not None and late.version == event.version and late.fate is Fate.WAITING:
            copy = late  # the one that arrived was the older one
        if copy is not None:
            copy.decide(Fate.SUPERSEDED, event)
            self._forget(copy)

    def _note_merged(self, event: Merged) -> None:
        waiting = self._unread.get(-1 if event.node is None else event.node)
        if not waiting:
            return
        for sender, version in zip(event.senders, event.versions, strict=True):
            if sender != self.agent:
                continue
            for copy in [one for one in waiting if one.version == version]:
                copy.decide(Fate.MERGED, event)
                self._forget(copy)

    def _note_crashed(self, event: Crashed) -> None:
        if event.lost != "nothing" and event.node is not None:
            for copy in self._unread.pop(event.node, ()):
                copy.decide(Fate.FORGOTTEN, event)

    def _forget(self, copy: Copy) -> None:
        waiting = self._unread.get(copy.receiver)
        if waiting is not None and copy in waiting:
            waiting.remove(copy)
