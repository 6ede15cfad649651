"""Composition: closed forms, the table of theory.md 5.6, inverses, and laws of order."""

import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mechanisms.accounting import gaussian
from mechanisms.accounting.accountants.basic import basic
from mechanisms.accounting.accountants.kov import kov
from mechanisms.accounting.accountants.zcdp import zcdp
from mechanisms.accounting.calibrate import (
    PURE,
    Additive,
    Form,
    composed,
    most_releases,
    shaped_charges,
    uniform_charge,
)
from mechanisms.accounting.compose import by, headline, totals
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import (
    MOST_LAWS,
    Cells,
    Loss,
    Sums,
    Tally,
    coarsened,
    loss_of,
    tally,
)
from mechanisms.accounting.spend import Spend, rounded_up, unprotected
from mechanisms.accounting.views import epsilon_in
from mechanisms.noise import LAWS

CHARGES = st.lists(st.floats(0.001, 2.0), min_size=1, max_size=30)


def spend(charge: float, law: str = "laplace") -> Spend:
    return Spend("cd", law, "corrected", 1.0, charge, "l1", 3, 0.0, charge, charge)


def pure(charges: list[float]) -> Tally:
    return tally(spend(c) for c in charges)


def test_a_hundred_releases_of_a_tenth() -> None:
    """Theory.md, 5.6, to the digits shown."""
    total = pure([0.1] * 100)
    assert f"{basic(total.sums):.3f}" == "10.000"
    assert f"{kov(total.sums, 1e-5):.3f}" == "5.298"
    assert zcdp(total.sums, 1e-5) == pytest.approx(4.729, abs=1e-3)
    assert f"{gaussian.epsilon(1.0, 1e-5):.3f}" == "4.377"


def test_kov_is_the_correct_form_and_not_the_misprint() -> None:
    """E8: log(e + √(Σε²)/δ), not log(e + √(Σε²/δ)), which gives an invalid 3.895."""
    assert kov(pure([0.1] * 100).sums, 1e-5) > 4.307


@given(CHARGES, st.floats(1e-12, 0.1))
def test_kov_by_its_formula_with_unequal_charges(charges: list[float], delta: float) -> None:
    s2 = math.fsum(e * e for e in charges)
    centred = math.fsum(e * (math.exp(e) - 1) / (math.exp(e) + 1) for e in charges)
    expected = min(
        math.fsum(charges),
        centred + math.sqrt(2 * s2 * math.log(math.e + math.sqrt(s2) / delta)),
        centred + math.sqrt(2 * s2 * math.log(1 / delta)),
    )
    assert kov(pure(charges).sums, delta) == pytest.approx(expected, rel=1e-9)


@given(CHARGES, st.floats(1e-12, 0.1))
def test_composition_ignores_order_and_grows(charges: list[float], delta: float) -> None:
    shuffled = sorted(charges)
    for accountant in ("basic", "kov", "zcdp"):
        whole = by(accountant, pure(charges), delta)
        assert by(accountant, pure(shuffled), delta) == pytest.approx(whole, rel=1e-9)
        assert by(accountant, pure(charges[:-1]), delta) <= whole * (1 + 1e-9)


@given(CHARGES, st.floats(1e-10, 0.01))
def test_less_delta_costs_more_epsilon(charges: list[float], delta: float) -> None:
    for accountant in ("basic", "kov", "zcdp"):
        assert by(accountant, pure(charges), delta) <= by(accountant, pure(charges), delta / 10) * (
            1 + 1e-9
        )


@pytest.mark.slow
@given(st.floats(0.05, 8.0), st.floats(1e-10, 0.05))
def test_zcdp_conversion_is_the_minimum_over_orders(rho: float, delta: float) -> None:
    found = zcdp(Sums(1, 0.0, 0.0, 0.0, 2 * rho), delta)
    orders = [1 + 10 ** (k / 50) for k in range(-150, 200)]
    grid = min(
        rho * a + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1) for a in orders
    )
    assert found <= max(0.0, grid) + 1e-9
    assert found >= max(0.0, grid) - 0.02 * abs(grid) - 1e-9
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert found <= textbook + 1e-9


