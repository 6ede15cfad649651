"""The kinds of data source: which points there are, and which agent holds them. One record in one file each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scenarios.language.problems import Report
from scenarios.language.table_rules import (
    REQUIRED,
    Kinds,
    KindTable,
    OwnCode,
    SubTable,
    Table,
    key,
)
from scenarios.language.value_rules import Choice, Either, Flag, Number, count
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Family, Tables
from scenarios.planning.splits import SPLITS, SplitTable

if TYPE_CHECKING:
    from scenarios.planning.datasets import Shards
    from scenarios.planning.pool import Pool
    from scenarios.planning.published import PublishedSet


class SpreadTable(Table):
    """Bounds of a number that is drawn for each agent."""

    min: int = key(count(), REQUIRED, words="The least number of points.")
    max: int = key(count(), REQUIRED, words="The largest number of points.")


class Amount(NamedTuple):
    """How much a data source makes."""

    points: int
    test_points: int
    dimension: int


@dataclass(frozen=True, slots=True)
class SourceInputs:
    """What a data source may be made of beside its table."""

    agents: int
    seed: int
    folders: Folders


_VALIDATION = Number(low=0, below=1)
_PRECISION = Choice("double", "single")


class OwnSource(OwnCode):
    """Points that code of the scenario's own makes."""

    validation: float = key(
        _VALIDATION,
        0.0,
        words="The share of each agent's training points that is held out of training, to choose by.",
    )
    precision: str = key(
        _PRECISION, "double", words="Whether training points are held as 64-bit or 32-bit numbers."
    )


class SourceTable(KindTable):
    """What every data source has: how rows above norm 1 are treated, and how points are shared out."""

    scale: str = key(
        Choice("refuse", "row"),
        "refuse",
        words="What becomes of a row above norm 1: it is refused where a private kind rests on norms, or scaled to norm 1.",
    )
    split: SplitTable | None = key(
        Kinds("split", Tables(SPLITS)),
        words="How points are dealt to the agents; left out, evenly, or as the source has them.",
    )
    validation: float = key(
        _VALIDATION,
        0.0,
        words="The share of each agent's training points that is held out of training, to choose by.",
    )
    precision: str = key(
        _PRECISION,
        "double",
        words="Whether training points are held as 64-bit or 32-bit numbers; whatever is computed from them has 64 bits.",
    )

    def build(self, inputs: SourceInputs) -> "Shards":
        """Return the points of each agent. Raises BadData or NoSplit."""
        raise NotImplementedError(f"no points are made for {self.kind!r}")

    def amount(self, agents: int) -> Amount | None:
        """Return how much is made at most for so many agents; None where only files say it."""
        raise NotImplementedError(f"no amount of points is known for {self.kind!r}")

    def files(self, folders: Folders) -> Iterable[tuple[str, Path]]:
        """Return every file that is read, with the path by which `folders` finds it. Raises BadData."""
        raise NotImplementedError(f"no files are listed for {self.kind!r}")


class DrawnSourceTable(SourceTable):
    """Points that are drawn."""

    dimension: int = key(
        Number(low=1, high=100_000, whole=True), 20, words="How many features a point has."
    )
    points: int | SpreadTable = key(
        Either("a whole number >= 1 or { min, max }", count(), SubTable(SpreadTable)),
        {"min": 10, "max": 100},
        words="How many training points each agent has: a number, or bounds between which it is drawn.",
    )
    test_points: int = key(
        count(0),
        100,
        words="How many test points there are: of each agent (`separators`), or of all together (`blobs`).",
    )
    flip: float = key(
        Number(low=0, high=0.5), 0.05, words="The probability that a training label is wrong."
    )
    bias: bool = key(
        Flag(), False, words="Whether a constant feature is appended; all are then divided by √2."
    )

    def check(self, report: Report) -> None:
        """Report bounds of points that exclude each other."""
        low, high = self.bounds
        if low > high:
            report.value(self.path_to("points"), f"min must be at most max, got {low} and {high}")

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest number of points of an agent."""
        points = self.points
        return (points.min, points.max) if isinstance(points, SpreadTable) else (points, points)

    def amount(self, agents: int) -> Amount:
        total = agents * self.bounds[1]
        if self.split is not None:
            total = self.split.total(total, agents)
        return Amount(total, agents * self.test_points, self.dimension)

    def files(self, _: Folders) -> tuple[()]:
        return ()


class PooledTable(SourceTable):
    """Points that are read into one pool, of which test points are set aside and the others dealt to agents.

    `points` rows are drawn of the pool with the seed of the data; left out, all are taken. `test` is the share of test
    points, which all agents share.
    """

    points: int | None = key(
        count(), words="How many rows are drawn of the pool; left out, all are taken."
    )
    test: float = key(
        Number(low=0, below=1),
        0.2,
        words="The share of points that are set aside as test points, which all agents share.",
    )

    def pool(self, inputs: SourceInputs) -> "Pool":
        """Return every point of the source, in its own order. Raises BadData."""
        raise NotImplementedError(f"no pool is read for {self.kind!r}")

    def build(self, inputs: SourceInputs) -> "Shards":
        from scenarios.planning.datasets import dealt

        return dealt(self, self.pool(inputs), inputs)


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of data source."""

    name: str
    table: type[SourceTable]
    example: Mapping[str, Any]
    """Keys of this kind, for tests and random worlds."""
    published: "PublishedSet | None" = None
    """The published set that it reads; None where it reads or makes other points."""


SOURCES = Family(__name__, SourceKind)
