"""From a budget and a number of releases to the charge of one release, and back."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from mechanisms.accounting import gaussian
from mechanisms.accounting.accountant import EPSILON, MU
from mechanisms.accounting.accountants import ACCOUNTANTS, named, simplest
from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import Key, Loss, Sums, Tally, additive
from mechanisms.accounting.spend import RESIDUAL_SHARE, UNITS

_ROOM = 1 - 1e-11
"""Room for rounding: a ledger adds one by one what a calibration multiplied."""
_NEAR = 1e-5
"""How near an accountant without a closed form is brought to the budget, from below."""
_DIGITS = Context(prec=9, rounding=ROUND_DOWN)
CANDIDATES = tuple(name for name, one in ACCOUNTANTS.items() if one.calibrates)
"""The accountants that may calibrate, the simplest argument first."""
_TIE = 1e-6
"""Charges that differ by less than this share are taken for equal."""


def rounded_down(value: float) -> float:
    """Round a scale down to 9 significant digits, so that no schedule rests on the last bits of a library."""
    return float(_DIGITS.plus(Decimal(value))) if math.isfinite(value) else value


class Form(Protocol):
    """What the loss of a release with a given charge is distributed as."""

    @property
    def unit(self) -> str:
        """What a charge counts: "epsilon" or "mu"."""
        ...

    @property
    def exact(self) -> bool:
        """Whether numerical composition knows its laws exactly, so that no other accountant gives less."""
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
    exact = True

    @property
    def unit(self) -> str:
        return UNITS[self.law]

    def loss(self, charge: float) -> Loss:
        return additive(self.law, charge, self.d)

    last = loss


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The objective is perturbed.

    Of each charge a share pays for the solver's tolerance, and of the rest ln(1+x) is the Jacobian's, half of it at most.
    """

    x: float
    d: int
    unit = "epsilon"
    exact = False

    def loss(self, charge: float) -> Loss:
        residual = charge * RESIDUAL_SHARE
        jacobian = min(math.log1p(self.x), (charge - residual) / 2)
        return Loss("objective", charge, self.d, jacobian + residual)

    last = loss


@dataclass(frozen=True, slots=True)
class Ending:
    """Releases of one form, and a last one of another."""

    body: Form
    end: Form
    unit = "epsilon"
    exact = False

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
    """Return ε of `releases` equal releases; Gaussian ones go by the accountant that is exact for them."""
    if form.unit == MU:
        accountant = simplest(MU, delta)
    bag = Tally([(form.loss(charge), releases - 1)] if releases > 1 else [])
    bag.add(form.last(charge))
    return by(accountant, bag, delta)


def _largest(total: Callable[[float], float], budget: float, first: float, *, near: float) -> float:
    """Return the largest s with total(s) ≤ budget, to `near`, from below; total grows with s. 0 where none fits."""
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
        # totals grow like a power of s, mostly between 1 and 2: aim a little beyond the budget, from either side
        ratio = budget / value if 0 < value < math.inf else 0.0 if value else 2.0
        guess *= min(max(1.1 * ratio, 1.1), 16.0) if value <= budget else max(0.9 * ratio, 1 / 16)
    if not low:
        return 0.0
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
    if form.unit == MU:
        return rounded_down(gaussian.mu(epsilon, delta) / math.sqrt(releases) * _ROOM)
    is_closed = named(accountant).of_sums is not None
    if releases == 1 and named(accountant).keeps_one:
        return rounded_down(epsilon * _ROOM)  # one release costs what it costs

    def total(charge: float) -> float:
        return composed(form, charge, releases, delta, accountant)

    near = 0.0 if is_closed else _NEAR
    return rounded_down(_largest(total, epsilon, epsilon / releases, near=near) * _ROOM)


@lru_cache(maxsize=1024)
def shaped_charges(
    form: Form,
    epsilon: float,
    delta: float,
    weights: tuple[float, ...],
    accountant: str,
    before: Key = (),
) -> tuple[float, ...]:
    """Return charges s·w_k, s the largest whose total after `before` stays within (ε, δ)."""
    shape, first = np.array(weights), Tally(before)
    of_sums = named(accountant).of_sums
    if form.unit == MU and (not before or of_sums is not None):
        length = math.sqrt(float(shape @ shape))
        whole = gaussian.mu(epsilon - first.sums.pure, delta)
        return tuple((shape * rounded_down(whole / length * _ROOM)).tolist())
    if not before and len(set(weights)) == 1:
        return (uniform_charge(form, epsilon, delta, len(weights), accountant),) * len(weights)

    def total(size: float) -> float:
        charges = size * shape
        if of_sums is not None:
            return of_sums(_with(first.sums, charges), delta)
        rest = bag_of(form, charges.tolist())
        return by(accountant, Tally((*before, *rest.key)), delta)

    near = 0.0 if of_sums is not None else 1e-3
    size = _largest(total, epsilon, epsilon / float(shape.sum()), near=near)
    return tuple((rounded_down(size * _ROOM) * shape).tolist())


class Case(NamedTuple):
    """What is calibrated for one agent: the form of its losses, and two of budget, weights and charge.

    `weights` are those of its releases; None where the budget and equal releases of a `charge` fix how many there are.
    """

    form: Form
    epsilon: float
    delta: float
    weights: tuple[float, ...] | None
    before: Key = ()
    charge: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether numerical composition knows all its laws exactly."""
        return self.form.exact and all(loss.law != "objective" for loss, _ in self.before)

    def room(self, accountant: str) -> float:
        """Return ln of what an accountant admits: the size of the charges, or their number; −∞ where it admits none."""
        if self.weights is None:
            allowed: float = most_releases(
                self.form, self.epsilon, self.delta, self.charge, accountant
            )
        elif not self.weights:
            return 0.0
        else:
            charges = shaped_charges(
                self.form, self.epsilon, self.delta, self.weights, accountant, self.before
            )
            allowed = charges[0] / self.weights[0]
        return math.log(allowed) if allowed > 0 else -math.inf


def tightest(cases: Iterable[Case] | Mapping[Case, int]) -> str:
    """Return the name of the accountant that admits the least noise for these agents; of equals the simplest.

    One accountant serves all agents, so that one word in a file repeats the run: the one with the largest mean of
    ln(charge). Agents without δ do not count: only basic composition is valid for them, whatever is chosen. A mapping tells
    how many agents each case is of.
    """
    counted = Counter({case: times for case, times in Counter(cases).items() if case.delta > 0})
    if not counted:
        return simplest(EPSILON, 0.0)
    rooms: dict[str, float] = {}
    exact = all(case.exact for case in counted)
    for name in sorted(CANDIDATES, key=lambda name: ACCOUNTANTS[name].never_below is not None):
        better = ACCOUNTANTS[name].never_below
        if exact and better is not None and rooms[better] > -math.inf:
            continue  # it admits no larger charges than that one
        rooms[name] = sum(times * case.room(name) for case, times in counted.items())
    enough = max(rooms.values()) - _TIE * counted.total()
    return next(name for name in CANDIDATES if rooms.get(name, -math.inf) >= enough)


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
