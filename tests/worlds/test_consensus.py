"""The ADMM family against the papers' equations, step by step."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import Loss, Tally
from scenarios.api.runs import make_plan
from tests.support.builders import perform, scenario
from tests.support.consensus import CLOCKS, ETA, RHO, C, dense, pvp_step, world
from tests.support.dense import Array, Consensus, State

STEPS = [1, 2, pytest.param(200, marks=pytest.mark.slow)]
TOPOLOGIES: list[Any] = ["ring", "star", {"kind": "grid", "rows": 2, "columns": 3}]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_admm_is_its_equations(tmp_path: Path, topology: Any, clock: str, steps: int) -> None:
    """Zhang, Zhu 2016, eq. (5)–(8), whatever the latency at a barrier."""
    latency = {"kind": "exponential", "mean": 0.1} if clock == "barrier" else "0s"
    network = {"topology": topology, "latency": latency}
    nodes = [{"count": 6, "clock": CLOCKS[clock]}]
    ran = perform(
        world({"kind": "admm", "eta": ETA}, steps, network=network, nodes=nodes), tmp_path
    )
    expected = dense(ran).run(steps, ETA, lambda _i, _t: ETA).sent
    assert np.abs(ran.theta - expected).max() < 1e-10


STARTS, GROWTHS = [0.7, 0.9, 1.1, 0.7, 0.8, 1.0], [1.0, 1.05, 1.1, 1.02, 1.0, 1.2]


@pytest.mark.parametrize("steps", STEPS)
def test_madmm_is_its_equations(tmp_path: Path, steps: int) -> None:
    """Zhang, Khalili, Liu 2018, eq. (10)–(11), with a penalty of each agent's own."""
    eta = {"start": STARTS, "growth": GROWTHS, "cap": 3.0}
    ran = perform(world({"kind": "madmm", "theta": 0.6, "eta": eta}, steps), tmp_path)
    expected = dense(ran).run(steps, 0.6, lambda i, t: min(STARTS[i] * GROWTHS[i] ** t, 3.0)).sent
    assert np.abs(ran.theta - expected).max() < 1e-10


@pytest.mark.slow
def test_madmm_satisfies_the_matrix_form(tmp_path: Path) -> None:
    """Zhang, Khalili, Liu 2018, eq. (13)–(14): ∇O(f⁺) + 2Λ + 2WDf⁺ − W(D+A)f = 0, 2Λ⁺ = 2Λ + θ(D−A)f⁺."""
    eta = {"start": STARTS, "growth": 1.0}
    paths = [
        perform(world({"kind": "madmm", "theta": 0.6, "eta": eta}, t), tmp_path).theta
        for t in range(1, 6)
    ]
    ran = perform(world({"kind": "madmm", "theta": 0.6, "eta": eta}, 1), tmp_path)
    problem, W = dense(ran), np.diag(STARTS)
    D, A = problem.degrees, problem.A
    twice, f = np.zeros_like(ran.theta), np.zeros_like(ran.theta)
    for after in paths:
        slopes = np.array([problem.gradient(i, row) for i, row in enumerate(after)])
        assert np.abs(slopes + twice + 2 * W @ D @ after - W @ (D + A) @ f).max() < 1e-9
        twice, f = twice + 0.6 * (D - A) @ after, after


def dvp_step(
    problem: Consensus, i: int, t: int, lam: Array, eta: float, state: State, alpha: float
) -> Array:
    """Zhang, Zhu 2016, Algorithm 2 with ζ of theory.md, 2.2, α/1000 of it for noise on the minimiser (E20)."""
    near = np.flatnonzero(problem.A[i])
    B, V = len(problem.u[i]), len(near)
    kappa, phi = RHO + 2 * eta * V, 0.0
    rest = 0.999 * alpha
    if np.log(1 + C * 0.25 / (B * kappa)) > rest / 2:
        phi = C * 0.25 / (B * (np.exp(rest / 2) - 1)) - kappa
    zeta = (rest - np.log(1 + C * 0.25 / (B * (kappa + phi)))) * B / (2 * C)
    b, hiding = problem.noises(i, t, zeta, problem.hiding(zeta, 0.001 * alpha, kappa + phi))
    g = 2 * lam - eta * sum(state.sent[i] + state.sent[j] for j in near)
    return problem.solve(i, g + b, 2 * eta * V + phi) + hiding


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.02, 1.0])
@pytest.mark.parametrize("steps", STEPS)
def test_dvp_is_its_equations(tmp_path: Path, steps: int, alpha: float) -> None:
    mechanism = {"kind": "dvp", "eta": ETA, "alpha": alpha, "releases": steps}
    ran = perform(world(mechanism, steps), tmp_path)
    expected = dense(ran).run(steps, ETA, lambda _i, _t: ETA, partial(dvp_step, alpha=alpha)).sent
    assert np.abs(ran.theta - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["clean", "printed"])
