"""Numerical composition of privacy loss distributions (theory.md, 5.2 and 5.3), by our own engine: NumPy and nothing else.

A loss L is discretised on a grid with step h so that its δ(ε) = E[(1 − e^{ε−L})₊] is met at the grid's points and exceeded
between them ("connect the dots", Doroshenko et al. 2022): the mass m and the mass r = E[e^{−L}; cell] of a cell [a, a + h]
are moved to its two ends, so that both are kept. All laws here are symmetric pairs, e^{−l}p(l) = p(−l), so that r of a cell is
the mass of its mirror image. Sums of independent losses are products of transforms. What the transform leaves out is added
to the mass at infinity: every figure is an upper bound.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mechanisms.accounting import norm_gamma
from mechanisms.accounting.loss import Cells, Key, Loss, Tally, plain
from mechanisms.vectors import Vector

_FINE, _ADDED = 24.0, math.sqrt(6 * 0.002)
_FEW_POINTS, _MOST_POINTS = 8192, 200_000
_HUGE, _TINY, _ERROR = 200.0, 1e-9, 1e-16
"""Of a loss above the first there is no claim here, and one below the second is counted as that; δ is told to the third."""
_LARGEST = 709.0
"""e^709 is nearly the largest double: of larger losses nothing is proved."""
_LEFT_OUT = 1e-17
"""The mass of each tail that lies outside of the window of a transform."""
_LOG_LEFT_OUT = -math.log(_LEFT_OUT)
_TILTS = np.array([0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0])
"""Multiples of a Gaussian's best tilt at which tails are bounded: each gives a valid bound."""
_CUT = 9.0
"""Gaussian losses end so many deviations from their mean: 1e-19 of mass is beyond, and counts as infinite."""
_SMALL = 1 << 15
"""Transforms of so many points at most are kept: half a megabyte each."""
_MOST_LAWS = 128
"""More different laws than these are rounded up to so many."""


class Discrete(NamedTuple):
    """Masses at the points (first + i)·step, and how much mass lies at infinity."""

    step: float
    first: int
    mass: Vector
    infinite: float

    @property
    def losses(self) -> Vector:
        points = np.arange(self.first, self.first + len(self.mass), dtype=np.float64)
        return points * self.step


@lru_cache(maxsize=4096)
def _spread(loss: Loss) -> float:
    """Return about the standard deviation of a loss."""
    match loss.law:
        case "gaussian":
            return loss.epsilon
        case "norm-gamma":
            return norm_gamma.spread(loss.d, loss.epsilon)
        case "pure" | "laplace":
            return loss.epsilon / (1.0 + 0.25 * loss.epsilon)
        case other:
            raise ValueError(f"no numerical law {other!r}")


def _reach(key: Key) -> float:
    """Return about how far the sum of all losses lies from 0."""
    squares = sum(times * _spread(loss) ** 2 for loss, times in key)
    return 0.5 * squares + 12.0 * math.sqrt(squares) + 0.1


def _step(key: Key) -> float:
    """Return a step that meets the atoms of the first law that has any: fine for the narrowest where that takes few points.

    A grid of step h adds about h²/6 to the variance of each loss. Where points are many, h is such that this is 0.2 % of
    the whole. Atoms that lie nearer to 0 than the finest grid set none: there would be millions of points for nothing.
    """
    spreads = [(_spread(loss), times) for loss, times in key]
    mean_square = sum(times * s * s for s, times in spreads) / sum(times for _, times in spreads)
    reach = 2.0 * _reach(key)
    enough = min(_ADDED * math.sqrt(mean_square), reach / _FEW_POINTS)
    finest = max(reach / _MOST_POINTS, 1e-7)
    wanted = max(min(s for s, _ in spreads) / _FINE, enough, finest)
    wanted = 2.0 ** math.floor(math.log2(wanted))
    for loss, _ in key:
        if loss.law != "gaussian" and loss.epsilon >= finest:
            return float(loss.epsilon / math.ceil(loss.epsilon / wanted))
    return float(wanted)


