"""Distributions of durations: latency, compute time, and the times of faults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.problems import Report
from scenarios.language.table_rules import REQUIRED, Kinds, KindTable, ShortForm, key
from scenarios.language.value_rules import Number, Text, duration
from scenarios.planning.files import BadData, Folders
from scenarios.planning.kinds import Tables

if TYPE_CHECKING:
    from clocks.durations import Duration

_LONG = duration(zero=False)
_SHAPE = Number(above=0, least=0.05, most=1e6)
"""Below, the middle of a distribution is shorter than a nanosecond or its tail longer than 285 years; above, it is constant."""


class ConstantTable(KindTable):
    """Always `value` seconds."""

    value: float = key(duration(), REQUIRED)


class UniformTable(KindTable):
    """From `min` to `max` seconds, all alike."""

    min: float = key(duration(), REQUIRED)
    max: float = key(duration(), REQUIRED)

    def check(self, report: Report) -> None:
        if self.min > self.max:
            report.value(
                self.place, f"min must be at most max, got {self.min:g} s and {self.max:g} s"
            )


class ExponentialTable(KindTable):
    """Exponential, of `mean` seconds."""

    mean: float = key(_LONG, REQUIRED)


class NormalTable(KindTable):
    """Normal, cut off at 0; in seconds."""

    mean: float = key(duration(), REQUIRED)
    std: float = key(duration(), REQUIRED)


class LognormalTable(KindTable):
    """Lognormal: `median` in seconds, `sigma` of the logarithm."""

    median: float = key(_LONG, REQUIRED)
    sigma: float = key(Number(above=0, high=20), REQUIRED)


class GammaTable(KindTable):
    """Gamma: `mean` in seconds."""

    mean: float = key(_LONG, REQUIRED)
    shape: float = key(_SHAPE, REQUIRED)


class ParetoTable(KindTable):
    """Pareto: the least in seconds, and the exponent of the tail."""

    min: float = key(_LONG, REQUIRED)
    alpha: float = key(_SHAPE, REQUIRED)


class WeibullTable(KindTable):
    """Weibull: `scale` in seconds."""

    scale: float = key(_LONG, REQUIRED)
    shape: float = key(Number(low=0.05, most=1e6), REQUIRED)


class DurationsFileTable(KindTable):
    """Durations that a file lists, in seconds, one after the other."""

    path: str = key(Text("a path"), REQUIRED)


@dataclass(frozen=True, slots=True)
class DurationKind:
    """A distribution of durations: its parameters, and how it is made of them."""

    name: str
    table: type[KindTable]
    build: Callable[[Any, Folders], "Duration"]


def _constant(table: ConstantTable, _: Folders) -> "Duration":
    from clocks.durations import Constant

    return Constant(table.value)


def _uniform(table: UniformTable, _: Folders) -> "Duration":
    from clocks.durations import uniform

    return uniform(table.min, table.max)


def _exponential(table: ExponentialTable, _: Folders) -> "Duration":
    from clocks.durations import exponential

    return exponential(table.mean)


def _normal(table: NormalTable, _: Folders) -> "Duration":
    from clocks.durations import normal

    return normal(table.mean, table.std)


def _lognormal(table: LognormalTable, _: Folders) -> "Duration":
    from clocks.durations import lognormal

    return lognormal(table.median, table.sigma)


def _gamma(table: GammaTable, _: Folders) -> "Duration":
    from clocks.durations import gamma

    return gamma(table.mean, table.shape)


def _pareto(table: ParetoTable, _: Folders) -> "Duration":
    from clocks.durations import pareto

    return pareto(table.min, table.alpha)


def _weibull(table: WeibullTable, _: Folders) -> "Duration":
    from clocks.durations import weibull

    return weibull(table.scale, table.shape)


def _trace(table: DurationsFileTable, folders: Folders) -> "Duration":
    from clocks.clock import nanoseconds
    from clocks.durations import Replayed
    from scenarios.planning.files import numbers

    path = folders.find(table.path)
    values = [float(v) for v in numbers(path).ravel()]
    if not values or not all(0 <= v < 9e9 for v in values):
        raise BadData(f"{path.name} must hold durations in seconds, at least one, none negative")
    return Replayed(tuple(nanoseconds(v) for v in values))


DURATIONS: Mapping[str, DurationKind] = {
    kind.name: kind
    for kind in (
        DurationKind("constant", ConstantTable, _constant),
        DurationKind("uniform", UniformTable, _uniform),
        DurationKind("exponential", ExponentialTable, _exponential),
        DurationKind("normal", NormalTable, _normal),
        DurationKind("lognormal", LognormalTable, _lognormal),
        DurationKind("gamma", GammaTable, _gamma),
        DurationKind("pareto", ParetoTable, _pareto),
        DurationKind("weibull", WeibullTable, _weibull),
        DurationKind("trace", DurationsFileTable, _trace),
    )
}

DURATION = Kinds("distribution", Tables(DURATIONS), ShortForm("constant", "value", duration()))
"""The rule of a duration or its distribution; 0 is allowed."""
POSITIVE_DURATION = Kinds("distribution", Tables(DURATIONS), ShortForm("constant", "value", _LONG))


def build_duration(table: KindTable, folders: Folders) -> "Duration":
    """Make a distribution of durations from its table."""
    return DURATIONS[table.kind].build(table, folders)
