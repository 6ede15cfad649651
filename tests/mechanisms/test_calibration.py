"""Calibration by curves and distributions, the caps that they hold, and the edges of what doubles can tell."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.accounting import gaussian, numerical, renyi
from mechanisms.accounting.calibrate import (
    Additive,
    Case,
    Form,
    Perturbed,
    bag_of,
    composed,
    shaped_charges,
    tightest,
    uniform_charge,
)
from mechanisms.accounting.compose import by, headline
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Loss, Tally, coarsened, loss_of
from mechanisms.accounting.spend import Spend

DELTA = 1e-5


def hundred(law: str, d: int = 0, jacobian: float = 0.0) -> Tally:
    return Tally([(Loss(law, 0.1, d, jacobian), 100)])


# calibration and caps

FORMS: dict[str, Form] = {
    "laplace": Additive("laplace"),
    "norm-gamma": Additive("norm-gamma", 12),
    "objective": Perturbed(0.01, 12),
    "objective, steep": Perturbed(3.0, 12),
    "pure": Additive("pure"),
}


@pytest.mark.parametrize("accountant", ["rdp", "pld"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("budget", "releases"), [(0.5, 40), (4.0, 7), (2.0, 1)])
def test_calibration_inverts_the_accountants_to_one_per_cent(
    accountant: str, form: str, budget: float, releases: int
) -> None:
    charge = uniform_charge(FORMS[form], budget, DELTA, releases, accountant)
    total = composed(FORMS[form], charge, releases, DELTA, accountant)
    assert total <= budget
    assert total >= budget * 0.99
    assert composed(FORMS[form], charge * 1.01, releases, DELTA, accountant) > budget * (1 - 1e-9)


@pytest.mark.parametrize("accountant", ["rdp", "pld", "zcdp"])
@given(
    st.lists(st.sampled_from([0.05, 0.1, 0.4]), min_size=1, max_size=40),
    st.sampled_from([0.5, 2.0]),
)
@settings(max_examples=15, deadline=None)
def test_a_filter_is_never_passed_and_refuses_nothing_that_fits_its_sum(
    accountant: str, charges: list[float], budget: float
) -> None:
    """Without a plan, rdp and pld caps are held by a Rényi sum at one order; zcdp by its own sum."""
    ledger, cap = Ledger(), Cap(budget, DELTA, accountant)

    def counted(bag: Tally) -> float:
        if accountant == "zcdp":
            return by("zcdp", bag, DELTA)
        return renyi.converted(float(renyi.total(bag.key)[cap.order]), cap.order, DELTA)

    for charge in charges:
        spend = Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, charge, charge)
        if cap.admits(ledger, spend):
            ledger.charge(spend)
        else:
            assert counted(ledger.tally.plus(loss_of(spend))) > budget
    assert cap.spent(ledger.tally) <= budget * (1 + 1e-8)
    assert by("rdp", ledger.tally, DELTA) <= budget * (1 + 1e-8)
    assert cap.holds(ledger.tally)


def objective(jacobian: float, charge: float = 0.1) -> Spend:
    return Spend("dvp", "objective", "", 1.0, 1.0, "l2", 10, jacobian, charge, charge)


def test_releases_at_another_degree_are_planned_where_the_accountant_sees_no_difference() -> None:
    """Another degree changes ln(1+x), not the ε of a release: "pld" counts the ε alone, "rdp" counts both."""
    bag = Tally([(loss_of(objective(0.01)), 20)])
    for accountant, fits in (("pld", True), ("rdp", False)):
        cap = Cap(by(accountant, bag, DELTA), DELTA, accountant).planning(bag)
        assert cap.planned is not None
        ledger = Ledger()
        for k in range(20):
            spend = objective(0.01 if k < 10 else 0.04)
            if not cap.admits(ledger, spend):
                break
            ledger.charge(spend)
        assert (len(ledger) == 20) is fits
        assert cap.holds(ledger.tally)
        assert by(accountant, ledger.tally, DELTA) <= cap.epsilon * (1 + 1e-9)


def test_the_order_of_a_filter_is_fixed_by_the_plan_and_is_its_best() -> None:
    loss = Loss("norm-gamma", 0.1, 10)
    planned = Tally([(loss, 100)])
    cap = Cap(3.0, DELTA, "pld", planned)
    curve = renyi.total(planned.key)
    at_order = renyi.converted(float(curve[cap.order]), cap.order, DELTA)
    assert at_order == pytest.approx(by("rdp", planned, DELTA), rel=1e-12)
    off_plan = planned.plus(Loss("norm-gamma", 0.1001, 10))
    assert cap.spent(planned) == by("pld", planned, DELTA)
    assert cap.spent(planned, numerical=False) == by("rdp", planned, DELTA)
    assert cap.spent(off_plan) >= at_order > cap.spent(planned)


def test_what_was_planned_needs_no_composition_and_nothing_more_is_let_through() -> None:
    spend = Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, 0.1, 0.1)
    planned = Tally([(loss_of(spend), 10)])
    cap = Cap(by("pld", planned, DELTA), DELTA, "pld", planned)
    ledger = Ledger()
    for _ in range(10):
        assert cap.admits(ledger, spend)
        ledger.charge(spend)
    assert not cap.admits(ledger, spend)
    assert not cap.holds(planned.plus(loss_of(spend)))


def test_a_plan_of_numerical_composition_knows_objectives_by_their_charge_alone() -> None:
    """Their Jacobian and residual do not enter it: releases that differ from the plan by them are the plan's."""
    planned = Tally([(Loss("objective", 0.1, 4, 0.1), 10)])
    cap = Cap(by("pld", planned, DELTA), DELTA, "pld").planning(planned)
    ledger = Ledger()
    for made in range(10):
        jacobian = 0.1 - 0.001 * (made % 3)
        spend = Spend("dvp", "objective", "", 1.0, 1.0, "l2", 4, jacobian, 0.1, 0.1)
        assert cap.admits(ledger, spend)
        ledger.charge(spend)
    assert cap.holds(ledger.tally)


