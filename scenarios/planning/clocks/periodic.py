"""Wakes every `period` seconds, with jitter and drift."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Number, duration
from scenarios.planning.clocks import ClockInputs, ClockKind, ClockTable

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


class PeriodicTable(ClockTable):
    """Wakes every `period` seconds, with jitter and drift."""

    period: float = key(
        duration(zero=False), "1s", words="From one wake of an agent to the next, in seconds."
    )
    jitter: float = key(
        duration(), "0s", words="By how much a wake may be late at most, in seconds."
    )
    drift: float = key(
        Number(above=-1, high=10), 0.0, words="By what share the clock runs too fast."
    )

    def clocks(self, _: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        from clocks.activation import Periodic

        clock = Periodic(self.period, self.jitter, self.drift)
        return lambda _: clock


KIND = ClockKind(
    name="periodic",
    table=PeriodicTable,
    example={"period": 1.0, "jitter": 0.2},
    counts_rounds=False,
    waits=False,
)