def _masses(loss: Loss, edges: Vector) -> Vector:
    """Return the mass of a loss between ascending edges −Kh … Kh, which hold all of it but a Gaussian's tails."""
    epsilon = loss.epsilon
    match loss.law:
        case "norm-gamma":
            return norm_gamma.masses(loss.d, epsilon, np.clip(edges / epsilon, -1.0, 1.0))
        case "laplace":  # ½ at ε₀, ½e^{−ε₀} at −ε₀, and e^{(l−ε₀)/2}/4 between them
            inside = np.clip(edges, -epsilon, epsilon)
            masses = 0.5 * np.exp((inside[:-1] - epsilon) / 2.0) * np.expm1(np.diff(inside) / 2.0)
            masses[-1] += 0.5
            masses[0] += 0.5 * math.exp(-epsilon)
            return np.asarray(masses)
        case "pure":
            masses = np.zeros(len(edges) - 1)
            masses[-1] = 1.0 / (1.0 + math.exp(-epsilon))
            masses[0] = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
            return masses
        case "gaussian":  # N(μ²/2, μ²)
            at = (edges - 0.5 * epsilon * epsilon) / epsilon
            tails = np.array([math.erfc(abs(x) / math.sqrt(2.0)) / 2.0 for x in at.tolist()])
            left = at[:-1]
            masses = np.where(at[1:] <= 0, np.diff(tails), -np.diff(tails))
            crossing = (left < 0) & (at[1:] > 0)
            masses[crossing] = (1.0 - tails[:-1] - tails[1:])[crossing]
            return np.asarray(masses)
        case other:
            raise ValueError(f"no numerical law {other!r}")


@lru_cache(maxsize=256)
def _one(loss: Loss, step: float) -> Discrete:
    """Discretise one loss: δ(ε) is met at the points of the grid, and exceeded between them."""
    width, infinite = loss.epsilon, 0.0
    if loss.law == "gaussian":
        width = 0.5 * loss.epsilon**2 + _CUT * loss.epsilon
        infinite = 0.5 * math.erfc(_CUT / math.sqrt(2.0))
    last = max(1, math.ceil(width / step - 1e-9))
    lower = np.arange(-last, last) * step
    mass = _masses(loss, np.append(lower, last * step))
    mirrored = mass[::-1]
    upwards = (mass - mirrored * np.exp(lower)) / -math.expm1(-step)
    upwards = np.clip(upwards, 0.0, mass)
    on_grid = np.zeros(2 * last + 1)
    on_grid[1:] += upwards
    on_grid[:-1] += mass - upwards
    on_grid *= (1.0 - infinite) / on_grid.sum()
    return Discrete(step, -last, on_grid, infinite)


def _growth(parts: list[tuple[Discrete, int]], tilt: float) -> float:
    """Return ln E e^{tilt·L} of the sum, its mass at infinity left out."""
    total = 0.0
    for part, times in parts:
        exponents = tilt * part.losses
        peak = float(exponents.max())
        total += times * (peak + math.log(float(np.exp(exponents - peak) @ part.mass)))
    return total


def _window(parts: list[tuple[Discrete, int]]) -> tuple[int, int]:
    """Return the first and last point between which all but `_LEFT_OUT` of each tail of the sum lies."""
    step = parts[0][0].step
    lowest = sum(times * part.first for part, times in parts)
    highest = sum(times * (part.first + len(part.mass) - 1) for part, times in parts)
    variance = 0.0
    for part, times in parts:
        mean = float(part.mass @ part.losses)
        variance += times * float(part.mass @ (part.losses - mean) ** 2)
    best = math.sqrt(2.0 * _LOG_LEFT_OUT / max(variance, 1e-300))
    above = min((_growth(parts, t) + _LOG_LEFT_OUT) / t for t in best * _TILTS)
    below = max((-_growth(parts, -t) - _LOG_LEFT_OUT) / t for t in best * _TILTS)
    return max(lowest, math.floor(below / step)), min(highest, math.ceil(above / step))


