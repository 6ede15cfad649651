"""Warm starts, schedules and scales of personalised kinds, against their formulas."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.accountants.kov_printed import kov_printed
from mechanisms.accounting.calibrate import rounded_down
from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import Loss, Sums, tally
from mechanisms.joint import Personalised
from mechanisms.warm_start import WarmDescent
from scenarios.api.runs import make_plan
from tests.support.builders import perform, scenario

UNEVEN = {"source": "blobs", "dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 4}}
BUDGET = {"epsilon": 3.0, "delta": 1e-5}
SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}


def world(mechanism: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return scenario(**({"data": UNEVEN, "mechanism": mechanism} | sections))


def group(**more: Any) -> list[dict[str, Any]]:
    return [{"count": 6, "clock": SYNCHRONOUS, "budget": BUDGET} | more]


@pytest.mark.parametrize("noise", ["norm-gamma", "laplace", "gaussian"])
@pytest.mark.parametrize("schedule", ["uniform", "growing", "printed"])
def test_a_schedule_is_its_weights_and_fills_the_budget(schedule: str, noise: str) -> None:
    """E10: w_k ∝ exp(−(σ/L_max)(T−k)/3), /4 for Gaussian noise; printed C^{n·k/3} falls: t counts everybody's wakes."""
    mechanism = {"kind": "cd", "mu": 2.0, "noise": noise, "releases": 9, "schedule": schedule}
    plan = make_plan(world(mechanism, nodes=group(), task={"l2": 0.3}))
    assert plan.size == 6
    c = np.array(plan.shards.sizes) / max(plan.shards.sizes)
    smooth = 0.25 + 0.6
    convexity, bend = (2.0 * 2 * c * 0.6).min(), (2 * (1 + 2.0 * c * smooth)).max()
    k = np.arange(1, 10)
    weights = {
        "uniform": np.ones(9),
        "growing": np.exp(-convexity / bend * (9 - k) / (4 if noise == "gaussian" else 3)),
        "printed": (1 - convexity / (6 * bend)) ** (6 * k / 3),
    }[schedule]
    for node in plan.nodes:
        spends = node.mechanism.schedule(2)  # type: ignore[attr-defined]
        charges = np.array([spend.charged for spend in spends])
        assert charges / charges[0] == pytest.approx(weights / weights[0])
        total = by("gaussian" if noise == "gaussian" else "pld", tally(spends), 1e-5)
        assert total == pytest.approx(3.0, rel=2e-3)
        assert total <= 3.0


POWERS = {"epsilon": 1 / 3, "mu": 1 / 4}
"""By which power of C^{T−t} shares grow: of ε, whose sum is fixed, and of μ, whose squares are."""


def excess(weights: Any, unit: str) -> float:
    """Theorem 2's noise term, corrected (E9): Σ_t C^{T−1−t} s(t)², s ∝ 1/share, at one budget: Σε = 1 or Σμ² = 1."""
    shares = np.asarray(weights)
    shares = shares / (shares.sum() if unit == "epsilon" else np.sqrt((shares**2).sum()))
    t = np.arange(len(shares))
    return float((0.9 ** (len(shares) - 1 - t) / shares**2).sum())


@pytest.mark.parametrize("unit", POWERS)
def test_growing_budgets_are_the_best_and_printed_ones_the_worst(unit: str) -> None:
    """E10, by the bound it optimises: no other weights do better, near by or far off."""
    t, C = np.arange(60), 0.9
    best = excess(C ** ((59 - t) * POWERS[unit]), unit)
    assert best < excess(np.ones(60), unit) < excess(C ** (t * POWERS[unit]), unit)
    for power in (0.2, 0.24, 0.26, 0.3, 0.36, 0.5):
        assert excess(C ** ((59 - t) * power), unit) >= best
    if unit == "mu":  # at ½, which hush took until 0.5, nothing is gained over equal shares
        assert excess(C ** ((59 - t) / 2), unit) == pytest.approx(excess(np.ones(60), unit))
    rng = np.random.Generator(np.random.PCG64(0))
    for _ in range(200):
        other = C ** ((59 - t) * POWERS[unit]) * np.exp(0.3 * rng.standard_normal(60))
        assert excess(other, unit) >= best


