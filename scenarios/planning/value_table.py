"""Rows of named columns become points: numbers as they are or over a maximum, words as one feature for each category."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.language.problems import nearest, shown
from scenarios.planning.files import MOST_BYTES, BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix
    from scenarios.planning.tabular import TabularTable

MISSING = ""
"""What stands for a missing word; a missing number is NaN."""
_MOST_WORDS = 100
"""A column of words that no key names has at most so many different ones: more are names or texts, no categories."""
_BYTES = 8


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Columns of numbers (NaN where one is missing) or of words ("" where one is missing), a value for each row.

    `name` is what errors call the table, `place` where a row of it stands.
    """

    name: str
    columns: "Mapping[str, NDArray[Any]]"
    place: Callable[[int], str]
    size: int

    def __len__(self) -> int:
        return self.size

    def take(self, rows: "NDArray[np.int64]") -> "ValueTable":
        """Return the table of some rows, by their numbers."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        return ValueTable(self.name, columns, lambda row: self.place(int(rows[row])), len(rows))

    def without(self, name: str) -> "ValueTable":
        """Return the table without a column."""
        columns = {key: values for key, values in self.columns.items() if key != name}
        return ValueTable(self.name, columns, self.place, self.size)

    def known(self, name: str, what: str) -> None:
        """Refuse the name of a column that is not there. Raises BadData, which names the nearest."""
        if name not in self.columns:
            hint = nearest(name, [str(key)[:100] for key in self.columns][:1000])
            raise BadData(f"{what}: {self.name} has no column {shown(name)}; {hint}")


@dataclass(frozen=True, slots=True)
class Encoded:
    """The features of rows, and what is to be said of how they were made."""

    x: "Matrix"
    notes: tuple[str, ...]
    uncovered: tuple[str, ...]


def is_words(values: "NDArray[Any]") -> bool:
    """Whether a column holds words."""
    return values.dtype.kind == "O"


def absent(values: "NDArray[Any]") -> "NDArray[np.bool_]":
    """Return which values of a column are missing."""
    return values == MISSING if is_words(values) else np.isnan(values)  # type: ignore[no-any-return]


def refuse_infinite(values: "NDArray[Any]", what: str, place: Callable[[int], str]) -> None:
    """Raise BadData where a number is infinite."""
    if not is_words(values) and np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise BadData(f"{place(row)}: {what} is infinite")


def complete(
    columns: "Iterable[tuple[str, NDArray[Any]]]",
    size: int,
    place: Callable[[int], str],
    policy: str,
) -> "NDArray[np.int64]":
    """Return the numbers of the rows in which no value is missing.

    Raises BadData where one is missing and the policy is to refuse that, and where no row is left.
    """
    gaps, first = np.zeros(size, dtype=bool), ""
    for name, values in columns:
        mine = absent(values)
        if mine.any():
            gaps |= mine
            row = int(np.flatnonzero(mine)[0])
            first = (
                first or f"{place(row)}: {name} is missing{'' if is_words(values) else ' (NaN)'}"
            )
    if first and policy == "refuse":
        raise BadData(
            f'{first}, and {int(gaps.sum()):,} of {size:,} rows have gaps; data.missing = "drop" leaves these rows out'
        )
    if first and gaps.all():
        raise BadData(f"{first}, and each of {size:,} rows has a gap: none is left")
    return np.flatnonzero(~gaps)


def features_of(values: ValueTable, keys: "TabularTable") -> "dict[str, NDArray[Any]]":
    """Return the columns that become features, by their names. Raises BadData where a key names no column."""
    for name in keys.drop:
        values.known(name, "data.drop")
    kept = {name: column for name, column in values.columns.items() if name not in keys.drop}
    for key, names in (
        ("categorical", keys.categorical or ()),
        ("categories", keys.categories),
        ("maximum", keys.maximum),
    ):
        for name in names:
            values.known(name, f"data.{key}")
            if name not in kept:
                raise BadData(f"data.{key}: the column {shown(name)} is dropped by data.drop")
    if not kept:
        raise BadData(f"{values.name} has no column that could be a feature")
    return kept


def encoded(values: ValueTable, keys: "TabularTable", most: float) -> Encoded:
    """Return the features of rows without gaps, in the order of their columns. Raises BadData.

    `most` bounds the bytes that features may take.
    """
    kept, size = features_of(values, keys), len(values)
    parts = list[tuple[str, Any, tuple[str, ...] | None]]()
    read = list[str]()
    for name, column in kept.items():
        if not _is_categorical(values, name, column, keys):
            refuse_infinite(column, name, values.place)
            parts.append((name, column, None))
            continue
        words = column if is_words(column) else _as_words(column)
        if name in keys.categories:
            parts.append((name, words, tuple(keys.categories[name])))
        else:
            parts.append((name, words, tuple(sorted(set(words.tolist())))))
            read.append(name)
    width = sum(1 if categories is None else len(categories) for *_, categories in parts)
    refuse_large(values.name, size, width + keys.bias, most)
    x, at, largest = np.zeros((size, width)), 0, list[str]()
    for name, column, categories in parts:
        if categories is None:
            divisor, is_public = _divisor(name, column, keys, values)
            if not is_public:
                largest.append(name)
            x[:, at] = column / divisor
            at += 1
        else:
            x[np.arange(size), at + _codes(values, name, column, categories)] = 1.0
            at += len(categories)
    return Encoded(x, *_said(read, largest))


def _said(read: list[str], largest: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return notes on what was computed from the data, and why ε does not cover it."""
    notes, uncovered = list[str](), list[str]()
    if read:
        notes.append(f"one feature for each category that the data have in {_listed(read)}")
        uncovered.append(
            f"the categories of {_listed(read)} were read off the data: data.categories declares them"
        )
    if largest:
        notes.append(f"each of {_listed(largest)} was divided by its largest magnitude in the data")
        uncovered.append(
            f"the largest magnitudes of {_listed(largest)} were read off the data: data.maximum declares them"
        )
    return tuple(notes), tuple(uncovered)


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more columns" if len(names) > most else ""
    return ", ".join(name[:40] for name in names[:most]) + more


