"""The array types of vectors and matrices, and what NumPy does to vectors only after it has loaded masked arrays (10 ms)."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return numbers in ascending order, each once, as `np.unique` does. None of them may be NaN."""
    ordered = np.sort(values, axis=None)
    kept: NDArray[Number] = np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])
    return kept


def median(values: Vector) -> float:
    """Return the median of some numbers, at least one, as `np.median` does; NaN where one of them is NaN."""
    ordered, half = np.sort(values, axis=None), values.size // 2
    middle = ordered[half : half + 1] if values.size % 2 else ordered[half - 1 : half + 1]
    return float(ordered[-1] if np.isnan(ordered[-1]) else middle.mean())
