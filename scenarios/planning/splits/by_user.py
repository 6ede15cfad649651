"""Each agent gets the points of one user."""

from typing import TYPE_CHECKING

from scenarios.planning.splits import NoSplit, PoolSplitTable, SplitKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from scenarios.planning.pool import Pool
    from scenarios.planning.splits import Sizes


class ByUserTable(PoolSplitTable):
    """Each agent gets the points of one user; where there are more users than agents, some are drawn."""

    by = "user"
    moves_records = False

    def deal(self, pool: "Pool", agents: int, rng: "Generator") -> "list[Sizes]":
        """Deal the points of users, who are agents in the order of their numbers. Raises NoSplit."""
        import numpy as np

        if pool.users is None:
            raise NoSplit("by-user needs a data source that knows its users, such as movielens")
        return [
            np.flatnonzero(pool.users == user) for user in chosen(pool.users, agents, rng).tolist()
        ]


def chosen(users: "NDArray[np.int64]", agents: int, rng: "Generator") -> "NDArray[np.int64]":
    """Return the user of each agent, of those that any point has: all of them, or as many as there are agents.

    Nothing is drawn where there are as many users as agents. Raises NoSplit where there are fewer.
    """
    import numpy as np

    known = np.unique(users)
    if len(known) < agents:
        raise NoSplit(
            f"there are {len(known):,} users for {agents:,} agents: each needs one of its own"
        )
    if len(known) == agents:
        return known
    return np.sort(rng.choice(known, agents, replace=False))


KIND = SplitKind("by-user", ByUserTable, example={})
