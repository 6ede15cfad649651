"""What a plan's releases cost in all, and what their calibration claims: by the accountant that the plan asks for."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mechanisms.accounting.accountants.kov_printed import kov_printed
from mechanisms.accounting.disclosure import Reader, epsilon_of
from mechanisms.accounting.loss import Tally, tally
from mechanisms.accounting.spend import Spend, claim_of

if TYPE_CHECKING:
    from scenarios.planning.plan import Plan


def charged(plan: "Plan", bag: Tally, delta: float) -> tuple[float, str]:
    """Return ε of what was charged (a bag of losses in some view), and the name of the accountant."""
    privacy = plan.privacy
    reader = Reader(privacy.view, privacy.accountant, delta, adaptive=privacy.adaptive)
    return epsilon_of(bag, reader)


def claimed(plan: "Plan", spends: Iterable[Spend], delta: float) -> float:
    """Return ε as the calibrations claim it; where the paper prints its composition wrong, so composed (E8)."""
    bag = tally(map(claim_of, spends))
    if plan.privacy.misprinted and not bag.sums.mu_squares:
        return kov_printed(bag.sums, delta)
    return charged(plan, bag, delta)[0]
