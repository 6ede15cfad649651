"""Who may hold or end a run: the signals, the clock on the wall, and a person's hand."""

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


class RunGovernor:
    """Implements `clocks.clock.Governor`: pause, step, speed, stop.

    SIGINT and SIGTERM set a flag that the engine reads every 64 entries: the event loop's own handlers
    would wait for the end of the run.
    """

    def __init__(
        self,
        *,
        speed: float = math.inf,
        watched: bool = False,
        steers: bool = False,
        looks: bool = False,
    ) -> None:
        self.speed = speed
        self.looks = looks
        """Whether somebody looks at every agent: then it is followed who holds which version."""
        self.steers = steers
        """Whether a person may do whatever faults do: agents are made ready for it."""
        self.paused = False
        self.stopped: str | None = None
        self.ended = False
        self.interrupted = False
        self.upcoming: float = 0
        """When the next entry is due."""
        self.fellows: tuple[RunGovernor, ...] = ()
        """Whose runs keep abreast of this one."""
        self._abreast: Abreast | None = None
        self.count: Callable[[], int] = int
        """How many events there were."""
        self.served: Callable[[], int] = int
        """The instant that was served last."""
        self.free = True
        self._goal: Callable[[], bool] | None = None
        self._edge: float = math.inf
        self._reach = -1
        self._stands = 0
        """The instant at which time was held, where that is later than what was served last."""
        self._hurries = False
        self._watched = watched
        self._line = Line()
        self._ease()

    @property
    def watched(self) -> bool:
        return self._watched or self.speed != math.inf

    @property
    def hurries(self) -> bool:
        """Whether the run goes as fast as can be, to an edge or a goal."""
        return self._hurries

    @property
    def now(self) -> int:
        """The instant that it is: between two entries time goes on at its pace, or stands where it was held."""
        return self._at(time.perf_counter())

    def _at(self, wall: float) -> int:
        """The instant that it is when the wall says so."""
        served = self.served()
        paced = self._line.anchor is not None and not (self.paused or self._hurries)
        if not paced or math.inf in {self.speed, self.upcoming}:
            return max(served, self._stands)
        return max(served, self._stands, int(min(self._paced(wall), self.upcoming - 1)))

    def _paced(self, wall: float) -> float:
        """The instant that a pace has reached."""
        assert self._line.anchor is not None, "a pace has a beginning"  # noqa: S101
        then, start = self._line.anchor
        return start + (wall - then) * self.speed * 1e9

    def _ease(self) -> None:
        """See anew whether anything holds or paces the run."""
        self.free = (
            not (self.paused or self._hurries or self.fellows or self.speed != math.inf)
            and self._edge == math.inf
        )

    def join(self, abreast: "Abreast") -> None:
        """Keep abreast of other runs."""
        self.fellows = tuple(hand for hand in abreast.hands if hand is not self)
        self._abreast, self._line = abreast, abreast.line
        self._ease()

    def poll(self, _now: int) -> bool:
        return self.stopped is None

    def allowance(self, upcoming: int) -> float:
        self.upcoming = upcoming
        if upcoming <= self._reach:
            return 0.0
        if upcoming > self._edge or (self._goal is not None and self._goal()):
            self._stand(self._edge)
        if self.paused:
            self._line.anchor = None
            return math.inf
        wall = time.perf_counter()
        paced = not self._hurries and self.speed != math.inf
        if paced and self._line.anchor is None:
            self._line.anchor = wall, max(hand.now for hand in self.together)
        if not (self._abreast is None or self._goal is not None or self._abreast.lets(upcoming)):
            return _TURN_S
        if not paced:
            return 0.0
        early = (upcoming - self._paced(wall)) / (1e9 * self.speed)
        return early if early > _EAGER_S else 0.0

    def pause(self) -> None:
        """Hold now; runs abreast that are behind serve what is due by this instant, and hold there."""
        for hand in self.together:
            hand.set_out()
        instant = self.now
        for hand in self.together:
            if hand is self or hand.now >= instant:
                hand._stand(hand.now)  # noqa: SLF001 # of the same class
            else:
                hand.move(hurries=True, edge=instant)

    def _stand(self, instant: float) -> None:
        """Hold; where nothing is due before an instant, it is that instant."""
        if instant < self.upcoming:
            self._stands = max(self._stands, int(instant))
        self.move(paused=True)

    def resume(self) -> None:
        """Go on at the pace that was set."""
        for hand in self.together:
            hand.move()

    def hurry(self, *, edge: float = math.inf) -> None:
        """Go on as fast as can be, and hold after an instant."""
        for hand in self.together:
            hand.move(hurries=True, edge=edge)

    def step(self) -> None:
        """Go on until something happens: in the run that is behind the others."""
        behind = min(self.together, key=lambda hand: hand.upcoming)
        before = behind.count()
        for hand in self.together:
            hand.move(paused=True)
        behind.move(hurries=True, goal=lambda: behind.count() > before)

    def move(
        self,
        *,
        paused: bool = False,
        hurries: bool = False,
        edge: float = math.inf,
        goal: Callable[[], bool] | None = None,
    ) -> None:
        """Hold this run alone, or let it go on: at its pace, or as fast as can be to an edge or a goal."""
        self.set_out()
        self.paused, self._hurries, self._edge, self._goal = paused, hurries, edge, goal
        self._ease()

    @property
    def together(self) -> tuple["RunGovernor", ...]:
        """Return this hand and those abreast of it, but for those whose runs are over."""
        return tuple(hand for hand in (self, *self.fellows) if not hand.ended)

    def reach(self, instant: int) -> None:
        """Serve what is due up to an instant, even while holding."""
        self._reach = max(self._reach, instant)

    def pace(self, speed: float) -> None:
        """Change the speed; the pace begins anew at this instant."""
        for hand in (self, *self.fellows):
            hand.set_out()
            hand.speed = speed
            hand._ease()  # noqa: SLF001 # of the same class

    def set_out(self) -> None:
        """Begin the pace anew at this instant; runs abreast have one pace, and none of them goes back."""
        hands, wall = (self, *self.fellows), time.perf_counter()
        instants = [hand._at(wall) for hand in hands]  # noqa: SLF001 # of the same class
        for hand, instant in zip(hands, instants, strict=True):
            hand._stands = instant  # noqa: SLF001
        self._line.anchor = None

    def stop(self, reason: str) -> None:
        """End the run at the next entry."""
        if self.stopped is None:
            self.stopped = reason
            self.ended = True

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """End the run early, and those in step with it: a signal, or a person's key."""
        for hand in self.together:
            if hand.stopped is None:
                hand.interrupted = True
                hand.stop("interrupted")


