"""Each agent gets all points of some values of a column: a real group of the source."""

from typing import TYPE_CHECKING

from scenarios.language.problems import nearest
from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Text
from scenarios.language.visible_text import visible
from scenarios.planning.splits import NoSplit, PoolSplitTable, SplitKind

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.pool import Pool
    from scenarios.planning.splits import Sizes


class ByColumnTable(PoolSplitTable):
    """The points of one value of a column stay together.

    Values go from the largest to the smallest to the agent with the fewest points so far, the first of them where
    several have as few; values of one size go in their own order. Nothing is drawn.
    """

    column: str = key(
        Text("the name of a column"),
        REQUIRED,
        words="The column whose values say who gets a point.",
    )
    by = "a column"
    moves_records = True

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Deal whole values. Raises NoSplit where there is no such column, or it has fewer values than agents."""
        import numpy as np

        del rng
        if not pool.columns:
            raise NoSplit(
                f"by-column needs a source with columns, and this one has no '{self.column}'"
            )
        if self.column not in pool.columns:
            known = [visible(name) for name in pool.columns]
            raise NoSplit(f"no column '{self.column}' to split by; {nearest(self.column, known)}")
        words = np.asarray(pool.columns[self.column]).astype(str)
        values, of = np.unique(words, return_inverse=True)
        if len(values) < agents:
            raise NoSplit(
                f"column '{self.column}' has {len(values)} different values for {agents} agents: each needs one of its own"
            )
        counts = np.bincount(of)
        sizes, owner = np.zeros(agents, dtype=np.int64), np.zeros(len(values), dtype=np.int64)
        for value in np.argsort(-counts, kind="stable"):
            owner[value] = sizes.argmin()
            sizes[owner[value]] += counts[value]
        return [np.flatnonzero(owner[of] == agent) for agent in range(agents)]


KIND = SplitKind("by-column", ByColumnTable, example={"column": "group"})
