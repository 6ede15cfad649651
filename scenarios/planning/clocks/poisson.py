"""Wakes at random, `rate` per second."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import rate
from scenarios.planning.clocks import ClockInputs, ClockKind, ClockTable

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


class PoissonTable(ClockTable):
    """Wakes at random, `rate` per second."""

    rate: float = key(rate(), 1.0, words="The mean number of wakes a second.")

    def clocks(self, _: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        from clocks.activation import Poisson

        clock = Poisson(self.rate)
        return lambda _: clock


KIND = ClockKind(
    name="poisson",
    table=PoissonTable,
    example={"rate": 1.0},
    counts_rounds=False,
    waits=False,
)
