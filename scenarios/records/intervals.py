"""Intervals of a mean over independent runs."""

import math
from collections.abc import Sequence


def interval(values: Sequence[float], confidence: float) -> tuple[float, float, float]:
    """Return a mean with its t-interval (Student 1908): low end, mean, high end; at least two values are needed."""
    from scipy.special import stdtrit

    n = len(values)
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * spread / math.sqrt(n)
    return mean - half, mean, mean + half
