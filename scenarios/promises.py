"""What a plan's releases cost in all, and what their calibration claims: by the accountant that the plan asks for."""

from collections.abc import Iterable
from dataclasses import replace

from mechanisms.accounting.compose import closed, headline
from mechanisms.accounting.loss import Tally, tally
from mechanisms.accounting.spend import Spend
from scenarios.plan import Plan


def claim_of(spend: Spend) -> Spend:
    """Return a spend as its calibration claims it."""
    if spend.claimed == spend.charged and spend.summed is None:
        return spend
    return replace(spend, charged=spend.claimed, summed=None)


def charged(plan: Plan, bag: Tally, delta: float) -> tuple[float, str]:
    """Return ε of what was charged, and by whose arithmetic."""
    return headline(bag, delta, plan.privacy.accountant, adaptive=plan.privacy.adaptive)


def claimed(plan: Plan, spends: Iterable[Spend], delta: float) -> float:
    """Return ε as the calibrations claim it; where the paper prints its composition wrong, so composed (E8)."""
    bag = tally(map(claim_of, spends))
    if plan.privacy.misprinted and not bag.sums.mu_squares:
        return closed("kov_printed", bag.sums, delta)
    return charged(plan, bag, delta)[0]