@given(st.floats(0.02, 8.0), st.floats(0.0, 20.0))
def test_gaussian_delta_is_the_two_tail_formula(mu: float, epsilon: float) -> None:
    exact = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(
        -mu / 2 - epsilon / mu
    )
    assert gaussian.delta(mu, epsilon) == pytest.approx(max(0.0, float(exact)), rel=1e-5, abs=1e-14)


@given(st.floats(0.05, 10.0), st.floats(1e-10, 0.05))
def test_gaussian_epsilon_and_mu_are_inverse_and_round_to_safety(
    epsilon: float, delta: float
) -> None:
    mu = gaussian.mu(epsilon, delta)
    assert gaussian.delta(mu, epsilon) <= delta
    assert gaussian.epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6)
    assert gaussian.delta(mu, gaussian.epsilon(mu, delta)) <= delta * (1 + 1e-9)


def test_gaussian_noise_at_one_and_1e_5() -> None:
    assert 1 / gaussian.mu(1.0, 1e-5) == pytest.approx(3.73, abs=0.005)  # theory.md, E12


def test_gaussians_compose_as_the_root_of_squares() -> None:
    total = tally([spend(3.0, "gaussian"), spend(4.0, "gaussian")])
    assert by("gaussian", total, 1e-5) == gaussian.epsilon(5.0, 1e-5)
    assert by("basic", total, 1e-5) == by("kov", total, 1e-5) == math.inf


def test_mixed_ledgers_only_compose_where_both_have_a_claim() -> None:
    mixed = tally([spend(0.5), spend(0.5, "gaussian")])
    assert set(totals(mixed, 1e-5)) == {"gaussian", "zcdp", "rdp", "pld"}
    apart = 0.5 + gaussian.epsilon(0.5, 1e-5)  # basic composition of the two parts
    assert totals(mixed, 1e-5)["gaussian"] == pytest.approx(apart)
    assert zcdp(mixed.sums, 1e-5) == pytest.approx(zcdp(pure([0.5, 0.5]).sums, 1e-5))


def test_the_headline_is_the_smallest_and_says_whose_it_is() -> None:
    few, many = pure([0.1]), pure([0.1] * 1000)
    assert headline(few, 1e-5, "basic") == (0.1, "basic")
    assert headline(few, 0.0) == (0.1, "basic")
    assert headline(few, 1e-5)[0] == pytest.approx(0.1, rel=1e-3)
    assert headline(many, 1e-5)[1] == "pld"
    for total in (few, many):
        assert headline(total, 1e-5)[0] == min(totals(total, 1e-5).values())


def test_nothing_released_costs_nothing_and_no_noise_costs_everything() -> None:
    for accountant in ("basic", "kov", "zcdp", "gaussian", "tightest"):
        assert headline(Tally(), 1e-5, accountant)[0] == 0.0
    assert headline(tally([unprotected("cd", 3)]), 1e-5)[0] == math.inf


@pytest.mark.parametrize("accountant", ["basic", "kov"])
@pytest.mark.parametrize("law", [Additive(name, 3) for name in LAWS])
@given(epsilon=st.floats(0.1, 10.0), delta=st.floats(1e-9, 1e-3), releases=st.integers(1, 500))
def test_calibration_inverts_composition(
    accountant: str, law: Form, epsilon: float, delta: float, releases: int
) -> None:
    charge = uniform_charge(law, epsilon, delta, releases, accountant)
    assert composed(law, charge, releases, delta, accountant) <= epsilon * (1 + 1e-9)
    assert composed(law, charge * 1.01, releases, delta, accountant) > epsilon
    assert most_releases(law, epsilon, delta, charge * (1 - 1e-9), accountant) >= releases


