"""The shares of the agents in each label are drawn from a Dirichlet distribution."""

from typing import TYPE_CHECKING

from scenarios.planning.splits import NoSplit, PoolSplitTable, SplitKind, concentration

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.pool import Pool
    from scenarios.planning.splits import Sizes


class DirichletTable(PoolSplitTable):
    """The shares of the agents in each label are drawn from a Dirichlet distribution."""

    alpha: float = concentration()
    by = "label"
    moves_records = True

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


KIND = SplitKind("dirichlet", DirichletTable, example={"alpha": 0.5})
