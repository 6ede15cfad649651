"""Composition of releases whose parameters were fixed in advance: basic, KOV, zCDP, exact Gaussian.

Every figure is an upper bound, rounded up where it is rounded.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from mechanisms.accounting import gaussian
from mechanisms.accounting.spend import Spend


class Sums(NamedTuple):
    """Additive sums of a list of releases: all that these accountants read."""

    releases: int = 0
    pure: float = 0.0
    squares: float = 0.0
    centred: float = 0.0  # Σ ε(e^ε − 1)/(e^ε + 1)
    mu_squares: float = 0.0

    def plus(self, spend: Spend, times: int = 1) -> "Sums":
        """Return the sums with one more release (or several equal ones)."""
        charge = spend.charged
        if spend.law == "gaussian":
            return Sums(
                self.releases + times,
                self.pure,
                self.squares,
                self.centred,
                self.mu_squares + times * charge * charge,
            )
        return Sums(
            self.releases + times,
            self.pure + times * charge,
            self.squares + times * charge * charge,
            self.centred + (times * charge * math.tanh(charge / 2) if charge else 0.0),
            self.mu_squares,
        )


def sums(spends: Iterable[Spend]) -> Sums:
    """Add up a list of releases."""
    total = Sums()
    for spend, equal in groupby(spends):
        total = total.plus(spend, sum(1 for _ in equal))
    return total


def basic(total: Sums) -> float:
    """Σ ε; no claim for Gaussian noise, which has no pure ε."""
    return math.inf if total.mu_squares else total.pure


def kov(total: Sums, delta: float) -> float:
    """Kairouz, Oh, Viswanath 2015, Theorem 3.5, heterogeneous, with √(Σε²)/δ (theory.md, E8)."""
    if total.mu_squares or not math.isfinite(total.pure):
        return math.inf
    if delta <= 0 or total.squares == 0:
        return total.pure
    root = math.sqrt(total.squares)
    second = total.centred + math.sqrt(2 * total.squares * math.log(math.e + root / delta))
    third = total.centred + math.sqrt(2 * total.squares * math.log(1 / delta))
    return min(total.pure, second, third)


def kov_printed(total: Sums, delta: float) -> float:
    """The bound as Bellet et al. 2018, Theorem 1 prints it, with √(Σε²/δ): below the truth (E8)."""
    if total.mu_squares or delta <= 0 or total.squares == 0:
        return kov(total, delta)
    root = math.sqrt(total.squares / delta)
    second = total.centred + math.sqrt(2 * total.squares * math.log(math.e + root))
    third = total.centred + math.sqrt(2 * total.squares * math.log(1 / delta))
    return min(total.pure, second, third)


def zcdp(total: Sums, delta: float) -> float:
    """ρ = Σε²/2 + Σμ²/2, converted at the best order (Canonne, Kamath, Steinke 2020, Prop. 12)."""
    return rho_to_epsilon(0.5 * (total.squares + total.mu_squares), delta)


@lru_cache(maxsize=65536)
def rho_to_epsilon(rho: float, delta: float) -> float:
    """Return min over α of ρα + ln(1 − 1/α) − (ln δ + ln α)/(α − 1)."""
    if rho <= 0:
        return 0.0
    if delta <= 0 or not math.isfinite(rho):
        return math.inf

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        alpha = 1 + excess
        return rho * alpha + math.log(excess / alpha) - (math.log(delta) + math.log(alpha)) / excess

    centre = 0.5 * math.log(math.log(1 / delta) / rho)
    low, high = centre - 4, centre + 4
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if bound(left) <= bound(right) else (left, high)
    return max(0.0, bound(0.5 * (low + high)))  # any order is a valid bound


@lru_cache(maxsize=65536)
def exact_gaussian(mu_squares: float, delta: float) -> float:
    """Gaussians compose exactly: μ² = Σμ_t²."""
    return gaussian.epsilon(math.sqrt(mu_squares), delta)


def by(accountant: str, total: Sums, delta: float) -> float:
    """Return ε of the releases by one accountant; infinite where it has no claim for them."""
    if not total.releases:
        return 0.0
    match accountant:
        case "basic":
            return basic(total)
        case "kov":
            return kov(total, delta)
        case "kov_printed":
            return kov_printed(total, delta)
        case "zcdp":
            return zcdp(total, delta)
        case "gaussian":
            # beside releases of pure ε, basic composition of the two parts
            return total.pure + exact_gaussian(total.mu_squares, delta)
        case _:
            raise ValueError(f"unknown accountant {accountant!r}")


def totals(total: Sums, delta: float) -> dict[str, float]:
    """Return ε of the releases at δ under every accountant that has a claim for them."""
    valid: tuple[str, ...]
    if total.mu_squares:
        valid = ("gaussian", "zcdp")
    else:
        valid = ("basic", "kov", "zcdp") if delta > 0 else ("basic",)
    return {name: by(name, total, delta) for name in valid}


def headline(total: Sums, delta: float, accountant: str = "tightest") -> tuple[float, str]:
    """Return ε and the accountant it is by."""
    if accountant != "tightest":
        return by(accountant, total, delta), accountant
    valid = totals(total, delta)
    name = min(valid, key=lambda key: valid[key])  # the first of equals: the simplest argument
    return valid[name], name
