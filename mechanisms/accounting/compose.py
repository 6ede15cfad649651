"""Composition side by side: basic, KOV, zCDP, Rényi curves, numerical distributions, exact Gaussian.

Every figure is an upper bound, rounded up where it is rounded. All are valid for releases whose parameters were fixed in
advance or depend on public events; where they depend on earlier outputs only `ADAPTIVE` ones are (theory.md, 5.5).
"""

import math
from functools import lru_cache

from mechanisms.accounting import gaussian, numerical, renyi
from mechanisms.accounting.loss import Sums, Tally

_TIE = 1 + 1e-6
ADAPTIVE = ("basic",)


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
    if delta >= 1:
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


@lru_cache(maxsize=1024)
def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest ρ of zCDP that gives ε at δ, to 1e-6 from below; 0 where none does."""
    low, high = 0.0, max(epsilon, 1e-300)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rho_to_epsilon(middle, delta) <= epsilon else (low, middle)
        if high <= low * (1 + 1e-6):
            break
    return low


@lru_cache(maxsize=65536)
def exact_gaussian(mu_squares: float, delta: float) -> float:
    """Gaussians compose exactly: μ² = Σμ_t²."""
    return gaussian.epsilon(math.sqrt(mu_squares), delta)


def by(accountant: str, bag: Tally, delta: float) -> float:
    """Return ε of the releases by one accountant; infinite where it has no claim for them."""
    total = bag.sums
    if not total.releases:
        return 0.0
    if accountant == "rdp":
        return min(renyi.epsilon(bag, delta), basic(total))
    if accountant == "pld":
        return min(numerical.epsilon(bag, delta), basic(total))
    return closed(accountant, total, delta)  # raises for an unknown accountant


def closed(accountant: str, total: Sums, delta: float) -> float:
    """Return ε by an accountant that reads sums only."""
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


def claims_of(bag: Tally, delta: float, *, adaptive: bool = False) -> tuple[str, ...]:
    """Name the accountants that have a claim for these releases; the simplest arguments first."""
    if adaptive:
        return ADAPTIVE
    total = bag.sums
    if not math.isfinite(total.pure + total.mu_squares):
        return ("basic",)
    if delta <= 0:
        return ("basic",) if not total.mu_squares else ("gaussian",)
    if not total.mu_squares:
        return ("basic", "kov", "zcdp", "rdp", "pld")
    return ("gaussian", "zcdp", "rdp", "pld") if total.pure else ("gaussian", "zcdp", "rdp")


def totals(
    bag: Tally, delta: float, *, adaptive: bool = False, but: tuple[str, ...] = ()
) -> dict[str, float]:
    """Return ε of the releases at δ under every accountant that has a claim for them, but for some."""
    names = [n for n in claims_of(bag, delta, adaptive=adaptive) if n not in but]
    return {name: by(name, bag, delta) for name in names}


def headline(
    bag: Tally,
    delta: float,
    accountant: str = "tightest",
    *,
    adaptive: bool = False,
    but: tuple[str, ...] = (),
) -> tuple[float, str]:
    """Return ε and the accountant it is by; with `adaptive`, only by one that is valid then."""
    if accountant == "tightest":
        valid = totals(bag, delta, adaptive=adaptive, but=but)
        least = min(valid.values())
        name = next(n for n in valid if valid[n] <= least * _TIE)  # the simplest argument of equals
        return valid[name], name
    if adaptive and accountant not in ADAPTIVE and len(bag):
        return math.inf, accountant
    return by(accountant, bag, delta), accountant
