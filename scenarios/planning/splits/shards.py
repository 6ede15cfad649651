"""Points are sorted by label and cut into shards of one size; each agent gets some at random."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import count
from scenarios.planning.splits import NoSplit, PoolSplitTable, SplitKind

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.pool import Pool
    from scenarios.planning.splits import Sizes


class ShardsTable(PoolSplitTable):
    """`per_agent` shards for each agent (McMahan, Moore, Ramage, Hampson, Agüera y Arcas 2017, section 3).

    Points of one label are in random order. Sizes of shards are the same, but for a remainder of one point.
    """

    per_agent: int = key(count(), 2, words="How many shards each agent gets.")
    by = "label"
    moves_records = True

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Sort, cut, and give each agent its shards. Raises NoSplit where a shard would be empty."""
        import numpy as np

        shards = agents * self.per_agent
        if len(pool) < shards:
            raise NoSplit(
                f"{len(pool):,} points are too few for {shards:,} shards, {self.per_agent:,} for each of {agents} agents"
            )
        order = rng.permutation(len(pool))
        order = order[np.argsort(pool.y[order], kind="stable")]
        cut = np.array_split(order, shards)
        hands = rng.permutation(shards).reshape(agents, self.per_agent)
        return [np.concatenate([cut[shard] for shard in hand]) for hand in hands]


KIND = SplitKind("shards", ShardsTable, example={"per_agent": 2})
