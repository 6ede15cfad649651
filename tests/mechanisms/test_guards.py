"""What guards fix: the papers' scales, what they cost, and what is kept and released."""

import math
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.spend import Spend
from mechanisms.admm import Alternating
from mechanisms.guards import DualNoise, Growth, PenaltyNoise, PrimalNoise
from mechanisms.mixing import Heard
from mechanisms.noise import LAWS
from mechanisms.objectives import Logistic
from mechanisms.perturbation import corrected, printed, record_of
from mechanisms.propagation import Propagation
from mechanisms.solve import minimise
from tests.support.one_step import E1, E2, ETA, KAPPA, NOISE, PULL, RHO, heard, objective

GUARDS: dict[str, Any] = {
    "dvp": lambda record: DualNoise(record, 2, (1.0,)),
    "dvp small": lambda record: DualNoise(record, 2, (0.05,)),
    "pp given": lambda record: PenaltyNoise(record, 2, Growth(1.5)),
    "pp target": lambda record: PenaltyNoise(record, 2, targets=(1.0,)),
    "pvp final": lambda record: PrimalNoise(record, 2, (1.0,), RHO, final_dual=True),
}


def test_what_a_release_costs_is_the_theorems() -> None:
    """DVP costs α exactly, PP αC/(ηVB) + ln(1+x) and a thousandth for the solver (theory.md, 2.2 and E20).

    Of α a thousandth is for the solver; Φ is there where ln(1+x) is more than half of the rest.
    """
    data = objective([E1] * 20, Logistic(), 4.0)
    record, w = record_of(data), 4.0 / 20
    assert (record.pull, record.bend) == (w, w / 4)
    x = w / 4 / KAPPA
    for alpha in (1.0, 0.3, 2 * math.log1p(x) * 1.003):
        terms = DualNoise(record, 2, (alpha,)).fix(0, KAPPA, PULL, 2)
        assert terms.ridge == 0
        assert terms.linear == pytest.approx((0.999 * alpha - math.log1p(x)) / (2 * w))
        assert terms.spend.charged == pytest.approx(alpha)
    small = DualNoise(record, 2, (0.01,)).fix(0, KAPPA, PULL, 2)
    assert small.ridge == pytest.approx(w / 4 / math.expm1(0.004995) - KAPPA)
    assert small.linear == pytest.approx(0.004995 / (2 * w))
    assert small.spend.charged == pytest.approx(0.01)
    given = PenaltyNoise(record, 2, Growth(3.0, 1.1)).fix(2, KAPPA, PULL, 2)
    assert given is not None
    assert given.linear == pytest.approx(3.0 * 1.21 / (2 * PULL))
    assert given.spend.charged == pytest.approx(1.001 * (3.63 * w / PULL + math.log1p(x)))


def test_noise_hides_where_the_solver_stopped_and_is_paid_for() -> None:
    """E20: two solutions within tol of a zero gradient lie 2·tol/κ apart; NG(ε₂κ/(2 tol)) costs ε₂ at that shift."""
    data = objective([E1] * 20, Logistic(), 4.0)
    record = record_of(data)
    for guard in (
        DualNoise(record, 2, (1.0,)),
        DualNoise(record, 2, (0.01,)),
        PenaltyNoise(record, 2, Growth(3.0)),
        PenaltyNoise(record, 2, targets=(0.5,)),
    ):
        terms = guard.fix(0, KAPPA, PULL, 2)
        assert terms is not None
        solve, spend = terms.spend.solve, terms.spend
        assert solve is not None
        assert solve.smoothing is not None
        assert solve.kappa == KAPPA + terms.ridge
        assert (solve.degree, solve.phi, solve.weight) == (2, terms.ridge, 4.0)
        assert solve.smoothing * 2 * solve.tolerance / solve.kappa == pytest.approx(solve.residual)
        parts = spend.scale * spend.sensitivity + spend.jacobian + solve.residual
        assert spend.charged == pytest.approx(parts, rel=1e-12)
        # the Jacobian from the ledger's line alone: C/B is half of the sensitivity
        assert spend.jacobian == pytest.approx(
            math.log1p(spend.sensitivity / 2 * 0.25 / solve.kappa)
        )


