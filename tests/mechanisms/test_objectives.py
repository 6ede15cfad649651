"""Losses and local objectives: derivatives, constants, clipping, minimisers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.objectives import LocalObjective, Logistic, Loss, SmoothedHinge, Squared, Welsch
from mechanisms.solve import NoMinimiser, minimise
from scenarios.planning.seeds import generator

LOSSES: list[Loss] = [
    Logistic(),
    SmoothedHinge(),
    SmoothedHinge(0.1),
    Squared(),
    Squared(0.7),
    Welsch(),
]
IDS = [repr(loss) for loss in LOSSES]
T = np.linspace(-6, 6, 2401)


def points(m: int = 40, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(seed, "points")
    x = rng.standard_normal((m, d))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    return x, np.where(x[:, 0] + 0.3 * rng.standard_normal(m) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_the_slope_is_the_derivative_of_the_value(loss: Loss) -> None:
    h = 1e-5
    numeric = (loss.value(T + h) - loss.value(T - h)) / (2 * h)
    assert np.abs(numeric - loss.slope(T)).max() < 1e-4


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_the_curvature_is_the_derivative_of_the_slope(loss: Loss) -> None:
    h = 1e-6
    numeric = (loss.slope(T + h) - loss.slope(T - h)) / (2 * h)
    kinks = np.abs(numeric - loss.curvature(T)) > 1e-4
    assert kinks.mean() < 0.01  # only where a piecewise loss changes its piece


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_bounds_hold_and_are_attained(loss: Loss) -> None:
    fine = np.linspace(-60, 60, 1_200_001)
    if math.isfinite(loss.lipschitz):
        assert np.abs(loss.slope(fine)).max() == pytest.approx(loss.lipschitz, rel=1e-6)
    assert np.abs(loss.curvature(fine)).max() == pytest.approx(loss.curvature_bound, rel=1e-6)
    assert loss.convex == bool((loss.curvature(fine) >= 0).all())


def test_known_values() -> None:
    zero = np.zeros(1)
    assert Logistic().value(zero)[0] == pytest.approx(math.log(2))
    assert Logistic().slope(zero)[0] == -0.5
    assert SmoothedHinge(0.5).value(np.array([0.0, 1.0, 2.0])).tolist() == [1.0, 0.125, 0.0]
    assert Squared().value(np.array([3.0]))[0] == 9.0
    assert Squared(clip=1.0).value(np.array([3.0]))[0] == 5.0  # c(2|t| − c)
    assert Welsch().value(np.array([0.0, 1e9])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_gradient_and_hessian_are_derivatives(loss: Loss, *, mean: bool) -> None:
    x, y = points()
    objective, h = LocalObjective(x, y, loss, 0.05, weight=None if mean else 1.0), 1e-6
    theta, steps = generator(1, "theta").standard_normal(4), np.eye(4) * 1e-6
    numeric = [(objective.value(theta + e) - objective.value(theta - e)) / (2 * h) for e in steps]
    assert objective.gradient(theta) == pytest.approx(np.array(numeric), abs=1e-6 * len(y))
    curved = [
        (objective.gradient(theta + e) - objective.gradient(theta - e)) / (2 * h) for e in steps
    ]
    if loss.convex and not isinstance(loss, SmoothedHinge) and loss != Squared(0.7):
        assert objective.hessian(theta) == pytest.approx(np.array(curved), abs=1e-5 * len(y))


def test_regularisation_has_no_half() -> None:
    """L(θ) = mean loss + λ‖θ‖²: the gradient at data that say nothing is 2λθ."""
    objective = LocalObjective(np.zeros((1, 2)), np.ones(1), Logistic(), 0.25)
    assert objective.gradient(np.array([1.0, -2.0])).tolist() == [0.5, -1.0]
    assert objective.value(np.array([1.0, -2.0])) == pytest.approx(math.log(2) + 0.25 * 5)


def test_smoothness_is_the_largest_curvature() -> None:
    x, y = points()
    objective = LocalObjective(x, y, Logistic(), 0.1)
    at_zero = float(np.linalg.eigvalsh(objective.hessian(np.zeros(4)))[-1])
    assert objective.smoothness() == pytest.approx(at_zero)  # logistic curves most at 0


@pytest.mark.parametrize("norm", ["l1", "l2"])
@given(bound=st.floats(0.01, 2.0), size=st.floats(0.0, 50.0))
def test_clipping_bounds_every_record_in_its_norm(norm: str, bound: float, size: float) -> None:
    x, y = points()
    theta = size * generator(2, "theta").standard_normal(4)
    order = 1 if norm == "l1" else 2
    for i in range(5):
        one = LocalObjective(x[i : i + 1], y[i : i + 1], Squared(), 0.0)
        clipped = one.gradient(theta, one.clip_at(bound, norm))
        free = one.gradient(theta)
        length = float(np.linalg.norm(free, ord=order))
        assert np.linalg.norm(clipped, ord=order) <= bound * (1 + 1e-12)
        assert clipped == pytest.approx(free * min(1.0, bound / max(length, 1e-300)), abs=1e-12)


def test_the_longest_gradient_is_the_longest() -> None:
    x, y = points()
    objective, theta = LocalObjective(x, y, Logistic(), 0.0), np.ones(4)
    each = [
        np.linalg.norm(LocalObjective(x[i : i + 1], y[i : i + 1], Logistic(), 0.0).gradient(theta))
        for i in range(len(y))
    ]
    assert objective.longest_gradient(theta, None, "l2") == pytest.approx(max(each))


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.convex], ids=repr)
def test_minimisers_are_exact(loss: Loss) -> None:
    x, y = points()
    objective = LocalObjective(x, y, loss, 0.05)
    solution = minimise(objective)
    assert solution.residual <= 1e-9
    assert np.linalg.norm(objective.gradient(solution.theta)) <= 1e-9
    for direction in np.eye(4):
        assert objective.value(solution.theta + 0.01 * direction) > objective.value(solution.theta)


def test_least_squares_has_its_closed_form() -> None:
    x, y = points()
    exact = np.linalg.solve(x.T @ x / len(y) + 0.3 * np.eye(4), x.T @ y / len(y))
    found = minimise(LocalObjective(x, y, Squared(), 0.3)).theta
    assert found == pytest.approx(exact, abs=1e-9)


def test_tilt_and_ridge_enter_the_optimality_condition() -> None:
    x, y = points()
    objective, tilt = LocalObjective(x, y, Logistic(), 0.05), np.array([0.1, -0.2, 0.0, 0.3])
    theta = minimise(objective, linear=tilt, ridge=0.7).theta
    assert objective.gradient(theta) + tilt + 0.7 * theta == pytest.approx(np.zeros(4), abs=1e-8)


def test_separable_data_without_regularisation_have_no_minimiser() -> None:
    x = np.array([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(NoMinimiser, match=r"task\.l2"):
        minimise(LocalObjective(x, np.array([1.0, -1.0]), Logistic(), 0.0))