@pytest.mark.parametrize("noise", ["norm-gamma", "gaussian"])
def test_the_growing_schedule_minimises_the_bound(noise: str) -> None:
    """The weights of a plan, put into the bound with the plan's own contraction, at one budget."""
    mechanism = {"kind": "cd", "mu": 2.0, "noise": noise, "releases": 9, "schedule": "growing"}
    plan = make_plan(world(mechanism, nodes=group(), task={"l2": 0.3}))
    c = np.array(plan.shards.sizes) / max(plan.shards.sizes)
    flatness = (2.0 * 2 * c * 0.6).min() / (2 * (1 + 2.0 * c * 0.85)).max()
    charges = np.array([s.charged for s in plan.nodes[0].mechanism.schedule(2)])  # type: ignore[attr-defined]

    def bound(shares: Any) -> float:
        scaled = shares / (np.linalg.norm(shares) if noise == "gaussian" else shares.sum())
        return float((np.exp(-flatness * np.arange(9)[::-1]) / scaled**2).sum())

    rng = np.random.Generator(np.random.PCG64(1))
    for size in (0.01, 0.1, 0.5):
        for _ in range(50):
            assert bound(charges * np.exp(size * rng.standard_normal(9))) >= bound(charges)


def test_the_printed_schedule_counts_everybodys_wakes() -> None:
    """Proposition 2: 20 agents, complete graph, mu 1, l2 0.5, ten releases: the first share is 3.85 times the last."""
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 10, "schedule": "printed"}
    budget = {"epsilon": 100.0, "delta": 0.0}
    plan = make_plan(
        scenario(
            mechanism=mechanism,
            task={"l2": 0.5},
            network={"topology": "complete"},
            nodes=[{"count": 20, "clock": SYNCHRONOUS, "budget": budget}],
        )
    )
    charges = [s.charged for s in plan.nodes[0].mechanism.schedule(19)]  # type: ignore[attr-defined]
    assert charges[0] / charges[-1] == pytest.approx(3.85, abs=0.005)
    assert sum(charges) == pytest.approx(100.0)


@pytest.mark.parametrize("noise", ["norm-gamma", "laplace", "gaussian"])
@pytest.mark.parametrize("warm", ["output", "objective"])
def test_a_warm_start_and_descent_share_one_budget(tmp_path: Path, noise: str, warm: str) -> None:
    mechanism = {
        "kind": "warm-cd",
        "noise": noise,
        "releases": 6,
        "warm_noise": warm,
        "warm_share": 0.3,
        "warm_wakes": 4,
    }
    run = {"seed": 5, "horizon": 30.0}
    ran = perform(
        world(mechanism, nodes=group(), run=run, task={"l2": 0.1, "start": "local"}), tmp_path
    )
    assert ran.outcome.code == 0
    for agent in ran.run.agents:
        spends = agent.store.ledger.spends
        assert len(spends) == 7
        assert spends[0].charged == pytest.approx(0.9)
        cap = agent.settings.cap
        assert cap is not None
        assert cap.spent(agent.store.ledger.tally) == pytest.approx(3.0, rel=0.02)
        assert cap.spent(agent.store.ledger.tally) <= 3.0
    releases = [e["t"] / 1e9 for e in ran.events("released") if e["node"] == 0]
    assert releases == [
        1.0,
        5.0,
        6.0,
        7.0,
        8.0,
        9.0,
        10.0,
    ]  # start, three wakes of propagation, descent
    assert ran.outcome.summary["epsilon"]["max"] <= 3.0


@pytest.mark.slow
def test_without_noise_a_warm_start_is_propagation_then_descent(tmp_path: Path) -> None:
    common: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS}],
        "run": {"seed": 5, "rounds": 3},
    }
    warm = perform(world({"kind": "warm-cd", "warm_wakes": 3, "mu": 0.7}, **common), tmp_path)
    alone = perform(world({"kind": "propagation", "mu": 0.7}, **common), tmp_path)
    assert np.array_equal(warm.theta, alone.theta)
    far = {"seed": 5, "rounds": 400}
    end = perform(
        world({"kind": "warm-cd", "warm_wakes": 3, "mu": 0.7}, **(common | {"run": far})), tmp_path
    )
    joint = end.run.plan.joint
    assert isinstance(joint, Personalised)
    assert np.linalg.norm(joint.gradient(end.theta)) < 1e-8
    assert isinstance(end.run.plan.nodes[0].mechanism, WarmDescent)


