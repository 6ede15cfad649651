"""Where the ADMM family ends: the centralised optimum, under every clock and through churn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.joint import Common
from tests.support.builders import perform, scenario
from tests.support.consensus import ETA, RHO, C, dense, world

ENDLESS: dict[str, dict[str, Any]] = {
    "admm": {"kind": "admm", "eta": 0.5},
    "madmm": {"kind": "madmm", "theta": 0.5, "eta": {"start": 0.5, "growth": 1.01, "cap": 0.8}},
    "madmm-mixed": {
        "kind": "madmm",
        "theta": 0.5,
        "eta": {"start": [0.5, 0.6, 0.55, 0.5, 0.7, 0.6]},
    },
}


HOSTILE = {"topology": "ring", "latency": {"kind": "exponential", "mean": 0.3}, "loss": 0.1}


LOOSE: dict[str, Any] = {
    "poisson": {"kind": "poisson", "rate": 1.0},
    "synchronous": {"kind": "synchronous", "period": 1.0},
    "barrier": {"kind": "barrier", "timeout": 2.0},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDLESS)
def test_consensus_is_reached_at_the_centralised_optimum(tmp_path: Path, kind: str) -> None:
    """O1: ‖f_i − f*‖ ≤ 1e-8 after 600 rounds, ‖Σλ_i‖ ≤ 1e-12."""
    ran = perform(world(ENDLESS[kind], 600), tmp_path)
    assert np.linalg.norm(ran.theta - dense(ran).optimum(), axis=1).max() < 1e-8
    last = ran.events("sampled")[-1]["values"]
    assert last["duals.sum"] < 1e-12
    assert last["duals.antisymmetry"] < 1e-12
    joint = ran.run.plan.joint
    assert isinstance(joint, Common)
    assert joint.minimum()[0] == pytest.approx(dense(ran).optimum(), abs=1e-9)
    assert abs(ran.outcome.summary["gap"]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("clock", LOOSE)
@pytest.mark.parametrize("kind", ["admm", "madmm"])
def test_duals_as_integrals_survive_latency_and_loss(tmp_path: Path, kind: str, clock: str) -> None:
    """O13: the same optimum under every clock with latency and 10 % loss, to 1e-6."""
    run = {"seed": 5, "horizon": 900.0, "sample_every": 900.0}
    nodes = [{"count": 6, "clock": LOOSE[clock]}]
    ran = perform(world(ENDLESS[kind], run=run, nodes=nodes, network=HOSTILE), tmp_path)
    assert ran.outcome.summary["messages"]["lost"] > 300
    assert np.linalg.norm(ran.theta - dense(ran).optimum(), axis=1).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("clock", LOOSE)
@pytest.mark.parametrize("kind", ["admm", "madmm"])
def test_who_leaves_is_forgotten_and_who_joins_counts(
    tmp_path: Path, kind: str, clock: str
) -> None:
    """O13: after a leave, a join, a crash and a return the optimum is that of those who are there."""
    run = {"seed": 5, "horizon": 1200.0, "sample_every": 1200.0}
    nodes = [
        {"name": "first", "count": 5, "clock": LOOSE[clock]},
        {"name": "late", "count": 1, "present": False, "clock": LOOSE[clock]},
    ]
    fault = [
        {"at": 40.0, "leave": [1]},
        {"at": 60.0, "join": [5]},
        {"at": 90.0, "for": 30.0, "leave": [3]},
        {"at": 150.0, "for": 20.0, "crash": [0]},
        {"at": 200.0, "for": 9.0, "crash": [2], "lose": "all"},
    ]
    edges = [[i, j] for i in range(6) for j in range(i)]
    network = HOSTILE | {"topology": {"kind": "edges", "edges": edges}}
    ran = perform(
        world(ENDLESS[kind], run=run, nodes=nodes, network=network, fault=fault), tmp_path
    )
    problem = dense(ran)
    here = [0, 2, 3, 4, 5]
    optimum = Common(tuple(ran.run.plan.objectives[i] for i in here), np.ones(5)).minimum()
    assert np.linalg.norm(ran.theta[here] - optimum, axis=1).max() < 1e-6
    assert np.linalg.norm(optimum[0] - problem.optimum()) > 1e-3  # the one who left is missed


@pytest.mark.parametrize("kind", ["admm", "dvp", "pvp", "pp", "madmm", "collaborative-admm"])
def test_who_has_no_neighbour_says_nothing(tmp_path: Path, kind: str) -> None:
    mechanism: dict[str, Any] = {"kind": kind}
    if kind in {"dvp", "pvp"}:
        mechanism |= {"alpha": 1.0, "releases": 3}
    if kind == "pp":
        mechanism |= {"noise": {"start": 1.0}}
    network = {"topology": {"kind": "edges", "edges": [[0, 1], [1, 2], [2, 3], [3, 4]]}}
    run = {"seed": 5, "horizon": 6.0}
    ran = perform(scenario(mechanism=mechanism, network=network, run=run, task={}), tmp_path)
    assert ran.outcome.code == 0
    assert not [e for e in ran.events("sent", "charged") if e["node"] == 5]
    alone = perform(scenario(mechanism=mechanism, nodes=[{"count": 1}], run=run, task={}), tmp_path)
    assert alone.outcome.code == 0
    assert alone.outcome.summary["releases"] == 0


def test_the_objective_is_its_definition(tmp_path: Path) -> None:
    """Σ_i C/B_i Σ ln(1 + e^−u·f_i) + ρ/2‖f_i‖², at the nodes' own models; the gap is over its minimum."""
    ran = perform(world({"kind": "admm", "eta": ETA}, 4), tmp_path)
    problem = dense(ran)

    def value(theta: Any) -> float:
        return float(
            sum(
                C / len(u) * np.log1p(np.exp(-(u @ f))).sum() + RHO / 2 * f @ f
                for u, f in zip(problem.u, theta, strict=True)
            )
        )

    summary = ran.outcome.summary
    assert summary["objective"] == pytest.approx(value(ran.theta))
    assert summary["optimum"] == pytest.approx(value(np.tile(problem.optimum(), (6, 1))))
