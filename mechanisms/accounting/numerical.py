"""Numerical composition of privacy loss distributions, by the engine of dp-accounting (loaded when asked for).

Sensitivities are of replacing one record already, so that the engine's default relation is the right one. Every law is
discretised so that its δ(ε) is met or exceeded everywhere: figures are upper bounds.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms.accounting import norm_gamma
from mechanisms.accounting.loss import Key, Loss, Tally, coarsened
from mechanisms.vectors import Vector

_FINE = 24.0
_MOST_POINTS = 200_000
_HUGE, _TINY, _ERROR = 200.0, 1e-9, 1e-16
MOST_LAWS = 128
"""More different laws than these are rounded up to so many."""


def _engine() -> Any:
    """Load the engine: half a second, only where a figure needs it."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution


@lru_cache(maxsize=4096)
def _spread(loss: Loss) -> float:
    """About the standard deviation of a loss."""
    match loss.law:
        case "gaussian":
            return loss.epsilon
        case "norm-gamma":
            return norm_gamma.spread(loss.d, loss.epsilon)
        case "laplace" | "pure":
            return loss.epsilon / (1.0 + 0.25 * loss.epsilon)
        case law:
            raise ValueError(f"the noise law {law!r} has no privacy loss distribution")


def _reach(key: Key) -> float:
    """About how far the sum of all losses lies from 0."""
    squares = sum(times * _spread(loss) ** 2 for loss, times in key)
    return 0.5 * squares + 12.0 * math.sqrt(squares) + 0.1


def _step(key: Key) -> float:
    """A grid that is fine for the narrowest law, not too fine for the whole, and meets the atoms of the first."""
    narrowest = min(_spread(loss) for loss, _ in key) / _FINE
    least = max(2.0 * _reach(key) / _MOST_POINTS, 1e-7)
    wanted = 2.0 ** math.floor(math.log2(max(narrowest, least)))
    first = key[0][0]
    return float(
        wanted if first.law == "gaussian" else first.epsilon / math.ceil(first.epsilon / wanted)
    )


@lru_cache(maxsize=4096)
def _one(loss: Loss, step: float) -> Any:
    """The distribution of one loss on a grid: its δ(ε) is met at the points, and exceeded between them."""
    engine = _engine()
    if loss.law == "gaussian":
        deviation = 1.0 / loss.epsilon
        return engine.from_gaussian_mechanism(deviation, value_discretization_interval=step)
    from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots

    last = math.ceil(loss.epsilon / step - 1e-9)
    points = np.arange(-last, last + 1)
    curve = _deltas(loss, np.clip(points * step, -loss.epsilon, loss.epsilon))
    outside = points * step <= -loss.epsilon
    curve[outside] = -np.expm1(points[outside] * step)
    curve[-1] = 0.0
    return engine.PrivacyLossDistribution(create_pmf_pessimistic_connect_dots(step, points, curve))


def _deltas(loss: Loss, at: Vector) -> Vector:
    """δ(ε) of one release with a pure ε₀, at points of [−ε₀, ε₀]."""
    match loss.law:
        case "norm-gamma":
            return norm_gamma.deltas(loss.d, loss.epsilon, at)
        case "laplace":  # 1 − e^{(ε−ε₀)/2} above 0; below it by 1 − e^ε + e^ε δ(−ε)
            above = -np.expm1((np.abs(at) - loss.epsilon) / 2.0)
            return np.where(at >= 0, above, -np.expm1(at) + np.exp(at) * above)
        case "pure":
            return np.asarray(-np.expm1(at - loss.epsilon) / (1.0 + math.exp(-loss.epsilon)))
        case law:
            raise ValueError(f"the noise law {law!r} has no δ(ε) here")


@lru_cache(maxsize=4096)
def _composed(key: Key, step: float) -> Any:
    """The distribution of a bag: of all but its last law, and then that."""
    *before, (loss, times) = key
    last = _one(loss, step).self_compose(times) if times > 1 else _one(loss, step)
    return last if not before else _composed(tuple(before), step).compose(last)


def _merged(key: Key) -> Key:
    """Leave out what costs nothing; of objective perturbation only the pure ε is used here."""
    found: dict[Loss, int] = {}
    for loss, times in coarsened(key, MOST_LAWS):
        if loss.epsilon > 0:
            law = Loss("pure", loss.epsilon) if loss.law in {"objective", "local"} else loss
            found[law] = found.get(law, 0) + times
    return tuple(found.items())


def epsilon(bag: Tally, delta: float) -> float:
    """Return ε of a bag at δ; infinite, no claim, where doubles cannot tell."""
    return _at(bag.key, delta)


@lru_cache(maxsize=65536)
def _at(all_of_it: Key, delta: float) -> float:
    key = _merged(all_of_it)
    if not key:
        return 0.0
    # transforms err by some 1e-17 in δ for each release, laws by 1e-16: so much less of δ is used
    left = delta - _ERROR * (10 + sum(times for _, times in key))
    sizes = [loss.epsilon for loss, _ in key]
    if left <= 0 or max(sizes) > _HUGE or min(sizes) < _TINY:
        return math.inf
    return float(_composed(key, _step(key)).get_epsilon_for_delta(left))


def law(bag: Tally) -> tuple[Vector, Vector]:
    """Return the losses of a bag, and their probabilities where the record is the one that was there."""
    key = _merged(bag.key)
    composed = _composed(key, _step(key))._pmf_remove.to_dense_pmf()  # noqa: SLF001 # it has no name outside
    mass: Vector = np.asarray(composed._probs)  # noqa: SLF001
    first = composed._lower_loss  # noqa: SLF001
    losses: Vector = (first + np.arange(len(mass))) * composed._discretization  # noqa: SLF001
    return losses, mass