@pytest.mark.parametrize("accountant", ["rdp", "pld"])
@pytest.mark.parametrize("law", ["norm-gamma", "laplace", "objective"])
@pytest.mark.parametrize("charge", [0.05, 0.3])
def test_a_filter_admits_what_was_planned_and_then_what_its_sum_leaves(
    accountant: str, law: str, charge: float
) -> None:
    """Ten planned releases of a budget that they fill: ten are admitted, whatever the order, and an eleventh is not.

    (Save where the plan's accountant is the looser one, as pld is of objective perturbation: there a sum leaves room.)
    Without a plan n releases are admitted, n the largest whose n·RDP(α) is within the budget at the filter's order α.
    """
    spend = Spend("cd", law, "", 1.0, 1.0, "l2", 4, 0.0, charge, charge)
    other = Spend("cd", law, "", 1.0, 1.0, "l2", 4, 0.0, 2 * charge, 2 * charge)
    planned = Tally([(loss_of(spend), 7), (loss_of(other), 3)])
    cap = Cap(by(accountant, planned, DELTA), DELTA, accountant, planned)
    ledger = Ledger()
    for each in [other] * 3 + [spend] * 7:
        assert cap.admits(ledger, each)
        ledger.charge(each)
    if (accountant, law) != ("pld", "objective"):
        assert not cap.admits(ledger, spend)
        assert not cap.admits(ledger, other)

    free, ledger = Cap(2.0, DELTA, accountant), Ledger()
    each_costs = float(renyi.curve(loss_of(spend))[free.order])
    most = 0
    while renyi.converted((most + 1) * each_costs, free.order, DELTA) <= 2.0:
        most += 1
    for _ in range(most):
        assert free.admits(ledger, spend)
        ledger.charge(spend)
    assert not free.admits(ledger, spend)


@pytest.mark.parametrize("law", ["gaussian", "objective"])
@pytest.mark.parametrize("before", [0, 5, 256])
def test_the_largest_release_that_a_filter_admits_is_within_the_cap(law: str, before: int) -> None:
    """Also where its Jacobian's part is rounded up, and where it is the first loss for which all others are."""
    cap, ledger = Cap(6.0, DELTA, "rdp"), Ledger()

    def release(charge: float) -> Spend:
        return Spend("pp", law, "", 1.0, 1.0, "l2", 9, charge / 5, charge, charge)

    for k in range(before):
        ledger.charge(release(0.02 + 1e-4 * k))
    low, high = 0.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if cap.admits(ledger, release(middle)) else (low, middle)
    assert 0.1 < low < 6.0
    ledger.charge(release(low))
    assert cap.holds(ledger.tally)


@pytest.mark.parametrize("d", [3, 4, 10, 105, 2000])
def test_the_nodes_of_proposition_p_have_the_moments_of_their_laws(d: int) -> None:
    """ζ‖b‖ ~ Gamma(d): mean and variance d; sin²φ ~ Beta(1, (d−2)/2): mean 2/d. Tails are counted at their worse ends."""
    radius, weights = renyi._gamma_nodes(d)
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert weights @ radius == pytest.approx(d, rel=1e-9)
    assert weights @ (radius - d) ** 2 == pytest.approx(d, rel=1e-6)
    assert radius[-1] < 1e-200  # where the loss is largest
    assert weights[-1] > 0
    angle, shares = renyi._beta_nodes(d)
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    assert shares @ np.sin(angle) ** 2 == pytest.approx(2 / d, rel=1e-6)
    assert angle[-1] == math.pi / 2
    assert shares[-1] > 0


@pytest.mark.slow
def test_rounding_many_losses_up_never_takes_from_any_part() -> None:
    """Each coarse loss has at least the ε and the Jacobian's share of every one that it stands for."""
    losses = [Loss("objective", 0.01 * 1.003**k, 9, 0.001 * (k % 7)) for k in range(900)]
    coarse = coarsened(tuple((loss, 1) for loss in losses), 256)
    assert len(coarse) < len(losses) / 2
    for loss in losses:
        above = [c for c, _ in coarse if c.epsilon >= loss.epsilon and c.jacobian >= loss.jacobian]
        assert above
        nearest = min(above, key=lambda c: c.epsilon)
        assert nearest.epsilon <= loss.epsilon * 1.2
    fine = [renyi.curve(loss) for loss in losses[::30]]
    assert (renyi.total(tuple((loss, 1) for loss in losses)) >= np.sum(fine, axis=0)).all()