@pytest.mark.parametrize("steps", STEPS)
def test_pvp_is_its_equations(tmp_path: Path, steps: int, variant: str) -> None:
    mechanism = {"kind": "pvp", "eta": ETA, "alpha": 1.0, "releases": steps, "variant": variant}
    ran = perform(world(mechanism, steps), tmp_path)
    expected = (
        dense(ran).run(steps, ETA, lambda _i, _t: ETA, partial(pvp_step, variant=variant)).sent
    )
    assert np.abs(ran.theta - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
def test_the_final_step_of_pvp_is_dual_perturbed(tmp_path: Path, calibration: str) -> None:
    """Corrected with v_i in the penalty, as printed with f_i (E4) and ζ = α̂ (E1)."""
    mechanism = {
        "kind": "pvp",
        "eta": ETA,
        "alpha": 1.0,
        "releases": 3,
        "variant": "printed",
        "final_dual": True,
        "calibration": calibration,
    }
    ran = perform(world(mechanism, 3), tmp_path)
    as_printed = calibration == "as_printed"

    def step(problem: Consensus, i: int, t: int, lam: Array, eta: float, state: State) -> Array:
        near, B = np.flatnonzero(problem.A[i]), len(problem.u[i])
        V = len(near)
        if t < 2:
            mine = 2 * state.secret[i] - state.sent[i]
            g = 2 * lam - eta * sum(mine + state.sent[j] for j in near)
            state.secret[i] = problem.solve(i, g, 2 * eta * V)
            zeta = RHO * B / (2 * C) if as_printed else RHO / (2 * (C / B + 1e-9))
            noisy: Array = state.secret[i] + problem.noise(i, t, zeta)
            return noisy
        mine = state.secret[i] if as_printed else state.sent[i]
        g = 2 * lam - eta * sum(mine + state.sent[j] for j in near)
        kappa = RHO + 2 * eta * V
        jacobian = np.log(1 + 0.25 * C / (B * kappa))
        if as_printed:
            b = problem.noise(i, t, (1 - 2 * jacobian) * B / C)
            return problem.solve(i, g + b, 2 * eta * V)
        zeta = (0.999 - jacobian) * B / (2 * C)
        b, hiding = problem.noises(i, t, zeta, problem.hiding(zeta, 0.001, kappa))
        return problem.solve(i, g + b, 2 * eta * V) + hiding

    expected = dense(ran).run(3, ETA, lambda _i, _t: ETA, step).sent
    assert np.abs(ran.theta - expected).max() < 1e-9
    for line in ran.result.ledger:
        B, V = len(dense(ran).u[line["node"]]), 2
        x = 0.25 * C / (B * (RHO + 2 * ETA * V))
        if line["k"] == 2 and as_printed:
            reach = 2 * C / B * (1 + ETA * V / RHO)
            true = (1 - 2 * np.log(1 + x)) * B / C * reach + np.log(1 + x)
            assert line["charged"] == pytest.approx(true)
            assert line["claimed"] == 1.0
        else:
            assert line["charged"] == pytest.approx(1.0, rel=1e-6)


def pp_step(
    problem: Consensus, i: int, t: int, lam: Array, eta: float, state: State, start: float
) -> Array:
    """Zhang, Khalili, Liu 2018, eq. (24): ε ∝ exp(−α_i(t)‖ε‖) inside the penalty."""
    near = np.flatnonzero(problem.A[i])
    B, V, alpha = len(problem.u[i]), len(near), start * 1.02**t
    kappa = RHO + 2 * eta * V
    cost = alpha * C / (eta * V * B) + np.log(1 + 0.25 * C / (B * kappa))
    zeta = alpha / (2 * eta * V)  # of b = 2ηVε
    epsilon, hiding = problem.noises(i, t, alpha, problem.hiding(zeta, 0.001 * cost, kappa))
    g = 2 * lam - eta * sum(state.sent[i] + state.sent[j] for j in near)
    return problem.solve(i, g + 2 * eta * V * epsilon, 2 * eta * V) + hiding


@pytest.mark.slow
@pytest.mark.parametrize("steps", STEPS)
def test_pp_is_its_equations(tmp_path: Path, steps: int) -> None:
    eta = {"start": STARTS, "growth": 1.03}
    mechanism = {
        "kind": "pp",
        "theta": 0.6,
        "eta": eta,
        "noise": {"start": 4.0, "growth": 1.02},
    }
    ran = perform(world(mechanism, steps), tmp_path)
    problem = dense(ran)
    expected = problem.run(
        steps, 0.6, lambda i, t: STARTS[i] * 1.03**t, partial(pp_step, start=4.0)
    ).sent
    assert np.abs(ran.theta - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())
    for line in ran.result.ledger:  # theory.md, 2.2: αC/(ηVB) + ln(1 + C c₁/(B(ρ + 2ηV)))
        i, t = line["node"], line["k"]
        pull, B = STARTS[i] * 1.03**t * 2, len(problem.u[i])
        cost = 4.0 * 1.02**t * C / (pull * B) + np.log(1 + 0.25 * C / (B * (RHO + 2 * pull)))
        assert line["charged"] == pytest.approx(1.001 * cost, rel=1e-6)


@pytest.mark.slow
def test_pp_with_one_penalty_is_dvp_draw_for_draw(tmp_path: Path) -> None:
    """O14: the same noise, found along two ways; α_i = 2ηVζ_b."""
    budget = {"epsilon": 6.0, "delta": 1e-5}
    nodes = [{"count": 6, "clock": CLOCKS["synchronous"], "budget": budget}]
    dvp = perform(world({"kind": "dvp", "eta": ETA}, 12, nodes=nodes), tmp_path)
    own = {"kind": "pp", "theta": ETA, "eta": {"start": ETA}}
    pp = perform(world(own, 12, nodes=nodes), tmp_path)
    assert np.array_equal(dvp.theta, pp.theta)
    assert [e["scale"] for e in dvp.result.ledger] == [e["scale"] for e in pp.result.ledger]


def test_zero_noise_is_the_plain_algorithm(tmp_path: Path) -> None:
    """At α = 10⁹ a release moves by nothing that can be seen."""
    plain = perform(world({"kind": "admm", "eta": ETA}, 20), tmp_path).theta
    for kind in ("dvp", "pvp"):
        mechanism = {"kind": kind, "eta": ETA, "alpha": 1e9, "releases": 20}
        assert perform(world(mechanism, 20), tmp_path).theta == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_final_step_has_its_share_of_the_budget(share: float) -> None:

    nodes = [{"count": 6, "clock": CLOCKS["synchronous"], "budget": {"epsilon": 3.0, "delta": 0.0}}]
    mechanism = {"kind": "pvp", "releases": 5, "final_dual": True, "final_share": share}
    plan = make_plan(world(mechanism, 5, nodes=nodes))
    spends = plan.nodes[0].mechanism.schedule(2)  # type: ignore[attr-defined]
    assert [s.law for s in spends] == ["norm-gamma"] * 4 + ["objective"]
    assert spends[-1].charged == pytest.approx(3.0 * share)
    assert sum(s.charged for s in spends) == pytest.approx(3.0)


@pytest.mark.parametrize("kind", ["dvp", "pvp", "pp"])
def test_as_printed_the_budget_is_filled_by_closed_composition(kind: str) -> None:
    """Where no file names an accountant, a paper's noise is calibrated by kov, as it was before there were others."""
    mechanism = {"kind": kind, "releases": 40, "rho": 0.5, "calibration": "as_printed"}
    nodes = [{"count": 6, "budget": {"epsilon": 3.0, "delta": 1e-5}}]
    plan = make_plan(scenario(mechanism=mechanism, nodes=nodes, task={}))
    claims = Tally((Loss("pure", spend.claimed), 1) for spend in plan.nodes[0].planned or ())
    assert len(claims) == 40
    assert by("kov", claims, 1e-5) == pytest.approx(3.0, rel=1e-6)
