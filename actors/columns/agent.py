"""Agents whose wakes may be computed in columns: the rest of hush sees them as it sees all others.

What such a wake changes lies in the columns of the world. The properties here read it there, and write it there, so that an
agent may enter and leave them between any two of its wakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from actors.agent import Agent, Streams, Surroundings
from actors.columns.table import (
    ELSEWHERE,
    LAST_WAKE,
    MADE,
    PUBLISHED,
    PUBLISHED_AT,
    ROUNDS,
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
from mechanisms.mixing import Heard
from mechanisms.strategy import Mechanism, State
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.columns.world import ColumnWorld


def _column(place: int) -> Any:
    """Return a property that is an integer of its agent in the columns."""

    def read(self: Any) -> int:
        return int(self._world.agents[self._row, place])

    def write(self: Any, value: int) -> None:
        self._world.agents[self._row, place] = value

    return property(read, write)


def _stay() -> None:
    """Do nothing: there is no owner yet."""


class ColumnStore(Store):
    """A store whose counters lie in the columns, and what wakes there publish."""

    __slots__ = ("_published", "_row", "_world", "in_columns")

    version = _column(VERSION)
    published_version = _column(PUBLISHED)
    published_round = _column(PUBLISHED_AT)

    def __init__(self, world: ColumnWorld, row: int) -> None:
        self._world, self._row = world, row
        self._published: Vector | None = None
        self.in_columns = False
        super().__init__()

    @property
    def published(self) -> Vector | None:
        """What was published last."""
        return self._world.learning.published(self._row) if self.in_columns else self._published

    @published.setter
    def published(self, vector: Vector | None) -> None:
        self._published = vector


class ColumnHeard(Heard):
    """What an agent holds of its neighbours: the columns have it while the agent is there."""

    __slots__ = ("_first", "_row", "_values", "_world", "in_columns")

    def __init__(self, world: ColumnWorld, row: int, first: Matrix, weights: Vector) -> None:
        self._world, self._row, self.in_columns = world, row, False
        self._first = first
        self._values: Matrix | None = None
        super().__init__(first, weights)
        self._values = None  # `first`, until the rows are asked for

    @property
    def values(self) -> Matrix:
        """The rows."""
        if self.in_columns:
            return self._world.held_by(self._row)
        if self._values is None:
            self._values = self._first.copy()
        return self._values

    @values.setter
    def values(self, values: Matrix) -> None:
        self._values = values

    @property
    def kept(self) -> Matrix | None:
        """The rows while it is outside the columns; None while they are the first ones."""
        return self._values

    def attend(self, present: NDArray[np.bool_]) -> None:
        super().attend(present)
        if self.in_columns:
            self._world.open_links(self._row, self)


class ColumnOutbox(Outbox):
    """An outbox whose owner may be in the columns: what it sends there lies there."""

    __slots__ = ("_outgoing", "_shelf", "_told_at")

    def __init__(
        self, node: int, links: Links, heard: Heard, store: ColumnStore, clock: Clock, log: Log
    ) -> None:
        self._shelf = store
        self._outgoing: Vector | None = None
        self._told_at = -1
        """Which version was published last when `outgoing` was set."""
        super().__init__(node, links, heard, store, clock, log)

    @property
    def outgoing(self) -> Vector | None:
        """What the message holds that was sent last; None where something was published since, in the columns."""
        return self._outgoing if self._told_at == self._shelf.published_version else None

    @outgoing.setter
    def outgoing(self, vector: Vector | None) -> None:
        self._outgoing, self._told_at = vector, self._shelf.published_version


class ColumnMailbox(Mailbox):
    """A mailbox whose messages lie in the columns while its owner is there; else they move here when they are looked at."""

    __slots__ = ("_coming", "_row", "_world", "in_columns", "let_owner_leave", "slots")

    def __init__(self, world: ColumnWorld, node: int, clock: Clock, log: Log) -> None:
        self._world, self._row, self.in_columns = world, node, False
        self.slots: dict[int, int] = {}
        self.let_owner_leave: Callable[[], None] = _stay
        """Lets the owner leave the columns."""
        super().__init__(node, clock, log)

    @property
    def coming(self) -> list[Entry]:
        """What is on its way to an owner that is outside the columns, with what wakes there sent."""
        if not self.in_columns:
            for entry in self._world.take_messages(self._row):
                heappush(self._coming, entry)
        return self._coming

    @coming.setter
    def coming(self, coming: list[Entry]) -> None:
        self._coming = coming

    @property
    def in_flight(self) -> int:
        return self._world.coming(self._row) + len(self._coming)

    @property
    def unread(self) -> bool:
        return bool(self._world.unread_count(self._row)) or super().unread

    def unsettled(self, now: int) -> int:
        return self._world.arrived(self._row, now) + super().unsettled(now)

    def waiting(self, now: int) -> int:
        return super().waiting(now) + self._world.unread_count(self._row)

    def post(self, arrival: int, sent: int, message: Message) -> None:
        """Let a message arrive. What arrives at one instant is ordered as the columns order it."""
        entry = arrival, self._world.order_of(sent), sent, message
        if self.in_columns and not message.corrupt:
            self._world.post(self._row, self.slots[message.sender], entry)
            return
        if self.in_columns:
            self.let_owner_leave()  # no row can say that a message was rejected
        heappush(self._coming, entry)
        if self.waiting_owner is not None:
            self._clock.at(arrival, DELIVERY, self.wake_owner)

    def settle(self, until: int, *, up: bool = True) -> None:
        if self.in_columns:
            self._world.settle(self._row, self._row + 1, until, self._clock.now)
        else:
            super().settle(until, up=up)

    def settle_at_once(self, until: int) -> None:
        if self.in_columns:
            self.settle(until)
        else:
            super().settle_at_once(until)

    @property
    def has_corrupt(self) -> bool:
        """Whether a damaged message is on its way."""
        return any(entry[3].corrupt or entry[3].vector is None for entry in self._coming)

    def enter_columns(self) -> None:
        """Put everything into the columns: its owner is taken over."""
        world, row, slots = self._world, self._row, self.slots
        world.note_seen(row, {slots[j]: version for j, version in self.seen.items()})
        world.keep_unread(row, [slots[j] for j in self.messages], list(self.messages.values()))
        for entry in self._coming:
            world.post(row, slots[entry[3].sender], entry)
        self._coming, self.messages, self.seen = [], {}, {}

    def leave_columns(self, unread: dict[int, Message]) -> None:
        """Take everything back: its owner is given back."""
        self.seen = self._world.forget_seen(self._row)
        self.messages = unread


class ColumnAgent(Agent):
    """An agent whose wakes may be computed in columns: it is there as long as they are."""

    __slots__ = (
        "_box",
        "_own_heard",
        "_own_store",
        "_resume_task",
        "_row",
        "_state",
        "_world",
        "in_columns",
        "surprises",
    )

    updates = _column(UPDATES)
    rounds = _column(ROUNDS)
    last_wake = _column(LAST_WAKE)

    def __init__(
        self,
        world: ColumnWorld,
        id_: int,
        mechanism: Mechanism,
        settings: Settings,
        surroundings: Surroundings,
        inbox: ColumnMailbox,
        streams: Streams,
        clock: Clock,
        log: Log,
        *,
        tick_ns: float | None = None,
    ) -> None:
        self._world, self._row, self.in_columns = world, id_, False
        self._resume_task: Callable[[ColumnAgent], None] | None = None
        self.surprises = 0
        """How many of its steps were others than were forecast."""
        super().__init__(
            id_, mechanism, settings, surroundings, inbox, streams, clock, log, tick_ns=tick_ns
        )
        inbox.slots, inbox.let_owner_leave = self.slots, self.leave_columns
        self._box = inbox

    @staticmethod
    def releases_of(agents: Sequence[Agent], ids: Words) -> Words:
        made: Words = _world_of(agents).agents[ids, MADE]
        for place in np.flatnonzero(_are_elsewhere(agents, ids)).tolist():
            made[place] = len(agents[ids[place]].store.ledger)
        return made

    @staticmethod
    def by_task(agents: Sequence[Agent], ids: Words) -> list[int]:
        there: list[int] = ids[_are_elsewhere(agents, ids)].tolist()
        return there

    @staticmethod
    def models_of(agents: Sequence[Agent]) -> Matrix:
        ids = np.fromiter((agent.id for agent in agents), np.int64, len(agents))
        if _are_elsewhere(agents, ids).any():
            return Agent.models_of(agents)
        return _world_of(agents).learning.models(ids)

    @staticmethod
    def in_flight_of(agents: Sequence[Agent]) -> int:
        boxes = [agent.inbox for agent in agents]
        outside = sum([len(box._coming) for box in boxes if isinstance(box, ColumnMailbox)])  # noqa: SLF001 # of its own room
        return _world_of(agents).in_flight + outside

    @property
    def world(self) -> ColumnWorld:
        """Where its counters lie."""
        return self._world

    def _make_store(self) -> Store:
        self._own_store = ColumnStore(self._world, self._row)
        return self._own_store

    def _make_heard(self, surroundings: Surroundings) -> Heard:
        first, weights = surroundings.first, surroundings.weights
        self._own_heard = ColumnHeard(self._world, self._row, first, weights)
        return self._own_heard

    def _make_outbox(self, links: Links) -> Outbox:
        return ColumnOutbox(self.id, links, self.heard, self._own_store, self.clock, self._log)

    @property
    def state(self) -> State:
        """The state of its mechanism."""
        return self._world.state(self._row) if self.in_columns else self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def obstacle(self) -> str:
        """What keeps it out of the columns now, in words; empty where nothing does."""
        fault_state, links, clock = (
            self.fault_state,
            self.outbox.links,
            self.fault_state.local_clock,
        )
        first, store = self.outbox.first_messages, self.store
        reasons = {
            "an auditor watches an agent": self._watch_step is not None,
            "a fault acts on an agent": fault_state.twin_state is not None or fault_state.paused,
            "a fault turned the clock of an agent": clock is not None and not clock.is_true,
            "the first messages of an agent are remembered": first is not None
            and len(first) < len(self.neighbours),
            "a fault holds, copies or changes messages": bool(links.held) or not links.are_settled,
            "the storage of an agent is not trusted": not store.trusted,
            "an agent begins with the models of its neighbours": not self.adopted,
            "a damaged message is on its way to an agent": self._box.has_corrupt,
            "steps of an agent cannot be forecast": self.surprises > _MOST_SURPRISES,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def enter_columns(self, resume_task: Callable[[ColumnAgent], None]) -> None:
        """Let its wakes be computed in columns; `resume_task` lets a task do so again, when it leaves them."""
        self._world.enter(self, self._own_heard.kept)
        self._box.enter_columns()
        self._resume_task = resume_task
        self._set_in_columns(in_columns=True)

    def _set_in_columns(self, *, in_columns: bool) -> None:
        self.in_columns = self._own_store.in_columns = in_columns
        self._own_heard.in_columns = self._box.in_columns = in_columns

    def act(self, state: State, heard: Heard, cause: int, to: Address | None = None) -> bool:
        """Do the same outside the columns: what is charged here is counted there no more than once."""
        self.leave_columns()
        return super().act(state, heard, cause, to)

    def note_effects(self) -> None:
        if self.in_columns and self.outbox.links.are_settled:
            self._world.note_effects(self._row)
        else:
            self.leave_columns()

    def leave_columns(self) -> None:
        if not self.in_columns:
            return
        store, world, resume_task = self.store, self._world, self._resume_task
        assert resume_task is not None, "whatever took it over said how to give it back"  # noqa: S101
        state, published, heard = self.state, store.published, self.heard.values
        self.instants.next_from(max(self.clock.now, self.last_wake + 1))
        unread = world.unread(self._row)
        self._set_in_columns(in_columns=False)
        self.state, store.published, self.heard.values = state, published, heard
        self._box.leave_columns(unread)
        world.leave(self._row)
        self._resume_task = None
        resume_task(self)


_MOST_SURPRISES = 4
"""An agent whose steps were others than were forecast so often acts by itself from then on."""


def _world_of(agents: Sequence[Agent]) -> ColumnWorld:
    first = agents[0]
    assert isinstance(first, ColumnAgent), "all agents of such a world are"  # noqa: S101
    return first.world


def _are_elsewhere(agents: Sequence[Agent], ids: Words) -> NDArray[np.bool_]:
    """Whether tasks compute the wakes of some agents."""
    elsewhere: NDArray[np.bool_] = _world_of(agents).agents[ids, STATE] & ELSEWHERE != 0
    return elsewhere
