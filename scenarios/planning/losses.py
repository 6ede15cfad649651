"""The kinds of loss."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import positive

if TYPE_CHECKING:
    from mechanisms.objectives import Loss


class LossTable(KindTable):
    """The parameters of a loss."""

    score: ClassVar[str]
    """What a model is scored by: accuracy, or rmse."""
    convex: ClassVar[bool]

    def build(self) -> "Loss":
        """Return the loss."""
        raise NotImplementedError(f"no loss is made for {self.kind!r}")


class LogisticTable(LossTable):
    """The logistic loss."""

    score = "accuracy"
    convex = True

    def build(self) -> "Loss":
        from mechanisms.objectives import Logistic

        return Logistic()


class SmoothedHingeTable(LossTable):
    """The hinge, made smooth over `width`."""

    score = "accuracy"
    convex = True
    width: float = key(
        positive(), 0.5, words="Over which width the corner of the hinge is made smooth."
    )

    def build(self) -> "Loss":
        from mechanisms.objectives import SmoothedHinge

        return SmoothedHinge(self.width)


class SquaredTable(LossTable):
    """The squared error; `clip` bounds its gradient."""

    score = "rmse"
    convex = True
    clip: float | None = key(
        positive(), words="The residual beyond which the loss is linear; left out, none."
    )

    def build(self) -> "Loss":
        from mechanisms.objectives import Squared

        return Squared(float("inf") if self.clip is None else self.clip)


class WelschTable(LossTable):
    """Welsch's loss, which outliers hardly move."""

    score = "rmse"
    convex = False

    def build(self) -> "Loss":
        from mechanisms.objectives import Welsch

        return Welsch()


LOSSES: Mapping[str, type[LossTable]] = {
    "logistic": LogisticTable,
    "smoothed-hinge": SmoothedHingeTable,
    "squared": SquaredTable,
    "welsch": WelschTable,
}
