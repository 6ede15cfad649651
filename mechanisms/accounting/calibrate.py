"""From a budget and a number of releases to the charge of one release, and back."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from mechanisms.accounting import gaussian
from mechanisms.accounting.compose import by, closed
from mechanisms.accounting.loss import Loss, Sums, Tally, additive
from mechanisms.accounting.spend import UNITS

_ROOM = 1 - 1e-11
"""Room for rounding: a ledger adds one by one what a calibration multiplied."""
_CLOSED = frozenset({"basic", "kov", "kov_printed", "zcdp", "gaussian"})
_NEAR = 1e-5
"""How near an accountant without a closed form is brought to the budget, from below."""


class Form(Protocol):
    """What the loss of a release with a given charge is distributed as."""

    @property
    def unit(self) -> str:
        """What a charge counts: "epsilon" or "mu"."""
        ...

    def loss(self, charge: float) -> Loss: ...

    def last(self, charge: float) -> Loss:
        """The loss of the last release of a run, where it is of another kind."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Additive:
    """Noise of a law is added, in d dimensions; the law "pure" stands for any with a pure ε."""

    law: str
    d: int = 0

    @property
    def unit(self) -> str:
        return UNITS[self.law]

    def loss(self, charge: float) -> Loss:
        return additive(self.law, charge, self.d)

    last = loss


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The objective is perturbed, so that ln(1+x) of each charge is the Jacobian's, half of it at most."""

    x: float
    d: int
    unit = "epsilon"

    def loss(self, charge: float) -> Loss:
        return Loss("objective", charge, self.d, min(math.log1p(self.x), charge / 2))

    last = loss


@dataclass(frozen=True, slots=True)
class Ending:
    """Releases of one form, and a last one of another."""

    body: Form
    end: Form
    unit = "epsilon"

    def loss(self, charge: float) -> Loss:
        return self.body.loss(charge)

    def last(self, charge: float) -> Loss:
        return self.end.last(charge)


def bag_of(form: Form, charges: Sequence[float]) -> Tally:
    """The losses of a run with these charges."""
    *first, last = charges
    bag = Tally((form.loss(charge), times) for charge, times in Counter(first).items())
    bag.add(form.last(last))
    return bag


PURE = Additive("pure")


def composed(form: Form, charge: float, releases: int, delta: float, accountant: str) -> float:
    """Return ε of `releases` equal releases."""
    if form.unit == "mu":
        accountant = "gaussian"
    bag = Tally([(form.loss(charge), releases - 1)] if releases > 1 else [])
    bag.add(form.last(charge))
    return by(accountant, bag, delta)


def _largest(total: Callable[[float], float], budget: float, first: float, *, near: float) -> float:
    """Return the largest s with total(s) ≤ budget, to `near`, from below; total grows with s."""
    low, high = 0.0, 0.0
    at_low, at_high = 0.0, 0.0
    guess = first
    for _ in range(200):
        value = total(guess)
        if value <= budget:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
        if low and high:
            break
        guess *= 2.0 if value <= budget else 0.5
    for _ in range(100):
        if high <= low * (1 + near):
            break
        guess = math.sqrt(low * high)
        if near > 1e-9 and 0 < at_low < budget and math.isfinite(at_high):  # a power law, nearly
            slope = math.log(at_high / at_low) / math.log(high / low)
            aimed = low * (budget / at_low) ** (1 / slope)
            room = (high / low) ** 0.02
            guess = min(
                max(aimed * (1 - near / 2), low * min(room, 1 + near)),
                high / min(room, 1 + near / 4),
            )
        value = total(guess)
        if value <= budget:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
        if near > 1e-9 and at_low >= budget * (1 - near):
            break
    return low


@lru_cache(maxsize=4096)
def uniform_charge(
    form: Form, epsilon: float, delta: float, releases: int, accountant: str
) -> float:
    """Return the largest equal charge whose total over `releases` stays within (ε, δ)."""
    if form.unit == "mu":
        return gaussian.mu(epsilon, delta) / math.sqrt(releases) * _ROOM
    if releases == 1 and accountant in _CLOSED - {"zcdp"}:
        return epsilon * _ROOM  # one release costs what it costs

    def total(charge: float) -> float:
        return composed(form, charge, releases, delta, accountant)

    near = 0.0 if accountant in _CLOSED else _NEAR
    return _largest(total, epsilon, epsilon / releases, near=near) * _ROOM


@lru_cache(maxsize=1024)
def shaped_charges(
    form: Form,
    epsilon: float,
    delta: float,
    weights: tuple[float, ...],
    accountant: str,
    before: tuple[tuple[Loss, int], ...] = (),
) -> tuple[float, ...]:
    """Return charges s·w_k, s the largest whose total after `before` stays within (ε, δ)."""
    shape, first = np.array(weights), Tally(before)
    if form.unit == "mu":
        length = math.sqrt(float(shape @ shape))
        whole = gaussian.mu(epsilon - first.sums.pure, delta)
        return tuple((shape * (whole / length * _ROOM)).tolist())
    if not before and len(set(weights)) == 1:
        return (uniform_charge(form, epsilon, delta, len(weights), accountant),) * len(weights)

    def total(size: float) -> float:
        charges = size * shape
        if accountant in _CLOSED:
            return closed(accountant, _with(first.sums, charges), delta)
        rest = bag_of(form, charges.tolist())
        return by(accountant, Tally((*before, *rest.key)), delta)

    near = 0.0 if accountant in _CLOSED else 1e-3
    size = _largest(total, epsilon, epsilon / float(shape.sum()), near=near)
    return tuple((size * _ROOM * shape).tolist())


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
def most_releases(form: Form, epsilon: float, delta: float, charge: float, accountant: str) -> int:
    """Return how many equal releases of this charge stay within (ε, δ)."""
    fits, breaks = 0, 1
    while composed(form, charge, breaks, delta, accountant) <= epsilon * (1 + 1e-12):
        fits, breaks = breaks, 2 * breaks
    while breaks - fits > 1:
        middle = (fits + breaks) // 2
        inside = composed(form, charge, middle, delta, accountant) <= epsilon * (1 + 1e-12)
        fits, breaks = (middle, breaks) if inside else (fits, middle)
    return fits
