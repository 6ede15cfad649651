"""Whole numbers that add up: points shared out by weights."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scenarios.planning.splits import NoSplit

if TYPE_CHECKING:
    from scenarios.planning.splits import Sizes


def apportion(weights: NDArray[np.float64], total: int) -> "Sizes":
    """Give each agent one point and the rest by largest remainder: sizes add up to the total. Raises NoSplit."""
    n = len(weights)
    if total < n:
        raise NoSplit(f"{total} points are too few for {n} agents")
    exact = weights / weights.sum() * (total - n)
    floor: Sizes = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[: total - n - int(floor.sum())]] += 1
    return floor + 1
