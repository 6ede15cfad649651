"""What faults have done to one agent and not undone: it stands still, is slow, or its clock is wrong."""

from fractions import Fraction

from clocks.clock import Clock, Signal
from mechanisms.strategy import State

NORMAL = Fraction(1)
NONE: frozenset[int] = frozenset()
"""No fault, or no neighbour: what nearly all agents have, so that they share it."""


class LocalClock:
    """The time that one agent's own clock shows, when a fault turns it; exact, in whole nanoseconds.

    Between two changes the clock shows `_shown + rate · (now − _changed)`.
    """

    __slots__ = ("_changed", "_clock", "_drifts", "_frozen", "_shown", "_waiting", "rate")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = 0
        self._shown = Fraction(0)
        self._drifts: list[Fraction] = []
        self._frozen = 0
        self.rate = NORMAL
        self._waiting: Signal | None = None

    @property
    def is_true(self) -> bool:
        """Whether it shows the time of the run, as long as nothing turns it."""
        return self.rate == NORMAL and self._shown == self._changed

    @property
    def now(self) -> int:
        """The time that the clock shows now, in nanoseconds; never negative."""
        return max(0, int(self._exact()))

    def _exact(self) -> Fraction:
        return self._shown + self.rate * (self._clock.now - self._changed)

    def due(self, shown: int) -> int | None:
        """Return the true instant at which the clock shows a time; None while it stands still."""
        if self.rate == 0:
            return None
        ahead = (shown - self._shown) / self.rate
        return self._changed + -((-ahead.numerator) // ahead.denominator)  # rounded up

    def step(self, by: int) -> None:
        """Set the clock forward by so many nanoseconds; back, where they are negative."""
        self._shown, self._changed = self._exact() + by, self._clock.now
        self._notify()

    def drift(self, by: Fraction, *, on: bool) -> None:
        """Let the clock run faster by a share, or no longer; drifts multiply."""
        self._settle()
        if on:
            self._drifts.append(by)
        else:
            self._drifts.remove(by)
        self._set_rate()

    def freeze(self, *, on: bool) -> None:
        """Let the clock stand still, or no longer; it goes again when every freeze has ended."""
        self._settle()
        self._frozen += 1 if on else -1
        self._set_rate()

    def _settle(self) -> None:
        """Note what the clock shows now: its rate is about to change."""
        self._shown, self._changed = self._exact(), self._clock.now

    def _set_rate(self) -> None:
        rate = NORMAL
        for drift in self._drifts:
            rate *= 1 + drift
        self.rate = NORMAL * 0 if self._frozen else rate
        self._notify()

    def _notify(self) -> None:
        """Let the agent that waits for this clock look at it again."""
        if self._waiting is not None:
            self._waiting.set()

    async def wait(self, shown: int, priority: int) -> None:
        """Wait until the clock shows a time, whatever faults do to it meanwhile."""
        clock, waited = self._clock, False
        while True:
            due = self.due(shown)
            if waited and due is not None and due <= clock.now:
                return
            self._waiting = signal = clock.signal(priority)
            if due is not None:  # a past time, too: every wake comes in the order of its instant
                clock.at(max(due, clock.now), priority, signal.set)
            try:
                await signal
            finally:
                self._waiting = None
            waited = True


class FaultState:
    """The faults that act on one agent now; nearly always none."""

    __slots__ = (
        "_factors",
        "_pauses",
        "_sleepers",
        "away_by",
        "down_by",
        "local_clock",
        "named_neighbours",
        "paused",
        "slowdown",
        "twin_count",
        "twin_state",
        "without_edge",
    )

    def __init__(self) -> None:
        self._pauses = 0
        self.paused = False
        """Whether it stands still."""
        self._sleepers: list[Signal] = []
        self._factors: list[float] = []
        self.down_by = NONE
        """The firings of faults that hold it down."""
        self.away_by = NONE
        """The firings of faults that keep it away."""
        self.twin_count = 0
        """How many faults run a second instance of it."""
        self.slowdown = 1.0
        """Its computing takes so many times as long."""
        self.local_clock: LocalClock | None = None
        """Its own clock, where a fault of the scenario may turn it."""
        self.twin_state: State | None = None
        """The state of a second instance of the agent, which wakes and sends with it."""
        self.named_neighbours = NONE
        """Neighbours that the topology does not give it: an agent that joined named them."""
        self.without_edge = NONE
        """Neighbours that it shares no edge with, though the graph has one: an agent that joined chose others."""

    def pause(self) -> None:
        """Stand still, once more."""
        self._pauses += 1
        self.paused = True

    def resume(self) -> bool:
        """Take one pause away; true when it was the last."""
        self._pauses -= 1
        if self._pauses == 0:
            self.paused = False
            sleepers, self._sleepers = self._sleepers, []
            for sleeper in sleepers:
                sleeper.set()
        return self._pauses == 0

    async def wait_until_resumed(self, clock: Clock, priority: int) -> None:
        """Wait until it does not stand still."""
        while self._pauses:
            sleeper = clock.signal(priority)
            self._sleepers.append(sleeper)
            await sleeper

    def slow(self, factor: float, *, on: bool) -> None:
        """Compute so many times as long, or no longer; factors multiply."""
        if on:
            self._factors.append(factor)
        else:
            self._factors.remove(factor)
        self.slowdown = 1.0
        for each in self._factors:
            self.slowdown *= each
