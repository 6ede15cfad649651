"""Records that are perturbed once, and everything after."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.planning.seeds import NoiseSource
from tests.support.builders import perform, scenario

UNEVEN = {"source": "blobs", "dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 4}}
BUDGET = {"epsilon": 3.0, "delta": 1e-5}
SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}


def world(mechanism: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return scenario(**({"data": UNEVEN, "mechanism": mechanism} | sections))


def test_each_record_is_perturbed_once_and_everything_after_is_derived(tmp_path: Path) -> None:
    mechanism = {
        "kind": "local-dp",
        "epsilon_features": 1.5,
        "epsilon_label": 0.5,
        "inner": {"kind": "cd", "mu": 0.8},
    }
    common: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS}],
        "run": {"seed": 5, "rounds": 9},
    }
    ran = perform(world(mechanism, **common), tmp_path)
    assert [e["charged"] for e in ran.result.ledger] == [2.0] * 6
    # noise of density ∝ exp(−ζ‖z‖) for rows that are at most 2 apart
    assert {(e["scale"], e["sensitivity"]) for e in ran.result.ledger} == {(0.75, 2.0)}
    assert ran.outcome.summary["derived"] == 6 * 8
    assert ran.outcome.summary["epsilon"]["side_by_side"]["basic"] == 2.0
    assert 1.999 < ran.outcome.summary["epsilon"]["max"] <= 2.0  # δ buys a little
    # the inner kind on the perturbed records, handed over as data, takes the same path
    plan, source = ran.run.plan, NoiseSource(ran.run.plan.seeds["noise"])
    points = [
        plan.nodes[i].mechanism.perturbed(source.of(i)(0))  # type: ignore[attr-defined]
        for i in range(6)
    ]
    assert max(np.linalg.norm(x, axis=1).max() for x, _ in points) > 1
    from mechanisms.objectives import LocalObjective, Logistic

    objectives = [LocalObjective(x, y, Logistic(), 0.1) for x, y in points]
    theta, c = np.zeros((6, 3)), np.array(plan.shards.sizes) / max(plan.shards.sizes)
    for _ in range(9):
        mean = (np.roll(theta, 1, 0) + np.roll(theta, -1, 0)) / 2
        alpha = np.array([1 / (1 + 0.8 * c[i] * objectives[i].smoothness()) for i in range(6)])
        slopes = np.array([objectives[i].gradient(theta[i]) for i in range(6)])
        theta = (1 - alpha)[:, None] * theta + alpha[:, None] * (mean - 0.8 * c[:, None] * slopes)
    assert ran.theta == pytest.approx(theta, abs=1e-12)


def test_noise_and_flips_are_as_large_as_they_are_charged_for() -> None:
    """Noise of density ∝ exp(−½ε_x‖z‖) has lengths of mean 2d/ε_x and variance 4d/ε_x²; 1/(1 + e^ε_y) of the labels flip."""
    mechanism = {"kind": "local-dp", "epsilon_features": 1.5, "epsilon_label": 2.0}
    plan = make_plan(world(mechanism | {"inner": {"kind": "cd"}}))
    kind: Any = plan.nodes[0].mechanism
    m, d = 200_000, 3
    many = replace(kind, features=np.ones((m, d)), labels=np.ones(m))
    assert many.spend.charged == 3.5
    features, labels = many.perturbed(np.random.Generator(np.random.PCG64(3)))
    lengths = np.linalg.norm(features - 1.0, axis=1)
    assert lengths.mean() == pytest.approx(2 * d / 1.5, rel=0.005)
    assert lengths.var() == pytest.approx(4 * d / 1.5**2, rel=0.02)
    assert (labels == -1.0).mean() == pytest.approx(1 / (1 + np.exp(2.0)), rel=0.01)
    assert np.abs((features - 1.0).mean(axis=0)).max() < 0.02  # it has no direction of its own


@pytest.mark.parametrize("lose", ["volatile", "all"])
def test_a_crash_takes_the_perturbed_records_only_with_everything(
    tmp_path: Path, lose: str
) -> None:
    """They were paid for once and may not be made again; storage keeps them, unless all is lost."""
    mechanism = {
        "kind": "local-dp",
        "epsilon_features": 1.0,
        "epsilon_label": 1.0,
        "inner": {"kind": "cd"},
    }
    fault = [{"at": 4.5, "for": 2.0, "crash": [1], "lose": lose}]
    nodes = [{"count": 6, "clock": SYNCHRONOUS}]
    run = {"seed": 5, "horizon": 12.0}
    ran = perform(world(mechanism, nodes=nodes, run=run, fault=fault), tmp_path)
    assert ran.outcome.code == 0
    assert [e["node"] for e in ran.events("charged")].count(1) == 1
    after = [e for e in ran.events("derived") if e["node"] == 1 and e["t"] > 5e9]
    assert len(after) == (6 if lose == "volatile" else 0)


def test_infinite_epsilons_are_the_inner_kind_itself(tmp_path: Path) -> None:
    common: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS}],
        "run": {"seed": 5, "rounds": 9},
    }
    inner = {"kind": "propagation", "mu": 0.8}
    disguise = {
        "kind": "local-dp",
        "epsilon_features": 1e12,
        "epsilon_label": 700.0,
        "inner": inner,
    }
    ran = perform(world(disguise, **common), tmp_path)
    plain = perform(world(inner, **common), tmp_path)
    assert ran.theta == pytest.approx(plain.theta, abs=1e-8)


def test_the_inner_kind_counts_its_own_releases(tmp_path: Path) -> None:
    """Inside local-dp a growing penalty grows, though nothing more is charged."""
    inner = {"kind": "madmm", "eta": {"start": 0.5, "growth": 1.5, "cap": 100.0}}
    mechanism = {"kind": "local-dp", "epsilon_features": 1.0, "epsilon_label": 1.0, "inner": inner}
    common: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS}],
        "run": {"seed": 5, "rounds": 7},
    }
    ran = perform(world(mechanism, task={}, **common), tmp_path)
    for agent in ran.run.agents:
        assert agent.state.made == 7
        assert agent.state.inner.solver._ridge == pytest.approx(2 * 2 * 0.5 * 1.5**6)