def _smooth_length(least: int) -> int:
    """Return a length of at least so many points whose transform is fast."""
    power = 1 << max(0, (least - 1).bit_length())
    return next(n for n in (5 * power // 8, 3 * power // 4, power) if n >= least)


def _transform(loss: Loss, step: float, length: int) -> Vector:
    """Return the transform of the masses of a loss, wrapped around a circle of so many points."""
    line = _one(loss, step).mass
    if len(line) > length:
        line = np.append(line, np.zeros(-len(line) % length)).reshape(-1, length).sum(axis=0)
    return np.asarray(np.fft.rfft(line, length))


def _power(transform: Vector, times: int) -> Vector:
    """Return transform^times by squaring, which keeps more digits than logarithms do."""
    product: Vector | None = None
    while True:
        if times & 1:
            product = transform if product is None else product * transform
        times >>= 1
        if not times:
            assert product is not None, "at least one release"  # noqa: S101
            return product
        transform = transform * transform


def _product(key: Key, step: float, length: int) -> Vector:
    """Return the transform of the sum of all losses of a bag."""
    if length <= _SMALL:
        return _known_product(key, step, length)
    product: Vector | None = None
    for loss, times in key:
        factor = _power(_transform(loss, step, length), times)
        product = factor if product is None else product * factor
    assert product is not None, "a bag holds something"  # noqa: S101
    return product


@lru_cache(maxsize=2 * _MOST_LAWS)
def _known_product(key: Key, step: float, length: int) -> Vector:
    """Do the same by the bag of all but the last law: agents whose schedules begin alike share what is found."""
    *before, (loss, times) = key
    last = _power(_transform(loss, step, length), times)
    return last if not before else _known_product(tuple(before), step, length) * last


@lru_cache(maxsize=64)
def _composed(key: Key, step: float) -> Discrete:
    """Return the distribution of the sum of all losses of a bag."""
    parts = [(_one(loss, step), times) for loss, times in key]
    infinite = -math.expm1(sum(times * math.log1p(-part.infinite) for part, times in parts))
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    first, last = _window(parts)
    length = _smooth_length(last - first + 1)
    circle = np.fft.irfft(_product(key, step, length), length)
    offset = sum(times * part.first for part, times in parts)
    line = np.roll(circle, -((first - offset) % length))[: last - first + 1]
    return Discrete(step, first, np.maximum(line, 0.0), infinite + _LEFT_OUT)


def _merged(key: Key) -> Key:
    """Leave out what costs nothing, and round up what costs next to nothing.

    Of objective perturbation only the pure ε is used here.
    """
    costly = (
        (plain(loss)._replace(epsilon=max(loss.epsilon, _TINY)), times)
        for loss, times in key
        if loss.epsilon > 0
    )
    return Cells(_MOST_LAWS, costly).key


def epsilon(bag: Tally, delta: float) -> float:
    """Return ε of a bag at δ; infinite, no claim, where doubles cannot tell."""
    return _at(bag.coarse, delta)


@lru_cache(maxsize=4096)
def _at(all_of_it: Key, delta: float) -> float:
    key = _merged(all_of_it)
    if not key:
        return 0.0
    # transforms err by some 1e-17 in δ for each release, laws by 1e-16: so much less of δ is used
    left = delta - _ERROR * (10 + sum(times for _, times in key))
    if left <= 0 or max(loss.epsilon for loss, _ in key) > _HUGE:
        return math.inf
    return _epsilon(_composed(key, _step(key)), left)


def _epsilon(law: Discrete, delta: float) -> float:
    """Return the smallest ε ≥ 0 with δ(ε) ≤ delta; infinite where the mass at infinity is more than that."""
    if law.infinite > delta:
        return math.inf
    losses = law.losses
    kept = losses > 0
    losses, mass = losses[kept], law.mass[kept]
    # δ(ε) = infinite + Σ_{l > ε} p(l) − e^ε Σ_{l > ε} p(l) e^{−l}; the sums from the far end
    above = np.cumsum(mass[::-1])[::-1]
    under = np.cumsum((mass * np.exp(-losses))[::-1])[::-1]
    if not len(losses) or law.infinite + above[0] - under[0] <= delta:
        return 0.0
    if losses[-1] > _LARGEST:  # e^ε is no double there: nothing above it is proved
        losses = losses[losses <= _LARGEST]
    beyond = np.append(above[1:], 0.0)[: len(losses)]
    beyond -= np.exp(losses) * np.append(under[1:], 0.0)[: len(losses)]
    fine = law.infinite + beyond <= delta
    if not fine.any():
        return math.inf
    at = int(np.argmax(fine))
    return max(0.0, math.log((law.infinite + above[at] - delta) / under[at]))


def law(bag: Tally) -> tuple[Vector, Vector]:
    """Return the losses of a bag, and their probabilities where the record is the one that was there."""
    key = _merged(bag.coarse)
    composed = _composed(key, _step(key))
    return composed.losses, composed.mass