def test_the_noise_for_the_solver_is_in_what_is_released() -> None:
    """With the same draw of the linear noise, what leaves differs from the minimiser by a draw of rate ζ₂."""
    data = objective([E1, 0.5 * E2, -0.3 * E1], Logistic(), 1.0)
    guard = DualNoise(record_of(data), 2, (1.0,))
    mechanism = Alternating(data, ETA, Growth(ETA), guard)
    near, state = heard([E1, E1]), mechanism.begin(E1)
    terms = mechanism.terms(near, 0)
    assert terms is not None
    assert terms.linear is not None
    assert terms.spend.solve is not None
    apart = []
    for k in range(400):
        after, _ = mechanism.propose(state, near, 0).finish(NOISE(k))
        linear = LAWS["norm-gamma"].draw(NOISE(k), terms.linear, 2)
        apart.append(after.theta - mechanism.minimiser(state, near, 0, terms, linear))
    lengths = np.linalg.norm(apart, axis=1) * terms.spend.solve.smoothing
    assert lengths.mean() == pytest.approx(2.0, abs=5 * math.sqrt(2.0 / 400))  # Gamma(2)
    assert np.abs(np.mean(apart, axis=0)).max() < 5 * np.std(apart) / 20


def test_where_noise_makes_rounding_larger_more_noise_hides_that() -> None:
    """A linear term of length 10⁷ has a gradient to 1e-6 only: the tolerance, and what hides it, follow the noise's rate."""
    record = record_of(objective([E1] * 20, Logistic(), 4.0))
    solve = DualNoise(record, 2, (1e-6,)).fix(0, KAPPA, PULL, 2).spend.solve
    assert solve is not None
    assert solve.smoothing is not None
    zeta = 1e-6 * 0.999 / 2 / (2 * record.pull)
    assert solve.tolerance == pytest.approx(1e-13 * (2 + 9 * math.sqrt(2) + 60) / zeta)
    assert solve.smoothing == pytest.approx(1e-9 * solve.kappa / (2 * solve.tolerance))


@pytest.mark.slow
def test_the_noise_for_the_solver_is_in_a_propagated_model_too() -> None:
    """With the same draw of the linear noise, the local model differs from the minimiser by a draw of rate ζ₂."""
    data = objective([E1, 0.5 * E2, -0.3 * E1], Logistic(), 1.0)
    how, kappa = corrected(1.0, record_of(data), 2 * data.l2), 2 * data.l2
    solve, law = how.solve(record_of(data), kappa, 0, 2), LAWS["norm-gamma"]
    assert solve.smoothing is not None
    spend = Spend(
        "propagation",
        "objective",
        "corrected",
        how.zeta,
        1.0,
        "l2",
        2,
        how.jacobian,
        1.0,
        1.0,
        solve=solve,
    )
    kind = Propagation(data, 1.0, 1.0, law, spend, ridge=how.ridge)
    near, apart = Heard(np.array([E1, E1]), np.ones(2)), []
    for k in range(400):
        after, _ = kind.propose(kind.begin(E1), near, 0).finish(NOISE(k))
        linear = law.draw(NOISE(k), how.zeta, 2)
        assert after.anchor is not None
        apart.append(after.anchor - minimise(data, linear=linear, ridge=how.ridge).theta)
    lengths = np.linalg.norm(apart, axis=1) * solve.smoothing
    assert lengths.mean() == pytest.approx(2.0, abs=5 * math.sqrt(2.0 / 400))  # Gamma(2)
    assert np.abs(np.mean(apart, axis=0)).max() < 5 * np.std(apart) / 20


def test_noise_on_a_minimiser_covers_how_nearly_it_was_found() -> None:
    """Two minimisers lie 2w/κ apart, and each 1e-9/κ from where its solver stopped."""
    record = record_of(objective([E1] * 20, Logistic(), 1.0))
    for secret, kappa in ((False, KAPPA), (True, RHO)):
        terms = PrimalNoise(record, 2, (1.0,), RHO, secret=secret).fix(0, KAPPA, PULL, 2)
        assert terms.spend.sensitivity == pytest.approx(2 * (0.05 + 1e-9) / kappa, rel=1e-12)


def test_as_printed_nothing_is_added_for_the_solver() -> None:
    record = record_of(objective([E1] * 20, Logistic(), 1.0))
    for guard in (
        DualNoise(record, 2, (1.0,), as_printed=True),
        PenaltyNoise(record, 2, targets=(1.0,), as_printed=True),
    ):
        terms = guard.fix(0, KAPPA, PULL, 2)
        assert terms is not None
        assert terms.spend.solve is not None
        assert terms.spend.solve.smoothing is None
        assert terms.spend.charged == pytest.approx(
            terms.spend.scale * terms.spend.sensitivity + terms.spend.jacobian
        )


