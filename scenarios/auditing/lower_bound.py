"""Lower bounds on a privacy loss, from observations under D and under D′: a threshold, and Clopper and Pearson's intervals.

The threshold comes from the claimed law of the loss where that is known: then all runs judge. Else it comes from one half of
the runs, and the other half judges.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting import gaussian
from mechanisms.vectors import Matrix, Vector

Statistic = tuple[str, Vector, Vector]
"""A name, and one number for each run under D and under D′."""

_GRID = 1e-6
_MOST_THRESHOLDS = 400
_TRIALS = 400
_WARY = 0.02
"""How much less may go wrong where thresholds are chosen: extremes of the first half do not come back."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a test says D: under D at least `hits`, under D′ at most `alarms`, each at its confidence."""

    hits: float
    alarms: float

    def epsilon(self, delta: float) -> float:
        """The ε that (ε, δ) would need at least: ln((hits − δ)/alarms)."""
        if self.hits <= delta or self.alarms <= 0:
            return 0.0
        return max(0.0, math.log((self.hits - delta) / self.alarms))

    def mu(self) -> float:
        """The μ that μ-GDP would need at least."""
        return max(0.0, _quantile(self.hits) - _quantile(self.alarms))


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound, the statistic and the threshold behind it."""

    value: float
    unit: str
    statistic: str = ""
    threshold: float = 0.0
    rates: Rates | None = None

    def as_epsilon(self, delta: float) -> float:
        """What the bound says of ε at δ."""
        return gaussian.epsilon(self.value, delta) if self.unit == "mu" else self.value


def _quantile(p: float) -> float:
    from scipy.special import ndtri  # 170 ms, only here

    return float(ndtri(min(max(p, 1e-300), 1.0)))


def clopper_pearson(
    hits: NDArray[Any], alarms: NDArray[Any], count: int, confidence: float
) -> tuple[Vector, Vector]:
    """Return lower ends for hits and upper ends for alarms (Clopper and Pearson 1934).

    Each has half of the probability of error.
    """
    from scipy.special import betaincinv

    error = (1.0 - confidence) / 2.0
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), count - hits + 1, error), 0.0)
    high = np.where(
        alarms < count,
        betaincinv(alarms + 1, np.maximum(count - alarms, 1e-9), 1.0 - error),
        1.0,
    )
    return low, high


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a loss is bounded in ("epsilon" at δ, or "mu"), and at which confidence."""

    unit: str
    delta: float
    confidence: float

    def at(self, confidence: float) -> "Criterion":
        """Return the same criterion at another confidence."""
        return replace(self, confidence=confidence)

    def bounds(
        self, hits: NDArray[Any], alarms: NDArray[Any], count: int
    ) -> tuple[Vector, list[Rates]]:
        """Return the bound of each test that says D in `hits` runs under D, and in `alarms` under D′, of `count` each."""
        low, high = clopper_pearson(hits, alarms, count, self.confidence)
        rates = [Rates(float(h), float(a)) for h, a in zip(low, high, strict=True)]
        values = [r.mu() if self.unit == "mu" else r.epsilon(self.delta) for r in rates]
        return np.array(values), rates


class Test:
    """Distinguishes D from D′ by one number a run. A threshold is chosen on one half of the runs and judged on the other."""

    __test__ = False  # pytest collects classes of this name

    def __init__(self, name: str, one: Vector, other: Vector, direction: float) -> None:
        self.name = name
        self._one, self._other = direction * one, direction * other
        if direction < 0:  # where D is unlikely, D′ is not
            self._one, self._other = self._other, self._one
        self._direction = direction

    def bound(
        self, half: int, thresholds: Vector, criterion: Criterion
    ) -> tuple[Vector, list[Rates]]:
        """Return the bound that each threshold gives on one half of the runs (0 or 1)."""
        one, other = np.sort(self._one[half::2]), np.sort(self._other[half::2])
        hits = len(one) - np.searchsorted(one, thresholds, side="right")
        alarms = len(other) - np.searchsorted(other, thresholds, side="right")
        return criterion.bounds(hits, alarms, len(one))

    def thresholds(self) -> Vector:
        """Return what may be a threshold: values of the first half."""
        known = np.unique(np.concatenate([self._one[::2], self._other[::2]]))
        if len(known) > _MOST_THRESHOLDS:
            known = np.quantile(known, np.linspace(0, 1, _MOST_THRESHOLDS))
        return known


def lower_bound(statistics: Iterable[Statistic], criterion: Criterion) -> Bound:
    """Choose statistic, direction and threshold on one half of the runs, and judge them on the other."""
    wary = criterion.at(1.0 - (1.0 - criterion.confidence) * _WARY)
    best: tuple[float, Test, float] | None = None
    for name, one, other in statistics:
        for direction in (1.0, -1.0):
            test = Test(name, one, other, direction)
            thresholds = test.thresholds()
            values, _ = test.bound(0, thresholds, wary)
            largest = int(np.argmax(values))
            if best is None or values[largest] > best[0]:
                best = float(values[largest]), test, float(thresholds[largest])
    if best is None:
        return Bound(0.0, criterion.unit)
    _, test, threshold = best
    values, rates = test.bound(1, np.array([threshold]), criterion)
    return Bound(float(values[0]), criterion.unit, test.name, threshold, rates[0])


