"""The design of a budget: a fit gives back what it was made of, and α* is where the slope of J is 0."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.tradeoff import Fit, NoFit, PrivacyUtility, best, fit

ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.05, 30), st.floats(1, 40), st.floats(0, 2))
def test_a_curve_is_found_again(c4: float, c5: float, c6: float) -> None:
    losses = [c4 * math.exp(-c5 * a) + c6 for a in ALPHAS]
    found = fit(ALPHAS, losses)
    for alpha, loss in zip(ALPHAS, losses, strict=True):
        assert found.loss(alpha) == pytest.approx(loss, rel=1e-4, abs=1e-5 * c4)
    assert found.explained > 1 - 1e-6
    assert found.c5 == pytest.approx(c5, rel=1e-2)


@settings(deadline=None, max_examples=20)
@given(st.floats(0.1, 10), st.floats(0.1, 10))
def test_units_of_loss_and_of_alpha_only_stretch_a_fit(of_loss: float, of_alpha: float) -> None:
    losses = [0.3 * math.exp(-7 * a) + 0.4 + 0.01 * math.sin(50 * a) for a in ALPHAS]
    one = fit(ALPHAS, losses)
    other = fit([a * of_alpha for a in ALPHAS], [loss * of_loss for loss in losses])
    assert other.c4 == pytest.approx(one.c4 * of_loss, rel=1e-6)
    assert other.c5 == pytest.approx(one.c5 / of_alpha, rel=1e-6)
    assert other.c6 == pytest.approx(one.c6 * of_loss, rel=1e-6)


@pytest.mark.parametrize(
    "shape", [lambda a: 1 - a, lambda a: a, lambda _: 0.5, lambda a: -0.5 + math.exp(-a)]
)
def test_no_other_curve_of_its_kind_fits_better(shape: object) -> None:
    """A search over a grid of (c₄, c₅, c₆) ≥ 0 within the range of c₅ finds no smaller sum of squares."""
    assert callable(shape)
    losses = [shape(a) for a in ALPHAS]
    found = fit(ALPHAS, losses)
    mine = sum((found.loss(a) - y) ** 2 for a, y in zip(ALPHAS, losses, strict=True))
    assert min(found.c4, found.c6) >= 0
    x, y = np.array(ALPHAS), np.array(losses)
    for c5 in np.geomspace(0.03, 40, 60):
        for c4 in np.linspace(0, 3, 31):
            falls = c4 * np.exp(-c5 * x)
            c6 = max(0.0, float((y - falls).mean()))
            assert ((y - falls - c6) ** 2).sum() >= mine - 1e-9


def test_a_fit_of_three_numbers_needs_four_points() -> None:
    with pytest.raises(NoFit, match="four"):
        fit([0.1, 0.2, 0.3], [1.0, 0.5, 0.4])
    with pytest.raises(NoFit, match="four"):
        fit([0.1] * 5, [1.0] * 5)
    with pytest.raises(NoFit, match="finite"):
        fit(ALPHAS, [math.nan, *ALPHAS[1:]])


PAPER = Fit(0.2, 25.0, 0.1, 1.0, 0.0, at_edge=False)


def slope(curve: Fit, utility: PrivacyUtility, alpha: float) -> float:
    """J′ by differences."""
    step = 1e-6 * alpha
    up, down = (curve.loss(a) - utility.of(a) for a in (alpha + step, alpha - step))
    return (up - down) / (2 * step)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.05, 30), st.floats(2, 40), st.floats(0.001, 0.2))
def test_the_best_alpha_is_stationary_or_an_end_and_none_is_better(
    c4: float, c5: float, omega: float
) -> None:
    curve, utility = Fit(c4, c5, 0.1, 1.0, 0.0, at_edge=False), PrivacyUtility(omega1=omega)
    found = best(curve, utility, 0.01, 1.0)
    for alpha in np.geomspace(0.01, 1.0, 500):
        assert curve.loss(alpha) - utility.of(alpha) >= found.objective - 1e-9
    for alpha in (*found.minima, *found.maxima):
        assert abs(slope(curve, utility, alpha)) < 1e-5 * max(1.0, c4 * c5)
    assert found.is_inside == (found.alpha not in {found.low, found.high})


def test_the_papers_numbers_give_its_stationary_points() -> None:
    """ω₁(ω₃ + 2ω₄α) = c₄c₅(ω₃α + ω₄α²)e^(−c₅α): the sign that the paper prints is wrong."""
    found = best(PAPER, PrivacyUtility(), 0.001, 1.0)
    (low,), (high,) = found.maxima, found.minima
    for alpha in (low, high):
        left = 0.02 * (9 + 2 * alpha)
        assert left == pytest.approx(5 * (9 * alpha + alpha**2) * math.exp(-25 * alpha), rel=1e-6)
    assert high == pytest.approx(0.1422, abs=1e-4)


def test_a_bound_on_the_loss_cuts_small_alphas_off() -> None:
    found = best(PAPER, PrivacyUtility(), 0.001, 1.0, most_loss=0.135)
    assert PAPER.loss(found.low) == pytest.approx(0.135)
    assert found.alpha == pytest.approx(0.1422, abs=1e-4)
    with pytest.raises(NoFit, match="no α"):
        best(PAPER, PrivacyUtility(), 0.001, 1.0, most_loss=0.1)
    with pytest.raises(NoFit, match="above 0"):
        best(PAPER, PrivacyUtility(), 0.0, 1.0)


def test_the_utility_of_privacy_falls() -> None:
    utility = PrivacyUtility()
    values = [utility.of(a) for a in ALPHAS]
    assert values == sorted(values, reverse=True)
    for alpha in ALPHAS:
        step = 1e-7 * alpha
        assert utility.slope(alpha) == pytest.approx(
            (utility.of(alpha + step) - utility.of(alpha - step)) / (2 * step), rel=1e-5
        )
    with pytest.raises(NoFit):
        PrivacyUtility(omega1=0)
