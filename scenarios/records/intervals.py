"""Intervals of a mean over independent runs, and what several of them say together."""

import math
from collections.abc import Iterable, Sequence

_ROUNDING = 1e-9
"""A width below this share of the values is one of rounding: charges are rounded in the tenth digit."""


def has_width(low: float, high: float, values: Iterable[float]) -> bool:
    """Return whether an interval of differences between such values is wider than their rounding; False for NaN."""
    return high - low > _ROUNDING * max(map(abs, values), default=0.0)


def interval(values: Sequence[float], confidence: float) -> tuple[float, float, float]:
    """Return a mean with its t-interval (Student 1908): low end, mean, high end; at least two values are needed."""
    from scipy.special import stdtrit

    mean, error = _mean_and_error(values)
    half = float(stdtrit(len(values) - 1, 0.5 + confidence / 2)) * error if error else 0.0
    return mean - half, mean, mean + half


def chance_of_zero(values: Sequence[float]) -> float:
    """Return the two-sided p-value of the hypothesis that the mean is 0, by the t-test that belongs to `interval`.

    Values without any spread leave no doubt: 1 where they are 0, else 0.
    """
    from scipy.special import stdtr

    mean, error = _mean_and_error(values)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return 2.0 * float(stdtr(len(values) - 1, -abs(mean) / error))


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean and its standard error; of equal values they are exact, which the rounding of a mean is not."""
    if min(values) == max(values):
        return values[0], 0.0
    n = len(values)
    scale = math.ldexp(1.0, max(-1000, math.frexp(max(map(abs, values)))[1] - 1))
    small = [
        v / scale for v in values
    ]  # by a power of two, which is exact: squares of 1e200 are too large
    mean = math.fsum(small) / n
    error = math.sqrt(math.fsum((v - mean) ** 2 for v in small) / (n - 1) / n)
    return mean * scale, error * scale


def holm(chances: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979): the chance of one false finding among all is kept."""
    corrected, least = [0.0] * len(chances), 0.0
    for rank, which in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        least = max(least, min(1.0, (len(chances) - rank) * chances[which]))
        corrected[which] = least
    return corrected
