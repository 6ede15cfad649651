"""Zero-concentrated differential privacy: one number ρ, which adds up."""

import math
from functools import lru_cache

from mechanisms.accounting.accountant import EPSILON, MIXED, MU, Accountant
from mechanisms.accounting.loss import Sums


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


ACCOUNTANT = Accountant(
    name="zcdp", simplicity=4, claims_for=frozenset({EPSILON, MU, MIXED}), of_sums=zcdp
)
