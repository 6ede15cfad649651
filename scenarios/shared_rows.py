"""Source rows that several agents hold: then the ε of one agent's ledger says too little of such a record.

Rows are the same where they are one piece of memory, one file, or bear one declared number. Equal values are no identity:
two people may have the same features.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def _repeated(hands: Iterable[set[Any]]) -> int:
    """Return how many things are in more than one hand."""
    counts = Counter[Any]()
    for hand in hands:
        counts.update(hand)
    return sum(1 for times in counts.values() if times > 1)


def by_number(rows: Sequence[Any]) -> int:
    """Return how many numbers several agents declare, one list of whole numbers for each agent."""
    return _repeated(set(np.asarray(mine).ravel().tolist()) for mine in rows)


def by_memory(features: Sequence[Any]) -> int:
    """Return how many rows of NumPy arrays are the same memory for several agents; copies are not."""

    def places(x: Any) -> set[int]:
        if not isinstance(x, np.ndarray) or x.ndim != 2 or not x.size:
            return set()
        start, stride = x.__array_interface__["data"][0], x.strides[0]
        return {start + i * stride for i in range(len(x))}

    return _repeated(map(places, features))


def by_file(paths: Sequence[Path], sizes: Sequence[int]) -> int:
    """Return how many rows lie in files that are read for several agents: one file by links, or by two names."""
    files = Counter((found.st_dev, found.st_ino) for found in (path.stat() for path in paths))
    rows = {
        (found.st_dev, found.st_ino): size
        for found, size in zip((path.stat() for path in paths), sizes, strict=True)
    }
    return sum(rows[file] for file, times in files.items() if times > 1)
