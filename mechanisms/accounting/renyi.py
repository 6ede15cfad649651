"""Rényi curves of every law, on one grid of orders, and what (ε, δ) they give (theory.md, 5.2 to 5.4).

A curve is RDP(1 + λ) at each λ of the grid. Curves add up. The best order is chosen afterwards, so these totals are for
schedules that were fixed in advance. Every figure is an upper bound.
"""

import math
from functools import lru_cache

import numpy as np

from mechanisms.accounting import norm_gamma
from mechanisms.accounting.loss import MOST_LAWS, Key, Loss, Tally, coarsened
from mechanisms.vectors import Vector

_STEPS = 32
_LOW, _HIGH = -6, 14
LAMBDAS: Vector = 2.0 ** (np.arange(_LOW * _STEPS, _HIGH * _STEPS + 1) / _STEPS)
_ALPHAS: Vector = 1.0 + LAMBDAS
_COARSE: Vector = 2.0 ** (np.arange(8 * _HIGH + 1) / 8)
"""Orders of objective perturbation: its bound holds for λ ≥ 1."""
_ROOM = 1e-9
_BLOCK = 16
_HUGE = 1e20
"""From 1e30 on the law is narrower than doubles can tell: the pure ε stands for the curve, well before that."""


def _log_moments(loss: Vector, weights: Vector) -> Vector:
    """Ln Σ w e^{λ·loss} at every coarse order λ. e^{2λ·loss} is a square: few exponentials are taken."""
    peak = float(loss.max())
    powers = np.exp(_COARSE[:8, None] * (loss - peak))
    moments = np.empty_like(_COARSE)
    for first in range(0, len(_COARSE), 8):
        moments[first : first + 8] = (powers @ weights)[: len(_COARSE) - first]
        powers *= powers
    logs: Vector = peak * _COARSE + np.log(moments)
    return logs


def _pure(epsilon: float) -> Vector:
    """Randomised response: ±ε with probabilities e^ε/(1+e^ε) and 1/(1+e^ε): the worst of all with this ε."""
    upper, lower = LAMBDAS * epsilon, -LAMBDAS * epsilon - epsilon
    return np.asarray((np.logaddexp(upper, lower) - np.log1p(np.exp(-epsilon))) / LAMBDAS)


def _laplace(epsilon: float) -> Vector:
    """Laplace noise (Mironov 2017, Prop. 6): ln{α/(2α−1) e^{(α−1)ε} + (α−1)/(2α−1) e^{−αε}}/(α−1)."""
    first = np.log(_ALPHAS / (2 * _ALPHAS - 1)) + LAMBDAS * epsilon
    second = np.log(LAMBDAS / (2 * _ALPHAS - 1)) - _ALPHAS * epsilon
    return np.asarray(np.logaddexp(first, second) / LAMBDAS)


def _norm_gamma(epsilon: float, d: int) -> Vector:
    """Ln E e^{λ ε₀ w}/λ over the exact law (theory.md, 5.3)."""
    if epsilon > _HUGE:
        return np.full_like(LAMBDAS, epsilon)  # no divergence is larger than the pure ε
    tilts = epsilon * np.concatenate([[0.5], LAMBDAS + 0.5])
    moments = norm_gamma.log_moments(d, epsilon, tilts)
    # E e^{−L} = 1, so that small moments need no difference of large numbers: E e^{λL} from both ends
    return np.asarray(np.maximum(0.0, moments[1:] - moments[0]) / LAMBDAS)


def _objective(epsilon: float, d: int, jacobian: float) -> Vector:
    """Proposition P: ln{M(λ) − λ(1 − E e^{−L̄})}/λ, M(λ) = E e^{λL̄}; between orders by chords of ln M, which is convex."""
    if d <= 2 or jacobian >= epsilon:
        return np.full_like(LAMBDAS, epsilon)  # no more than the pure ε
    loss, weights = _worst_loss(epsilon - jacobian, d, jacobian)
    logs = _log_moments(loss, weights)
    spared = float(-np.expm1(-loss) @ weights)
    known = LAMBDAS >= 1.0
    orders = LAMBDAS[known]
    grown = np.interp(orders, _COARSE, logs)
    taken = np.minimum(orders * spared * np.exp(-grown), 1.0 - 1e-15)
    curve_values = np.full_like(LAMBDAS, epsilon)
    curve_values[known] = np.maximum(0.0, grown + np.log1p(-taken)) / orders
    curve_values[~known] = curve_values[known][0]  # RDP grows with the order
    return curve_values


