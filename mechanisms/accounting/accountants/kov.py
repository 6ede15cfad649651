"""The optimal composition of releases with a pure ε, in closed form."""

import math

from mechanisms.accounting.accountant import EPSILON, Accountant
from mechanisms.accounting.loss import Sums


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


ACCOUNTANT = Accountant(
    name="kov",
    simplicity=2,
    claims_for=frozenset({EPSILON}),
    of_sums=kov,
    calibrates=True,
    keeps_one=True,
)