def refuse_large(name: str, rows: int, columns: int, most: float) -> None:
    """Raise BadData where so many numbers take more bytes than they may."""
    needed = rows * columns * _BYTES
    if needed > most:
        raise BadData(
            f"{name} would take {needed / 1e9:.3g} GB as {rows:,} × {columns:,} numbers; "
            f"above {MOST_BYTES / 1e9:.3g} GB for all data together needs --allow-large (allow_large=True)"
        )


def _is_categorical(
    values: ValueTable, name: str, column: "NDArray[Any]", keys: "TabularTable"
) -> bool:
    if name in keys.categories or name in (keys.categorical or ()):
        if name in keys.maximum:
            raise BadData(
                f"data.maximum: the column {shown(name)} is categorical: it has no numbers"
            )
        return True
    if not is_words(column):
        return False
    words = set(column.tolist())
    if keys.categorical is None and len(words) <= _MOST_WORDS and name not in keys.maximum:
        _refuse_odd_words(values, name, column)
        return True
    raise BadData(
        f"{values.place(0)}: {name} is a word, {shown(column[0])}, and the column has {len(words):,} different ones: "
        "name it in data.categorical or in data.drop"
    )


def _refuse_odd_words(values: ValueTable, name: str, column: "NDArray[Any]") -> None:
    """Raise BadData where most cells of a column are numbers: one mistyped cell would make each number a category."""
    odd = [row for row, word in enumerate(column.tolist()) if not _is_number(word)]
    if 2 * len(odd) < len(column):
        raise BadData(
            f"{values.place(odd[0])}: {name} is a word, {shown(column[odd[0]])}, and {len(column) - len(odd):,} of "
            f"{len(column):,} cells of the column are numbers: mend it, or name the column in data.categorical"
        )


def _is_number(word: object) -> bool:
    try:
        float(str(word))
    except ValueError:
        return False
    return True


def _as_words(column: "NDArray[Any]") -> "NDArray[Any]":
    """Return numbers as words: those of a column of categories."""
    return np.array([f"{value:.12g}" for value in column.tolist()], dtype=object)


def _codes(
    values: ValueTable, name: str, words: "NDArray[Any]", categories: tuple[str, ...]
) -> "NDArray[np.int64]":
    """Return the number of each word among the categories. Raises BadData where it is none of those declared."""
    numbers = {category: number for number, category in enumerate(categories)}
    try:
        return np.fromiter(map(numbers.__getitem__, words.tolist()), np.int64, len(words))
    except KeyError:
        row = next(row for row, word in enumerate(words.tolist()) if word not in numbers)
        hint = nearest(words[row], [category[:100] for category in categories][:1000])
        raise BadData(
            f"{values.place(row)}: {name} has no category {shown(words[row])}; {hint}"
        ) from None


def _divisor(
    name: str, column: "NDArray[Any]", keys: "TabularTable", values: ValueTable
) -> tuple[float, bool]:
    """Return by what a column is divided, and whether that is public: 1 or a declared maximum."""
    size = np.abs(column)
    if name in keys.maximum:
        limit = keys.maximum[name]
        if (size > limit).any():
            row = int(np.flatnonzero(size > limit)[0])
            raise BadData(
                f"{values.place(row)}: {name} is {column[row]:.6g}, above its declared maximum {limit:g}"
            )
        return limit, True
    match keys.columns:
        case "as-is":
            return 1.0, True
        case "max":
            return float(size.max(initial=0.0)) or 1.0, False
        case other:
            raise NotImplementedError(f"no scaling of columns is written by {other!r}")
