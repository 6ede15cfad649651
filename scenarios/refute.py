"""From what was seen under D and D′ to a lower bound: a threshold from one half, Clopper and Pearson on the other."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

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
    hits: NDArray[np.int64], alarms: NDArray[np.int64], count: int, confidence: float
) -> tuple[Vector, Vector]:
    """Lower ends for hits, upper ends for alarms (Clopper and Pearson 1934), each with half of what may go wrong."""
    from scipy.special import betaincinv

    wrong = (1.0 - confidence) / 2.0
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), count - hits + 1, wrong), 0.0)
    high = np.where(
        alarms < count,
        betaincinv(alarms + 1, np.maximum(count - alarms, 1), 1.0 - wrong),
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


def rounded(losses: Vector) -> Vector:
    """Round a statistic: low bits of doubles say more than the mechanism does (E21)."""
    found: Vector = np.rint(losses / _GRID) * _GRID
    return found


def projections(one: Matrix, other: Matrix) -> tuple[Vector, Vector]:
    """Project models on the line between both means, as the first half of the runs has them."""
    one, other = np.rint(one / _GRID) * _GRID, np.rint(other / _GRID) * _GRID
    pooled = np.concatenate([one[::2] - one[::2].mean(0), other[::2] - other[::2].mean(0)])
    spread = pooled.std(axis=0)
    line = (one[::2].mean(0) - other[::2].mean(0)) / np.maximum(spread, 1e-12) ** 2
    line[spread < 1e-12] = 0.0
    return one @ line, other @ line


def power(
    law: tuple[Vector, Vector],
    claimed: float,
    *,
    unit: str,
    delta: float,
    runs: int,
    confidence: float,
    rng: np.random.Generator,
) -> float:
    """How likely so many runs were to refute a claim, had the losses been of this law: values, and their mass under D."""
    count = runs // 2
    if not _could(claimed, count, unit, delta, confidence):
        return 0.0
    losses, mass = law[0], np.maximum(law[1], 0.0)
    below = np.concatenate([[0.0], np.cumsum(mass)])
    hits = np.clip(1.0 - below[1:] / below[-1], 0.0, 1.0)
    # every law here is its own mirror image: above l under D′ is below −l under D
    alarms = np.clip(below[np.searchsorted(losses, -losses, side="left")] / below[-1], 0.0, 1.0)
    low, high = between(
        np.rint(hits * count).astype(np.int64),
        np.rint(alarms * count).astype(np.int64),
        count,
        confidence,
    )
    values = [Rates(float(h), float(a)) for h, a in zip(low, high, strict=True)]
    aimed = [r.mu() if unit == "mu" else r.epsilon(delta) for r in values]
    at = int(np.argmax(aimed))
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
