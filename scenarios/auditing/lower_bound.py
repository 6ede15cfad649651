"""From what was seen under D and D′ to a lower bound: a threshold, and Clopper and Pearson's intervals.

The threshold comes from the claimed law of the loss where that is known: then all runs judge. Else it comes from one half of
the runs, and the other half judges.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting import gaussian
from mechanisms.vectors import Matrix, Vector

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


def between(
    hits: NDArray[Any], alarms: NDArray[Any], count: int, confidence: float
) -> tuple[Vector, Vector]:
    """Lower ends for hits, upper ends for alarms (Clopper and Pearson 1934), each with half of what may go wrong."""
    from scipy.special import betaincinv

    wrong = (1.0 - confidence) / 2.0
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), count - hits + 1, wrong), 0.0)
    high = np.where(
        alarms < count,
        betaincinv(alarms + 1, np.maximum(count - alarms, 1e-9), 1.0 - wrong),
        1.0,
    )
    return low, high


class Test:
    """Distinguishes D from D′ by one number a run; what it is worth is told by the other half of the runs."""

    __test__ = False  # pytest collects what is called so

    def __init__(self, name: str, one: Vector, other: Vector, direction: float) -> None:
        self.name = name
        self._one, self._other = direction * one, direction * other
        if direction < 0:  # where D is unlikely, D′ is not
            self._one, self._other = self._other, self._one
        self._direction = direction

    def _count(self, thresholds: Vector, half: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        one, other = np.sort(self._one[half::2]), np.sort(self._other[half::2])
        hits = len(one) - np.searchsorted(one, thresholds, side="right")
        alarms = len(other) - np.searchsorted(other, thresholds, side="right")
        return hits, alarms

    def bound(
        self, half: int, threshold: Vector, unit: str, delta: float, confidence: float
    ) -> tuple[Vector, list[Rates]]:
        """Return what each threshold would give on one half."""
        hits, alarms = self._count(threshold, half)
        count = len(self._one[half::2])
        low, high = between(hits, alarms, count, confidence)
        rates = [Rates(float(h), float(a)) for h, a in zip(low, high, strict=True)]
        values = [r.mu() if unit == "mu" else r.epsilon(delta) for r in rates]
        return np.array(values), rates

    def thresholds(self) -> Vector:
        """Return what may be a threshold: values of the first half."""
        known = np.unique(np.concatenate([self._one[::2], self._other[::2]]))
        if len(known) > _MOST_THRESHOLDS:
            known = np.quantile(known, np.linspace(0, 1, _MOST_THRESHOLDS))
        return known


def lower_bound(
    statistics: Iterable[tuple[str, Vector, Vector]],
    *,
    unit: str,
    delta: float,
    confidence: float,
) -> Bound:
    """Choose statistic, direction and threshold on one half of the runs, and judge them on the other."""
    best: tuple[float, Test, float] | None = None
    for name, one, other in statistics:
        for direction in (1.0, -1.0):
            test = Test(name, one, other, direction)
            at = test.thresholds()
            values, _ = test.bound(0, at, unit, delta, 1.0 - (1.0 - confidence) * _WARY)
            found = int(np.argmax(values))
            if best is None or values[found] > best[0]:
                best = float(values[found]), test, float(at[found])
    if best is None:
        return Bound(0.0, unit)
    _, test, threshold = best
    values, rates = test.bound(1, np.array([threshold]), unit, delta, confidence)
    return Bound(float(values[0]), unit, test.name, threshold, rates[0])


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


def _expected(
    hits: Vector, alarms: Vector, unit: str, delta: float, runs: int, confidence: float
) -> Vector:
    """Return about what bound a test gives that is right and wrong so often."""
    low, high = between(runs * hits, runs * alarms, runs, confidence)
    rates = [Rates(float(h), float(a)) for h, a in zip(low, high, strict=True)]
    return np.array([r.mu() if unit == "mu" else r.epsilon(delta) for r in rates])


def best_threshold(law: Law, *, unit: str, delta: float, runs: int, confidence: float) -> float:
    """Return the threshold that would tell most if the losses were of this law: no run is needed to choose it."""
    thresholds, hits, alarms = _tails(law)
    step = max(1, len(thresholds) // _MOST_THRESHOLDS)
    coarse = _expected(hits[::step], alarms[::step], unit, delta, runs, confidence)
    at = step * int(np.argmax(coarse))
    near = slice(max(0, at - step), at + step + 1)
    fine = _expected(hits[near], alarms[near], unit, delta, runs, confidence)
    return float(thresholds[near][int(np.argmax(fine))])


def bound_by_law(
    statistic: tuple[str, Vector, Vector],
    law: Law,
    *,
    unit: str,
    delta: float,
    confidence: float,
) -> Bound:
    """Judge all runs by the best threshold of a law that was known beforehand."""
    name, one, other = statistic
    at = best_threshold(law, unit=unit, delta=delta, runs=len(one), confidence=confidence)
    hits, alarms = np.array([np.sum(one > at)]), np.array([np.sum(other > at)])
    low, high = between(hits, alarms, len(one), confidence)
    rates = Rates(float(low[0]), float(high[0]))
    return Bound(rates.mu() if unit == "mu" else rates.epsilon(delta), unit, name, at, rates)


def rounded(losses: Vector) -> Vector:
    """Round a statistic: low bits of doubles say more than the mechanism does (E21)."""
    found: Vector = np.rint(losses / _GRID) * _GRID
    return found


def projections(one: Matrix, other: Matrix) -> tuple[Vector, Vector]:
    """Project models on the line between both means, as the first half of the runs has them."""
    one, other = np.rint(one / _GRID) * _GRID, np.rint(other / _GRID) * _GRID
    pooled = np.concatenate([one[::2] - one[::2].mean(0), other[::2] - other[::2].mean(0)])
    spread = pooled.std(axis=0)
    gap = one[::2].mean(0) - other[::2].mean(0)
    line = gap / np.maximum(spread, 1e-12) ** 2
    line[(spread < 1e-12) & (np.abs(gap) < _GRID / 2)] = (
        0.0  # what does not vary tells nothing, unless it differs
    )
    return one @ line, other @ line


def black_box(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> list[tuple[str, Vector, Vector]]:
    """Return statistics of releases of which no law is known: arrays of runs × releases × coordinates."""

    def lengths(table: NDArray[np.float64]) -> Vector:
        return rounded(np.linalg.norm(table[:, 0], axis=1))

    def steps(table: NDArray[np.float64]) -> Vector:
        return rounded(np.linalg.norm(np.diff(table, axis=1), axis=2).min(axis=1))

    found = [
        ("projection of the first release", *projections(one[:, 0], other[:, 0])),
        ("norm of the first release", lengths(one), lengths(other)),
    ]
    if one.shape[1] > 1:
        whole = projections(one.reshape(len(one), -1), other.reshape(len(other), -1))
        moved = [np.diff(table, axis=1).reshape(len(table), -1) for table in (one, other)]
        found += [
            ("projection of all releases", *whole),
            ("projection of their sum", *projections(one.sum(axis=1), other.sum(axis=1))),
            ("projection of the steps from release to release", *projections(*moved)),
            ("shortest step from release to release", steps(one), steps(other)),
        ]
    return found


def power(
    law: Law,
    claimed: float,
    *,
    unit: str,
    delta: float,
    runs: int,
    confidence: float,
    rng: np.random.Generator,
    threshold: float | None = None,
) -> float:
    """How likely so many runs were to refute a claim, had the losses been of this law.

    All runs judge by a threshold that was known beforehand; without one, half of them judge by the best.
    """
    count = runs // 2 if threshold is None else runs
    if not _could(claimed, count, unit, delta, confidence):
        return 0.0
    thresholds, hits, alarms = _tails(law)
    if threshold is None:
        at = int(np.argmax(_expected(hits, alarms, unit, delta, count, confidence)))
    else:
        at = min(int(np.searchsorted(thresholds, threshold)), len(thresholds) - 1)
    seen = rng.binomial(count, hits[at], _TRIALS), rng.binomial(count, alarms[at], _TRIALS)
    low, high = between(*seen, count, confidence)
    told = [Rates(float(h), float(a)) for h, a in zip(low, high, strict=True)]
    refuted = [(r.mu() if unit == "mu" else r.epsilon(delta)) > claimed for r in told]
    return float(np.mean(refuted))


def _could(claimed: float, count: int, unit: str, delta: float, confidence: float) -> bool:
    """Whether a test that is never wrong could refute the claim with so many runs."""
    low, high = between(np.array([count]), np.array([0]), count, confidence)
    best = Rates(float(low[0]), float(high[0]))
    return (best.mu() if unit == "mu" else best.epsilon(delta)) > claimed
