"""From a table of values to a pool of points: which rows are complete, which columns are features, which is the label."""

from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.planning.datasets import with_bias
from scenarios.planning.labels import as_numbers
from scenarios.planning.pool import WHICH_IS_PUBLIC, Pool
from scenarios.planning.value_table import MISSING, ValueTable, complete, encoded, features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scenarios.planning.tabular import TabularTable

_GAPS = frozenset({"", "?", "NA", "NaN", "nan"})
"""What stands in a text file in place of a value that is missing."""


def pool_of(values: ValueTable, label: str, keys: "TabularTable", most: float) -> Pool:
    """Return the rows of a table as points; one of its columns is the label. Raises BadData.

    `most` bounds the bytes that features may take. Every column but the label is one that a split may deal by.
    """
    values.known(label, "data.label")
    labels, others = values.columns[label], values.without(label)
    used = [*features_of(others, keys).items(), (label, labels)]
    rows = complete(used, len(values), values.place, keys.missing)
    kept = others.take(rows)
    made = encoded(kept, keys, most)
    (y,), classes, said = as_numbers([labels[rows]], keys.positive)
    left = len(values) - len(rows)
    dropped = (f"{left:,} rows with missing values were left out{WHICH_IS_PUBLIC}",) if left else ()
    notes = (*dropped, *made.notes, *said)
    x = with_bias(made.x, bias=keys.bias)
    return Pool(x, y, kept.columns, None, notes, made.uncovered, classes)


def column_of(cells: "Sequence[str]", *, as_words: bool) -> "NDArray[Any]":
    """Return a column of text as numbers where every cell is one or missing, else as words.

    A number is what Python reads as a float and other programs, too: no underscores, no digits of other scripts.
    """
    cells = [cell.strip() for cell in cells]
    if not as_words:
        numbers = _numbers(cells)
        if numbers is not None:
            return numbers
    words = np.empty(len(cells), dtype=object)
    words[:] = [MISSING if cell in _GAPS else cell for cell in cells]
    return words


def _numbers(cells: list[str]) -> "NDArray[np.float64] | None":
    """Return numbers, NaN where one is missing; None where a cell is a word, or none is a number."""
    held = [cell for cell in cells if cell not in _GAPS]
    text = "".join(held)
    if not held or not text.isascii() or "_" in text:
        return None
    try:
        if len(held) == len(cells):
            return np.fromiter(map(float, cells), np.float64, len(cells))
        values = (np.nan if cell in _GAPS else float(cell) for cell in cells)
        return np.fromiter(values, np.float64, len(cells))
    except ValueError:
        return None