def test_kov_needs_no_more_noise_than_basic() -> None:
    law = Additive("laplace")
    assert uniform_charge(law, 2.0, 1e-5, 50, "kov") > 1.4 * uniform_charge(
        law, 2.0, 1e-5, 50, "basic"
    )


@given(CHARGES, st.floats(0.1, 5.0), st.sampled_from(["basic", "kov"]))
def test_a_filter_is_never_passed(charges: list[float], epsilon: float, accountant: str) -> None:
    ledger, cap = Ledger(), Cap(epsilon, 1e-5, accountant)
    for charge in charges:
        if cap.admits(ledger, spend(charge)):
            ledger.charge(spend(charge))
        else:
            assert by(accountant, ledger.tally.plus(loss_of(spend(charge))), 1e-5) > epsilon
    assert cap.spent(ledger.tally) <= epsilon * (1 + 1e-8)


def test_a_ledger_counts_and_keeps() -> None:
    ledger = Ledger()
    assert [ledger.charge(spend(c)) for c in (0.1, 0.2, 0.3)] == [0, 1, 2]
    assert ledger.sums.pure == pytest.approx(0.6)
    assert [s.charged for s in ledger.since(1)] == [0.2, 0.3]
    assert ledger.sums == pytest.approx(tally(ledger.spends).sums)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.3, 0.7]), st.sampled_from(["laplace", "gaussian"])),
        max_size=40,
    ),
    st.data(),
)
def test_a_bag_is_the_same_to_the_last_bit_however_it_was_counted(
    releases: list[tuple[float, str]], data: st.DataObject
) -> None:
    """Who looks in between does not change what is found at the end."""
    spends = [spend(charge, law) for charge, law in releases]
    at_once, looked_at, begun = tally(spends), Tally(), 0
    while begun < len(spends):
        ends = data.draw(st.integers(begun + 1, len(spends)))
        looked_at.take(spends[begun:ends])
        assert len(looked_at) == looked_at.sums.releases == ends
        begun = ends
    assert looked_at.sums == at_once.sums
    assert looked_at.key == at_once.key


def test_an_outsider_who_sees_an_unreleased_model_sees_everything() -> None:
    assert epsilon_in("outsider", 0.0, shows_unreleased_model=True) == math.inf
    assert epsilon_in("eavesdropper", 0.0, shows_unreleased_model=True) == 0.0
    assert epsilon_in("outsider", 1.5, shows_unreleased_model=False) == 1.5


def test_a_negative_or_nan_charge_is_refused() -> None:
    for bad in (-0.1, math.nan):
        with pytest.raises(ValueError, match="charge"):
            spend(bad)


@pytest.mark.parametrize("accountant", ["basic", "kov"])
@pytest.mark.parametrize("before", [0.0, 0.5])
def test_shaped_charges_fill_what_is_left_of_a_budget(accountant: str, before: float) -> None:
    """s·w_k after a first release: the whole composes to the budget, by the accountant, to rounding."""
    weights = tuple(1.0 + 0.01 * k for k in range(300))
    first = pure([before] if before else [])
    charges = shaped_charges(PURE, 3.0, 1e-5, weights, accountant, first.key)
    assert [c / charges[0] for c in charges] == pytest.approx([w / weights[0] for w in weights])
    total = first
    for charge in charges:
        total = total.plus(loss_of(spend(charge)))
    assert by(accountant, total, 1e-5) == pytest.approx(3.0, rel=3e-8)  # 9 digits
    assert by(accountant, total, 1e-5) <= 3.0
    if accountant == "kov":
        assert basic(total.sums) > 3.5  # where composition helps


def test_the_printed_composition_is_below_the_true_one() -> None:
    """E8: 100 releases of 0.1 at 1e-5: printed 3.895, true 5.298, and the optimum 4.307 in between."""
    total = pure([0.1] * 100)
    assert by("kov_printed", total, 1e-5) == pytest.approx(3.895, abs=5e-4)
    assert kov(total.sums, 1e-5) == pytest.approx(5.298, abs=5e-4)