Law = tuple[Vector, Vector]
"""Losses, ascending, and the probability of each under D. Under D′ −l is as likely as l under D."""


def _tails(law: Law) -> tuple[Vector, Vector, Vector]:
    """Return what may be a threshold, between two losses, and how likely a loss is above it under D and under D′."""
    losses, mass = law[0], np.maximum(law[1], 0.0)
    thresholds = 0.5 * (losses[1:] + losses[:-1])
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    hits = 1.0 - below[1:-1]
    alarms = below[np.searchsorted(losses, -thresholds, side="left")]
    return thresholds, np.clip(hits, 0.0, 1.0), np.clip(alarms, 0.0, 1.0)


def best_threshold(law: Law, runs: int, criterion: Criterion) -> float:
    """Return the threshold with the largest expected bound for losses of this law: no run is needed to choose it."""
    thresholds, hits, alarms = _tails(law)
    step = max(1, len(thresholds) // _MOST_THRESHOLDS)
    coarse, _ = criterion.bounds(runs * hits[::step], runs * alarms[::step], runs)
    at = step * int(np.argmax(coarse))
    near = slice(max(0, at - step), at + step + 1)
    fine, _ = criterion.bounds(runs * hits[near], runs * alarms[near], runs)
    return float(thresholds[near][int(np.argmax(fine))])


def bound_by_law(statistic: Statistic, law: Law, criterion: Criterion) -> Bound:
    """Judge all runs by the best threshold of a law that was known beforehand."""
    name, one, other = statistic
    at = best_threshold(law, len(one), criterion)
    hits, alarms = np.array([np.sum(one > at)]), np.array([np.sum(other > at)])
    values, rates = criterion.bounds(hits, alarms, len(one))
    return Bound(float(values[0]), criterion.unit, name, at, rates[0])


def rounded(losses: Vector) -> Vector:
    """Round a statistic: low bits of doubles show more than the mechanism does (E21)."""
    on_grid: Vector = np.rint(losses / _GRID) * _GRID
    return on_grid


def projections(one: Matrix, other: Matrix) -> tuple[Vector, Vector]:
    """Project models on the line between both means, as the first half of the runs has them."""
    one, other = rounded(one), rounded(other)
    pooled = np.concatenate([one[::2] - one[::2].mean(0), other[::2] - other[::2].mean(0)])
    spread = pooled.std(axis=0)
    gap = one[::2].mean(0) - other[::2].mean(0)
    line = gap / np.maximum(spread, 1e-12) ** 2
    # a coordinate that does not vary shows nothing, unless it differs
    line[(spread < 1e-12) & (np.abs(gap) < _GRID / 2)] = 0.0
    return one @ line, other @ line


def black_box(one: NDArray[np.float64], other: NDArray[np.float64]) -> list[Statistic]:
    """Return statistics of releases of which no law is known: arrays of runs × releases × coordinates."""

    def lengths(table: NDArray[np.float64]) -> Vector:
        return rounded(np.linalg.norm(table[:, 0], axis=1))

    def steps(table: NDArray[np.float64]) -> Vector:
        return rounded(np.linalg.norm(np.diff(table, axis=1), axis=2).min(axis=1))

    statistics = [
        ("projection of the first release", *projections(one[:, 0], other[:, 0])),
        ("norm of the first release", lengths(one), lengths(other)),
    ]
    if one.shape[1] > 1:
        whole = projections(one.reshape(len(one), -1), other.reshape(len(other), -1))
        moved = [np.diff(table, axis=1).reshape(len(table), -1) for table in (one, other)]
        statistics += [
            ("projection of all releases", *whole),
            ("projection of their sum", *projections(one.sum(axis=1), other.sum(axis=1))),
            ("projection of the steps from release to release", *projections(*moved)),
            ("shortest step from release to release", steps(one), steps(other)),
        ]
    return statistics


def power(
    law: Law,
    claimed: float,
    runs: int,
    criterion: Criterion,
    rng: np.random.Generator,
    threshold: float | None = None,
) -> float:
    """Return the probability that so many runs refute a claim, had the losses been of this law.

    All runs judge by a threshold that was known beforehand; without one, half of them judge by the best.
    """
    count = runs // 2 if threshold is None else runs
    surest, _ = criterion.bounds(np.array([count]), np.array([0]), count)
    if surest[0] <= claimed:  # not even a test that is never wrong could refute it
        return 0.0
    thresholds, hits, alarms = _tails(law)
    if threshold is None:
        at = int(np.argmax(criterion.bounds(count * hits, count * alarms, count)[0]))
    else:
        at = min(int(np.searchsorted(thresholds, threshold)), len(thresholds) - 1)
    drawn = rng.binomial(count, hits[at], _TRIALS), rng.binomial(count, alarms[at], _TRIALS)
    return float(np.mean(criterion.bounds(*drawn, count)[0] > claimed))
