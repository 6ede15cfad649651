"""Wakes at random, `rate` per second."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import rate
from scenarios.planning.clocks import ClockInputs, ClockKind

if TYPE_CHECKING:
    from clocks.activation import Activation, Barrier


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoissonTable(KindTable):
    """Wakes at random, `rate` per second."""

    rate: float = key(rate(), 1.0)


def _build(table: PoissonTable, _: ClockInputs) -> "Callable[[int], Activation | Barrier]":
    from clocks.activation import Poisson

    clock = Poisson(table.rate)
    return lambda _: clock


KIND = ClockKind(
    name="poisson",
    table=PoissonTable,
    build=_build,
    example={"rate": 1.0},
    counts_rounds=False,
    waits=False,
)
