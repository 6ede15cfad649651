"""Who may hold or end a run: the signals, the clock on the wall, and a person's hand."""

import math
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

_EAGER_S = 0.002
_NUMBERS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class Hand:
    """Implements `clocks.clock.Governor`: pause, step, speed, stop.

    SIGINT and SIGTERM set a flag that the engine reads every 64 entries: the event loop's own handlers
    would wait for the end of the run.
    """

    def __init__(self, *, speed: float = math.inf, watched: bool = False) -> None:
        self.speed = speed
        self.paused = False
        self.steps = 0
        self.stopped: str | None = None
        self.ended = False
        self.interrupted = False
        self._watched = watched
        self._anchor: tuple[float, int] | None = None
        self._chores: list[Callable[[], Any]] = []
        self._now = 0

    @property
    def watched(self) -> bool:
        return self._watched or self.speed != math.inf

    def every_rest(self, chore: Callable[[], Any]) -> None:
        """Do something whenever the engine asks."""
        self._chores.append(chore)

    def poll(self, now: int) -> bool:
        self._now = now
        for chore in self._chores:
            chore()
        return self.stopped is None

    def allowance(self, upcoming: int) -> float:
        if self.paused:
            if self.steps:
                self.steps -= 1
                return 0.0
            self._anchor = None
            return math.inf
        if self.speed == math.inf:
            return 0.0
        if self._anchor is None:
            self._anchor = time.perf_counter(), self._now
        wall, start = self._anchor
        early = wall + (upcoming - start) / (1e9 * self.speed) - time.perf_counter()
        return early if early > _EAGER_S else 0.0

    def faster(self, factor: float) -> None:
        """Change the speed; the pace begins anew at this instant."""
        self.speed *= factor
        self._anchor = None

    def stop(self, reason: str) -> None:
        """End the run at the next entry."""
        if self.stopped is None:
            self.stopped = reason
            self.ended = True

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """End the run early: a signal, or a person's key."""
        self.interrupted = True
        self.stop("interrupted")


class Signals:
    """SIGINT and SIGTERM interrupt the run while this is open; where signals cannot be set, nothing."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        self._former: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in _NUMBERS:
            try:
                self._former[number] = signal.signal(number, self._hand.interrupt)
            except ValueError:  # not the main thread: whoever runs it there ends it
                return

    def __exit__(self, *_: object) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)
