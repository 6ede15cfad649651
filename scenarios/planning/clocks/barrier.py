"""Wakes when the share `quorum` of the neighbours was heard, or `timeout` seconds after the last wake."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Number, duration
from scenarios.planning.clocks import ClockInputs, ClockKind, ClockTable

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


class BarrierTable(ClockTable):
    """Wakes when the share `quorum` of the neighbours was heard, or `timeout` seconds after the last wake."""

    timeout: float | None = key(
        duration(zero=False),
        words="After how many seconds an agent no longer waits for its neighbours. Required where messages can be lost.",
    )
    quorum: float = key(
        Number(above=0, high=1), 1.0, words="The share of live neighbours that an agent waits for."
    )

    def clocks(self, _: ClockInputs) -> "Callable[[int], Activation | Barrier]":
        from clocks.activation import Barrier

        clock = Barrier(self.timeout, self.quorum)
        return lambda _: clock


KIND = ClockKind(
    name="barrier",
    table=BarrierTable,
    example={"timeout": 5.0},
    counts_rounds=True,
    waits=True,
)
