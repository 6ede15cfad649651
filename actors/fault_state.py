"""What faults have done to one agent and not undone: it stands still, is slow, or misjudges time."""

from actors.local_clock import Dial
from clocks.clock import Clock, Signal
from mechanisms.strategy import State


class Plight:
    """The troubles of one agent; nearly always none."""

    __slots__ = (
        "_paces", "_pauses", "_sleepers", "apart", "aways", "dial", "downs", "pace", "paused", "strangers", "twin", "twins",
    )  # fmt: skip

    def __init__(self) -> None:
        self._pauses = 0
        self.paused = False
        """Whether it stands still."""
        self._sleepers: list[Signal] = []
        self._paces: list[float] = []
        self.downs: set[int] = set()
        """The firings of faults that hold it down."""
        self.aways: set[int] = set()
        """Those that keep it away."""
        self.twins = 0
        """How many faults double it."""
        self.pace = 1.0
        """Its computing takes so many times as long."""
        self.dial: Dial | None = None
        """Its own clock, where a fault of the scenario turns it."""
        self.twin: State | None = None
        """What a second instance of the agent holds, which wakes and speaks with it."""
        self.strangers: frozenset[int] = frozenset()
        """Neighbours that the topology does not give it: a joiner named them."""
        self.apart: set[int] = set()
        """Neighbours that it shares no edge with, though the graph has one: a joiner chose others."""

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

    async def thaw(self, clock: Clock, priority: int) -> None:
        """Wait until it does not stand still."""
        while self._pauses:
            sleeper = clock.signal(priority)
            self._sleepers.append(sleeper)
            await sleeper

    def slow(self, factor: float, *, on: bool) -> None:
        """Compute so many times as long, or no longer; factors multiply."""
        if on:
            self._paces.append(factor)
        else:
            self._paces.remove(factor)
        self.pace = 1.0
        for pace in self._paces:
            self.pace *= pace
