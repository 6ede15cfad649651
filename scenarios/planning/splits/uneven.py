"""Sizes grow geometrically; `ratio` is largest over smallest."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import LARGEST, Number
from scenarios.planning.splits import SplitKind, SplitTable

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.planning.splits import Sizes


class UnevenTable(SplitTable):
    """Sizes grow geometrically; `ratio` is largest over smallest."""

    ratio: float = key(
        Number(low=1, most=LARGEST),
        REQUIRED,
        words="The largest number of points over the smallest.",
    )

    def sizes(self, total: int, agents: int, rng: "Generator") -> "Sizes":
        import numpy as np

        from scenarios.planning.apportionment import apportion

        del rng
        return apportion(np.geomspace(1.0, self.ratio, agents)[::-1], total)


KIND = SplitKind("uneven", UnevenTable, example={"ratio": 4.0})
