"""A list of JSON objects with the same keys, kept as columns: one agent of a million takes no dictionary of its own."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

Row = dict[str, Any]


class JsonTable(Sequence[Row]):
    """Reads as a list of dictionaries, which are made when they are asked for."""

    __slots__ = ("columns",)
    __hash__ = None  # type: ignore[assignment] # it is equal to lists, which have none

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Take over columns by their keys. Raises ValueError where their lengths differ, or there is none."""
        if len({len(column) for column in columns.values()}) != 1:
            raise ValueError("the columns of a table have one length")
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> "JsonTable": ...

    def __getitem__(self, at: "int | slice") -> "Row | JsonTable":
        if isinstance(at, slice):
            return JsonTable({key: column[at] for key, column in self.columns.items()})
        return {key: column[at] for key, column in self.columns.items()}

    def __iter__(self) -> Iterator[Row]:
        keys = tuple(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(keys, values, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, JsonTable)) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"JsonTable({len(self)} × {list(self.columns)})"

    def at(self, rows: Sequence[int]) -> "JsonTable":
        """Return some rows, in the order asked for."""
        return JsonTable({key: [c[i] for i in rows] for key, c in self.columns.items()})

    def nulls(self, once: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
        """Yield the row and the key of every null, row by row; of the keys in `once` only the first null."""
        found = list[tuple[int, int, str]]()
        for place, (key, column) in enumerate(self.columns.items()):
            rows = (i for i, value in enumerate(column) if value is None)
            found += [(i, place, key) for i in (islice(rows, 1) if key in once else rows)]
        for row, _, key in sorted(found):
            yield row, key
