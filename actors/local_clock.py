"""What an agent's own clock shows, when it is not what the time is: a line with kinks."""

from fractions import Fraction

from clocks.clock import Clock, Signal

NORMAL = Fraction(1)


class Dial:
    """The local time of one agent: it runs at a rate, from a kink on; exact in whole nanoseconds."""

    __slots__ = ("_clock", "_drifts", "_frozen", "_kink", "_shown", "_waiting", "rate")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kink = 0
        self._shown = Fraction(0)
        self._drifts: list[Fraction] = []
        self._frozen = 0
        self.rate = NORMAL
        self._waiting: Signal | None = None

    @property
    def now(self) -> int:
        """What the clock shows now, in nanoseconds; never negative."""
        return max(0, int(self._exact()))

    def _exact(self) -> Fraction:
        return self._shown + self.rate * (self._clock.now - self._kink)

    def due(self, shown: int) -> int | None:
        """Return the true instant at which the clock shows a time; None while it stands still."""
        if self.rate == 0:
            return None
        ahead = (shown - self._shown) / self.rate
        return self._kink + -((-ahead.numerator) // ahead.denominator)  # rounded up

    def step(self, by: int) -> None:
        """Set the clock forward, or back."""
        self._shown, self._kink = self._exact() + by, self._clock.now
        self._stir()

    def drift(self, by: Fraction, *, on: bool) -> None:
        """Let it run faster by a share, or no longer; drifts multiply."""
        self._turn()
        if on:
            self._drifts.append(by)
        else:
            self._drifts.remove(by)
        self._set_rate()

    def freeze(self, *, on: bool) -> None:
        """Let it stand still, or no longer."""
        self._turn()
        self._frozen += 1 if on else -1
        self._set_rate()

    def _turn(self) -> None:
        self._shown, self._kink = self._exact(), self._clock.now

    def _set_rate(self) -> None:
        rate = NORMAL
        for drift in self._drifts:
            rate *= 1 + drift
        self.rate = NORMAL * 0 if self._frozen else rate
        self._stir()

    def _stir(self) -> None:
        if self._waiting is not None:
            self._waiting.set()

    async def wait(self, shown: int, priority: int) -> None:
        """Wait until the clock shows a time, whatever is done to it meanwhile."""
        clock, waited = self._clock, False
        while True:
            due = self.due(shown)
            if waited and due is not None and due <= clock.now:
                return
            self._waiting = signal = clock.signal(priority)
            if (
                due is not None
            ):  # also when it is past: whoever wakes, wakes in the order of the instant
                clock.at(max(due, clock.now), priority, signal.set)
            try:
                await signal
            finally:
                self._waiting = None
            waited = True
