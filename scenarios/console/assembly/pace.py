"""How fast a run really goes, and how soon it will be over: measured on the wall, for as long as nobody changes it."""

import math
import time

from scenarios.console.assembly.playback import Deck
from scenarios.console.sources.source import Source, is_over

PULSE_S = 0.5


class Tempo:
    """Measures a run twice a second, as long as somebody looks at it."""

    def __init__(self, source: Source, deck: Deck) -> None:
        self._source = source
        self._deck = deck
        self._begun = time.perf_counter()
        self.wall_s = 0.0
        """How long it has gone on, on the wall."""
        self._seen = self._begun, 0, 0.0, 0
        self._went: tuple[str, float] | None = None
        """How it went when somebody looked last, and at which pace."""
        self.events_per_s = 0.0
        self.real = math.nan
        """Simulated seconds in each on the wall; NaN where that was not measured."""
        self._gain = 0.0
        """The share of the run in each second on the wall."""
        self.beats = 0
        """How often it was measured."""

    def set_out(self) -> None:
        """Measure anew: what was before is another story."""
        source = self._source
        self._seen = time.perf_counter(), source.seq, source.progress or 0.0, source.now
        self.events_per_s, self._gain, self.real = 0.0, 0.0, math.nan

    def goes(self) -> str:
        """How it goes, in a word."""
        if is_over(self._source):
            return "over" if self._source.ending() else "ends"
        return "held" if self._deck.paused else "hurries" if self._deck.hurries else "plays"

    def beat(self) -> None:
        """Look at the clock."""
        goes = self.goes(), self._deck.speed
        if goes != self._went:
            self._went = goes
            self.set_out()
        if goes[0] != "over":
            self.wall_s = time.perf_counter() - self._begun
        then, seq, share, instant = self._seen
        lasted = time.perf_counter() - then
        if lasted >= PULSE_S:
            source = self._source
            self.set_out()
            self.events_per_s = max(0, source.seq - seq) / lasted
            self._gain = ((source.progress or 0.0) - share) / lasted
            if goes[0] == "plays":
                self.real = (source.now - instant) / 1e9 / lasted
            self.beats += 1

    def left(self, share: float | None) -> float:
        """Return how many seconds are left on the wall, as far as can be told."""
        source, deck = self._source, self._deck
        if deck.paused or source.over:
            return math.nan
        if deck.speed != math.inf and not deck.hurries and source.end is not None:
            pace = min(deck.speed, self.real)
            return max(0.0, (source.end - source.now) / 1e9 / pace) if pace else math.nan
        return math.nan if share is None or self._gain <= 0 else (1 - share) / self._gain
