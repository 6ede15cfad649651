"""The loss laws behind Rényi curves and numerical distributions, against other integrals and drawn noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from mechanisms.accounting import norm_gamma, numerical, renyi
from mechanisms.accounting.loss import Loss
from mechanisms.noise import LAWS
from tests.support.marks import one_in

DELTA = 1e-5


# the exact law of norm-gamma noise


@pytest.mark.parametrize("d", [2, 3, 4, 11, 105, 400])
@pytest.mark.parametrize("epsilon", [0.02, 0.5, 4.0, 30.0])
def test_bessel_ratios_are_those_of_the_special_function(d: int, epsilon: float) -> None:
    above, below = special.kve(d / 2, epsilon), special.kve(d / 2 - 1, epsilon)
    if math.isfinite(above) and below > 0:
        assert norm_gamma.bessel_ratio(d, epsilon) == pytest.approx(above / below, rel=1e-10)


@pytest.mark.parametrize("d", one_in(2, [2, 3, 7, 50]))
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 12.0])
def test_the_law_is_that_of_drawn_noise(d: int, epsilon: float) -> None:
    """Ln p(x)/p(x − Δ) of noise of our own sampler; 5 standard errors at nine quantiles."""
    from scenarios.planning.seeds import generator

    rng, n = generator(3, f"law/{d}/{epsilon}"), 40_000
    shift = np.eye(d)[0]
    drawn = np.array([LAWS["norm-gamma"].draw(rng, epsilon, d) for _ in range(n)])
    lost = epsilon * (np.linalg.norm(drawn - shift, axis=1) - np.linalg.norm(drawn, axis=1))
    at = np.quantile(lost, np.linspace(0.1, 0.9, 9))
    below = norm_gamma.distribution(d, epsilon, at / epsilon)
    assert np.abs(below - np.linspace(0.1, 0.9, 9)).max() < 5 * 0.5 / math.sqrt(n)


@given(st.integers(2, 60), st.floats(0.01, 20.0), st.floats(0.0, 0.999))
@settings(max_examples=60, deadline=None)
def test_a_loss_law_is_symmetric(d: int, epsilon: float, share: float) -> None:
    """δ(−ε) = 1 − e^{−ε} + e^{−ε} δ(ε): the pair is its own mirror image; δ(ε₀) = 0, δ(−ε₀) = 1 − e^{−ε₀}."""
    at = share
    edges = np.unique(np.array([-1.0, -at, at, 1.0]))
    mass = norm_gamma.masses(d, epsilon, edges)
    fine = np.unique(np.concatenate([np.linspace(at, 1.0, 4001), [1.0]]))
    upper = norm_gamma.masses(d, epsilon, np.concatenate([[-1.0], fine]))[1:]
    middles = 0.5 * epsilon * (fine[1:] + fine[:-1])
    assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    # e^{−l}p(l) = p(−l): what lies below −at is what lies above at, each point weighed by e^{−l}
    assert mass[0] == pytest.approx(float(upper @ np.exp(-middles)), rel=1e-4, abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_in_many_dimensions_the_curve_is_nearly_gaussian(epsilon: float) -> None:
    """ρ ≈ ε²/(2d) for small ε (theory.md, 5.3)."""
    for d in (100, 1000):
        curve = renyi.curve(Loss("norm-gamma", epsilon, d))
        at = int(np.searchsorted(renyi.LAMBDAS, 1.0))
        assert curve[at] == pytest.approx(epsilon**2 / d, rel=0.03)


@pytest.mark.parametrize("law", ["norm-gamma", "laplace", "pure"])
def test_curves_are_the_moments_of_the_distribution(law: str) -> None:
    """E e^{λL} from the curve and from the masses on a grid; E e^{−L} = 1, for the dots keep it."""
    d, epsilon = 6, 1.3
    loss = numerical._one(Loss(law, epsilon, d), epsilon / 2000)
    assert loss.mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert float(loss.mass @ np.exp(-loss.losses)) == pytest.approx(1.0, abs=1e-12)
    for growth in (1.0, 2.0, 5.0):
        moment = float(loss.mass @ np.exp(growth * loss.losses))
        found = float(np.interp(growth, renyi.LAMBDAS, renyi.curve(Loss(law, epsilon, d))))
        assert found == pytest.approx(math.log(moment) / growth, rel=2e-3)


@pytest.mark.parametrize(
    ("d", "epsilon", "jacobian"), [(3, 1.0, 0.0), (10, 1.0, 0.1), (60, 0.5, 0.02)]
)
def test_proposition_p_against_drawn_noise(d: int, epsilon: float, jacobian: float) -> None:
    from scenarios.planning.seeds import generator

    rng, n = generator(4, f"p/{d}"), 400_000
    r, u = rng.standard_gamma(d, n), np.sqrt(rng.beta(1, (d - 2) / 2, n))
    reach = epsilon - jacobian
    worst = jacobian + np.sqrt(r * r + 2 * r * reach * u + reach * reach) - r
    curve = renyi.curve(Loss("objective", epsilon, d, jacobian))
    for growth in (1.0, 3.0, 8.0):
        drawn = math.log(np.mean(np.exp(growth * worst) + growth * np.expm1(-worst))) / growth
        assert float(np.interp(growth, renyi.LAMBDAS, curve)) == pytest.approx(drawn, rel=0.02)


@pytest.mark.parametrize("d", [2, 6, 1000])
def test_a_huge_epsilon_has_a_curve_as_large_as_itself(d: int) -> None:
    """No divergence is larger than the pure ε, and of a huge one every order is within a thousandth of it."""
    for power in (15, 19, 21, 100, 308):
        curve = renyi.curve(Loss("norm-gamma", 10.0**power, d))
        assert (curve <= 10.0**power * (1 + 2e-9)).all()  # a billionth is the room for rounding
        assert (curve >= 10.0**power * 0.999).all()