def test_objective_noise_costs_its_budget(tmp_path: Path) -> None:
    """A12: ε' = ε − ln(1 + c₁/(m(Λ+Φ))), b ~ NG(ε'/2)/m, after a thousandth of ε for the solver."""
    mechanism = {"kind": "propagation", "noise": "objective"}
    tree = world(mechanism, nodes=group(), task={"l2": 0.02}, privacy={"calibrate": "basic"})
    ran = perform(tree, tmp_path)
    for line in ran.result.ledger:
        m = ran.run.plan.shards.sizes[line["node"]]
        x, rest = 0.25 / (m * 0.04), 3.0 * 0.999
        phi = 0.0 if math.log1p(x) <= rest / 2 else 0.25 / (m * math.expm1(rest / 2)) - 0.04
        x = 0.25 / (m * (0.04 + phi))
        assert line["scale"] == pytest.approx(m * (rest - math.log1p(x)) / 2, rel=1e-8)
        assert (line["kappa"], line["phi"]) == pytest.approx((0.04 + phi, phi))
        assert line["charged"] == pytest.approx(3.0)
        assert line["law"] == "objective"


def test_laplace_noise_is_scaled_for_a_clip_in_l1(tmp_path: Path) -> None:
    """E7: corrected, the clip is in the norm of the noise; as printed in L2, and short by √d."""
    mechanism = {"kind": "cd", "noise": "laplace", "releases": 4, "clip": 0.05}
    ran = perform(world(mechanism, nodes=group()), tmp_path)
    assert ran.outcome.code == 0  # the invariant looks at every record in the ledger's norm
    for node, m in zip(ran.run.plan.nodes, ran.run.plan.shards.sizes, strict=True):
        spends: Any = node.mechanism.schedule(2)  # type: ignore[attr-defined]
        assert spends[0].sensitivity == pytest.approx(2 * 0.05 / m)
        assert spends[0].charged == pytest.approx(spends[0].sensitivity / spends[0].scale)
        x, _ = ran.run.plan.shards.train[node.id]
        kept: Any = node.mechanism
        assert (kept.clip * np.abs(x).sum(axis=1)).max() <= 0.05 * (1 + 1e-12)
    printed = make_plan(world(mechanism | {"calibration": "as_printed"}, nodes=group()))
    for node, m in zip(printed.nodes, printed.shards.sizes, strict=True):
        spend: Any = node.mechanism.schedule(2)[0]  # type: ignore[attr-defined]
        assert spend.sensitivity == pytest.approx(2 * 0.05 * math.sqrt(3) / m)
        assert spend.charged == pytest.approx(math.sqrt(3) * spend.claimed)


@pytest.mark.parametrize("noise", ["laplace", "norm-gamma"])
def test_a_printed_warm_start_and_descent_fill_the_budget_by_the_papers_composition(
    noise: str,
) -> None:
    mechanism = {"kind": "warm-cd", "noise": noise, "releases": 40, "calibration": "as_printed"}
    plan = make_plan(world(mechanism, nodes=group(), task={"l2": 0.3}))
    claims = [spend.claimed for spend in plan.nodes[0].planned or ()]
    total = Sums()
    for claim in claims:
        total = total.plus(Loss("pure", claim))
    assert len(claims) == 41
    assert kov_printed(total, 1e-5) == pytest.approx(3.0, rel=1e-6)
    assert plan.privacy.misprinted


def test_a_warm_start_takes_a_round_even_without_propagation() -> None:
    """Its release is a wake of its own: of nine rounds eight are left to the descent."""
    mechanism = {"kind": "warm-cd", "noise": "laplace", "warm_wakes": 0}
    nodes = [node | {"clock": SYNCHRONOUS} for node in group()]
    run = {"seed": 5, "rounds": 9}
    plan = make_plan(world(mechanism, nodes=nodes, run=run, task={"l2": 0.3}))
    assert [len(node.planned or ()) for node in plan.nodes] == [9] * plan.size


@pytest.mark.parametrize("schedule", ["uniform", "growing"])
def test_printed_gaussian_noise_is_remark_4(schedule: str) -> None:
    """E12: s = 2L√(2 ln(2/δ_k))/ε_k without 1/m; ε_k from the printed composition at δ/2, δ_k = δ/(2T)."""
    mechanism = {
        "kind": "cd",
        "noise": "gaussian",
        "releases": 40,
        "schedule": schedule,
        "calibration": "as_printed",
    }
    plan = make_plan(world(mechanism, nodes=group(), task={"l2": 0.3}))
    spends: Any = plan.nodes[0].mechanism.schedule(2)  # type: ignore[attr-defined]
    width = 2 * math.sqrt(2 * math.log(2 / (1e-5 / 80)))
    epsilons = np.array([width / spend.scale for spend in spends])
    total = Sums(
        40, epsilons.sum(), (epsilons**2).sum(), (epsilons * np.tanh(epsilons / 2)).sum(), 0.0
    )
    assert kov_printed(total, 0.5e-5) == pytest.approx(3.0, rel=1e-6)
    assert (len(set(epsilons.round(12))) == 1) == (schedule == "uniform")


