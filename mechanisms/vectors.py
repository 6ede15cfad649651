"""The array types that everything here speaks, and the grid that releases are rounded to."""

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def grid_below(width: float) -> float:
    """Return the largest power of two that is not above `width`."""
    if not width > 0:
        raise ValueError(f"a grid must be > 0, got {width!r}")
    return math.ldexp(1.0, math.frexp(width)[1] - 1)


def round_to(vector: Vector, grid: float) -> Vector:
    """Round to a grid that is a power of two, exactly: the low bits of a release leak (E21)."""
    rounded = vector * (1.0 / grid)
    np.rint(rounded, out=rounded)
    rounded *= grid
    return rounded
