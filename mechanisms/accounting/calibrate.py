"""From a budget and a number of releases to the charge of one release, and back."""

import math
from functools import lru_cache

import numpy as np

from mechanisms.accounting import gaussian
from mechanisms.accounting.compose import Sums, by
from mechanisms.accounting.spend import Spend
from mechanisms.noise import Law

NOTHING = Sums()
_ROOM = 1 - 1e-11
"""Room for rounding: a ledger adds one by one what a calibration multiplied."""


def composed(law: Law, charge: float, releases: int, delta: float, accountant: str) -> float:
    """Return ε of `releases` equal releases."""
    spend = Spend("", law.name, "", 0.0, 0.0, "", 0, 0.0, charge, charge)
    if law.unit == "mu":
        accountant = "gaussian"
    return by(accountant, Sums().plus(spend, releases), delta)


@lru_cache(maxsize=1024)
def uniform_charge(law: Law, epsilon: float, delta: float, releases: int, accountant: str) -> float:
    """Return the largest equal charge whose total over `releases` stays within (ε, δ)."""
    if law.unit == "mu":
        return gaussian.mu(epsilon, delta) / math.sqrt(releases) * _ROOM
    low, high = 0.0, epsilon
    if composed(law, high, releases, delta, accountant) <= epsilon:
        return high * _ROOM
    for _ in range(100):
        middle = 0.5 * (low + high)
        fits = composed(law, middle, releases, delta, accountant) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return low * _ROOM


@lru_cache(maxsize=1024)
def shaped_charges(
    law: Law,
    epsilon: float,
    delta: float,
    weights: tuple[float, ...],
    accountant: str,
    before: Sums = NOTHING,
) -> tuple[float, ...]:
    """Return charges s·w_k, s the largest whose total after `before` stays within (ε, δ)."""
    shape = np.array(weights)
    if law.unit == "mu":
        length = math.sqrt(float(shape @ shape))
        whole = gaussian.mu(epsilon - before.pure, delta)
        return tuple((shape * (whole / length * _ROOM)).tolist())
    if before == NOTHING and len(set(weights)) == 1:
        return (uniform_charge(law, epsilon, delta, len(weights), accountant),) * len(weights)
    low, high = 0.0, epsilon / float(shape.max())
    for _ in range(100):
        middle = 0.5 * (low + high)
        fits = by(accountant, _with(before, middle * shape), delta) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return tuple((low * _ROOM * shape).tolist())


def _with(before: Sums, charges: np.ndarray) -> Sums:
    """The sums after releases of these pure ε."""
    return Sums(
        before.releases + len(charges),
        before.pure + float(charges.sum()),
        before.squares + float(charges @ charges),
        before.centred + float((charges * np.tanh(charges / 2)).sum()),
        before.mu_squares,
    )


@lru_cache(maxsize=1024)
def most_releases(law: Law, epsilon: float, delta: float, charge: float, accountant: str) -> int:
    """Return how many equal releases of this charge stay within (ε, δ)."""
    fits, breaks = 0, 1
    while composed(law, charge, breaks, delta, accountant) <= epsilon * (1 + 1e-12):
        fits, breaks = breaks, 2 * breaks
    while breaks - fits > 1:
        middle = (fits + breaks) // 2
        inside = composed(law, charge, middle, delta, accountant) <= epsilon * (1 + 1e-12)
        fits, breaks = (middle, breaks) if inside else (fits, middle)
    return fits
