"""Rényi differential privacy: the exact curve of each law, added up at every order."""

from mechanisms.accounting.accountant import EPSILON, MIXED, MU, Accountant
from mechanisms.accounting.accountants.basic import basic
from mechanisms.accounting.loss import Tally


def rdp(bag: Tally, delta: float) -> float:
    """Return ε at the best order, or Σε where that is less."""
    from mechanisms.accounting import renyi

    return min(renyi.epsilon(bag, delta), basic(bag.sums))


ACCOUNTANT = Accountant(
    name="rdp",
    simplicity=5,
    claims_for=frozenset({EPSILON, MU, MIXED}),
    of_bag=rdp,
    calibrates=True,
    never_below="pld",
)
