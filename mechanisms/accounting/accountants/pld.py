"""Privacy loss distributions, composed numerically."""

from mechanisms.accounting.accountant import EPSILON, MIXED, Accountant
from mechanisms.accounting.accountants.basic import basic
from mechanisms.accounting.loss import Tally


def pld(bag: Tally, delta: float) -> float:
    """Return ε by numerical composition, or Σε where that is less."""
    from mechanisms.accounting import numerical

    return min(numerical.epsilon(bag, delta), basic(bag.sums))


ACCOUNTANT = Accountant(
    name="pld",
    simplicity=6,
    claims_for=frozenset({EPSILON, MIXED}),
    of_bag=pld,
    calibrates=True,
    takes_plain=True,
    stand_in="rdp",
)
