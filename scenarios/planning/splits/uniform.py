"""Sizes are drawn uniformly from `min` to `max`."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import count
from scenarios.planning.splits import NoSplit, SplitKind, SplitTable

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.splits import Sizes


class UniformSplitTable(SplitTable):
    """Sizes are drawn uniformly from `min` to `max`."""

    min: int = key(count(), REQUIRED, words="The least number of points of an agent.")
    max: int = key(count(), REQUIRED, words="The largest number of points of an agent.")

    def total(self, _: int, agents: int) -> int:
        return agents * self.max

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        if self.min > self.max:
            raise NoSplit(f"min must be at most max, got {self.min} and {self.max}")
        drawn: Sizes = rng.integers(self.min, self.max, endpoint=True, size=agents)
        if drawn.sum() > total:
            raise NoSplit(f"{agents} agents drew {drawn.sum()} points, and there are {total}")
        return drawn


KIND = SplitKind("uniform", UniformSplitTable, example={"min": 2, "max": 5})
