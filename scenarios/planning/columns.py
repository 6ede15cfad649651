"""Columns of text become features: numbers over a public maximum, categories as one feature each."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from scenarios.language.problems import shown
from scenarios.planning.delimited import TextTable, known
from scenarios.planning.files import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix, Vector


class Column(Protocol):
    """How one column of text becomes features."""

    @property
    def name(self) -> str:
        """The name of the column in its table."""
        ...

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that it becomes."""
        ...

    @abstractmethod
    def read(self, table: TextTable) -> "NDArray[Any]":
        """Return the values of the column as they are known. Raises BadData where one is not."""
        ...

    @abstractmethod
    def fill(self, values: "NDArray[Any]", out: "Matrix") -> None:
        """Write the features of values into an array of zeros: a row each, as many columns as there are features."""
        ...


@dataclass(frozen=True)
class Numeric:
    """A column of numbers, each divided by `maximum`, the largest magnitude: a public constant above 0.

    A value that is the word `unknown` becomes 0; no word does where it is empty.
    """

    name: str
    maximum: float = 1.0
    unknown: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,)

    def read(self, table: TextTable) -> "Vector":
        if self.unknown and self.unknown in table.column(self.name):
            known = ["0" if v == self.unknown else v for v in table.column(self.name)]
            table = TextTable(table.name, {self.name: known}, table.lines)
        return finite(table, self.name)

    def fill(self, values: "NDArray[Any]", out: "Matrix") -> None:
        out[:, 0] = values / self.maximum


@dataclass(frozen=True)
class Categorical:
    """A column of words, one feature for each category: 1 where the value is that category."""

    name: str
    categories: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={category}" for category in self.categories)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {category: number for number, category in enumerate(self.categories)}

    def read(self, table: TextTable) -> "NDArray[Any]":
        import numpy as np

        values: NDArray[Any] = np.array(self.categories)[self.codes(table)]
        return values

    def fill(self, values: "NDArray[Any]", out: "Matrix") -> None:
        import numpy as np

        codes = np.fromiter(map(self._numbers.__getitem__, values.tolist()), np.intp, len(values))
        out[np.arange(len(values)), codes] = 1.0

    def codes(self, table: TextTable) -> "NDArray[Any]":
        """Return the number of each value's category. Raises BadData."""
        import numpy as np

        column, numbers = table.column(self.name), self._numbers
        try:
            return np.fromiter(map(numbers.__getitem__, column), np.intp, len(column))
        except KeyError:
            row = next(row for row, value in enumerate(column) if value not in numbers)
            value = column[row]
            hint = known(value, self.categories)
            message = f"{self.name} has no category {shown(value)}; {hint}"
            raise BadData(f"{table.place(row)}: {message}") from None


@dataclass(frozen=True)
class Frequency(Categorical):
    """A column of words, each replaced by how often it occurs, over the largest such count: public constants."""

    counts: tuple[float, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,)

    def fill(self, values: "NDArray[Any]", out: "Matrix") -> None:
        import numpy as np

        shares = np.array(self.counts) / max(self.counts)
        out[:, 0] = shares[[self._numbers[value] for value in values.tolist()]]


class Encoded(NamedTuple):
    """Features of rows, their names, and the values that they were made of by the names of columns."""

    x: "Matrix"
    features: tuple[str, ...]
    values: "Mapping[str, NDArray[Any]]"


def encode(table: TextTable, columns: Sequence[Column], out: "Matrix | None" = None) -> Encoded:
    """Return the features of every row, in the order of the columns. Raises BadData.

    A value that a column does not know is refused with its line, its column and the nearest category. Features are
    written into `out`, an array of zeros with a row for each; None stands for a new one.
    """
    import numpy as np

    names = tuple(name for column in columns for name in column.features)
    x = np.zeros((len(table), len(names))) if out is None else out
    values, first = dict[str, "NDArray[Any]"](), 0
    for column in columns:
        read, width = column.read(table), len(column.features)
        column.fill(read, x[:, first : first + width])
        values[column.name] = read
        first += width
    return Encoded(x, names, values)


def joined(parts: Iterable[Encoded]) -> Encoded:
    """Return the rows of several parts, one after another; there is at least one."""
    import numpy as np

    parts = list(parts)
    values = {
        name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values
    }
    return Encoded(np.concatenate([part.x for part in parts]), parts[0].features, values)


def finite(table: TextTable, name: str) -> "Vector":
    """Return a column as numbers. Raises BadData, which names the line, where a value is none or not finite."""
    import numpy as np

    column = table.column(name)
    try:
        numbers = np.fromiter(map(float, column), np.float64, len(column))
        # float() also reads "1_000" and digits of other scripts, which other programs do not
        if np.isfinite(numbers).all() and "".join(column).isascii() and "_" not in "".join(column):
            return numbers
    except ValueError:
        pass
    row = next(row for row, value in enumerate(column) if not _is_finite(value))
    raise BadData(f"{table.place(row)}: {name} must be a finite number, got {shown(column[row])}")


def _is_finite(text: str) -> bool:
    import math

    try:
        return math.isfinite(float(text)) and text.isascii() and "_" not in text
    except ValueError:
        return False
