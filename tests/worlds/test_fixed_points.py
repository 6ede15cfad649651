"""Whole runs against the papers: the plain loop bit for bit, and exact optima under every clock."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.descent import CoordinateDescent
from mechanisms.joint import Apart, Personalised, Propagating
from scenarios.api.runs import make_plan
from tests.support.builders import perform, scenario


def plain_loop(plan: Any, wakes: list[tuple[float, int]]) -> np.ndarray:
    """Bellet et al. 2018, eq. (4)/(6), from the equations: who wakes together reads the same past."""
    n, d = plan.size, plan.dimension
    w = np.zeros((n, n))
    for i, j, weight in zip(plan.graph.heads, plan.graph.tails, plan.graph.weights, strict=True):
        w[i, j] = w[j, i] = weight
    theta, sizes = np.zeros((n, d)), np.array(plan.shards.sizes)
    for instant in sorted({t for t, _ in wakes}):
        before = theta.copy()
        for i in sorted(k for t, k in wakes if t == instant):
            near = np.flatnonzero(w[i])
            x, y = plan.shards.train[i]
            u = x * y[:, None]
            lam, c, mu = plan.objectives[i].l2, sizes[i] / sizes.max(), 0.8
            smooth = 0.25 * np.linalg.eigvalsh((u.T @ u) * (1 / len(y)))[-1] + 2 * lam
            slopes = (0.5 * np.tanh(0.5 * (u @ before[i])) - 0.5) * (1 / len(y))
            gradient = slopes @ u + (2 * lam) * before[i]
            mean = np.einsum("j,jd->d", w[i, near] / w[i].sum(), before[near])
            alpha = 1.0 / (1.0 + (mu * c) * smooth)
            theta[i] = alpha * (mean - (mu * c) * gradient) + (1.0 - alpha) * before[i]
    return theta


def uneven(**sections: Any) -> dict[str, Any]:
    data = {
        "source": "blobs",
        "dimension": 3,
        "points": 20,
        "split": {"kind": "uneven", "ratio": 4},
    }
    base = {"data": data, "mechanism": {"kind": "cd", "mu": 0.8}}
    return scenario(**(base | sections))


@pytest.mark.parametrize("topology", ["ring", "complete", "star"])
def test_a_trace_clock_is_the_plain_loop_bit_for_bit(tmp_path: Path, topology: str) -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    wakes = [(float(t), int(i)) for t in range(1, 19) for i in rng.permutation(6)[: 1 + t % 4]]
    nodes = [{"count": 6, "clock": {"kind": "trace", "wakes": [[t, i] for t, i in wakes]}}]
    ran = perform(uneven(nodes=nodes, network={"topology": topology}), tmp_path)
    assert ran.outcome.code == 0
    assert np.array_equal(ran.theta, plain_loop(ran.run.plan, wakes))


def test_a_synchronous_clock_is_the_jacobi_loop_bit_for_bit(tmp_path: Path) -> None:
    nodes = [{"count": 6, "clock": {"kind": "synchronous", "period": 0.5}}]
    ran = perform(uneven(nodes=nodes, run={"seed": 5, "rounds": 12}), tmp_path)
    wakes = [(0.5 * k, i) for k in range(1, 13) for i in range(6)]
    assert np.array_equal(ran.theta, plain_loop(ran.run.plan, wakes))
    assert ran.outcome.summary["updates"] == 72


@pytest.mark.parametrize(
    "latency", ["0s", "70ms", {"kind": "lognormal", "median": 0.2, "sigma": 1.0}]
)
def test_rounds_on_a_barrier_are_the_jacobi_loop_whatever_the_latency(
    tmp_path: Path, latency: Any
) -> None:
    nodes = [{"count": 6, "clock": "barrier"}]
    network = {"topology": "ring", "latency": latency}
    ran = perform(uneven(nodes=nodes, network=network, run={"seed": 5, "rounds": 12}), tmp_path)
    wakes = [(float(k), i) for k in range(12) for i in range(6)]
    assert np.array_equal(ran.theta, plain_loop(ran.run.plan, wakes))


CLOCKS: dict[str, dict[str, Any]] = {
    "poisson": {"kind": "poisson", "rate": 2.0},
    "synchronous": {"kind": "synchronous", "period": 0.5},
    "barrier": {"kind": "barrier", "timeout": 1.0},
    "periodic": {"kind": "periodic", "period": 0.5, "jitter": 0.3, "drift": 0.01},
}
NETWORKS: dict[str, dict[str, Any]] = {
    "clean": {"topology": "ring", "latency": "200ms"},
    "hostile": {"topology": "ring", "latency": {"kind": "exponential", "mean": 0.3}, "loss": 0.1},
}


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("loss", ["logistic", {"kind": "smoothed-hinge", "width": 0.5}, "squared"])
def test_descent_reaches_the_optimum(tmp_path: Path, clock: str, network: str, loss: Any) -> None:
    world = uneven(
        run={"seed": 5, "horizon": 500.0, "sample_every": 500.0},
        nodes=[{"count": 6, "clock": CLOCKS[clock]}],
        network=NETWORKS[network],
        task={"loss": loss, "l2": 0.1},
    )
    ran = perform(world, tmp_path)
    joint = ran.run.plan.joint
    assert isinstance(joint, Personalised)
    assert np.linalg.norm(joint.gradient(ran.theta)) < 1e-8
    assert abs(ran.outcome.summary["gap"]) < 1e-12 * max(1.0, abs(ran.outcome.summary["objective"]))


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("clock", CLOCKS)
def test_propagation_reaches_its_closed_form(tmp_path: Path, clock: str, network: str) -> None:
    world = uneven(
        run={"seed": 5, "horizon": 400.0, "sample_every": 400.0},
        nodes=[{"count": 6, "clock": CLOCKS[clock]}],
        network=NETWORKS[network],
        mechanism={"kind": "propagation", "mu": 0.8},
    )
    ran = perform(world, tmp_path)
    joint = ran.run.plan.joint
    assert isinstance(joint, Propagating)
    assert np.abs(ran.theta - joint.minimum()).max() < 1e-10


def test_local_is_every_agents_own_minimum(tmp_path: Path) -> None:
    ran = perform(uneven(mechanism={"kind": "local"}), tmp_path)
    joint = ran.run.plan.joint
    assert isinstance(joint, Apart)
    assert np.abs(ran.theta - joint.minimum()).max() < 1e-12
    assert ran.outcome.summary["messages"]["sent"] == 0
    assert ran.outcome.summary["epsilon"]["max"] == 0
    views = {"privacy": {"views": ["outsider"]}}
    seen = perform(uneven(mechanism={"kind": "local"}, **views), tmp_path)
    assert seen.outcome.summary["epsilon"]["max"] == "inf"


def test_large_budgets_approach_the_run_without_noise(tmp_path: Path) -> None:
    """Noise shrinks with 1/ε: the run with ε = 10⁹ is the plain one to rounding."""
    common: dict[str, Any] = {"clock": {"kind": "synchronous", "period": 1.0}}
    mechanism = {"kind": "cd", "mu": 0.8, "smoothness": "bound"}
    plain = perform(uneven(nodes=[{"count": 6, **common}], mechanism=mechanism), tmp_path)
    budget = {"epsilon": 1e9, "delta": 0.0}
    noisy_mechanism = mechanism | {"noise": "norm-gamma", "releases": 20}
    noisy = perform(
        uneven(nodes=[{"count": 6, "budget": budget, **common}], mechanism=noisy_mechanism),
        tmp_path,
    )
    assert noisy.theta == pytest.approx(plain.theta, abs=1e-6)
    assert not np.array_equal(noisy.theta, plain.theta)


def test_private_scales_are_the_theorems() -> None:
    """ζ = ε m/(2L₂), s = 2L₁/(ε m), μ: s = 2L₂√T/(m μ(ε,δ)) (theory.md, 2.2)."""
    from mechanisms.accounting import gaussian

    budget = {"epsilon": 3.0, "delta": 0.0}
    for noise, delta in (("norm-gamma", 0.0), ("laplace", 0.0), ("gaussian", 1e-4)):
        nodes = [{"count": 6, "budget": budget | {"delta": delta}}]
        mechanism = {"kind": "cd", "noise": noise, "releases": 5, "mu": 1.0}
        plan = make_plan(uneven(nodes=nodes, mechanism=mechanism))
        for node, m in zip(plan.nodes, plan.shards.sizes, strict=True):
            assert isinstance(node.mechanism, CoordinateDescent)
            (spend,) = set(node.mechanism.spends)
            expected = {
                "norm-gamma": 0.6 * m / 2,
                "laplace": 2 * np.sqrt(3) / (0.6 * m),
                "gaussian": 2 * np.sqrt(5) / (m * gaussian.mu(3.0, 1e-4)),
            }[noise]
            assert spend.scale == pytest.approx(expected)
            assert len(node.mechanism.spends) == 5
