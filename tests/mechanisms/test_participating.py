"""Descent by participation: shares that pass on add up to the budget, and nothing else changes what a release is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.abilities import Participates, releases_at_once
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.noise import LAWS
from mechanisms.objectives import LocalObjective, Logistic
from mechanisms.participating import ParticipatingDescent
from mechanisms.strategy import DERIVED, RELEASE
from scenarios.planning.seeds import generator

COUNT = 6


def objective() -> LocalObjective:
    rng = generator(0, "points")
    return LocalObjective(
        rng.standard_normal((20, 3)) / 4, np.sign(rng.standard_normal(20)), Logistic(), 0.1
    )


def descent(
    *, squares: bool = True, when_read: bool = False, rolls_over: bool = False
) -> ParticipatingDescent:
    law = LAWS["gaussian" if squares else "norm-gamma"]
    sensitivity, charge = 0.1, 0.3
    scale = law.scale(charge, sensitivity)
    spend = Spend(
        "cd",
        law.name,
        "corrected",
        scale,
        sensitivity,
        "l2",
        3,
        0.0,
        charge,
        law.charge(scale, sensitivity),
    )
    return ParticipatingDescent(
        objective(),
        1.0,
        1.0,
        2.0,
        law,
        (spend,) * COUNT,
        squares=squares,
        when_read=when_read,
        rolls_over=rolls_over,
    )


def heard(**facts: object) -> Heard:
    one = Heard(np.zeros((2, 3)), np.ones(2))
    for name, value in facts.items():
        setattr(one, name, value)
    return one


@given(st.sets(st.integers(0, COUNT - 2)), st.booleans())
def test_what_is_missed_passes_on_and_nothing_is_lost(missed: set[int], squares: bool) -> None:  # noqa: FBT001
    """An agent that is there for its last wake has spent the whole budget: Σμ², or Σε."""
    kind = descent(squares=squares, rolls_over=True)
    power = 2 if squares else 1
    total = 0.0
    for slot in range(COUNT):
        if slot not in missed:
            facts = heard(slot=slot, missed=tuple(sorted(s for s in missed if s < slot)))
            spend = kind.next_spend(facts, 0)
            assert spend is not None
            assert kind.law is not None
            assert spend.charged == pytest.approx(kind.law.charge(spend.scale, spend.sensitivity))
            total += spend.charged**power
    assert total == pytest.approx(COUNT * 0.3**power)


@given(st.sets(st.integers(0, COUNT - 1)))
def test_no_pattern_of_absences_spends_more_than_the_budget(missed: set[int]) -> None:
    kind = descent(rolls_over=True)
    total = 0.0
    for slot in sorted(set(range(COUNT)) - missed):
        facts = heard(slot=slot, missed=tuple(sorted(s for s in missed if s < slot)))
        spend = kind.next_spend(facts, 0)
        assert spend is not None
        total += spend.charged**2
    assert total <= COUNT * 0.3**2 * (1 + 1e-12)


def test_after_its_wakes_an_agent_releases_no_more() -> None:
    kind = descent(rolls_over=True)
    assert kind.next_spend(heard(slot=COUNT, missed=(0, 1)), 2) is None
    assert kind.propose(np.zeros(3), heard(slot=COUNT), 2).kind == DERIVED


def test_an_agent_waits_until_its_last_release_was_read() -> None:
    kind = descent(when_read=True)
    assert kind.propose(np.zeros(3), heard(), 0).kind == RELEASE  # the first always
    assert kind.propose(np.zeros(3), heard(), 1).kind == DERIVED
    assert kind.propose(np.zeros(3), heard(acknowledged=True), 1).kind == RELEASE
    assert kind.propose(np.zeros(3), heard(acknowledged=True), COUNT).kind == DERIVED


def test_a_release_is_that_of_plain_descent() -> None:
    kind = descent(when_read=True)
    plain = CoordinateDescent(kind.objective, 1.0, 1.0, 2.0, kind.law, kind.spends)
    here, facts = np.array([0.1, -0.2, 0.3]), heard(acknowledged=True)
    one = kind.propose(here, facts, 2).finish(np.random.default_rng(5))[0]
    other = plain.propose(here, facts, 2).finish(np.random.default_rng(5))[0]
    assert (one == other).all()


@pytest.mark.parametrize("missed", [(), (0, 1, 3)])
def test_what_explains_a_release_finds_its_noise(missed: tuple[int, ...]) -> None:
    kind = descent(rolls_over=True)
    facts, before = heard(slot=4, missed=missed), np.array([0.5, 0.0, -0.5])
    drawn = np.random.default_rng(3).standard_normal(3)
    after, sent = kind.propose(before, facts, 1).finish(np.random.default_rng(3))
    assert sent is not None
    found = kind.explain(before, facts, 1, sent, after)
    assert found.noise == pytest.approx(drawn)


def test_it_is_told_and_takes_no_short_cut() -> None:
    kind = descent(when_read=True)
    assert isinstance(kind, Participates)
    assert releases_at_once(kind) is None
    assert not isinstance(CoordinateDescent(kind.objective, 1.0, 1.0, 2.0), Participates)
    for other in (kind, descent(rolls_over=True)):
        assert other.schedule(2) == other.spends