def _worst_loss(reach: float, d: int, jacobian: float) -> tuple[Vector, Vector]:
    """L̄ at quadrature nodes of (ζ‖b‖, angle), and their weights, rounded up."""
    radius, of_radius = _gamma_nodes(d)
    angle, of_angle = _beta_nodes(d)
    r, u = radius[:, None], np.sin(angle)[None, :]
    grown = reach * (2.0 * r * u + reach) / (np.sqrt(r * r + 2.0 * r * u * reach + reach**2) + r)
    return (jacobian + grown).ravel(), np.outer(of_radius, of_angle).ravel()


@lru_cache(maxsize=256)
def _gamma_nodes(d: int) -> tuple[Vector, Vector]:
    """Nodes and weights of Gamma(d), the left tail counted at its end where the loss is largest."""
    low = max(0.0, d - 11.0 * math.sqrt(d))
    high = d + 11.0 * math.sqrt(d) + 60.0
    x, w = np.polynomial.legendre.leggauss(64)
    nodes = low + (high - low) * 0.5 * (x + 1.0)
    logs = (d - 1) * np.log(nodes) - nodes
    weights = w * np.exp(logs - logs.max())
    left = math.exp(-(low - d + d * math.log(d / low))) if low > 0 else 1e-300
    return np.append(nodes, 1e-300), np.append(weights / weights.sum(), max(left, 1e-300))


@lru_cache(maxsize=256)
def _beta_nodes(d: int) -> tuple[Vector, Vector]:
    """Nodes and weights of the angle φ, sin²φ ~ Beta(1, (d−2)/2): density ∝ sin φ cos^{d−3}φ."""
    end = min(math.pi / 2, 9.0 / math.sqrt(max(d - 3, 1)))
    x, w = np.polynomial.legendre.leggauss(32)
    angle = 0.5 * end * (x + 1.0)
    weights = w * np.sin(angle) * np.cos(angle) ** (d - 3)
    return np.append(angle, math.pi / 2), np.append(weights / weights.sum(), 2.6e-18)


@lru_cache(maxsize=4096)
def curve(loss: Loss) -> Vector:
    """Return RDP(1 + λ) of one loss at every λ of the grid."""
    with np.errstate(over="ignore", under="ignore"):
        values = _curve(loss)
    values = values * (1.0 + _ROOM)
    values.flags.writeable = False
    return values


def _curve(loss: Loss) -> Vector:
    law, epsilon, d, jacobian = loss
    if epsilon == 0:
        return np.zeros_like(LAMBDAS)
    if not math.isfinite(epsilon):
        return np.full_like(LAMBDAS, np.inf)
    match law:
        case "gaussian":
            return 0.5 * epsilon**2 * _ALPHAS
        case "laplace":
            return _laplace(epsilon)
        case "norm-gamma":
            return np.minimum(_norm_gamma(epsilon, d), _pure(epsilon))
        case "objective":
            return np.minimum(_objective(epsilon, d, jacobian), _pure(epsilon))
        case "pure":
            return _pure(epsilon)
        case _:
            raise ValueError(f"the noise law {law!r} has no Rényi curve")


def total(key: Key) -> Vector:
    """Return the curve of a bag of losses: block by block, since a bag that grew shares all its blocks but one with itself before."""
    if len(key) > MOST_LAWS:
        key = coarsened(key, MOST_LAWS)
    total = np.zeros_like(LAMBDAS)
    for first in range(0, len(key), _BLOCK):
        total += _block(key[first : first + _BLOCK])
    return total


@lru_cache(maxsize=1024)
def _block(key: Key) -> Vector:
    """Add up a few curves, one after the other."""
    total = np.zeros_like(LAMBDAS)
    for loss, times in key:
        total += times * curve(loss)
    total.flags.writeable = False
    return total


@lru_cache(maxsize=65536)
def _at(loss: Loss, order: int) -> float:
    """Return RDP(1 + λ) of one loss at one order, given by its place on the grid."""
    return float(curve(loss)[order])


