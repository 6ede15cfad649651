"""The kinds of split: how many points, and which, each agent gets. One record in one file each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Number
from scenarios.planning.kinds import Family

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from scenarios.planning.pool import Pool

    Sizes = NDArray[np.int64]


class NoSplit(ValueError):
    """The numbers do not add up."""


class SplitTable(KindTable):
    """The parameters of a split."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        """Return how many of `total` points each agent gets: at least one each. Raises NoSplit."""
        raise NotImplementedError(f"no sizes are written for {self.kind!r}")

    def total(self, points: int, agents: int) -> int:
        """Return how many points there are, where there are `points` unless the split says it."""
        del agents
        return points

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Return which points of a pool each agent gets; no point is given twice. Raises NoSplit."""
        import numpy as np

        sizes = self.sizes(len(pool), agents, rng)
        order = rng.permutation(len(pool))
        return np.split(order[: sizes.sum()], np.cumsum(sizes)[:-1])


class PoolSplitTable(SplitTable):
    """A split that goes by what is known of each point of a pool: sizes alone do not say it."""

    by: ClassVar[str]
    """What the points are dealt by, in words."""
    moves_records: ClassVar[bool]
    """Whether a record that is replaced by another may move to another agent. There is no default."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        del total, agents, rng
        raise NoSplit(
            f"{self.kind} deals a pool of points by {self.by}; separators draw points for each agent and have no pool"
        )

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Return which points of a pool each agent gets; no point is given twice. Raises NoSplit."""
        raise NotImplementedError(f"no pool is dealt by {self.kind!r}")


def concentration() -> Any:
    """Declare the parameter of a symmetric Dirichlet distribution: small values make shares unequal."""
    return key(
        Number(above=0, least=1e-3, most=1e9),
        REQUIRED,
        words="How even the shares are: the larger, the more alike; below 1 a few agents have most.",
    )


@dataclass(frozen=True, slots=True)
class SplitKind:
    """A kind of split."""

    name: str
    table: type[SplitTable]
    example: Mapping[str, Any]
    """Keys of this kind for six agents, for tests."""


SPLITS = Family(__name__, SplitKind)
