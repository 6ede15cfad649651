"""All sizes are the same, but for a remainder."""

from typing import TYPE_CHECKING

from scenarios.planning.splits import SplitKind, SplitTable

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.splits import Sizes


class EvenTable(SplitTable):
    """All sizes are the same, but for a remainder."""

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        from scenarios.planning.apportionment import apportion

        del rng
        return apportion(np.ones(agents), total)


KIND = SplitKind("even", EvenTable, example={})
