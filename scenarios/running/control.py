"""Governs a run while it goes on: its pace, whether it is held, and the signals that end it."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, ClassVar, Protocol

_EAGER_S = 0.002
_INSISTS = 2
_PATIENCE_S = 1.0
"""How long the second signal waits for Python code to notice it, before the process is ended from outside."""
INTERRUPTED = 130
_TURN_S = 0.0005
"""How long a run waits for another that keeps in step with it, before it looks again."""
_NUMBERS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
]


class Pacing:
    """Simulated time by the clock on the wall; runs that are shown side by side share one.

    At the wall time `anchor[0]` the simulated time was `anchor[1]` ns, and since then it has advanced by `speed`
    simulated seconds for each second. Without an anchor nothing goes on at a pace: the next entry sets it.
    """

    def __init__(self, speed: float, governor: "RunGovernor") -> None:
        self.speed = speed
        """Simulated seconds for each second on the wall; infinite: as fast as can be."""
        self.governors: Sequence[RunGovernor] = (governor,)
        self.anchor: tuple[float, int] | None = None

    def restart(self) -> None:
        """Begin the pace anew at this instant: no run goes back, and wall time spent elsewhere does not count."""
        wall = time.perf_counter()
        instants = [governor.at(wall) for governor in self.governors]
        for governor, instant in zip(self.governors, instants, strict=True):
            governor.stands = instant
        self.anchor = None

    def start(self, wall: float) -> None:
        """Set the anchor where none is set: at the furthest run that is not over."""
        if self.anchor is None:
            self.anchor = wall, max(g.now for g in self.governors if not g.ended)

    def reached(self, wall: float) -> float:
        """Return the instant (ns) that the pace has reached at a wall time."""
        assert self.anchor is not None, "a pace has a beginning"  # noqa: S101
        then, start = self.anchor
        return start + (wall - then) * self.speed * 1e9


class RunGovernor:
    """Implements `clocks.clock.Governor` for one run: it goes on at a pace or as fast as can be, is held, and is ended.

    SIGINT and SIGTERM set a flag that the engine reads after every entry: handlers of the event loop would wait for the
    end of the run.
    """

    def __init__(
        self,
        *,
        speed: float = math.inf,
        watched: bool = False,
        steers: bool = False,
        looks: bool = False,
    ) -> None:
        """Govern a run from its beginning, at `speed` simulated seconds for each second on the wall."""
        self.pacing = Pacing(speed, self)
        self.looks = looks
        """Whether a screen shows every agent: then it is followed which agent holds which version."""
        self.steers = steers
        """Whether a person may do whatever faults do: agents are prepared for it."""
        self.paused = False
        self.hurries = False
        """Whether the run goes as fast as can be, to an edge or a goal."""
        self.stopped: str | None = None
        """Why the run was ended; None while it goes on."""
        self.ended = False
        self.interrupted = False
        self.upcoming: float = 0
        """When the next entry is due (ns); infinite when the run is over."""
        self.count: Callable[[], int] = int
        """How many events there were."""
        self.served: Callable[[], int] = int
        """The instant (ns) that was served last."""
        self.stands = 0
        """The instant (ns) at which time was held, where that is later than what was served last."""
        self.may_serve: Callable[[int], bool] | None = None
        """Whether an entry may be served, as far as runs that keep in step with this one have come."""
        self.free = True
        self._goal: Callable[[], bool] | None = None
        self._edge: float = math.inf
        self._reach = -1
        self._watched = watched
        self.look_again()

    @property
    def speed(self) -> float:
        """Simulated seconds for each second on the wall; infinite: as fast as can be."""
        return self.pacing.speed

    @property
    def watched(self) -> bool:
        return self._watched or self.speed != math.inf

    @property
    def now(self) -> int:
        """Simulated time (ns): between two entries it goes on at the pace, or stands where it was held."""
        return self.at(time.perf_counter())

    def at(self, wall: float) -> int:
        """Return the simulated time (ns) that corresponds to a wall time, before the next entry."""
        latest = max(self.served(), self.stands)
        paced = self.pacing.anchor is not None and not (self.paused or self.hurries)
        if not paced or math.inf in {self.speed, self.upcoming}:
            return latest
        return max(latest, int(min(self.pacing.reached(wall), self.upcoming - 1)))

    def look_again(self) -> None:
        """See whether anything holds or paces the run: the engine asks for no allowance while nothing does."""
        moves = self.paused or self.hurries or self._edge != math.inf
        self.free = not moves and self.speed == math.inf and len(self.pacing.governors) == 1

    def poll(self, _now: int) -> bool:
        return self.stopped is None

    def allowance(self, upcoming: int) -> float:
        self.upcoming = upcoming
        if upcoming <= self._reach:
            return 0.0
        if upcoming > self._edge or (self._goal is not None and self._goal()):
            self.hold(self._edge)
        if self.paused:
            self.pacing.anchor = None
            return math.inf
        wall = time.perf_counter()
        paced = not self.hurries and self.speed != math.inf
        if paced:
            self.pacing.start(wall)
        if not (self.may_serve is None or self._goal is not None or self.may_serve(upcoming)):
            return _TURN_S
        if not paced:
            return 0.0
        early = (upcoming - self.pacing.reached(wall)) / (1e9 * self.speed)
        return early if early > _EAGER_S else 0.0

    def hold(self, instant: float | None = None) -> None:
        """Hold at an instant (ns), where nothing is due before it; at None now."""
        at = self.now if instant is None else instant
        if at < self.upcoming:
            self.stands = max(self.stands, int(at))
        self._move(paused=True)

    def go(self, *, hurries: bool = False, edge: float = math.inf) -> None:
        """Go on, at the pace or as fast as can be, and hold after an edge (ns)."""
        self._move(hurries=hurries, edge=edge)

    def step(self) -> None:
        """Go on until there is another event, as fast as can be."""
        before = self.count()
        self._move(hurries=True, goal=lambda: self.count() > before)

    def _move(
        self,
        *,
        paused: bool = False,
        hurries: bool = False,
        edge: float = math.inf,
        goal: Callable[[], bool] | None = None,
    ) -> None:
        self.pacing.restart()
        self.paused, self.hurries, self._edge, self._goal = paused, hurries, edge, goal
        self.look_again()

    def reach(self, instant: int) -> None:
        """Serve what is due up to an instant (ns), even while the run is held."""
        self._reach = max(self._reach, instant)

    def stop(self, reason: str) -> None:
        """End the run at the next entry; the first reason stays."""
        if self.stopped is None:
            self.stopped = reason
            self.ended = True

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """End the run early: a signal, or a command."""
        if self.stopped is None:
            self.interrupted = True
            self.stop("interrupted")


class Interruptible(Protocol):
    """What a signal may end."""

    def interrupt(self, number: int = 0, frame: FrameType | None = None, /) -> None: ...


class InOtherThread:
    """Stands for a run in another thread, which is interrupted from there."""

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        """Do nothing."""


class Signals:
    """The first signal interrupts every run that is open; the second ends at once what is under way, unfinished.

    The second raises KeyboardInterrupt. Where the main thread is inside a call that no Python code interrupts (a
    decomposition of a large matrix, say), a thread of its own ends the process with code 130, after `give_back` has
    given the terminal back.

    With `hands_on`, the first signal that came is handed on to the handler that was there before, once
    the last run has left: what a script does on SIGTERM it still does, after the folders are closed.
    The command does without: there, an interrupted run is what the signal asked for.

    Where signals cannot be set, nothing happens.
    """

    _heard: ClassVar[int] = 0
    _came: ClassVar[int | None] = None
    """The first signal since the handlers were set."""
    _open: ClassVar[list[Interruptible]] = []
    _former: ClassVar[dict[int, Any]] = {}

    _give_back: ClassVar[list[Callable[[], None]]] = []
    _watch: ClassVar["_Watch | None"] = None

    def __init__(
        self,
        run: Interruptible,
        *,
        hands_on: bool = False,
        give_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self._hands_on = hands_on
        self._returns = give_back

    def __enter__(self) -> None:
        self._open.append(self._run)
        self._give_back.append(self._returns)
        if len(self._open) > 1:
            waiting = all(isinstance(run, InOtherThread) for run in self._open[:-1])
            if self._came is not None and waiting:  # it came while this run was made
                self._run.interrupt(self._came, None)
            return
        Signals._heard, Signals._came = 0, None
        for number in _NUMBERS:
            try:
                self._former[number] = signal.signal(number, self._interrupt)
            except ValueError:  # not the main thread: the program that runs it there ends it
                return
        if not self._hands_on:  # a host script has a wake-up file of its own, and ends itself
            Signals._watch = _Watch(self._abandon)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.remove(self._run)
        self._give_back.remove(self._returns)
        if self._open:
            return
        if self._watch is not None:
            self._watch.close()
            Signals._watch = None
        former = dict(self._former)
        self._former.clear()
        for number, handler in former.items():
            # None stands for a handler that C code set: Python cannot set it again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        came, Signals._came = self._came, None
        if self._hands_on and came is not None and kind is not KeyboardInterrupt:
            _hand_on(came, former[came])

    @classmethod
    def _interrupt(cls, number: int, frame: FrameType | None) -> None:
        Signals._heard += 1
        if Signals._came is None:
            Signals._came = number
        if cls._heard >= _INSISTS:
            raise KeyboardInterrupt
        for run in cls._open:
            run.interrupt(number, frame)

    @classmethod
    def _abandon(cls) -> None:
        """End the process where it stands: nothing else heard the second signal."""
        for give_back in cls._give_back[::-1]:
            give_back()
        os._exit(INTERRUPTED)


class _Watch:
    """Counts signals on a thread, whatever the main thread does; the second is given a moment, then `abandon` is called.

    Python tells signals of one kind apart only when its main thread comes to them. Its wake-up file hears each at once.
    """

    def __init__(self, abandon: Callable[[], None]) -> None:
        self._abandon = abandon
        self._over = threading.Event()
        self._reads, self._writes = os.pipe()
        if hasattr(os, "set_blocking"):  # on Windows since Python 3.12
            os.set_blocking(self._writes, False)
        self._former = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching: the runs have ended."""
        signal.set_wakeup_fd(self._former)
        self._over.set()
        os.write(self._writes, b"\0")
        self._thread.join()
        os.close(self._reads)
        os.close(self._writes)

    def _listen(self) -> None:
        heard = 0
        while heard < _INSISTS and not self._over.is_set():
            heard += sum(number in _NUMBERS for number in os.read(self._reads, 64))
        if not self._over.wait(_PATIENCE_S if heard >= _INSISTS else 0.0):
            self._abandon()


def _hand_on(number: int, handler: Any) -> None:
    """Do what a handler does with a signal: call it, or, for the default, send the signal again.

    It is called rather than sent where it can be: an event loop with a handler of its own has been
    told of the signal already, through its wake-up file, and would be told twice.
    """
    if callable(handler):
        handler(number, None)
    else:
        signal.raise_signal(number)
