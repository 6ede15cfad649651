"""Mechanisms in two steps: what they propose, what they touch, and what they compute."""

import numpy as np
import pytest

from mechanisms.accounting.spend import Spend, unprotected
from mechanisms.descent import CoordinateDescent
from mechanisms.joint import Apart, Graph, Personalised, Propagating
from mechanisms.mixing import Heard
from mechanisms.noise import LAWS, grid_below, round_to
from mechanisms.objectives import LocalObjective, Logistic
from mechanisms.propagation import Propagation
from mechanisms.solve import minimise
from mechanisms.strategy import DERIVED, RELEASE, SILENT, smoothing
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.seeds import NoiseSource, generator


class CountingObjective(LocalObjective):
    """A real objective that counts how often its data are read."""

    __slots__ = ("reads",)

    def __init__(self, features: Matrix, labels: Vector) -> None:
        super().__init__(features, labels, Logistic(), 0.1)
        self.reads = 0

    def _scores(self, theta: Vector) -> Vector:
        self.reads += 1
        return super()._scores(theta)


def objective(seed: int = 0, m: int = 12) -> CountingObjective:
    rng = generator(seed, "objective")
    x = rng.standard_normal((m, 3))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
    return CountingObjective(x, np.where(x[:, 0] > 0, 1.0, -1.0))


def heard() -> Heard:
    return Heard(np.arange(6.0).reshape(2, 3), np.array([1.0, 3.0]))


def spend(k: float = 1.0) -> Spend:
    return Spend("cd", "norm-gamma", "corrected", 10.0, 0.1, "l2", 3, 0.0, k, k)


def private(
    data: CountingObjective, releases: int = 2, *, smooth_after: bool = True
) -> CoordinateDescent:
    return CoordinateDescent(
        data, 2.0, 0.5, 0.7, LAWS["norm-gamma"], (spend(),) * releases, None, smooth_after, 2.0**-30
    )


NOISE = NoiseSource(1).of(0)


def test_proposing_reads_no_data_and_draws_no_noise() -> None:
    data = objective()
    step = private(data).propose(np.zeros(3), heard(), 0)
    assert (step.kind, step.spend, data.reads) == (RELEASE, spend(), 0)


def test_descent_is_its_formula() -> None:
    """Θ ← (1−α)Θ + α(Σ W/D Θ̂ − μc(∇L + ν)), α = 1/(1 + μ c L^loc) (theory.md, A10)."""
    data, theta = objective(), np.array([0.5, -1.0, 2.0])
    moved, sent = private(data).propose(theta, heard(), 1).finish(NOISE(1))
    noise = LAWS["norm-gamma"].draw(NOISE(1), 10.0, 3)
    alpha = 1 / (1 + 2.0 * 0.5 * 0.7)
    mean = 0.25 * np.array([0.0, 1.0, 2.0]) + 0.75 * np.array([3.0, 4.0, 5.0])
    expected = (1 - alpha) * theta + alpha * (mean - 2.0 * 0.5 * (data.gradient(theta) + noise))
    assert moved == pytest.approx(expected, abs=2.0**-30)
    assert sent is moved  # the published vector is the state from then on


def test_without_noise_it_is_the_plain_algorithm_and_costs_everything() -> None:
    data, theta = objective(), np.ones(3)
    plain = CoordinateDescent(data, 2.0, 0.5, 0.7, free=unprotected("cd", 3))
    step = plain.propose(theta, heard(), 10**6)
    assert step.spend is not None
    assert step.spend.charged == np.inf
    silenced = Spend("cd", "norm-gamma", "corrected", 1e300, 0.1, "l2", 3, 0.0, 1.0, 1.0)
    nearly = CoordinateDescent(data, 2.0, 0.5, 0.7, LAWS["norm-gamma"], (silenced,))
    assert np.array_equal(
        step.finish(None)[0], nearly.propose(theta, heard(), 0).finish(NOISE(0))[0]
    )


def test_after_its_releases_it_smooths_without_data() -> None:
    data, theta = objective(), np.ones(3)
    step = private(data).propose(theta, heard(), 2)
    assert (step.kind, step.spend) == (DERIVED, None)
    moved, _ = step.finish(None)
    assert moved == pytest.approx(0.5 * theta + 0.5 * heard().mean())
    assert data.reads == 0


def test_or_says_nothing_when_told_so() -> None:
    step = private(objective(), smooth_after=False).propose(np.ones(3), heard(), 2)
    assert step.kind == SILENT


def test_nobody_to_hear_means_nothing_is_published() -> None:
    alone = heard()
    alone.attend(np.array([False, False]))
    for mechanism in (private(objective()), propagation(objective())):
        state = mechanism.begin(np.zeros(3))
        assert mechanism.propose(state, alone, 0).kind == SILENT  # type: ignore[arg-type]


def propagation(data: CountingObjective) -> Propagation:
    return Propagation(data, 2.0, 0.5, LAWS["norm-gamma"], spend(), 2.0**-30)


def test_propagation_reads_data_once() -> None:
    data = objective()
    mechanism = propagation(data)
    state, _ = mechanism.propose(mechanism.begin(np.zeros(3)), heard(), 0).finish(NOISE(0))
    reads = data.reads
    assert reads > 0
    for _ in range(10):
        step = mechanism.propose(state, heard(), 1)
        assert (step.kind, step.spend) == (DERIVED, None)
        state, _ = step.finish(None)
    assert data.reads == reads