def test_as_printed_scales_are_the_papers_and_charged_what_they_cost() -> None:
    """E1, E3, (26) of Zhang, Khalili, Liu: the claim beside the truth."""
    data = objective([E1] * 20, Logistic(), 1.0)
    record, w = record_of(data), 1.0 / 20
    x = w / 4 / KAPPA
    dvp = DualNoise(record, 2, (1.0,), as_printed=True).fix(0, KAPPA, PULL, 2)
    hat = 1.0 - 2 * math.log1p(x)
    assert dvp.linear == pytest.approx(hat / w)
    assert dvp.spend.claimed == 1.0
    assert dvp.spend.charged == pytest.approx(2 * hat + math.log1p(x))
    pvp = PrimalNoise(record, 2, (1.0,), RHO, secret=True, as_printed=True).fix(0, KAPPA, PULL, 2)
    assert pvp.output == pytest.approx(RHO * 20 / 2)
    assert pvp.spend.charged == pytest.approx(1.0, rel=1e-6)
    pp = PenaltyNoise(record, 2, targets=(1.0,), as_printed=True).fix(0, KAPPA, PULL, 2)
    assert pp is not None
    alpha = PULL / w - 1.4 * 0.25
    assert pp.linear == pytest.approx(alpha / (2 * PULL))
    assert pp.spend.charged == pytest.approx(alpha * w / PULL + math.log1p(x))
    assert pp.spend.claimed == pytest.approx(1.0)
    assert pp.spend.charged < 1.0  # loose, and private
    assert PenaltyNoise(record, 2, targets=(1e-3,), as_printed=True).fix(0, KAPPA, PULL, 2) is None


def test_degree_zero_releases_nothing() -> None:
    data = objective([E1], Logistic(), 1.0)
    for guard in GUARDS.values():
        mechanism = Alternating(data, ETA, Growth(ETA), guard(record_of(data)))
        alone = heard([E1, E1])
        alone.attend(np.zeros(2, dtype=bool))
        assert mechanism.propose(mechanism.begin(E1), alone, 0).kind == "silent"


@pytest.mark.parametrize("alpha", [1e-300, 1e-12, 1e-6, 1e6, 1e12])
def test_absurd_alphas_neither_crash_nor_cost_more(alpha: float) -> None:
    """Noise of any size is solved for; what is not finite is told to the agent as it is."""
    data = objective([E1, 0.5 * E2, -0.3 * E1], Logistic(), 1.0)
    record = record_of(data)
    for guard in (
        DualNoise(record, 2, (alpha,)),
        PrimalNoise(record, 2, (alpha,), RHO),
        PenaltyNoise(record, 2, targets=(alpha,)),
    ):
        mechanism = Alternating(data, ETA, Growth(ETA), guard)
        with np.errstate(all="ignore"):
            step = mechanism.propose(mechanism.begin(E1), heard([E1, E1]), 0)
            assert step.spend is not None
            assert step.spend.charged <= alpha * (1 + 1e-9)
            after, _ = step.finish(NOISE(0))
        assert np.isfinite(after.theta).all() or alpha < 1e-200


@pytest.mark.parametrize("target", [0.001, 0.02])
def test_the_printed_ridge_is_the_papers(target: float) -> None:
    """Φ = c₁/((B/C)(e^{α/4} − 1)) − κ₀ and α̂ = α/2 where α ≤ 2 ln(1+x); halved, Chaudhuri et al. 2011."""
    record = record_of(objective([E1] * 4, Logistic(), 4.0))
    assert 2 * record.jacobian(KAPPA) > target
    phi = 0.25 / math.expm1(target / 4) - KAPPA
    found = printed(target, record, KAPPA)
    assert found.ridge == pytest.approx(phi)
    assert found.zeta == pytest.approx(target / 2)
    assert found.jacobian == pytest.approx(math.log1p(0.25 / (KAPPA + phi)))
    halved = printed(target, record, KAPPA, halved=True)
    assert halved.zeta == pytest.approx(target / 4)
    assert halved.loss(2.0) <= target


def test_only_what_was_released_is_kept() -> None:
    """The un-noised minimiser is a secret of the printed variant alone (theory.md, 2.3)."""
    data = objective([E1, 0.5 * E2], Logistic(), 1.0)
    for secret in (False, True):
        guard = PrimalNoise(record_of(data), 2, (1.0, 1.0), RHO, secret=secret)
        mechanism = Alternating(data, ETA, Growth(ETA), guard)
        after, _ = mechanism.propose(mechanism.begin(E1), heard([E1, E2]), 0).finish(NOISE(0))
        assert np.array_equal(after.minimiser, after.theta) is not secret


def test_what_is_no_minimiser_is_not_released() -> None:
    """E20: the charge allows for 1e-9; where rounding allows less, the agent diverges instead."""
    data = objective([E1, 0.5 * E2], Logistic(), 1.0)
    mechanism = Alternating(data, ETA, Growth(ETA), PrimalNoise(record_of(data), 2, (1.0,), RHO))
    with np.errstate(all="ignore"):
        far = heard([1e12 * E1, 1e12 * E2])
        after, _ = mechanism.propose(mechanism.begin(E1), far, 0).finish(NOISE(0))
    assert np.isnan(after.theta).all()
