"""The kinds of loss."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import positive

if TYPE_CHECKING:
    from mechanisms.objectives import Loss


class PlainLossTable(KindTable):
    """A loss without parameters."""


class SmoothedHingeTable(KindTable):
    """The hinge, made smooth over `width`."""

    width: float = key(positive(), 0.5)


class SquaredTable(KindTable):
    """The squared error; `clip` bounds its gradient."""

    clip: float | None = key(positive())


@dataclass(frozen=True, slots=True)
class LossKind:
    """A kind of loss."""

    name: str
    table: type[KindTable]
    score: str
    """What a model is scored by: accuracy, or rmse."""
    convex: bool
    build: Callable[[Any], "Loss"]


def _logistic(_: KindTable) -> "Loss":
    from mechanisms.objectives import Logistic

    return Logistic()


def _smoothed_hinge(table: SmoothedHingeTable) -> "Loss":
    from mechanisms.objectives import SmoothedHinge

    return SmoothedHinge(table.width)


def _squared(table: SquaredTable) -> "Loss":
    from mechanisms.objectives import Squared

    return Squared(float("inf") if table.clip is None else table.clip)


def _welsch(_: KindTable) -> "Loss":
    from mechanisms.objectives import Welsch

    return Welsch()


LOSSES: Mapping[str, LossKind] = {
    kind.name: kind
    for kind in (
        LossKind("logistic", PlainLossTable, "accuracy", True, _logistic),
        LossKind("smoothed-hinge", SmoothedHingeTable, "accuracy", True, _smoothed_hinge),
        LossKind("squared", SquaredTable, "rmse", True, _squared),
        LossKind("welsch", PlainLossTable, "rmse", False, _welsch),
    )
}
