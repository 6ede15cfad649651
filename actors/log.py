"""The log of a run: it numbers events and hands them to observers, one by one or in batches."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, runtime_checkable

import numpy as np

from actors.events import KINDS, Event
from actors.turns import TURN_KINDS, Row, Spends, Turns, encode, expand, have_any
from clocks.clock import Clock
from mechanisms.vectors import distinct

Fields = ParamSpec("Fields")
Listener = Callable[[Any], None]
BATCH = 4096
"""A batch of so many events is handed over before it grows further."""


@runtime_checkable
class SingleObserver(Protocol):
    """Observes events one by one, each at the instant it happens."""

    @property
    def routes(self) -> Mapping[type[Event], Listener]:
        """What to call with each event of a kind."""
        ...


@runtime_checkable
class BatchObserver(Protocol):
    """Observes all events in batches, some time after they happened: this costs a run less."""

    def fold(self, batch: "Batch") -> None:
        """Take the next events, in order."""
        ...


class Batch:
    """What happened between two moments: events, and rows that stand for many of them.

    Iterating over it gives events; rows are expanded when they are first asked for. `turns` and `singles` give the same
    as columns: all rows, and the events that are in no row.
    """

    def __init__(self, items: Sequence[Event | Row | Turns], spends: Spends) -> None:
        self._items = items
        self.spends = spends
        """The table that rows refer to."""

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        """Return the number of events, without making those that rows stand for."""
        told = (int(p.events.sum()) if isinstance(p, Turns) else 1 for p in self.parts)
        return sum(told)

    @cached_property
    def events(self) -> Sequence[Event]:
        """All events, in order."""
        if all(isinstance(item, Event) for item in self._items):
            return self._items  # type: ignore[return-value] # it was looked at
        events = list[Event]()
        for item in self._items:
            if isinstance(item, Event):
                events.append(item)
            else:
                for row in item.rows() if isinstance(item, Turns) else (item,):
                    events += expand(row, self.spends)
        return events

    @cached_property
    def parts(self) -> list[Event | Turns]:
        """The same in order, with as many events as can be in rows: both ways of acting give the same parts.

        Rows without an event between them are one part.
        """
        parts, stretch = list[Event | Turns](), list[Turns]()
        for piece in chain(self._pieces(), (None,)):
            if isinstance(piece, Turns):
                stretch.append(piece)
                continue
            if stretch:
                parts.append(Turns.joined(stretch))
                stretch = []
            if piece is not None:
                parts.append(piece)
        return parts

    def parts_of(self, kinds: Collection[type[Event]]) -> list[Event | Turns]:
        """Return all rows, and events of some kinds, in order: rows without one of these between them are one part."""
        if not any(type(part) in kinds for part in self.parts):
            return [self.turns] if len(self.turns) else []
        parts, stretch = list[Event | Turns](), list[Turns]()
        for part in (*self.parts, None):
            if isinstance(part, Turns):
                stretch.append(part)
            elif part is None or type(part) in kinds:
                if stretch:
                    parts.append(Turns.joined(stretch))
                    stretch = []
                if part is not None:
                    parts.append(part)
        return parts

    def _pieces(self) -> Iterator[Event | Turns]:
        """Yield events that fit no row, and rows of what lies between them, in order."""
        for is_loose, group in groupby(self._items, lambda item: isinstance(item, Event)):
            items: Any = list(group)
            pieces = encode(items, self.spends) if is_loose else items
            for is_row, some in groupby(pieces, lambda piece: isinstance(piece, list)):
                if is_row:
                    yield Turns.of(list(some))
                else:
                    yield from some

    @cached_property
    def turns(self) -> Turns:
        """All rows, in order."""
        return Turns.joined([part for part in self.parts if isinstance(part, Turns)])

    @cached_property
    def singles(self) -> list[Event]:
        """The events that are in no row, in order."""
        return [part for part in self.parts if isinstance(part, Event)]


class _NotYet:
    """Stands for the spends of rows that did not happen yet: they have no places in a table."""

    charged = (0.0,)
    table = (None,)


_NOT_YET = _NotYet()


class Trigger(NamedTuple):
    """A function that is called at once with each event that satisfies a condition."""

    act: Listener
    kinds: frozenset[type[Event]]
    holds: Callable[[Event], bool]
    """Whether an event satisfies it, as far as is known before it happens; true where that is not known."""
    concerns: Callable[[int], bool] | None = None
    """Whether an event of an agent may; None where each is to be looked at."""
    patience: Callable[[], int] | None = None
    """How many such events may pass before one of them does anything; None where the first one may."""

    def may_hold(self, turns: Turns) -> list[int]:
        """Return the places of rows with events that it waits for, of agents that it concerns."""
        candidates = have_any(turns, self.kinds)
        if self.concerns is not None:
            ids = distinct(turns.agent)
            concerned = [self.concerns(i) for i in ids.tolist()]
            candidates &= np.isin(turns.agent, ids[concerned])
        places: list[int] = np.flatnonzero(candidates).tolist()
        return places


class Log:
    """Numbers events, and tells observers: one by one at once, or in batches. One that raises ends the run.

    An agent that acts in one go adds the row of its turn instead of emitting events. It may do so only while no observer
    needs single events of a turn: see `needs_events`.
    """

    __slots__ = (
        "_batch",
        "_clock",
        "_demands",
        "_folders",
        "_in_batch",
        "_patient",
        "_routes",
        "_triggers",
        "_unwritten",
        "needs_all_events",
        "needs_events",
        "seq",
        "spends",
    )

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._routes: dict[type[Event], tuple[Listener, ...]] = dict.fromkeys(KINDS, ())
        self._folders: tuple[BatchObserver, ...] = ()
        self._patient: tuple[BatchObserver, ...] = ()
        """Those that have batches when they are worth it: see `hand_over`."""
        self._demands = Counter[object]()
        self._triggers: tuple[Trigger, ...] = ()
        self._batch: list[Event | Row | Turns] = []
        self._in_batch = 0
        """How many events wait to be handed over to every observer."""
        self._unwritten: list[Event | Turns] = []
        """What patient observers were not handed yet, of what the others were."""
        self.seq = 0
        """The number of the last event."""
        self.needs_events = False
        """Whether an observer asks for single events of a kind that rows stand for: then no rows may be added.

        Rows of stretches may be where only triggers do: see `first_trigger`.
        """
        self.needs_all_events = False
        """Whether one asks for them all: then there are no stretches."""
        self.spends = Spends()
        """The spends that rows refer to."""

    def subscribe(
        self, observer: SingleObserver | BatchObserver, *, is_patient: bool = False
    ) -> None:
        """Let an observer have events as it declares: by `routes` one by one, by `fold` in batches.

        One that `is_patient` has few large batches: it is asked for nothing before `hand_over`. Observers are told in the
        order of their subscription. Batches are whole: a batch observer that subscribes late gets what was collected before.
        """
        known = False
        if isinstance(observer, SingleObserver):
            known = True
            for kind, listener in observer.routes.items():
                self._routes[kind] = (*self._routes[kind], listener)
                if kind in TURN_KINDS:
                    self.demand_events(listener)
        if isinstance(observer, BatchObserver):
            known = True
            if is_patient:
                self._patient = (*self._patient, observer)
            else:
                self._folders = (*self._folders, observer)
        if not known:
            raise TypeError(f"an observer has routes or a fold, and {observer!r} has neither")

    def watch(self, listener: Listener, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Call a function with each event of these kinds at once, after those that asked before it."""
        for kind in kinds:
            self._routes[kind] = (*self._routes[kind], listener)
            if kind in TURN_KINDS:
                self.demand_events(listener)

    def ignore(self, listener: Listener, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Call a function with events of these kinds no longer."""
        for kind in kinds:
            kept = tuple(each for each in self._routes[kind] if each is not listener)
            if kind in TURN_KINDS and len(kept) < len(self._routes[kind]):
                self.release_demand(listener)
            self._routes[kind] = kept

    def demand_events(self, by: object) -> None:
        """Let every turn be told as single events from now on, until as many calls of `release_demand` by the same."""
        self._demands[id(by)] += 1
        self._note_needs()

    def release_demand(self, by: object) -> None:
        """Take one demand for single events back."""
        self._demands[id(by)] -= 1
        self._demands = +self._demands
        self._note_needs()

    def _note_needs(self) -> None:
        self.needs_all_events = bool(self._demands)
        waits = any(not TURN_KINDS.isdisjoint(trigger.kinds) for trigger in self._triggers)
        self.needs_events = self.needs_all_events or waits

    def add_trigger(self, trigger: Trigger) -> None:
        """Call a function at once with each event of some kinds that may satisfy a condition."""
        self._triggers = (*self._triggers, trigger)
        for kind in trigger.kinds:
            self._routes[kind] = (*self._routes[kind], trigger.act)
        self._note_needs()

    def remove_trigger(self, trigger: Trigger) -> None:
        """Take a trigger back."""
        self._triggers = tuple(each for each in self._triggers if each is not trigger)
        for kind in trigger.kinds:
            self._routes[kind] = tuple(a for a in self._routes[kind] if a is not trigger.act)
        self._note_needs()

    def first_trigger(self, turns: Turns) -> int | None:
        """Return the place of the first row at which a trigger may act, of rows that did not happen yet; None without one."""
        first: int | None = None
        for trigger in self._triggers:
            patience = 0 if trigger.patience is None else trigger.patience()
            for place in trigger.may_hold(turns):
                if first is not None and place >= first:
                    break
                events = turns.events_of(place, _NOT_YET)
                patience -= sum(type(e) in trigger.kinds and trigger.holds(e) for e in events)
                if patience < 0:
                    first = place
                    break
        return first

    def pull_triggers(self, turns: Turns, *, first: int = 0) -> None:
        """Call triggers with the events of rows that happened; before the row `first` only those that count them."""
        waiting: dict[int, list[Trigger]] = {}
        for trigger in self._triggers:
            for place in trigger.may_hold(turns):
                if place >= first or trigger.patience is not None:
                    waiting.setdefault(place, []).append(trigger)
        for place in sorted(waiting):
            for event in turns.events_of(place, self.spends):
                for trigger in waiting[place]:
                    if type(event) in trigger.kinds:
                        trigger.act(event)

    @property
    def is_full(self) -> bool:
        """Whether a batch is long enough to be handed over: asked at samples, and between entries of the clock."""
        return self._in_batch >= BATCH

    def drain(self) -> None:
        """Hand what happened to the observers that samples and screens ask."""
        if not self._batch:
            return
        batch, self._batch = Batch(self._batch, self.spends), []
        self._unwritten += batch.parts if self._patient else ()
        for observer in self._folders:
            observer.fold(batch)

    def hand_over(self) -> None:
        """Hand what happened to all observers: to patient ones all since the last time, in one batch."""
        try:
            self.drain()
        finally:
            parts, self._unwritten, self._in_batch = self._unwritten, [], 0
            if parts:
                for observer in self._patient:
                    observer.fold(Batch(parts, self.spends))

    def add_turn(self, row: Row, events: int) -> None:
        """Take the row of a turn that stands for so many events; its first one has the number `seq` + 1."""
        self.seq += events
        self._batch.append(row)
        self._in_batch += events

    def add_turns(self, turns: Turns, events: int) -> None:
        """Take the rows of many turns, which stand for so many events in all."""
        self.seq += events
        self._batch.append(turns)
        self._in_batch += events

    def emit(
        self,
        kind: Callable[Concatenate[int, int, int | None, int | None, Fields], Event],
        node: int | None,
        cause: int | None,
        *fields: Fields.args,
        **named: Fields.kwargs,
    ) -> int:
        """Make an event of this instant with the next number, tell it, and return its number.

        `kind` is the class of the event, `node` the agent that it is about (None for the run as a whole), `cause` the
        number of the event that caused it (None where none did), and `fields` are its own fields, in their order.
        """
        clock = self._clock
        self.seq = seq = self.seq + 1
        event = kind(seq, clock.now, node, cause, *fields, **named)
        if clock.late:
            event.complete(clock.late)
        self._batch.append(event)
        self._in_batch += 1
        for tell in self._routes[type(event)]:
            tell(event)
        return seq
