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


def places(x: Any) -> np.ndarray[Any, Any]:
    """Return where in memory each row of features lies; nothing where that is not known: a list, say.

    Rows of a data frame lie where those of a column do which it keeps as an array.
    """
    names = list(x.columns) if hasattr(x, "columns") and hasattr(x, "dtypes") else []
    kept = next(filter(_is_kept, (x[name] for name in names)), None) if names else x
    rows = np.asarray(kept) if kept is not None and (names or _is_kept(kept)) else np.empty(0)
    if not rows.size or rows.ndim != (1 if names else 2):
        return np.empty(0, np.int64)
    start, stride = rows.__array_interface__["data"][0], rows.strides[0]
    return np.asarray(start + stride * np.arange(len(rows), dtype=np.int64))


def _is_kept(x: Any) -> bool:
    """Whether a container keeps an array, so that each look at it shows the same memory, and makes none anew."""
    if not hasattr(x, "__array__"):
        return False
    once, again = np.asarray(x), np.asarray(x)
    return bool(np.may_share_memory(once, again))


def by_file(paths: Sequence[Path], sizes: Sequence[int]) -> int:
    """Return how many rows lie in files that are read for several agents: one file by links, or by two names."""
    files = Counter((status.st_dev, status.st_ino) for status in (path.stat() for path in paths))
    rows = {
        (status.st_dev, status.st_ino): size
        for status, size in zip((path.stat() for path in paths), sizes, strict=True)
    }
    return sum(rows[file] for file, times in files.items() if times > 1)
