"""Basic composition: the sum of all ε."""

import math

from mechanisms.accounting.accountant import EPSILON, Accountant
from mechanisms.accounting.loss import Sums


def basic(total: Sums, _delta: float = 0.0) -> float:
    """Return Σε; infinite for Gaussian noise, which has no pure ε."""
    return math.inf if total.mu_squares else total.pure


ACCOUNTANT = Accountant(
    name="basic",
    simplicity=1,
    claims_for=frozenset({EPSILON}),
    of_sums=basic,
    needs_delta=False,
    adaptive=True,
    calibrates=True,
    keeps_one=True,
)
