"""What guards fix: the papers' scales, what they cost, and what is kept and released."""

import math
from typing import Any

import numpy as np
import pytest

from mechanisms.admm import Alternating
from mechanisms.guards import DualNoise, Growth, PenaltyNoise, PrimalNoise
from mechanisms.objectives import Logistic
from mechanisms.perturbation import printed, record_of
from tests.support.one_step import E1, E2, ETA, KAPPA, NOISE, PULL, RHO, heard, objective

GUARDS: dict[str, Any] = {
    "dvp": lambda record: DualNoise(record, 2, (1.0,)),
    "dvp small": lambda record: DualNoise(record, 2, (0.05,)),
    "pp given": lambda record: PenaltyNoise(record, 2, Growth(1.5)),
    "pp target": lambda record: PenaltyNoise(record, 2, targets=(1.0,)),
    "pvp final": lambda record: PrimalNoise(record, 2, (1.0,), RHO, final_dual=True),
}


def test_what_a_release_costs_is_the_theorems() -> None:
    """theory.md, 2.2: DVP costs α exactly, with Φ where ln(1+x) > α/2; PP αC/(ηVB) + ln(1+x)."""
    data = objective([E1] * 20, Logistic(), 4.0)
    record, w = record_of(data), 4.0 / 20
    assert (record.pull, record.bend) == (w, w / 4)
    x = w / 4 / KAPPA
    for alpha in (1.0, 0.3, 2 * math.log1p(x) * 1.001):
        terms = DualNoise(record, 2, (alpha,)).fix(0, KAPPA, PULL)
        assert terms.ridge == 0
        assert terms.linear == pytest.approx((alpha - math.log1p(x)) / (2 * w))
        assert terms.spend.charged == pytest.approx(alpha)
    small = DualNoise(record, 2, (0.01,)).fix(0, KAPPA, PULL)
    assert small.ridge == pytest.approx(w / 4 / math.expm1(0.005) - KAPPA)
    assert small.linear == pytest.approx(0.005 / (2 * w))
    assert small.spend.charged == pytest.approx(0.01)
    given = PenaltyNoise(record, 2, Growth(3.0, 1.1)).fix(2, KAPPA, PULL)
    assert given is not None
    assert given.linear == pytest.approx(3.0 * 1.21 / (2 * PULL))
    assert given.spend.charged == pytest.approx(3.63 * w / PULL + math.log1p(x))


def test_as_printed_scales_are_the_papers_and_charged_what_they_cost() -> None:
    """E1, E3, (26) of Zhang, Khalili, Liu: the claim beside the truth."""
    data = objective([E1] * 20, Logistic(), 1.0)
    record, w = record_of(data), 1.0 / 20
    x = w / 4 / KAPPA
    dvp = DualNoise(record, 2, (1.0,), as_printed=True).fix(0, KAPPA, PULL)
    hat = 1.0 - 2 * math.log1p(x)
    assert dvp.linear == pytest.approx(hat / w)
    assert dvp.spend.claimed == 1.0
    assert dvp.spend.charged == pytest.approx(2 * hat + math.log1p(x))
    pvp = PrimalNoise(record, 2, (1.0,), RHO, secret=True, as_printed=True).fix(0, KAPPA, PULL)
    assert pvp.output == pytest.approx(RHO * 20 / 2)
    assert pvp.spend.charged == pytest.approx(1.0, rel=1e-6)
    pp = PenaltyNoise(record, 2, targets=(1.0,), as_printed=True).fix(0, KAPPA, PULL)
    assert pp is not None
    alpha = PULL / w - 1.4 * 0.25
    assert pp.linear == pytest.approx(alpha / (2 * PULL))
    assert pp.spend.charged == pytest.approx(alpha * w / PULL + math.log1p(x))
    assert pp.spend.claimed == pytest.approx(1.0)
    assert pp.spend.charged < 1.0  # loose, and private
    assert PenaltyNoise(record, 2, targets=(1e-3,), as_printed=True).fix(0, KAPPA, PULL) is None


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
