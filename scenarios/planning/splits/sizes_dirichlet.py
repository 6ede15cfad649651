"""The share of each agent is drawn from a Dirichlet distribution."""

from typing import TYPE_CHECKING

from scenarios.planning.splits import SplitKind, SplitTable, concentration

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.splits import Sizes


class DirichletSizesTable(SplitTable):
    """The share of each agent is drawn from a Dirichlet distribution."""

    alpha: float = concentration()

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        from scenarios.planning.apportionment import apportion

        return apportion(rng.dirichlet(np.full(agents, self.alpha)), total)


KIND = SplitKind("sizes-dirichlet", DirichletSizesTable, example={"alpha": 1.0})