def test_a_step_size_made_of_data_costs_everything(tmp_path: Path) -> None:
    """As printed α_i holds λ_max of the data: what it scales has no finite loss."""
    mechanism = {
        "kind": "cd",
        "noise": "laplace",
        "releases": 3,
        "smoothness": "data",
        "calibration": "as_printed",
    }
    ran = perform(world(mechanism, nodes=group()), tmp_path)
    assert ran.outcome.summary["epsilon"]["max"] == "inf"
    assert ran.outcome.summary["epsilon"]["claimed"] == pytest.approx(3.0, rel=1e-6)


def test_output_noise_allows_for_the_solver() -> None:
    """A12 and E20: ζ = εΛ/(2(G/m + tol)), both minimisers being found to 1e-6."""
    plan = make_plan(
        world(
            {"kind": "propagation", "noise": "output"},
            nodes=group(),
            task={"l2": 0.1},
            privacy={"calibrate": "basic"},
        )
    )
    for node, m in zip(plan.nodes, plan.shards.sizes, strict=True):
        spend: Any = node.mechanism.schedule(2)[0]  # type: ignore[attr-defined]
        exact = rounded_down(3.0 * (1 - 1e-11)) * 0.2 / (2 * (1 / m + 1e-6))
        assert spend.scale == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("noise", ["output", "objective"])
def test_the_noise_of_a_local_model_is_told_beside_its_step(noise: str) -> None:
    from mechanisms.solve import minimise
    from scenarios.planning.forecast import forecast

    plan = make_plan(
        world({"kind": "propagation", "noise": noise}, nodes=group(), task={"l2": 0.1})
    )
    c = np.array(plan.shards.sizes) / max(plan.shards.sizes)
    wanted = []
    for node, objective in zip(plan.nodes, plan.objectives, strict=True):
        spend: Any = node.mechanism.schedule(2)[0]  # type: ignore[attr-defined]
        effect = math.sqrt(12) / spend.scale / (0.2 if noise == "objective" else 1.0)
        share = c[node.id] / (1 + c[node.id])
        wanted.append(effect * share / (share * np.linalg.norm(minimise(objective).theta)))
    assert forecast(plan)["groups"][0]["noise_to_step"] == pytest.approx(
        np.median(wanted), rel=1e-6
    )


@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
def test_objective_noise_makes_objectives_without_l2_strongly_convex(
    tmp_path: Path, calibration: str
) -> None:
    """The modulus is Φ alone: w c₁/(e^(α′/2) − 1) corrected, w c₁/(e^(α/4) − 1) printed; noise, charge and optimum rest on it."""
    epsilon, w, c = 4.0, 1 / 20, 0.25
    tree = scenario(
        run={"seed": 1, "horizon": 10.0},
        data={"source": "blobs", "dimension": 3, "points": 20},
        task={"l2": 0.0},
        nodes=[{"count": 4, "budget": {"epsilon": epsilon}}],
        mechanism={"kind": "propagation", "noise": "objective", "calibration": calibration},
    )
    ran = perform(tree, tmp_path)
    assert ran.outcome.code == 0
    joint: Any = ran.run.plan.joint
    for node, anchor in zip(ran.run.plan.nodes, joint.anchors, strict=True):
        mechanism: Any = node.mechanism
        spend, alpha = mechanism.spend, mechanism.spend.claimed
        assert alpha == pytest.approx(epsilon, rel=1e-3)
        residual = 0.0 if calibration == "as_printed" else alpha / 1000
        half = alpha / 4 if calibration == "as_printed" else (alpha - residual) / 2
        phi = w * c / math.expm1(half)
        assert mechanism.ridge == pytest.approx(phi)
        assert spend.solve.kappa == pytest.approx(phi)
        told = spend.scale * 2 * w + math.log1p(w * c / phi) + residual
        assert spend.charged == pytest.approx(told)
        x, y = ran.run.plan.shards.train[node.id]
        u = x * y[:, None]
        slope = -(u.T @ (1 / (1 + np.exp(u @ anchor)))) / 20 + phi * anchor
        assert np.linalg.norm(slope) < 1e-8
    assert any("strongly convex by Φ" in note for note in ran.run.plan.notes)
    assert ran.outcome.summary["epsilon"]["max"] <= epsilon * (1 + 1e-9)