def test_the_form_of_a_perturbed_objective_is_that_of_its_guard() -> None:
    """ln(1+x), and half of the rest where Φ makes it so, beside what pays for the solver (theory.md, 2.2 and E20)."""
    from mechanisms.perturbation import Record, corrected

    for bend, target in ((0.01, 1.0), (0.5, 0.3), (2.0, 0.1)):
        how = corrected(target, Record(1.0, bend), 0.8)
        loss = Perturbed(bend / 0.8, 7).loss(target)
        assert loss == Loss("objective", target, 7, pytest.approx(how.jacobian + how.residual))  # type: ignore[arg-type]


def test_a_shortcut_is_for_parts_of_the_plan_only() -> None:
    """One more of a planned kind is composed when the ledger already holds what was not planned."""
    planned, other = (
        Spend("cd", "norm-gamma", "", 1.0, 1.0, "l2", 4, 0.0, c, c) for c in (0.1, 5.0)
    )
    bag = Tally([(loss_of(planned), 10)])
    cap = Cap(by("pld", bag, DELTA), DELTA, "pld", bag)
    ledger = Ledger()
    ledger.charge(other)
    assert not cap.admits(ledger, planned)
    assert not cap.holds(ledger.tally)


@pytest.mark.parametrize("times", [10**5, 10**6])
@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-11, 1e-13])
def test_a_million_releases_are_never_below_the_truth(times: int, delta: float) -> None:
    """Transforms err by some 1e-17 a release: that much of δ is set aside, and where it is all of it there is no claim."""
    found = by("pld", Tally([(Loss("gaussian", 0.3 / math.sqrt(times)), times)]), delta)
    assert found >= gaussian.epsilon(0.3, delta) * (1 - 1e-6)
    many = Tally([(Loss("norm-gamma", 0.3 * math.sqrt(1000) / math.sqrt(times), 1000), times)])
    # the limit of many faint releases in a thousand dimensions is Gaussian, of μ² = Σε²/d
    assert by("pld", many, delta) >= gaussian.epsilon(0.3, delta) * 0.995
    assert headline(many, delta)[0] >= gaussian.epsilon(0.3, delta) * 0.995


def test_between_orders_proposition_p_is_not_below_itself() -> None:
    """Chords of ln M, against the formula at orders between those that were computed."""
    for epsilon, d, jacobian in ((1e-3, 3, 9e-4), (0.5, 20, 0.1), (2.0, 5, 0.0)):
        loss, weights = renyi._worst_loss(epsilon - jacobian, d, jacobian)
        curve = renyi.curve(Loss("objective", epsilon, d, jacobian))
        for at in range(196, len(renyi.LAMBDAS), 37):
            growth = float(renyi.LAMBDAS[at])
            peak = growth * loss.max()
            moment = np.exp(growth * loss - peak) @ weights
            whole = moment + growth * math.exp(-min(peak, 700.0)) * float(np.expm1(-loss) @ weights)
            exact = (peak + math.log(whole)) / growth
            pure = renyi.curve(Loss("pure", epsilon))[at]
            assert curve[at] >= min(exact, pure) * (1 - 1e-9) - 1e-12
            assert curve[at] <= exact * 1.01 + 1e-9


@pytest.mark.parametrize("law", ["pure", "laplace", "norm-gamma"])
@pytest.mark.parametrize("faint", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_faint_release_costs_little_and_takes_no_finer_grid(law: str, faint: float) -> None:
    """Beside five releases of 1 it costs its own charge at most, and a grid of half a million points does."""
    alone = Tally([(Loss("pure", 1.0), 5)])
    bag = Tally([(Loss(law, faint, 3 if law == "norm-gamma" else 0), 1), (Loss("pure", 1.0), 5)])
    assert len(numerical.law(bag)[0]) <= 500_000
    found, without = (numerical.epsilon(each, DELTA) for each in (bag, alone))
    assert without - 1e-12 <= found <= without + faint + 0.001


@pytest.mark.slow
@pytest.mark.parametrize("span", [1e-4, 1e-7, 9.9e-10])
@pytest.mark.parametrize("form", ["laplace", "norm-gamma"])
def test_the_tightest_uses_a_budget_whole_that_grows_from_next_to_nothing(
    form: str, span: float
) -> None:
    weights = tuple(np.geomspace(span, 1.0, 40).tolist())
    case = Case(FORMS[form], 0.3, DELTA, weights)
    name = tightest([case])
    found = shaped_charges(FORMS[form], 0.3, DELTA, weights, name)
    assert 0.98 * 0.3 <= headline(bag_of(FORMS[form], found), DELTA)[0] <= 0.3
