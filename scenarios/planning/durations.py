"""Distributions of durations: latency, compute time, and the times of faults."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scenarios.language.problems import Report
from scenarios.language.table_rules import REQUIRED, Kinds, KindTable, ShortForm, key
from scenarios.language.value_rules import Number, Text, duration
from scenarios.planning.files import BadData, Folders

if TYPE_CHECKING:
    from clocks.durations import Duration

_LONG = duration(zero=False)
_SHAPE = Number(above=0, least=0.05, most=1e6)
"""Below, the middle of a distribution is shorter than a nanosecond or its tail longer than 285 years; above, it is constant."""


class DurationTable(KindTable):
    """The parameters of a distribution."""

    def law(self, folders: Folders) -> "Duration":
        """Return the distribution; `folders` may hold a file that the table names. Raises BadData."""
        raise NotImplementedError(f"no distribution is made for {self.kind!r}")


class ConstantTable(DurationTable):
    """Always `value` seconds."""

    value: float = key(duration(), REQUIRED, words="The value, in seconds.")

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import Constant

        return Constant(self.value)


class UniformTable(DurationTable):
    """Equally likely from `min` to `max` seconds."""

    min: float = key(duration(), REQUIRED, words="The least value, in seconds.")
    max: float = key(duration(), REQUIRED, words="The largest value, in seconds.")

    def check(self, report: Report) -> None:
        if self.min > self.max:
            report.value(
                self.place, f"min must be at most max, got {self.min:g} s and {self.max:g} s"
            )

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import uniform

        return uniform(self.min, self.max)


class ExponentialTable(DurationTable):
    """Memoryless, of `mean` seconds: P(T > t) = exp(−t/mean)."""

    mean: float = key(_LONG, REQUIRED, words="The mean, in seconds.")

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import exponential

        return exponential(self.mean)


class NormalTable(DurationTable):
    """Normal of `mean` and `std` seconds; what would be negative is 0."""

    mean: float = key(duration(), REQUIRED, words="The mean, in seconds; draws below 0 are 0.")
    std: float = key(duration(), REQUIRED, words="The standard deviation, in seconds.")

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import normal

        return normal(self.mean, self.std)


class LognormalTable(DurationTable):
    """The logarithm is normal: `median` in seconds, `sigma` the standard deviation of the natural logarithm."""

    median: float = key(_LONG, REQUIRED, words="The median, in seconds.")
    sigma: float = key(
        Number(above=0, high=20), REQUIRED, words="The standard deviation of the logarithm."
    )

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import lognormal

        return lognormal(self.median, self.sigma)


class GammaTable(DurationTable):
    """Gamma of `mean` seconds: the sum of `shape` exponential stages; a small `shape` has a long tail."""

    mean: float = key(_LONG, REQUIRED, words="The mean, in seconds.")
    shape: float = key(
        _SHAPE, REQUIRED, words="The shape: 1 is exponential, larger ones vary less."
    )

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import gamma

        return gamma(self.mean, self.shape)


class ParetoTable(DurationTable):
    """Heavy-tailed from `min` seconds on: P(T > t) = (min/t)^alpha.

    The mean is min·alpha/(alpha − 1), and infinite where `alpha` is at most 1. Quantiles are cut off at 1 − 2^−32.
    """

    min: float = key(_LONG, REQUIRED, words="The least value, in seconds.")
    alpha: float = key(
        _SHAPE, REQUIRED, words="The exponent of the tail: the smaller, the heavier."
    )

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import pareto

        return pareto(self.min, self.alpha)


class WeibullTable(DurationTable):
    """Weibull of `scale` seconds: P(T > t) = exp(−(t/scale)^shape); below `shape` 1 it has a long tail."""

    scale: float = key(_LONG, REQUIRED, words="The scale, in seconds.")
    shape: float = key(
        Number(low=0.05, most=1e6),
        REQUIRED,
        words="The shape: 1 is exponential, below 1 has a heavier tail.",
    )

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import weibull

        return weibull(self.scale, self.shape)


class DurationsFileTable(DurationTable):
    """Durations that a file lists, in seconds, one after the other."""

    path: str = key(
        Text("a path"),
        REQUIRED,
        words="A text file of durations in seconds, replayed in order and again from the start.",
    )

    def law(self, folders: Folders) -> "Duration":
        from clocks.clock import nanoseconds
        from clocks.durations import Replayed
        from scenarios.planning.files import numbers

        path = folders.find(self.path)
        values = [float(v) for v in numbers(path).ravel()]
        if not values or not all(0 <= v < 9e9 for v in values):
            wanted = f"{path.name} must hold durations in seconds, at least one, none negative"
            raise BadData(wanted)
        return Replayed(tuple(nanoseconds(v) for v in values))


DURATIONS: Mapping[str, type[DurationTable]] = {
    "constant": ConstantTable,
    "uniform": UniformTable,
    "exponential": ExponentialTable,
    "normal": NormalTable,
    "lognormal": LognormalTable,
    "gamma": GammaTable,
    "pareto": ParetoTable,
    "weibull": WeibullTable,
    "trace": DurationsFileTable,
}

DURATION = Kinds("distribution", DURATIONS, ShortForm("constant", "value", duration()))
"""The rule of a duration or its distribution; 0 is allowed."""
POSITIVE_DURATION = Kinds("distribution", DURATIONS, ShortForm("constant", "value", _LONG))
