"""The points of all agents in one array, and each agent's part of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector
from scenarios.planning.files import BadData

Points = tuple[Matrix, Vector]
_CHUNK = 1 << 16
"""So many rows are worked on at once: what is computed of them needs little memory beside them."""


class PackedPoints(Sequence[Points]):
    """The points of agents, one after the other; read as a sequence of features and labels, one pair for each agent.

    `rows` holds the features x, or y·x where `signed` is true: a loss of two labels reads nothing else, and for labels y
    of ±1 the features are y·(y·x) to the last bit. So data are held once.
    """

    __slots__ = ("_sizes", "ends", "labels", "rows", "signed")

    def __init__(self, rows: Matrix, labels: Vector, ends: NDArray[np.int64]) -> None:
        """Take over an array of features with its labels; agent i has rows ends[i] … ends[i + 1] − 1."""
        self.rows = rows
        self.labels = labels
        self.ends = ends
        """Where the rows of each agent begin, and after the last agent's the number of rows."""
        self.signed = False
        self._sizes: tuple[int, ...] | None = None

    @classmethod
    def of(cls, points: Sequence[Points]) -> "PackedPoints":
        """Return points packed: a copy of them, unless they are already. Raises BadData where their widths differ."""
        if isinstance(points, PackedPoints):
            return points
        ends = np.cumsum([0, *(len(y) for _, y in points)])
        width = points[0][0].shape[1] if points else 0
        rows = np.empty((int(ends[-1]), width))
        for i, (x, _) in enumerate(points):
            if x.shape[1] != width:
                raise BadData(f"node {i} has {x.shape[1]} features, and node 0 has {width}")
            rows[ends[i] : ends[i + 1]] = x
        labels = [y for _, y in points]
        return cls(rows, np.concatenate(labels, dtype=np.float64) if labels else np.empty(0), ends)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many points each agent has."""
        if self._sizes is None:
            self._sizes = tuple(np.diff(self.ends).tolist())
        return self._sizes

    def relabelled(self, labels: Vector) -> "PackedPoints":
        """Return the same features with other labels."""
        assert not self.signed, "rows that are signed by labels keep them"  # noqa: S101
        return PackedPoints(self.rows, labels, self.ends)

    def sign(self) -> None:
        """Keep y·x in place of x from now on; labels are ±1."""
        if not self.signed:
            self.signed = True
            for part in _chunks(len(self.rows)):
                self.rows[part] *= self.labels[part, None]

    def shorten(self) -> None:
        """Keep numbers of 32 bits from now on, rounded toward zero: no norm of a record grows, and half the memory is used.

        What is computed from them has 64 bits again.
        """
        short: Any = np.empty(self.rows.shape, dtype=np.float32)
        for part in _chunks(len(short)):
            short[part] = toward_zero(self.rows[part])
        self.rows = short

    def part(self, i: int) -> slice:
        """Return which rows are those of an agent."""
        return slice(int(self.ends[i]), int(self.ends[i + 1]))

    def kept(self, i: int) -> Points:
        """Return an agent's part of `rows`, and its labels: views."""
        part = self.part(i)
        return self.rows[part], self.labels[part]

    def parts(self) -> Iterator[Matrix]:
        """Yield all of `rows` in parts of many agents: what is computed of one needs little memory beside it."""
        return (self.rows[part] for part in _chunks(len(self.rows)))

    def features(self) -> Matrix:
        """Return the features of all points; where rows are signed, a copy."""
        return self.rows * self.labels[:, None] if self.signed else _long(self.rows)

    def owner(self, row: int) -> int:
        """Return which agent has a row."""
        return int(np.searchsorted(self.ends, row, side="right")) - 1

    def norms(self) -> Vector:
        """Return the L2 norm of each row of features."""
        norms = np.empty(len(self.rows))
        with np.errstate(over="ignore"):  # a norm above the largest double is above 1, too
            for part in _chunks(len(norms)):
                norms[part] = np.linalg.norm(_long(self.rows[part]), axis=1)
        return norms

    def is_finite(self) -> bool:
        """Whether every feature and every label is a finite number."""
        whole = all(bool(np.isfinite(rows).all()) for rows in self.parts())
        return whole and bool(np.isfinite(self.labels).all())

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, at: int) -> Points: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Points, ...]: ...

    def __getitem__(self, at: "int | slice") -> "Points | tuple[Points, ...]":
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        if not -len(self) <= at < len(self):
            raise IndexError(f"there are points of {len(self)} agents, not of agent {at}")
        rows, labels = self.kept(at % len(self))
        return (rows * labels[:, None] if self.signed else _long(rows)), labels

    def __iter__(self) -> Iterator[Points]:
        return (self[i] for i in range(len(self)))


def toward_zero(values: Matrix) -> NDArray[np.float32]:
    """Return numbers as 32-bit ones, the next that is no further from zero."""
    largest = np.finfo(np.float32).max
    short = np.clip(values, -largest, largest).astype(np.float32)
    further = np.abs(short.astype(np.float64)) > np.abs(values)
    short[further] = np.nextafter(short[further], np.float32(0.0))
    return short


def _long(rows: Matrix) -> Matrix:
    """Return numbers of 64 bits: themselves, where they are."""
    return rows.astype(np.float64, copy=False)


def _chunks(rows: int) -> Iterable[slice]:
    """Yield the rows in parts."""
    return (slice(at, min(rows, at + _CHUNK)) for at in range(0, rows, _CHUNK))
