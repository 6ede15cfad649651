"""Wakes every `period` seconds, all agents at once."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import duration
from scenarios.planning.clocks import ClockInputs, ClockKind, ClockTable

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


class SynchronousTable(ClockTable):
    """Wakes every `period` seconds, all agents at once."""

    period: float = key(
        duration(zero=False), "1s", words="From one wake of all agents to the next, in seconds."
    )

    def clocks(self, _: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        from clocks.activation import Synchronous

        clock = Synchronous(self.period)
        return lambda _: clock


KIND = ClockKind(
    name="synchronous",
    table=SynchronousTable,
    example={"period": 1.0},
    counts_rounds=True,
    waits=False,
)
