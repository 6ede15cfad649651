"""How fast a run really goes, and how soon it will be over: measured on the wall, for as long as its speed stays."""

import math
import time
from typing import Protocol

from scenarios.console.sources.source import Source, is_over

PULSE_S = 0.5


class Motion(Protocol):
    """How a person lets time go on, as far as a frame shows it."""

    @property
    def paused(self) -> bool: ...

    @property
    def hurries(self) -> bool:
        """Whether it goes as fast as can be, to a time or an event."""
        ...

    @property
    def speed(self) -> float:
        """Simulated seconds for each second on the wall; infinite: as fast as can be."""
        ...


class PaceMeter:
    """Measures a run twice a second, as long as frames of it are drawn."""

    def __init__(self, source: Source, motion: Motion) -> None:
        self._source = source
        self._motion = motion
        self._begun = time.perf_counter()
        self.wall_s = 0.0
        """How long it has gone on, in seconds on the wall."""
        self._start = self._begun, 0, 0.0, 0
        """Where the measurement began: wall time, event, share of the run, simulated time (ns)."""
        self._moved: tuple[str, float] | None = None
        """How it went at the last frame, and at which speed."""
        self.events_per_s = 0.0
        self.real = math.nan
        """Simulated seconds in each on the wall; NaN where that was not measured."""
        self._gain = 0.0
        """The share of the run in each second on the wall."""
        self.beats = 0
        """How often it was measured."""

    def restart(self) -> None:
        """Measure anew: what was before does not count."""
        source = self._source
        self._start = time.perf_counter(), source.seq, source.progress or 0.0, source.now
        self.events_per_s, self._gain, self.real = 0.0, 0.0, math.nan

    def goes(self) -> str:
        """Return how it goes, in the words of `Header.goes`."""
        if is_over(self._source):
            return "over" if self._source.ending() else "ends"
        motion = self._motion
        return "held" if motion.paused else "hurries" if motion.hurries else "plays"

    def beat(self) -> None:
        """Measure, where half a second has passed; begin anew where something changed its motion."""
        moves = self.goes(), self._motion.speed
        if moves != self._moved:
            self._moved = moves
            self.restart()
        if moves[0] != "over":
            self.wall_s = time.perf_counter() - self._begun
        then, seq, share, instant = self._start
        lasted = time.perf_counter() - then
        if lasted >= PULSE_S:
            source = self._source
            self.restart()
            self.events_per_s = max(0, source.seq - seq) / lasted
            self._gain = ((source.progress or 0.0) - share) / lasted
            if moves[0] == "plays":
                self.real = (source.now - instant) / 1e9 / lasted
            self.beats += 1

    def left(self, share: float | None) -> float:
        """Return how many seconds are left on the wall; NaN where that cannot be told."""
        source, motion = self._source, self._motion
        if motion.paused or source.over:
            return math.nan
        if motion.speed != math.inf and not motion.hurries and source.end is not None:
            pace = min(motion.speed, self.real)
            return max(0.0, (source.end - source.now) / 1e9 / pace) if pace else math.nan
        return math.nan if share is None or self._gain <= 0 else (1 - share) / self._gain
