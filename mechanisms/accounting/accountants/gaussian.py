"""Gaussian releases compose exactly; beside releases of a pure ε, the two parts are added."""

import math
from functools import lru_cache

from mechanisms.accounting import gaussian
from mechanisms.accounting.accountant import MIXED, MU, Accountant
from mechanisms.accounting.loss import Sums


@lru_cache(maxsize=65536)
def exact_gaussian(mu_squares: float, delta: float) -> float:
    """Return ε of Gaussian releases, whose μ² add up: μ² = Σμ_t²."""
    return gaussian.epsilon(math.sqrt(mu_squares), delta)


def both_parts(total: Sums, delta: float) -> float:
    """Return Σε of the releases of a pure ε, plus the exact ε of the Gaussian ones."""
    return total.pure + exact_gaussian(total.mu_squares, delta)


ACCOUNTANT = Accountant(
    name="gaussian",
    simplicity=3,
    claims_for=frozenset({MU, MIXED}),
    of_sums=both_parts,
    needs_delta=False,
    keeps_one=True,
)
