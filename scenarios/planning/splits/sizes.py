"""Sizes are listed, one for each agent."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, Many, key
from scenarios.language.value_rules import count
from scenarios.planning.splits import NoSplit, SplitKind, SplitTable

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.splits import Sizes


class SizesTable(SplitTable):
    """Sizes are listed, one for each agent."""

    of: list[int] = key(Many(count(), 1), REQUIRED, words="How many points each agent gets.")

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


KIND = SplitKind("sizes", SizesTable, example={"of": [1, 2, 3, 4, 5, 6]})
