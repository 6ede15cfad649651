"""What the runs say of a claim: parts that are tested one by one, and the verdict of all of them together.

A part is a set of numbers, one for each seed, and the interval in which their mean must lie. It holds where the t-interval
of the mean lies inside of it, and does not hold where it lies outside; else the seeds are too few to say. So "flat",
"similar" and "steady" are tests of equivalence: the whole interval lies inside of two bounds. The intervals of
all parts of a claim hold together with `CONFIDENCE` (Bonferroni). One number alone decides nothing unless it is exact: the
result of a calculation, or of a schedule that no draw changes.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenarios.records.intervals import interval

CONFIDENCE = 0.95
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
DEPENDS = "depends on the reading"
"""The verdict on a sentence of which one reading holds and another does not."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a claim says: the mean of some numbers lies above `above` and below `below`; None is no bound.

    `exact` is whether a single number, or equal ones, have no error.
    """

    words: str
    values: tuple[float, ...]
    above: float | None = None
    below: float | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError(f"{self.words}: a part without a bound says nothing")

    def found(self, confidence: float) -> tuple[float, float, float]:
        """Return the mean of the numbers with its interval: low, mean, high; NaN and infinite ends where there is none."""
        if not self.values or any(map(math.isnan, self.values)):
            return -math.inf, math.nan, math.inf
        if min(self.values) == max(self.values):
            low = self.values[0]
            return (
                (low, low, low)
                if self.exact or len(self.values) > 2
                else (-math.inf, low, math.inf)
            )
        if any(map(math.isinf, self.values)):
            return -math.inf, math.nan, math.inf
        return interval(self.values, confidence)

    def verdict(self, confidence: float) -> str:
        """Return whether the part holds."""
        low, mean, high = self.found(confidence)
        if math.isnan(mean):
            return UNDECIDED
        if (self.above is None or low > self.above) and (self.below is None or high < self.below):
            return HOLDS
        outside = self.above is not None and high <= self.above
        return FAILS if outside or (self.below is not None and low >= self.below) else UNDECIDED

    def in_words(self, confidence: float) -> str:
        """Return what was found beside what was asked for."""
        low, mean, high = self.found(confidence)
        bounds = []
        if self.above is not None:
            bounds.append(f"> {self.above:.4g}")
        if self.below is not None:
            bounds.append(f"< {self.below:.4g}")
        said = "no value" if math.isnan(mean) else f"{mean:.4g}"
        if -math.inf < low < high < math.inf:
            said += f" [{low:.4g}, {high:.4g}]"
        return f"{self.words}: {said}; asked: {' and '.join(bounds)}"


def within(
    words: str, values: tuple[float, ...], bound: float, *, around: float = 0.0, exact: bool = False
) -> Part:
    """Return a test of equivalence: the whole interval of the mean lies closer to `around` than `bound`."""
    return Part(words, values, above=around - bound, below=around + bound, exact=exact)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim, with what was found for each of its parts."""

    verdict: str
    found: tuple[str, ...]


class Absent(Exception):
    """A claim cannot be judged: the argument says what is missing."""


def judged(parts: Iterable[Part], *more: str) -> Judgement:
    """Return the verdict of some parts together: it holds where all do, and does not where one does not."""
    several = list(parts)
    if not several:
        raise ValueError("a claim without a part says nothing")
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(several)
    verdicts = [part.verdict(confidence) for part in several]
    verdict = next((v for v in (FAILS, UNDECIDED) if v in verdicts), HOLDS)
    words = (
        f"{part.in_words(confidence)}: {one}" for part, one in zip(several, verdicts, strict=True)
    )
    return Judgement(verdict, (*words, *more))


def differences(one: Mapping[int, float], other: Mapping[int, float]) -> tuple[float, ...]:
    """Return the second minus the first for each seed that both have. Raises Absent where there is none."""
    seeds = sorted(one.keys() & other.keys())
    if not seeds:
        raise Absent("no seed was run for both sides of a comparison")
    return tuple(other[seed] - one[seed] for seed in seeds)