def test_propagation_is_its_formula() -> None:
    data = objective()
    mechanism = propagation(data)
    state, sent = mechanism.propose(mechanism.begin(np.zeros(3)), heard(), 0).finish(NOISE(4))
    anchor = minimise(data).theta + LAWS["norm-gamma"].draw(NOISE(4), 10.0, 3)
    assert state.anchor == pytest.approx(anchor, abs=2.0**-30)
    assert sent == pytest.approx((heard().mean() + 1.0 * state.anchor) / 2.0)


def test_a_lost_anchor_is_never_made_again() -> None:
    data = objective()
    mechanism = propagation(data)
    step = mechanism.propose(mechanism.begin(np.ones(3)), heard(), 1)
    assert step.kind == DERIVED
    assert step.finish(None)[1] == pytest.approx(smoothing(np.ones(3), heard()))
    assert data.reads == 0


def test_absent_neighbours_have_no_share() -> None:
    some = heard()
    some.attend(np.array([True, False]))
    assert some.total == 1.0
    assert some.mean().tolist() == [0.0, 1.0, 2.0]
    some.attend(np.array([True, True]))
    assert some.mean() == pytest.approx(np.array([2.25, 3.25, 4.25]))


def test_frozen_inputs_do_not_change() -> None:
    live = heard()
    kept = live.frozen()
    live.values[:] = 99.0
    live.attend(np.array([False, True]))
    assert kept.mean() == pytest.approx(np.array([2.25, 3.25, 4.25]))


@pytest.mark.parametrize(("width", "grid"), [(1.0, 1.0), (0.9, 0.5), (1e-9, 2.0**-30), (3.0, 2.0)])
def test_a_grid_is_the_power_of_two_below(width: float, grid: float) -> None:
    assert grid_below(width) == grid
    vector = generator(0, "grid").standard_normal(100)
    rounded = round_to(vector, grid)
    assert np.abs(rounded - vector).max() <= grid / 2
    assert np.array_equal(round_to(rounded, grid), rounded)
    assert np.array_equal(np.rint(rounded / grid) * grid, rounded)


def triangle() -> tuple[Graph, tuple[CountingObjective, ...], Vector]:
    graph = Graph(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 0.5, 2.0]))
    return graph, tuple(objective(s) for s in range(3)), np.array([1.0, 0.5, 0.25])


def test_the_joint_objective_is_its_definition() -> None:
    graph, objectives, c = triangle()
    joint = Personalised(graph, objectives, c, 0.7)
    theta = generator(3, "theta").standard_normal((3, 3))
    w = np.array([[0, 1, 0.5], [1, 0, 2], [0.5, 2, 0]])
    by_hand = sum(
        0.5 * w[i, j] * np.sum((theta[i] - theta[j]) ** 2) for i in range(3) for j in range(i)
    ) + 0.7 * sum(w[i].sum() * c[i] * objectives[i].value(theta[i]) for i in range(3))
    assert joint.value(theta) == pytest.approx(by_hand)
    h = 1e-6
    for i, k in ((0, 0), (1, 2), (2, 1)):
        e = np.zeros((3, 3))
        e[i, k] = h
        slope = (joint.value(theta + e) - joint.value(theta - e)) / (2 * h)
        assert joint.gradient(theta)[i, k] == pytest.approx(slope, abs=1e-6)


def test_the_objective_among_some_is_the_one_without_the_others() -> None:
    graph, objectives, c = triangle()
    both = Personalised(graph, objectives, c, 0.7).among(np.array([0, 2]))
    pair = Graph(2, np.array([0]), np.array([1]), np.array([0.5]))
    alone = Personalised(pair, (objectives[0], objectives[2]), c[[0, 2]], 0.7)
    theta = generator(5, "theta").standard_normal((2, 3))
    assert both.value(theta) == pytest.approx(alone.value(theta))


@pytest.mark.parametrize("mu", [0.01, 1.0, 100.0])
def test_its_minimum_is_stationary(mu: float) -> None:
    graph, objectives, c = triangle()
    joint = Personalised(graph, objectives, c, mu)
    assert np.abs(joint.gradient(joint.minimum())).max() < 1e-10 * max(1.0, mu * 3)


def test_mu_to_infinity_is_local_and_mu_to_zero_is_consensus() -> None:
    graph, objectives, c = triangle()
    alone = Apart(objectives).minimum()
    assert Personalised(graph, objectives, c, 1e7).minimum() == pytest.approx(alone, abs=1e-4)
    together = Personalised(graph, objectives, c, 1e-7).minimum()
    assert np.ptp(together, axis=0).max() < 1e-4


def test_propagation_has_its_closed_form() -> None:
    graph, objectives, c = triangle()
    anchors = Apart(objectives).minimum()
    joint = Propagating(graph, anchors, c, 0.7)
    theta = joint.minimum()
    w = np.array([[0, 1, 0.5], [1, 0, 2], [0.5, 2, 0]])
    for i in range(3):
        fixed = (w[i] @ theta / w[i].sum() + 0.7 * c[i] * anchors[i]) / (1 + 0.7 * c[i])
        assert theta[i] == pytest.approx(fixed)
    bumped = theta + 0.01 * generator(4, "bump").standard_normal((3, 3))
    assert joint.value(bumped) > joint.value(theta)
