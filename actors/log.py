"""Who is told what happened, and in which order."""

from collections.abc import Callable, Sequence
from typing import Any

from actors.events import KINDS, Event
from clocks.clock import Clock

Observer = Callable[[Any], None]
Folder = Callable[[list[Any]], None]
BATCH = 4096


class Log:
    """Numbers events and tells them: at once to whoever asked for their kind, in batches to recorders.

    An observer that raises ends the run.
    """

    __slots__ = ("_batch", "_clock", "_folders", "_routes", "seq")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._routes: dict[type[Event], tuple[Observer, ...]] = dict.fromkeys(KINDS, ())
        self._folders: tuple[Folder, ...] = ()
        self._batch: list[Any] = []
        self.seq = 0

    def watch(self, observer: Observer, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Tell an observer events of these kinds at once, after those who asked before it."""
        for kind in kinds:
            self._routes[kind] = (*self._routes[kind], observer)

    def ignore(self, observer: Observer, kinds: Sequence[type[Event]] = KINDS) -> None:
        """Tell an observer nothing of these kinds any more."""
        for kind in kinds:
            self._routes[kind] = tuple(o for o in self._routes[kind] if o is not observer)

    def collect(self, folder: Folder) -> None:
        """Hand a folder all events, in order, at the latest when `drain` is called."""
        self._folders = (*self._folders, folder)

    @property
    def is_full(self) -> bool:
        """Whether enough has been collected to be handed over: asked between entries."""
        return len(self._batch) >= BATCH

    def drain(self) -> None:
        """Hand over what has been collected."""
        if self._batch:
            batch, self._batch = self._batch, []
            for folder in self._folders:
                folder(batch)

    def tell(self, event: Event) -> None:
        """Tell an event that its maker numbered with the next `seq`: the hot path of mailboxes."""
        self._batch.append(event)
        for observe in self._routes[type(event)]:
            observe(event)

    def emit(self, kind: type[Event], node: int | None, cause: int | None, *fields: Any) -> int:
        """Make an event of this instant, tell it, and return its number."""
        clock = self._clock
        self.seq = seq = self.seq + 1
        if clock.late:
            event = kind(seq, clock.now, node, cause, *fields, late_ns=clock.late)  # type: ignore[call-arg]
        else:
            event = kind(seq, clock.now, node, cause, *fields)
        self._batch.append(event)
        for observe in self._routes[kind]:
            observe(event)
        return seq
