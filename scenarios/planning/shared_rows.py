"""Source rows that several agents hold, or one holds several times: an ε of one ledger says too little of such a record.

Rows are the same where they are one piece of memory, one file, or bear one declared number. Equal values are no identity:
two people may have the same features.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def _repeated(hands: Iterable[Iterable[Any]]) -> int:
    """Return how many things are in more than one hand, or several times in one."""
    counts = Counter[Any]()
    for hand in hands:
        counts.update(hand)
    return sum(1 for times in counts.values() if times > 1)


def by_number(rows: Sequence[Any]) -> int:
    """Return how many numbers are declared more than once, one list of whole numbers for each agent."""
    return _repeated(np.asarray(mine).ravel().tolist() for mine in rows)


def numbered(rows: Any, points: int) -> np.ndarray[Any, Any]:
    """Return the numbers that are declared for so many points; raise `ValueError` where there is not one for each."""
    numbers = np.asarray(rows)
    if numbers.dtype.kind not in "iu" or numbers.shape != (points,):
        message = f"rows must be {points} whole numbers, one for each point"
        raise ValueError(f"{message}, got {numbers.dtype} of shape {numbers.shape}")
    return numbers


def by_memory(features: Sequence[Any]) -> int:
    """Return how many rows of NumPy arrays are the same memory, for several agents or for one; copies are not."""

    def places(x: Any) -> Sequence[int]:
        if not isinstance(x, np.ndarray) or x.ndim != 2 or not x.size:
            return ()
        start, stride = x.__array_interface__["data"][0], x.strides[0]
        return [start + i * stride for i in range(len(x))]

    return _repeated(map(places, features))


def by_file(paths: Sequence[Path], sizes: Sequence[int]) -> int:
    """Return how many rows lie in files that are read for several agents: one file by links, or by two names."""
    files = Counter((status.st_dev, status.st_ino) for status in (path.stat() for path in paths))
    rows = {
        (status.st_dev, status.st_ino): size
        for status, size in zip((path.stat() for path in paths), sizes, strict=True)
    }
    return sum(rows[file] for file, times in files.items() if times > 1)
