"""The kinds of split: how many points, and which, each agent gets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, Many, key
from scenarios.language.value_rules import LARGEST, Number, count

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


class EvenTable(SplitTable):
    """All sizes are the same, but for a remainder."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        del rng
        return _apportion(np.ones(agents), total)


class UnevenTable(SplitTable):
    """Sizes grow geometrically; `ratio` is largest over smallest."""

    ratio: float = key(Number(low=1, most=LARGEST), REQUIRED)

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        del rng
        return _apportion(np.geomspace(1.0, self.ratio, agents)[::-1], total)


class UniformSplitTable(SplitTable):
    """Sizes are drawn uniformly from `min` to `max`."""

    min: int = key(count(), REQUIRED)
    max: int = key(count(), REQUIRED)

    def total(self, _: int, agents: int) -> int:
        return agents * self.max

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        if self.min > self.max:
            raise NoSplit(f"min must be at most max, got {self.min} and {self.max}")
        drawn: Sizes = rng.integers(self.min, self.max, endpoint=True, size=agents)
        if drawn.sum() > total:
            raise NoSplit(f"{agents} agents drew {drawn.sum()} points, and there are {total}")
        return drawn


class SizesTable(SplitTable):
    """Sizes are listed, one for each agent."""

    of: list[int] = key(Many(count(), 1), REQUIRED)

    def total(self, _points: int, _agents: int) -> int:
        return sum(self.of)

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        del rng
        given = np.array(self.of, dtype=np.int64)
        if len(given) != agents:
            raise NoSplit(f"'of' has {len(given)} sizes for {agents} agents")
        if given.sum() > total:
            raise NoSplit(f"the sizes add up to {given.sum()}, and there are {total} points")
        return given


class DirichletSizesTable(SplitTable):
    """The share of each agent is drawn from a Dirichlet distribution."""

    alpha: float = key(Number(above=0, least=1e-3, most=1e9), REQUIRED)

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        return _apportion(rng.dirichlet(np.full(agents, self.alpha)), total)


class DirichletTable(DirichletSizesTable):
    """The shares of the agents in each label are drawn from a Dirichlet distribution."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        del total, agents, rng
        raise NoSplit(
            f"{self.kind} shares out a pool by label; each separator has points of its own"
        )

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Share out each label's points by a Dirichlet draw; an agent that got none takes one of the most."""
        import numpy as np

        labels = pool.y
        if len(labels) < agents:
            raise NoSplit(f"{len(labels)} points are too few for {agents} agents")
        parts: list[list[int]] = [[] for _ in range(agents)]
        for label in np.unique(labels):
            points = rng.permutation(np.flatnonzero(labels == label))
            shares = rng.dirichlet(np.full(agents, self.alpha))
            cuts = np.round(np.cumsum(shares)[:-1] * len(points))
            for part, dealt in zip(parts, np.split(points, cuts.astype(np.int64)), strict=True):
                part.extend(dealt.tolist())
        for part in parts:
            if not part:
                part.append(max(parts, key=len).pop())
        return [np.array(part, dtype=np.int64) for part in parts]


class ByUserTable(SplitTable):
    """Each agent gets the points of one user."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        del total, agents, rng
        raise NoSplit("by-user needs a data source that knows its users")


def _apportion(shares: "NDArray[np.float64]", total: int) -> "Sizes":
    """Give each agent one point and the rest by largest remainder: sizes add up to the total."""
    import numpy as np

    n = len(shares)
    if total < n:
        raise NoSplit(f"{total} points are too few for {n} agents")
    exact = shares / shares.sum() * (total - n)
    floor: Sizes = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[: total - n - int(floor.sum())]] += 1
    return floor + 1


SPLITS: Mapping[str, type[SplitTable]] = {
    "even": EvenTable,
    "uneven": UnevenTable,
    "uniform": UniformSplitTable,
    "sizes": SizesTable,
    "dirichlet": DirichletTable,
    "sizes-dirichlet": DirichletSizesTable,
    "by-user": ByUserTable,
}