@pytest.mark.parametrize("charge", [0.0, 1e-12, 0.1, 1.0, 123.456, 1e7, 1e300])
def test_a_told_charge_is_never_below_the_true_one(charge: float) -> None:
    told = rounded_up(charge)
    assert isinstance(told, float)
    assert charge <= told <= charge + 1e-9
    assert rounded_up(told) == told
    assert rounded_up(math.inf) == "inf"


def calls_of(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls, in Python and in C."""
    count = 0

    def told(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(told)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("law", ["objective", "laplace", "gaussian"])
def test_a_release_costs_the_accountants_as_much_work_late_as_early(law: str) -> None:
    """Charges grow, so that every release has a law of its own; ε is asked for after each, as a run's samples do.

    Work is counted in calls. A thousand releases in the middle and the last thousand take about as many.
    """
    bag, planned = Tally(), Tally()
    for k in range(3000):
        planned.add(Loss(law, 0.001 * 1.001**k, 10, 0.0005 if law == "objective" else 0.0))
    work = list[int]()

    def release(loss: Loss) -> None:
        bag.add(loss)
        headline(bag, 1e-5, but=("pld",))
        bag.within(planned)
        hash(bag.case)

    for k, (loss, _) in enumerate(planned.key):
        if k % 10 == 9:
            work.append(calls_of(lambda loss=loss: release(loss)))  # type: ignore[misc]
        else:
            bag.add(loss)
    assert len(bag.key) == 3000
    assert len(bag.coarse) <= MOST_LAWS
    assert sum(work[200:]) <= 1.25 * sum(work[100:200])


LAWS_OF_RELEASES = st.builds(
    Loss,
    st.sampled_from(["laplace", "objective", "gaussian", "norm-gamma"]),
    st.floats(1e-4, 10.0),
    st.just(7),
    st.sampled_from([0.0, 1e-4, 0.003, 0.3]),
)


@pytest.mark.slow
@given(
    st.lists(st.tuples(LAWS_OF_RELEASES, st.integers(1, 3)), max_size=60),
    st.integers(8, 40),
    st.data(),
)
@settings(deadline=None)
def test_few_cells_stand_for_many_losses_and_never_for_less(
    losses: list[tuple[Loss, int]], most: int, data: st.DataObject
) -> None:
    """Whoever counts them one by one or all at once gets the same cells; each loss is in one that is no smaller."""
    losses = [(loss._replace(jacobian=min(loss.jacobian, loss.epsilon)), n) for loss, n in losses]
    gathered, at = Cells(most), 0
    for at, (loss, times) in enumerate(losses):
        gathered.add(loss, times)
        if data.draw(st.booleans()):
            assert gathered.key == Cells(most, losses[: at + 1]).key
    once = coarsened(tuple(losses), most)
    assert gathered.key == once
    assert sum(times for _, times in once) == sum(times for _, times in losses)
    for law in {loss.law for loss, _ in losses}:
        above = [cell for cell, _ in once if cell.law == law]
        for loss, _ in losses:
            if loss.law == law:
                assert any(c.epsilon >= loss.epsilon and c.jacobian >= loss.jacobian for c in above)


@pytest.mark.slow
@given(st.lists(st.tuples(LAWS_OF_RELEASES, st.integers(1, 3)), max_size=40), st.randoms())
def test_sums_are_rounded_once_in_any_order(
    losses: list[tuple[Loss, int]], chance: random.Random
) -> None:
    """The sums of a bag that grew one by one are the fractions' own, rounded to the nearest double."""
    grown, turned = Tally(), losses.copy()
    chance.shuffle(turned)
    for loss, times in losses:
        grown.add(loss, times)
        assert grown.sums.releases == len(grown)
    assert grown.sums == Tally(turned).sums
    exact = sum(Fraction(n * loss.epsilon) for loss, n in grown.key if loss.law != "gaussian")
    assert grown.sums.pure == float(exact)
