"""Agents whose wakes may be computed in an arena: the rest of hush sees them as it sees all others.

What such a wake changes lies in the arena. The properties here read it there, and write it there, so that an agent may enter
and leave the arena between any two of its wakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from actors.agent import Agent, Streams, Surroundings
from actors.arena.columns import (
    DIVERGED,
    DRAWN,
    ELSEWHERE,
    LAST_WAKE,
    MADE,
    PUBLISHED,
    PUBLISHED_AT,
    ROUNDS,
    SPENT,
    STATE,
    UPDATES,
    VERSION,
    Words,
)
from actors.links import Links, Outbox
from actors.log import Log
from actors.mailbox import Entry, Mailbox
from actors.messages import Message
from actors.settings import Address, Settings
from actors.store import Store
from clocks.clock import DELIVERY, Clock
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.strategy import Mechanism, State
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.arena.arena import Arena


def _column(place: int) -> Any:
    """Return a property that is an integer of its agent in the arena."""

    def read(self: Any) -> int:
        return int(self._arena.agents[self._row, place])

    def write(self: Any, value: int) -> None:
        self._arena.agents[self._row, place] = value

    return property(read, write)


def _stay() -> None:
    """Do nothing: there is no owner yet."""


class ArenaStore(Store):
    """A store whose counters lie in the arena, and what else wakes in the arena write there."""

    __slots__ = (
        "_arena",
        "_counter",
        "_entered_with",
        "_ledger",
        "_published",
        "_read",
        "_row",
        "in_arena",
        "schedule",
    )

    version = _column(VERSION)
    published_version = _column(PUBLISHED)
    published_round = _column(PUBLISHED_AT)

    def __init__(self, arena: Arena, row: int) -> None:
        self._arena, self._row = arena, row
        self._published: Vector | None = None
        self._read = -1
        """Which version `published` is, where it was read from the arena."""
        self._entered_with = 0
        """How many releases were charged when the arena was entered."""
        self.in_arena = False
        self.schedule: tuple[Spend, ...] = ()
        """The spends that releases in the arena are charged: the last one is repeated."""
        super().__init__()

    @property
    def ledger(self) -> Ledger:
        """The ledger, with all that wakes in the arena charged."""
        ledger = self._ledger
        if self.in_arena:
            self._catch_up(ledger, self.made)
        return ledger

    @ledger.setter
    def ledger(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def _catch_up(self, ledger: Ledger, made: int) -> None:
        """Charge what wakes in the arena charged since the last look: equal spends in a row at once."""
        schedule, at, last = self.schedule, len(ledger), len(self.schedule) - 1
        while at < made:
            spend, end = schedule[min(at, last)], at + 1
            if at >= last:
                end = made
            while end < made and schedule[min(end, last)] is spend:
                end += 1
            ledger.charge(spend, end - at)
            at = end

    @property
    def made(self) -> int:
        return int(self._arena.agents[self._row, MADE]) if self.in_arena else len(self._ledger)

    @property
    def counter(self) -> int:
        """How many releases were counted: what a fault set back is mended by the next charge."""
        return self.made if self.in_arena and self.made > self._entered_with else self._counter

    @counter.setter
    def counter(self, counter: int) -> None:
        self._counter = counter

    @property
    def published(self) -> Vector | None:
        """What was published last: once a wake in the arena has published something, that is the model."""
        row = self._arena.agents[self._row]
        if self.in_arena and self._read != row[PUBLISHED]:
            self._published = None if row[STATE] & DIVERGED else self._arena.model(self._row)
            self._read = int(row[PUBLISHED])
        return self._published

    @published.setter
    def published(self, vector: Vector | None) -> None:
        self._published = vector

    def enter_arena(self, schedule: tuple[Spend, ...]) -> None:
        """Let wakes in the arena charge a schedule, and publish."""
        self.schedule, self._read, self.in_arena = schedule, self.published_version, True
        self._entered_with = len(self._ledger)


class ArenaHeard(Heard):
    """What an agent holds of its neighbours: the arena has it while the agent is there."""

    __slots__ = ("_arena", "_first", "_row", "_values", "in_arena")

    def __init__(self, arena: Arena, row: int, first: Matrix, weights: Vector) -> None:
        self._arena, self._row, self.in_arena = arena, row, False
        self._first = first
        self._values: Matrix | None = None
        super().__init__(first, weights)
        self._values = None  # `first`, until the rows are asked for

    @property
    def values(self) -> Matrix:
        """The rows."""
        if self.in_arena:
            return self._arena.held(self._row)
        if self._values is None:
            self._values = self._first.copy()
        return self._values

    @values.setter
    def values(self, values: Matrix) -> None:
        self._values = values

    @property
    def kept(self) -> Matrix | None:
        """The rows while it is outside the arena; None while they are the first ones."""
        return self._values

    def attend(self, present: NDArray[np.bool_]) -> None:
        super().attend(present)
        if self._arena.is_laid_out:
            self._arena.open_links(self._row, self)


class ArenaOutbox(Outbox):
    """An outbox whose owner may be in the arena: what it sends there lies there."""

    __slots__ = ("_outgoing", "_shelf", "_told_at")

    def __init__(
        self, node: int, links: Links, heard: Heard, store: ArenaStore, clock: Clock, log: Log
    ) -> None:
        self._shelf = store
        self._outgoing: Vector | None = None
        self._told_at = -1
        """Which version was published last when `outgoing` was set."""
        super().__init__(node, links, heard, store, clock, log)

    @property
    def outgoing(self) -> Vector | None:
        """What the message holds that was sent last; None where something was published since, in the arena."""
        return self._outgoing if self._told_at == self._shelf.published_version else None

    @outgoing.setter
    def outgoing(self, vector: Vector | None) -> None:
        self._outgoing, self._told_at = vector, self._shelf.published_version


class ArenaMailbox(Mailbox):
    """A mailbox whose messages lie in the arena while its owner is there; else they move here when they are looked at."""

    __slots__ = ("_arena", "_coming", "_row", "in_arena", "let_owner_leave", "slots")

    def __init__(self, arena: Arena, node: int, clock: Clock, log: Log) -> None:
        self._arena, self._row, self.in_arena = arena, node, False
        self.slots: dict[int, int] = {}
        self.let_owner_leave: Callable[[], None] = _stay
        """Lets the owner leave the arena."""
        super().__init__(node, clock, log)

    @property
    def coming(self) -> list[Entry]:
        """What is on its way to an owner that is outside the arena, with what wakes in the arena sent."""
        if not self.in_arena and self._arena.coming(self._row):
            for entry in self._arena.take_messages(self._row):
                heappush(self._coming, entry)
        return self._coming

    @coming.setter
    def coming(self, coming: list[Entry]) -> None:
        self._coming = coming

    @property
    def in_flight(self) -> int:
        return self._arena.coming(self._row) + len(self._coming)

    @property
    def unread(self) -> bool:
        return bool(self._arena.unread_count(self._row)) or super().unread

    def unsettled(self, now: int) -> int:
        return self._arena.arrived(self._row, now) + super().unsettled(now)

    def waiting(self, now: int) -> int:
        return super().waiting(now) + self._arena.unread_count(self._row)

    def post(self, arrival: int, sent: int, message: Message) -> None:
        """Let a message arrive. What arrives at one instant is ordered as the arena orders it."""
        entry = arrival, self._arena.order_of(sent), sent, message
        if self.in_arena and not message.corrupt:
            self._arena.post(self._row, self.slots[message.sender], entry)
            return
        if self.in_arena:
            self.let_owner_leave()  # no row can say that a message was rejected
        heappush(self._coming, entry)
        if self.waiting_owner is not None:
            self._clock.at(arrival, DELIVERY, self.wake_owner)

    def settle(self, until: int, *, up: bool = True) -> None:
        if self.in_arena:
            self._arena.settle(self._row, self._row + 1, until, self._clock.now)
        else:
            super().settle(until, up=up)

    def settle_at_once(self, until: int) -> None:
        if self.in_arena:
            self.settle(until)
        else:
            super().settle_at_once(until)

    @property
    def has_corrupt(self) -> bool:
        """Whether a damaged message is on its way."""
        return any(entry[3].corrupt or entry[3].vector is None for entry in self._coming)

    def enter_arena(self) -> None:
        """Put everything into the arena: its owner is taken over."""
        arena, row = self._arena, self._row
        arena.note_seen(row, {self.slots[j]: version for j, version in self.seen.items()})
        arena.keep_unread(row, [self.slots[j] for j in self.messages], list(self.messages.values()))
        for entry in self._coming:
            arena.post(row, self.slots[entry[3].sender], entry)
        self._coming, self.messages, self.seen = [], {}, {}

    def leave_arena(self, unread: dict[int, Message]) -> None:
        """Take everything back: its owner is given back."""
        self.seen = self._arena.forget_seen(self._row)
        self.messages = unread


class ArenaAgent(Agent):
    """An agent whose wakes the arena may compute: it is in the arena as long as it does."""

    __slots__ = (
        "_arena",
        "_box",
        "_own_heard",
        "_own_store",
        "_resume_task",
        "_row",
        "_state",
        "in_arena",
    )

    updates = _column(UPDATES)
    rounds = _column(ROUNDS)
    last_wake = _column(LAST_WAKE)

    def __init__(
        self,
        arena: Arena,
        id_: int,
        mechanism: Mechanism,
        settings: Settings,
        surroundings: Surroundings,
        inbox: ArenaMailbox,
        streams: Streams,
        clock: Clock,
        log: Log,
        *,
        tick_ns: float | None = None,
    ) -> None:
        self._arena, self._row, self.in_arena = arena, id_, False
        self._resume_task: Callable[[ArenaAgent], None] | None = None
        super().__init__(
            id_, mechanism, settings, surroundings, inbox, streams, clock, log, tick_ns=tick_ns
        )
        inbox.slots, inbox.let_owner_leave = self.slots, self.leave_arena
        self._box = inbox

    @staticmethod
    def releases_of(agents: Sequence[Agent], ids: Words) -> Words:
        made = _rows_of(agents, ids)[:, MADE]
        for place in np.flatnonzero(_is_elsewhere(agents, ids)).tolist():
            made[place] = agents[ids[place]].store.made
        return made

    @staticmethod
    def by_task(agents: Sequence[Agent], ids: Words) -> list[int]:
        there: list[int] = ids[_is_elsewhere(agents, ids)].tolist()
        return there

    @property
    def redrawn(self) -> tuple[int, int] | None:
        return super().redrawn or self._arena.redrawn(self._row)

    @staticmethod
    def models_of(agents: Sequence[Agent]) -> Matrix:
        ids = np.fromiter((agent.id for agent in agents), np.int64, len(agents))
        if _is_elsewhere(agents, ids).any():
            return Agent.models_of(agents)
        first = agents[0]
        assert isinstance(first, ArenaAgent), "all agents of such a world are"  # noqa: S101
        return first.arena.models(ids)

    @staticmethod
    def in_flight_of(agents: Sequence[Agent]) -> int:
        first, ids = agents[0], np.arange(len(agents))
        assert isinstance(first, ArenaAgent), "all agents of such a world are"  # noqa: S101
        elsewhere = np.flatnonzero(_is_elsewhere(agents, ids)).tolist()
        boxes = [agents[i].inbox for i in elsewhere]
        outside = sum([len(box._coming) for box in boxes if isinstance(box, ArenaMailbox)])  # noqa: SLF001 # of its own room
        return first.arena.in_flight + outside

    @staticmethod
    def first_redrawn(agents: Sequence[Agent]) -> int | None:
        first = agents[0]
        assert isinstance(first, ArenaAgent), "all agents of such a world are"  # noqa: S101
        return first.arena.first_redrawn

    @staticmethod
    def odd_noise(agents: Sequence[Agent]) -> str | None:
        first = agents[0]
        assert isinstance(first, ArenaAgent), "all agents of such a world are"  # noqa: S101
        return first.arena.odd_noise

    @property
    def arena(self) -> Arena:
        """Where its counters lie."""
        return self._arena

    def _make_store(self) -> Store:
        self._own_store = ArenaStore(self._arena, self._row)
        return self._own_store

    def _make_heard(self, surroundings: Surroundings) -> Heard:
        self._own_heard = ArenaHeard(
            self._arena, self._row, surroundings.first, surroundings.weights
        )
        return self._own_heard

    def _make_outbox(self, links: Links) -> Outbox:
        return ArenaOutbox(self.id, links, self.heard, self._own_store, self.clock, self._log)

    @property
    def state(self) -> State:
        """The state of its mechanism."""
        if self.in_arena:
            return self._arena.state(self._row)
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def obstacle(self) -> str:
        """What keeps it out of the arena now, in words; empty where nothing does."""
        fault_state, links = self.fault_state, self.outbox.links
        if self._watch_step is not None:
            return "an auditor watches an agent"
        if fault_state.twin_state is not None or fault_state.paused:
            return "a fault acts on an agent"
        if fault_state.local_clock is not None:
            return "a fault may turn the clock of an agent"
        if self.outbox.first_messages is not None:
            return "a fault may deliver the first messages of an agent again"
        if links.effects or links.held:
            return "a fault acts on a link"
        if not self.store.trusted:
            return "the storage of an agent is not trusted"
        if self._box.has_corrupt:
            return "a damaged message is on its way to an agent"
        return ""

    def enter_arena(
        self, schedule: tuple[Spend, ...], resume_task: Callable[[ArenaAgent], None]
    ) -> None:
        """Let the arena compute its wakes; `resume_task` lets a task do so again, when it leaves the arena."""
        arena, row, box = self._arena, self._arena.agents[self._row], self._box
        arena.enter_arena(self._row, self.state, self.model, self._own_heard.kept)
        row[MADE], row[DRAWN] = len(self.store.ledger), self.noise_stream.last
        row[STATE] &= ~DIVERGED  # a crash may have taken the model that was not finite
        for flag, holds in ((DIVERGED, self.diverged), (SPENT, self.spent)):
            row[STATE] |= flag if holds else 0
        box.enter_arena()
        self._own_store.enter_arena(schedule)
        self._resume_task = resume_task
        self._set_in_arena(in_arena=True)

    def _set_in_arena(self, *, in_arena: bool) -> None:
        self.in_arena = self._own_store.in_arena = self._own_heard.in_arena = self._box.in_arena = (
            in_arena
        )

    def act(self, state: State, heard: Heard, cause: int, to: Address | None = None) -> bool:
        """Do the same outside the arena: what is charged here is counted there no more than once."""
        self.leave_arena()
        return super().act(state, heard, cause, to)

    def leave_arena(self) -> None:
        if not self.in_arena:
            return
        store, arena, resume_task = self.store, self._arena, self._resume_task
        assert resume_task is not None, "whatever took it over said how to give it back"  # noqa: S101
        state, published, heard = self.state, store.published, self.heard.values
        counter, _ = store.counter, store.ledger  # the ledger is charged up to now
        unread = arena.unread(self._row)
        self._set_in_arena(in_arena=False)
        self.state, store.published, self.heard.values = state, published, heard
        store.counter = counter
        stream = self.noise_stream
        stream.last = max(stream.last, int(arena.agents[self._row, DRAWN]))
        self._box.leave_arena(unread)
        arena.leave_arena(self._row)
        self._resume_task = None
        resume_task(self)


def _rows_of(agents: Sequence[Agent], ids: Words) -> Words:
    """Return a copy of the integers of some agents."""
    first = agents[0]
    assert isinstance(first, ArenaAgent), "all agents of such a world are"  # noqa: S101
    rows: Words = first.arena.agents[ids]
    return rows


def _is_elsewhere(agents: Sequence[Agent], ids: Words) -> NDArray[np.bool_]:
    is_elsewhere: NDArray[np.bool_] = _rows_of(agents, ids)[:, STATE] & ELSEWHERE != 0
    return is_elsewhere
