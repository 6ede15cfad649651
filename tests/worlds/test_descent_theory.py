"""What is proved of coordinate descent, measured on runs (theory.md, section 8: O4, O5)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.joint import Personalised
from scenarios.api.runs import make_plan
from tests.support.builders import perform, scenario

MU, L2 = 1.0, 0.25


def world(
    d: int, mechanism: dict[str, Any], updates: int, seed: int, **sections: Any
) -> dict[str, Any]:
    """Poisson clocks of one rate and no latency: every tick wakes one agent, uniformly."""
    base: dict[str, Any] = {
        "run": {"seed": 5, "updates": updates, "sample_every": 1e4},
        "seeds": {"clock": seed, "noise": seed},
        "data": {
            "source": "blobs",
            "dimension": d,
            "points": 20,
            "split": {"kind": "uneven", "ratio": 2},
        },
        "task": {"l2": L2},
        "mechanism": {"kind": "cd", "mu": MU, "smoothness": "bound"} | mechanism,
    }
    return scenario(**(base | sections))


def constants(plan: Any) -> tuple[float, float, float, Any]:
    """C = 1 − σ/(nL_max), L_min, Σ_i weights of the noise, from the definitions."""
    c = np.array(plan.shards.sizes) / max(plan.shards.sizes)
    degrees = plan.graph.degrees()
    blocks = degrees * (1 + MU * c * (0.25 + 2 * L2))
    sigma = float((MU * degrees * c * 2 * L2).min())
    return (
        1 - sigma / (plan.size * blocks.max()),
        float(blocks.min()),
        float(blocks.max()),
        degrees * c,
    )


@pytest.mark.slow
def test_descent_is_at_least_as_fast_as_proposition_1(tmp_path: Path) -> None:
    """O4: the mean over runs of Q(Θ(T)) − Q* is at most C^T (Q(Θ(0)) − Q*)."""
    for steps in (30, 120):
        gaps = []
        for seed in range(30):
            ran = perform(world(3, {}, steps, seed), tmp_path)
            gaps.append(ran.outcome.summary["gap"])
        rate, _, _, _ = constants(ran.run.plan)
        start = ran.run.observers.snapshot.gap_at_start
        assert np.mean(gaps) <= rate**steps * start
        assert np.mean(gaps) > 1e-9 * start


@pytest.mark.slow
def test_noise_costs_what_the_corrected_theorem_2_says_and_more_than_the_printed_one(
    tmp_path: Path,
) -> None:
    """O5, started at Θ*: E gap ≤ d/(nL_min) Σ_t C^{T−1−t} Σ_i (μD_ii c_i s_i)²; without the d it is passed (E9)."""
    d, steps = 50, 240
    plan = make_plan(world(d, {}, 1, 0))
    assert isinstance(plan.joint, Personalised)
    np.savez(tmp_path / "optimum.npz", theta=plan.joint.minimum())
    mechanism = {"noise": "laplace", "alpha": 5.0, "releases": 10_000}
    task = {"l2": L2, "start": {"kind": "file", "path": "optimum.npz"}}
    gaps = []
    for seed in range(20):
        noisy = world(d, mechanism, steps, seed, task=task)
        ran = perform(noisy, tmp_path / "runs", folders=(tmp_path,))
        gaps.append(ran.outcome.summary["gap"])
    rate, low, _, pulls = constants(ran.run.plan)
    scales = [node.mechanism.spends[0].scale for node in ran.run.plan.nodes]  # type: ignore[attr-defined]
    weights = float(((MU * pulls * np.array(scales)) ** 2).sum())
    decay = rate ** np.arange(steps)[::-1]
    corrected = d / (6 * low) * weights * float(decay.sum())
    printed = 1 / (6 * low) * weights * float((rate ** np.arange(steps)).sum())
    assert np.mean(gaps) <= corrected
    assert np.mean(gaps) > 0.05 * corrected
    assert np.mean(gaps) > printed
