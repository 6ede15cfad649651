"""The log of a run: it numbers events and hands them to observers, one by one or in batches."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, runtime_checkable

from actors.events import KINDS, Event
from clocks.clock import Clock

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

    def fold(self, batch: list[Event]) -> None:
        """Take the next events, in order."""
        ...


class Log:
    """Numbers events, and tells observers: one by one at once, or in batches. One that raises ends the run."""

    __slots__ = ("_batch", "_clock", "_folders", "_routes", "seq")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._routes: dict[type[Event], tuple[Listener, ...]] = dict.fromkeys(KINDS, ())
        self._folders: tuple[BatchObserver, ...] = ()
        self._batch: list[Event] = []
        self.seq = 0
        """The number of the last event."""

    def subscribe(self, observer: SingleObserver | BatchObserver) -> None:
        """Let an observer have events as it declares: by `routes` one by one, by `fold` in batches.

        Observers are told in the order of their subscription. Batches are whole: a batch observer that subscribes
        late gets what was collected before.
        """
        known = False
        if isinstance(observer, SingleObserver):
            known = True
            for kind, listener in observer.routes.items():
                self.watch(listener, (kind,))
        if isinstance(observer, BatchObserver):
            known = True
            self._folders = (*self._folders, observer)
        if not known:
            raise TypeError(f"an observer has routes or a fold, and {observer!r} has neither")

    def watch(self, listener: Listener, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Call a function with each event of these kinds at once, after those that asked before it."""
        for kind in kinds:
            self._routes[kind] = (*self._routes[kind], listener)

    def ignore(self, listener: Listener, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Call a function with events of these kinds no longer."""
        for kind in kinds:
            self._routes[kind] = tuple(each for each in self._routes[kind] if each is not listener)

    @property
    def is_full(self) -> bool:
        """Whether a batch is long enough to be handed over: asked between entries of the clock."""
        return len(self._batch) >= BATCH

    def drain(self) -> None:
        """Hand the batch to its observers."""
        if self._batch:
            batch, self._batch = self._batch, []
            for observer in self._folders:
                observer.fold(batch)

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
        for tell in self._routes[type(event)]:
            tell(event)
        return seq