class Line:
    """At which instant a pace set out, and when that was on the wall; runs abreast have one line."""

    anchor: tuple[float, int] | None = None


class Abreast:
    """Runs that are shown together: all have served what is due by a mark before any goes beyond it."""

    def __init__(
        self, hands: Sequence[RunGovernor], stride: int, met: Callable[[int], None]
    ) -> None:
        self.hands = hands
        self._stride = stride
        self._met = met
        self._mark = 0
        self.line = Line()
        for hand in hands:
            hand.join(self)

    def lets(self, upcoming: int) -> bool:
        """Whether an entry may be served; where the others are here, too, they have met."""
        if upcoming <= self._mark:
            return True
        behind = min(hand.upcoming for hand in self.hands)
        if behind <= self._mark:
            return False
        self._met(self._mark)
        self._mark = -(-int(behind) // self._stride) * self._stride
        return upcoming <= self._mark


class Interruptible(Protocol):
    """What a signal may end."""

    def interrupt(self, number: int = 0, frame: FrameType | None = None, /) -> None: ...


class Elsewhere:
    """Holds signals for a run in another thread, which is interrupted for itself."""

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        """Do nothing."""


class Signals:
    """The first signal interrupts every run that is open; the second ends at once whatever is under way, unfinished.

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
        hand: Interruptible,
        *,
        hands_on: bool = False,
        give_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._hand = hand
        self._hands_on = hands_on
        self._returns = give_back

    def __enter__(self) -> None:
        self._open.append(self._hand)
        self._give_back.append(self._returns)
        if len(self._open) > 1:
            waiting = all(isinstance(hand, Elsewhere) for hand in self._open[:-1])
            if self._came is not None and waiting:  # it came while this run was made
                self._hand.interrupt(self._came, None)
            return
        Signals._heard, Signals._came = 0, None
        for number in _NUMBERS:
            try:
                self._former[number] = signal.signal(number, self._interrupt)
            except ValueError:  # not the main thread: whoever runs it there ends it
                return
        if not self._hands_on:  # a host script has a wake-up file of its own, and ends itself
            Signals._watch = _Watch(self._abandon)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.remove(self._hand)
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
        for hand in cls._open:
            hand.interrupt(number, frame)

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