class _Block:
    """The sum over one block of a bag: what has not changed since the last look is not added up again."""

    __slots__ = ("_before", "_key", "_sum")

    def __init__(self) -> None:
        self._key: Key = ()
        self._sum = np.zeros_like(LAMBDAS)
        self._before: Vector | None = None
        """The sum without the last loss, which may be charged again; None where another block follows."""

    def sum(self, key: Key, *, is_last: bool) -> Vector:
        """Return the sum over the block, which holds these losses now: that of `_block` to the last bit."""
        kept = len(self._key)
        if not kept and not is_last:
            self._key, self._sum = key, _block(key)
        elif key[:kept] != self._key:
            kept -= 1
            if self._before is None or len(key) <= kept or key[:kept] != self._key[:kept]:
                kept, self._before = 0, np.zeros_like(LAMBDAS)
            self._sum = self._before
        for loss, times in key[kept:] if key is not self._key else ():
            self._before = self._sum
            self._sum = self._before + times * curve(loss)
        self._key = key
        if not is_last:
            self._before = None
        return self._sum


class _Composition:
    """The sums over a large bag that grows: to the last bit those over the whole bag, whatever was looked at before."""

    __slots__ = ("_blocks", "_known", "_order", "_terms")

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._known: Key = ()
        self._order = 0
        self._terms: list[float] = []

    @classmethod
    def of(cls, bag: Tally) -> "_Composition":
        """Return that of a bag, which keeps it."""
        if not isinstance(bag.composition, cls):
            bag.composition = cls()
        return bag.composition

    def total(self, key: Key) -> Vector:
        """Return the curve of the bag, which holds these losses now."""
        firsts = range(0, len(key), _BLOCK)
        del self._blocks[len(firsts) :]  # losses were rounded to fewer
        self._blocks += [_Block() for _ in firsts[len(self._blocks) :]]
        total = np.zeros_like(LAMBDAS)
        for first, block in zip(firsts, self._blocks, strict=True):
            total += block.sum(key[first : first + _BLOCK], is_last=first == firsts[-1])
        return total

    def terms(self, key: Key, order: int) -> list[float]:
        """Return the divergence of each loss at one order, all of its releases together."""
        kept = len(self._known) if order == self._order else 0
        if key[:kept] != self._known[:kept]:
            kept = kept - 1 if key[: kept - 1] == self._known[: kept - 1] else 0
        self._terms[kept:] = [times * _at(loss, order) for loss, times in key[kept:]]
        self._known, self._order = key, order
        return self._terms


def divergence(bag: Tally, order: int, more: Loss | None = None) -> float:
    """Return the Rényi divergence of a bag, and of one more loss, at one order, given by its place on the grid.

    What is added counts as it will in the bag: as large, and with all others rounded up where it leaves no room for them.
    """
    cells = bag.cells
    terms = (
        _Composition.of(bag).terms(cells.key, order)
        if bag.is_large
        else [times * _at(loss, order) for loss, times in cells.key]
    )
    if more is None:
        return math.fsum(terms)
    cell = cells.cell(more)
    if cell is None:
        return divergence(bag.plus(more), order)
    return math.fsum((*terms, _at(cell, order)))


def _bounds(summed: Vector, delta: float) -> Vector:
    """Return RDP(α) + ln(1 − 1/α) − (ln δ + ln α)/(α − 1) at every order (Canonne, Kamath, Steinke 2020)."""
    bounds = summed + np.log(LAMBDAS / _ALPHAS) - (math.log(delta) + np.log(_ALPHAS)) / LAMBDAS
    return np.asarray(bounds)


def to_epsilon(summed: Vector, delta: float) -> float:
    """Return ε at δ of a curve, by its best order."""
    if delta <= 0:
        return math.inf
    return max(0.0, float(_bounds(summed, delta).min()))


def best_order(summed: Vector, delta: float) -> int:
    """Return where the best order of a curve stands on the grid; δ > 0."""
    return int(np.argmin(_bounds(summed, delta)))


def converted(divergence: float, order: int, delta: float) -> float:
    """Return ε at δ of a Rényi divergence at one order, given by its place on the grid; infinite where δ = 0."""
    if delta <= 0:
        return math.inf
    alpha, growth = float(_ALPHAS[order]), float(LAMBDAS[order])
    rest = math.log(growth / alpha) - (math.log(delta) + math.log(alpha)) / growth
    return max(0.0, divergence + rest)


def epsilon(bag: Tally, delta: float) -> float:
    """Return ε of a bag at δ."""
    summed = _Composition.of(bag).total(bag.coarse) if bag.is_large else total(bag.coarse)
    return to_epsilon(summed, delta)
