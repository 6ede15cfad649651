"""The server family: what its rounds compute."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import perform
from tests.support.federation import BUDGET, UNEVEN, private, server_of, slopes, world


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_synchronised_rounds_are_gradient_descent_on_the_weighted_objective(
    tmp_path: Path, weights: str
) -> None:
    mechanism = {
        "kind": "wddp",
        "noise": "none",
        "synchronise": "every-round",
        "weights": weights,
        "learning_rate": 0.8,
    }
    ran = perform(world(mechanism, 30), tmp_path)
    sizes = np.array(ran.run.plan.shards.sizes, float)
    w = sizes / sizes.sum() if weights == "size" else np.full(6, 1 / 6)
    theta = np.zeros(3)
    for _ in range(30):
        theta = theta - 0.8 * sum(w[j] * slopes(ran, j, theta) for j in range(6))
    assert server_of(ran) == pytest.approx(theta, abs=1e-12)
    assert ran.theta == pytest.approx(np.tile(theta, (6, 1)), abs=1e-12)  # the last word was read
    assert ran.outcome.summary["server"] == {"rounds": 30, "aborted": 0}
    assert ran.outcome.summary["gap"] >= 0


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_one_shot_averages_what_parties_reach_alone(tmp_path: Path, weights: str) -> None:
    """Kang, Liu, Wang, Algorithm 1."""
    mechanism = {
        "kind": "wddp",
        "noise": "none",
        "local_rounds": 25,
        "weights": weights,
        "learning_rate": 0.8,
    }
    ran = perform(world(mechanism, None), tmp_path)
    sizes = np.array(ran.run.plan.shards.sizes, float)
    w = sizes / sizes.sum() if weights == "size" else np.full(6, 1 / 6)
    models = []
    for j in range(6):
        theta = np.zeros(3)
        for _ in range(25):
            theta = theta - 0.8 * slopes(ran, j, theta)
        models.append(theta)
    assert server_of(ran) == pytest.approx(w @ np.array(models), abs=1e-12)
    assert ran.outcome.summary["ended_by"] == "rounds"


def test_equal_sizes_make_the_weights_agree(tmp_path: Path) -> None:
    mechanism = {"kind": "wddp", "noise": "none", "local_rounds": 10}
    data = {"data": {"source": "blobs", "dimension": 3, "points": 20}}
    one = perform(world(mechanism | {"weights": "size"}, None, **data), tmp_path)
    two = perform(world(mechanism | {"weights": "uniform"}, None, **data), tmp_path)
    assert server_of(one) == pytest.approx(server_of(two), abs=1e-15)


def test_one_party_is_central_gradient_descent(tmp_path: Path) -> None:
    """wddp, jayaraman-gradient and central-gradient on one party are one algorithm, and one noise."""
    nodes = [{"count": 1, "clock": "barrier", "budget": BUDGET}]
    mechanisms: list[dict[str, Any]] = [
        {"kind": "central-gradient"},
        {"kind": "wddp", "synchronise": "every-round"},
    ]
    runs = [
        perform(world(m, 8, nodes=nodes, data=UNEVEN | {"split": "even"}), tmp_path)
        for m in mechanisms
    ]
    assert np.array_equal(server_of(runs[0]), server_of(runs[1]))
    assert [e["charged"] for e in runs[0].result.ledger] == [
        e["charged"] for e in runs[1].result.ledger
    ]


def test_the_secure_sum_is_the_plain_sum(tmp_path: Path) -> None:
    """Masked answers add up exactly; nothing but the mask is on the wire."""
    common = {"kind": "wddp", "synchronise": "every-round"}
    nodes = private()
    sealed = perform(world(common | {"noise": "aggregate"}, 4, nodes=nodes), tmp_path)
    plan = sealed.run.plan
    theta, w = np.zeros(3), np.array(plan.shards.sizes) / sum(plan.shards.sizes)
    from scenarios.planning.seeds import NoiseSource

    source = NoiseSource(plan.seeds["noise"])
    sigmas = [plan.nodes[j].mechanism.task.sigma for j in range(6)]  # type: ignore[attr-defined]
    for k in range(4):
        noise = [source.of(j)(k).standard_normal(3) * sigmas[j] for j in range(6)]
        theta = theta - sum(w[j] * (slopes(sealed, j, theta) + noise[j]) for j in range(6))
    assert server_of(sealed) == pytest.approx(theta, abs=1e-7)  # sums lie on a grid of 2⁻³⁰
    for agent in sealed.run.agents:
        seen = agent.store.published
        assert seen is not None
        assert np.abs(seen).max() > 100  # uniform over ±2²¹, not a gradient


def test_a_sample_asks_some(tmp_path: Path) -> None:
    sections = {"server": {"sample": 0.5}}
    mechanism = {"kind": "fedavg", "epochs": 2, "learning_rate": 0.1}
    ran = perform(world(mechanism, 20, **sections), tmp_path)
    asked = [tuple(e["asked"]) for e in ran.events("round_opened")]
    assert {len(a) for a in asked} == {3}
    assert len(set(asked)) > 5
    assert {j for a in asked for j in a} == set(range(6))
    assert ran.outcome.summary["gap"] < 0.05


def test_fedavg_in_small_steps_is_gradient_descent(tmp_path: Path) -> None:
    """γ → 0: one epoch of n_j steps is a step of n_j γ along the mean gradient, up to γ²."""
    moved = []
    for rate in (1e-4, 1e-5):
        mechanism = {"kind": "fedavg", "epochs": 1, "learning_rate": rate}
        ran = perform(world(mechanism, 1), tmp_path)
        sizes = np.array(ran.run.plan.shards.sizes, float)
        w = sizes / sizes.sum()
        step = -rate * sum(w[j] * sizes[j] * slopes(ran, j, np.zeros(3)) for j in range(6))
        moved.append(np.linalg.norm(server_of(ran) - step) / np.linalg.norm(step))
    assert moved[0] < 1e-2
    assert moved[1] < 0.2 * moved[0]


@pytest.mark.slow
def test_synchronised_rounds_keep_the_papers_bound(tmp_path: Path) -> None:
    """O6: Kang, Liu, Wang, (11), σ the noise of the sum: E excess ≤ (1 − λ/L)^T Δ₀ + dσ²/(2λ)."""
    excess, T, smooth, convex = [], 30, 0.25 + 0.1, 0.1
    mechanism = {
        "kind": "wddp",
        "synchronise": "every-round",
        "noise": "aggregate",
        "learning_rate": 1 / smooth,
    }
    for seed in range(40):
        run = {"seed": 5, "rounds": T}
        plan_world = world(mechanism, T, nodes=private(), run=run, seeds={"noise": seed})
        ran = perform(plan_world, tmp_path)
        excess.append(ran.outcome.summary["gap"])
    desk = ran.run.plan.server
    assert desk is not None
    start = ran.run.observers.snapshot.gap_at_start
    bound = (1 - convex / smooth) ** T * start + 3 * desk.mechanism.floor / (2 * convex)
    assert np.mean(excess) <= bound
    assert np.mean(excess) > 0.01 * bound


def test_the_server_is_an_actor_and_no_row_of_theta(tmp_path: Path) -> None:
    ran = perform(world({"kind": "fedavg"}, 3), tmp_path)
    with np.load(ran.outcome.folder / "models.npz") as archive:
        assert archive["theta"].shape == (6, 3)
        assert archive["server"].shape == (3,)
    assert len(ran.outcome.summary["nodes"]) == 6
    assert {e["node"] for e in ran.events("derived")} == {6}
    assert {e["node"] for e in ran.events("woke")} == set(range(6))
    messages = ran.outcome.summary["messages"]
    assert messages["sent"] == messages["delivered"] == 3 * 12 + 6
