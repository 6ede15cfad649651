"""Stops settings that cannot win any more, after each seed that all have run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenarios.records.intervals import has_width, interval

CONFIDENCE = 0.99
"""With this confidence no setting is stopped that is as good as the one that beats it."""
FIRST_LOOK = 3
"""So many seeds are run before any setting is stopped."""


@dataclass(frozen=True, slots=True)
class Race:
    """A race of settings by one metric, seed by seed."""

    by: str
    higher: bool
    """Whether much is good."""
    seeds: int
    confidence: float = CONFIDENCE

    def losers(self, values: Mapping[int, Sequence[float]], entered: int) -> set[int]:
        """Return which settings are beaten by another, from the values of each that still runs, a number for each seed.

        `entered` is the number of settings that the race began with. A setting is beaten where the t-interval of its
        difference to the leader, paired by seed, lies wholly on the losing side. The intervals of all pairs at all looks
        hold together with that confidence (Bonferroni), for differences that are normal: so it does no harm that the data
        say which setting leads. A difference without spread tells nothing. Settings with a value that is no number
        neither lead nor are stopped.
        """
        known = {n: v for n, v in values.items() if all(map(math.isfinite, v))}
        seen = len(next(iter(values.values()), ()))
        if len(known) < 2 or not FIRST_LOOK <= seen < self.seeds:
            return set()
        pairs = entered * (entered - 1) // 2
        looks = self.seeds - FIRST_LOOK
        confidence = 1 - (1 - self.confidence) / (pairs * looks)
        sign = 1.0 if self.higher else -1.0
        leader = max(known, key=lambda n: sign * math.fsum(known[n]))
        stopped = set[int]()
        for number, mine in known.items():
            behind = [sign * (a - b) for a, b in zip(mine, known[leader], strict=True)]
            low, _, high = interval(behind, confidence)
            if has_width(low, high, (*mine, *known[leader])) and high < 0:
                stopped.add(number)
        return stopped
