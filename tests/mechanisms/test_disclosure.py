"""One rule for every ε that is told: what a stopped agent is charged, and by whose arithmetic."""

import math

import pytest

from mechanisms.accounting.compose import by
from mechanisms.accounting.disclosure import Reader, at_risk, epsilon_of, side_by_side
from mechanisms.accounting.loss import tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import EAVESDROPPER, OUTSIDER

DELTA = 1e-5
EYES = Reader(EAVESDROPPER, "tightest", DELTA)


def spend(charge: float) -> Spend:
    return Spend("cd", "laplace", "corrected", 1.0, charge, "l1", 3, 0.0, charge, charge)


PLAN = [spend(0.1 * k) for k in range(1, 9)]


@pytest.mark.parametrize("made", [0, 1, 3, 7, 8])
@pytest.mark.parametrize("accountant", ["basic", "kov", "rdp", "pld"])
def test_an_agent_that_diverged_is_charged_for_all_that_it_had_planned(
    made: int, accountant: str
) -> None:
    """Its outputs stopped it, so that their number tells of its data: Σ = 0.1 + … + 0.8 = 3.6, whenever that was."""
    reader, bag = EYES._replace(accountant=accountant), tally(PLAN[:made])
    found, _ = epsilon_of(at_risk(bag, PLAN, made, reader, stopped=True), reader)
    assert found == pytest.approx(by(accountant, tally(PLAN), DELTA), rel=1e-12)
    assert len(bag) == made  # the ledger itself stays what it was
    if accountant == "basic":
        assert found == pytest.approx(3.6)
    going, _ = epsilon_of(at_risk(bag, PLAN, made, reader, stopped=False), reader)
    assert going == pytest.approx(by(accountant, tally(PLAN[:made]), DELTA), rel=1e-12)


def test_an_agent_that_diverged_without_a_plan_is_charged_by_what_holds_for_any_stop() -> None:
    """A sum of ε is valid however many releases there were; no curve and no closed form is."""
    bag = tally([spend(0.1)] * 100)
    assert epsilon_of(bag, EYES)[0] < 5.0
    found, name = epsilon_of(bag, EYES, unplanned_stop=True)
    assert found == pytest.approx(10.0)
    assert name == "basic"
    assert set(side_by_side(bag, EYES, unplanned_stop=True)) == {"basic"}


def test_an_outsider_who_is_shown_what_was_never_released_sees_all() -> None:
    reader = EYES._replace(view=OUTSIDER, shows_model=True)
    assert epsilon_of(tally([]), reader)[0] == math.inf
