"""A composition as a paper prints it, below the truth: it shows what was claimed, and is asked for by name only."""

import math

from mechanisms.accounting.accountant import Accountant
from mechanisms.accounting.accountants.kov import kov
from mechanisms.accounting.loss import Sums


def kov_printed(total: Sums, delta: float) -> float:
    """The bound as Bellet et al. 2018, Theorem 1 prints it, with √(Σε²/δ): below the truth (theory.md, E8)."""
    if total.mu_squares or delta <= 0 or total.squares == 0:
        return kov(total, delta)
    root = math.sqrt(total.squares / delta)
    second = total.centred + math.sqrt(2 * total.squares * math.log(math.e + root))
    third = total.centred + math.sqrt(2 * total.squares * math.log(1 / delta))
    return min(total.pure, second, third)


ACCOUNTANT = Accountant(
    name="kov_printed", simplicity=7, claims_for=frozenset(), of_sums=kov_printed, keeps_one=True
)
