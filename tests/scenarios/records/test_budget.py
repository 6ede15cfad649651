"""Budget: ε by the charges that events carry, and by what a diverged agent had planned."""

import pytest

from actors.events import Charged, Diverged
from mechanisms.accounting.spend import Spend
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.records.budget import Budget
from tests.support.catalogue import world


@pytest.fixture(name="plan", scope="module")
def _plan() -> Plan:
    return make_plan(world("cd laplace"))


def _planned(plan: Plan) -> tuple[Spend, ...]:
    spends = plan.nodes[0].planned
    assert spends is not None
    return spends


def _charges(spends: tuple[Spend, ...]) -> list[Charged]:
    return [Charged(k + 1, k, 0, None, k, s.charged, s) for k, s in enumerate(spends)]


def test_an_agent_that_diverges_is_charged_for_all_that_it_planned(plan: Plan) -> None:
    """When it stops depends on data: an adversary learns from the stop what the rest would have told."""
    spends = _planned(plan)
    stopped, whole = Budget(plan), Budget(plan)
    stopped.fold(_charges(spends[:2]))
    before = stopped.headline()
    stopped.fold([Diverged(9, 9, 0, None)])
    whole.fold(_charges(spends))
    assert 0 < before[0] < stopped.headline()[0]
    assert stopped.headline() == pytest.approx(whole.headline(), rel=1e-12)
    assert stopped.epsilon_of(0) == stopped.headline()[0]
    assert not stopped.headline()[1:].any()


def test_what_is_left_and_claimed_follows_the_events(plan: Plan) -> None:
    spends = _planned(plan)
    budget = Budget(plan)
    for made, event in enumerate(_charges(spends), 1):
        budget.fold([event])
        assert budget.counts.tolist() == [made] + [0] * (plan.size - 1)
        assert len(budget.ledger(0)) == made
    cap = plan.nodes[0].cap
    assert cap is not None
    assert budget.left()[0] == pytest.approx(cap.epsilon - cap.spent(budget.ledger(0).tally))
    assert budget.left()[1] == pytest.approx(cap.epsilon)
    assert budget.claimed()[0] == pytest.approx(budget.headline()[0], rel=1e-9)
    assert budget.without([range(2)] + [()] * (plan.size - 1))[0] > 0


def test_a_charge_that_was_read_from_a_file_cannot_be_folded(plan: Plan) -> None:
    """Such an event has no spend: the ledger's line has it, and `charge` takes it."""
    budget = Budget(plan)
    with pytest.raises(AssertionError, match="spend"):
        budget.fold([event.as_recorded for event in _charges(_planned(plan)[:1])])
