"""Learning in pairs, against its equations, and through loss and leaves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.joint import Personalised
from mechanisms.vectors import Vector
from tests.support.builders import perform, scenario

UNEVEN = {"source": "blobs", "dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 4}}
BUDGET = {"epsilon": 3.0, "delta": 1e-5}
SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}


def world(mechanism: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return scenario(**({"data": UNEVEN, "mechanism": mechanism} | sections))


def trade_loop(plan: Any, trades: list[tuple[int, int]], rho: float, mu: float) -> Any:
    """Vanhaesebrouck et al. 2017, section 4, as theory.md, A13 re-derives it; a dense copy per ordered pair."""
    n, d = plan.size, plan.dimension
    W = np.zeros((n, n))
    for i, j, w in zip(plan.graph.heads, plan.graph.tails, plan.graph.weights, strict=True):
        W[i, j] = W[j, i] = w
    theta, copy = np.zeros((n, d)), np.zeros((n, n, d))
    zo, zc, lo, lc = (np.zeros((n, n, d)) for _ in range(4))
    sizes = np.array(plan.shards.sizes, float)

    def gradient(i: int, f: Vector) -> Vector:
        x, y = plan.shards.train[i]
        u = x * y[:, None]
        slope: Vector = -(u.T @ (1 / (1 + np.exp(u @ f)))) / len(u) + 2 * plan.objectives[i].l2 * f
        return slope

    def solve(i: int) -> None:
        near = np.flatnonzero(W[i])
        x, _ = plan.shards.train[i]
        smooth = 0.25 * np.linalg.eigvalsh(x.T @ x / len(x))[-1] + 2 * plan.objectives[i].l2
        pull = mu * W[i].sum() * sizes[i] / sizes.max()
        step = 1 / (W[i].sum() / 2 + pull * smooth + rho * len(near))
        for _ in range(10):
            c = {
                j: (W[i, j] / 2 * theta[i] + rho * zc[i, j] - lc[i, j]) / (W[i, j] / 2 + rho)
                for j in near
            }
            g = pull * gradient(i, theta[i])
            g = g + sum(
                W[i, j] / 2 * (theta[i] - c[j]) + lo[i, j] + rho * (theta[i] - zo[i, j])
                for j in near
            )
            theta[i] = theta[i] - step * g
        for j in near:
            copy[i, j] = (W[i, j] / 2 * theta[i] + rho * zc[i, j] - lc[i, j]) / (W[i, j] / 2 + rho)

    for i, j in trades:
        solve(i)
        solve(j)
        first = ((lo[i, j] + lc[j, i]) / rho + theta[i] + copy[j, i]) / 2
        second = ((lo[j, i] + lc[i, j]) / rho + theta[j] + copy[i, j]) / 2
        zo[i, j] = zc[j, i] = first
        zo[j, i] = zc[i, j] = second
        for a, b in ((i, j), (j, i)):
            lo[a, b] = lo[a, b] + rho * (theta[a] - zo[a, b])
            lc[a, b] = lc[a, b] + rho * (copy[a, b] - zc[a, b])
    return theta


@pytest.mark.parametrize("trades", [1, 2, 200])
def test_a_trade_is_its_equations(tmp_path: Path, trades: int) -> None:
    mechanism = {"kind": "collaborative-admm", "mu": 0.6, "penalty": 0.8}
    run = {"seed": 5, "updates": trades}
    ran = perform(world(mechanism, run=run), tmp_path)
    pairs = [(e["node"], e["to"][0]) for e in ran.events("sent")][::2]
    assert len(pairs) == trades
    expected = trade_loop(ran.run.plan, pairs, 0.8, 0.6)
    assert np.abs(ran.theta - expected).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("network", ["clean", "hostile"])
@pytest.mark.parametrize("clock", ["poisson", "synchronous"])
def test_trades_reach_the_joint_optimum(tmp_path: Path, clock: str, network: str) -> None:
    """Argmin Q_L to 1e-7, and through latency and loss: the next trade heals a lost answer."""
    hostile = {"latency": {"kind": "exponential", "mean": 0.2}, "loss": 0.1}
    sections: dict[str, Any] = {
        "run": {"seed": 5, "horizon": 1500.0, "sample_every": 1500.0},
        "network": {"topology": "ring"} | (hostile if network == "hostile" else {}),
        "nodes": [{"count": 6, "clock": clock}],
    }
    mechanism = {"kind": "collaborative-admm", "mu": 0.6, "penalty": 0.8}
    ran = perform(world(mechanism, **sections), tmp_path)
    joint = ran.run.plan.joint
    assert isinstance(joint, Personalised)
    assert np.abs(ran.theta - joint.minimum()).max() < 1e-7


@pytest.mark.slow
def test_pairs_forget_who_left(tmp_path: Path) -> None:
    """D_ii is over those who are present: the optimum is that of who is left."""
    sections: dict[str, Any] = {
        "run": {"seed": 5, "horizon": 1500.0, "sample_every": 1500.0},
        "network": {"topology": "complete"},
        "fault": [{"at": 20.0, "leave": [2]}],
        "nodes": [{"count": 6}],
    }
    ran = perform(
        world({"kind": "collaborative-admm", "mu": 0.6, "penalty": 0.8}, **sections), tmp_path
    )
    joint = ran.run.plan.joint
    assert isinstance(joint, Personalised)
    here = np.array([0, 1, 3, 4, 5])
    assert np.abs(ran.theta[here] - joint.among(here).minimum()).max() < 1e-7


def test_a_pairs_words_are_for_the_pair(tmp_path: Path) -> None:
    """Nobody is greeted with what was said to somebody else."""
    fault = [{"at": 5.0, "for": 4.0, "leave": [2]}, {"at": 12.0, "for": 3.0, "crash": [4]}]
    mechanism = {"kind": "collaborative-admm"}
    ran = perform(world(mechanism, fault=fault), tmp_path)
    assert ran.outcome.code == 0
    said = {}
    for event in ran.events("sent"):
        if not event.get("resent"):
            said[event["node"], event["version"]] = event["to"]
        else:
            assert event["to"] == said[event["node"], event["version"]]
