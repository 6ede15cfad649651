"""The server family: what rounds compute, what they cost, and what dropouts do to them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting import gaussian
from scenarios.api import make_plan
from tests.support.builders import Ran, perform, scenario

BUDGET = {"epsilon": 3.0, "delta": 1e-4}
SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}
UNEVEN = {"source": "blobs", "dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 3}}


def world(mechanism: dict[str, Any], rounds: int | None = 6, **sections: Any) -> dict[str, Any]:
    run = {"seed": 5, "rounds": rounds} if rounds else {"seed": 5, "horizon": 60.0}
    base: dict[str, Any] = {
        "run": run,
        "data": UNEVEN,
        "task": {"l2": 0.05},
        "nodes": [{"count": 6, "clock": "barrier"}],
        "mechanism": mechanism,
        "privacy": {"grid": False},
    }
    return scenario(**(base | sections))


def private(**budget: Any) -> list[dict[str, Any]]:
    return [{"count": 6, "clock": "barrier", "budget": BUDGET | budget}]


def server_of(ran: Ran) -> Any:
    with np.load(ran.outcome.folder / "models.npz") as archive:
        return archive["server"]


def slopes(ran: Ran, j: int, theta: Any) -> Any:
    """∇L_j, from its definition."""
    x, y = ran.run.plan.shards.train[j]
    u = x * y[:, None]
    return -(u.T @ (1 / (1 + np.exp(u @ theta)))) / len(u) + 0.1 * theta


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_synchronised_rounds_are_gradient_descent_on_the_weighted_objective(
    tmp_path: Path, weights: str
) -> None:
    mechanism = {
        "kind": "wddp", "noise": "none", "synchronise": "every-round", "weights": weights,
        "learning_rate": 0.8,
    }  # fmt: skip
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
        "kind": "wddp", "noise": "none", "local_rounds": 25, "weights": weights, "learning_rate": 0.8,
    }  # fmt: skip
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
        {"kind": "central-gradient"}, {"kind": "wddp", "synchronise": "every-round"},
    ]  # fmt: skip
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
    from scenarios.seeds import NoiseSource

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


def total_mu(ran: Ran, j: int) -> float:
    return math.sqrt(sum(e["charged"] ** 2 for e in ran.result.ledger if e["node"] == j))


def test_every_calibration_spends_the_budget_and_no_more(tmp_path: Path) -> None:
    """theory.md, 2.2: σ_j = 2G√T/(n_j μ) on the wire; the sum's noise for the one who needs most."""
    mu = gaussian.mu(3.0, 1e-4)
    for mechanism, rounds, spent in (
        ({"kind": "wddp", "local_rounds": 25}, None, "all"),
        ({"kind": "wddp", "synchronise": "every-round"}, 6, "all"),
        ({"kind": "wddp", "synchronise": "every-round", "noise": "aggregate"}, 6, "all"),
        ({"kind": "jayaraman-gradient"}, 6, "all"),
    ):
        ran = perform(world(mechanism, rounds, nodes=private()), tmp_path)
        spends = [total_mu(ran, j) for j in range(6)]
        assert max(spends) == pytest.approx(mu, rel=1e-6), mechanism
        assert spent == "all"
        assert ran.outcome.summary["epsilon"]["max"] <= 3.0
        for line in ran.result.ledger:
            assert line["charged"] == pytest.approx(line["sensitivity"] / line["scale"], abs=2e-9)


def test_sigma_on_the_wire_is_each_partys_own(tmp_path: Path) -> None:
    ran = perform(world({"kind": "wddp", "local_rounds": 25}, None, nodes=private()), tmp_path)
    mu = gaussian.mu(3.0, 1e-4)
    for line in ran.result.ledger:
        size = ran.run.plan.shards.sizes[line["node"]]
        assert line["scale"] == pytest.approx(2 * math.sqrt(25) / (size * mu))


def test_as_printed_a_party_pays_n_over_n_j(tmp_path: Path) -> None:
    """E5: σ of eq. (3) is short by n/n_j on the wire."""
    mechanism = {"kind": "wddp", "local_rounds": 25, "calibration": "as_printed"}
    ran = perform(world(mechanism, None, nodes=private()), tmp_path)
    sizes, mu = ran.run.plan.shards.sizes, gaussian.mu(3.0, 1e-4)
    for line in ran.result.ledger:
        assert line["scale"] == pytest.approx(2 * math.sqrt(25) / (sum(sizes) * mu))
        assert line["charged"] == pytest.approx(sum(sizes) / sizes[line["node"]] * mu, rel=1e-6)
        assert line["claimed"] == pytest.approx(mu)
    assert ran.outcome.summary["epsilon"]["max"] > 10 * ran.outcome.summary["epsilon"]["claimed"]


def test_noise_of_a_secure_sum_is_shared_among_the_honest() -> None:
    """w_jσ_j = σ*/√(m − h − dropouts); the sum's variance never falls below σ*²."""
    mechanism = {
        "kind": "wddp", "synchronise": "every-round", "noise": "aggregate", "tolerate": 1, "colluders": 2,
    }  # fmt: skip
    plan = make_plan(world(mechanism, 4, nodes=private(), server={"quorum": 0.5}))
    assert plan.server is not None
    desk = plan.server.mechanism
    assert desk.shares is not None
    assert desk.floor == pytest.approx(desk.shares[0] * 3)
    assert desk.refuses([0, 1, 2, 3, 4]) is None
    assert desk.refuses([0, 1, 2, 3]) is not None
    worst = max(2.0 / sum(plan.shards.sizes) * 2 / gaussian.mu(3.0, 1e-4) for _ in range(6))
    assert math.sqrt(desk.floor) == pytest.approx(worst, rel=1e-5)


@pytest.mark.parametrize(("tolerate", "aborted"), [(0, 3), (1, 0)])
def test_a_sum_with_too_little_noise_is_aborted_not_released(
    tmp_path: Path, tolerate: int, aborted: int
) -> None:
    """One of six crashes after three rounds: without provision, no aggregate is released any more."""
    mechanism = {
        "kind": "wddp", "synchronise": "every-round", "noise": "aggregate", "tolerate": tolerate,
    }  # fmt: skip
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS, "budget": BUDGET}],
        "server": {"deadline": 5.0, "quorum": 0.5},
        "fault": [{"at": 3.5, "crash": [2]}],
    }
    ran = perform(world(mechanism, 6, **sections), tmp_path)
    assert ran.outcome.code == 0
    told = ran.events("round_aborted")
    assert len(told) == aborted
    assert ran.outcome.summary["server"] == {"rounds": 6, "aborted": aborted}
    for event in told:
        assert event["survivors"] == [0, 1, 3, 4, 5]
        assert "of" in event["reason"]
    # who stayed has paid for every answer, aborted or not: the wire showed them
    assert ran.outcome.summary["nodes"][0]["releases"] == 6
    assert ran.outcome.summary["epsilon"]["max"] <= 3.0


def test_a_quorum_is_the_fewest_that_count(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS}],
        "server": {"deadline": 4.0, "quorum": 0.7},
        "fault": [{"at": 2.5, "crash": [2]}, {"at": 12.5, "crash": [3]}],
    }
    mechanism = {"kind": "wddp", "noise": "none", "synchronise": "every-round"}
    ran = perform(world(mechanism, 8, **sections), tmp_path)
    survivors = [len(e["survivors"]) for e in ran.events("round_closed", "round_aborted")]
    assert survivors[:2] == [6, 6]
    assert set(survivors[2:]) == {5, 4}
    for event in ran.events("round_aborted"):
        assert len(event["survivors"]) == 4
        assert event["reason"] == "4 of 6 answered, 5 needed"


def test_survivors_set_the_noise_inside_the_computation() -> None:
    """Jayaraman et al. 2018: 2G/(m n₁) with m and n₁ of those who are left."""
    plan = make_plan(world({"kind": "jayaraman-gradient"}, 9, nodes=private()))
    assert plan.server is not None
    central, mu = plan.server.mechanism.central, gaussian.mu(3.0, 1e-4)
    assert central is not None
    for m, n in ((6, 5), (3, 40)):
        exact = 2 * math.sqrt(9) / (m * n * mu)
        assert central.scale(m, n) == pytest.approx(exact, rel=1e-5)
        assert central.scale(m, n) >= exact


@pytest.mark.parametrize("kind", ["jayaraman-output", "pathak"])
@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
def test_output_noise_by_the_smallest_survivor(tmp_path: Path, kind: str, calibration: str) -> None:
    """ζ = ε m n₁ Λ/(2G); Laplace 2√d G/(m n₁ Λ ε); as printed 2/(m n₁ Λ ε) and 2/(n₁ Λ ε) (E25)."""
    mechanism = {"kind": kind, "calibration": calibration}
    plan = make_plan(world(mechanism, None, nodes=private()))
    assert plan.server is not None
    central = plan.server.mechanism.central
    assert central is not None
    scale, convexity = central.scale(4, 10), 0.1
    expected = {
        ("jayaraman-output", "corrected"): 3.0 * 40 * convexity / 2,
        ("jayaraman-output", "as_printed"): 2 / (40 * convexity * 3.0),
        ("pathak", "corrected"): 2 * math.sqrt(3) / (40 * convexity * 3.0),
        ("pathak", "as_printed"): 2 / (10 * convexity * 3.0),
    }[kind, calibration]
    assert scale == pytest.approx(expected, rel=1e-4)
    ran = perform(world(mechanism, None, nodes=private()), tmp_path)
    ledger = ran.result.ledger
    assert len(ledger) == 6
    charged = max(e["charged"] for e in ledger)
    wanted = {
        ("jayaraman-output", "corrected"): 3.0,
        ("jayaraman-output", "as_printed"): 3.0 * math.sqrt(3),
        ("pathak", "corrected"): 3.0,
        ("pathak", "as_printed"): 3.0 * math.sqrt(3) / 6,  # safe: √d ≤ m
    }[kind, calibration]
    assert charged == pytest.approx(wanted, rel=1e-4)


def test_a_lost_answer_is_asked_for_again_and_costs_nothing_more(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS, "budget": BUDGET}],
        "server": {"deadline": 3.0},
        "network": {"loss": 0.4, "latency": "100ms"},
    }
    ran = perform(world({"kind": "pathak"}, None, **sections), tmp_path)
    assert ran.outcome.summary["server"]["aborted"] > 0
    assert ran.outcome.summary["releases"] == 6
    assert any(e.get("resent") for e in ran.events("sent"))
    assert len(ran.events("round_closed")) == 1
    clean = perform(world({"kind": "pathak"}, None, nodes=sections["nodes"]), tmp_path)
    assert ran.outcome.summary["gap"] < 10 * abs(clean.outcome.summary["gap"]) + 1


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
        "kind": "wddp", "synchronise": "every-round", "noise": "aggregate", "learning_rate": 1 / smooth,
    }  # fmt: skip
    for seed in range(40):
        run = {"seed": 5, "rounds": T}
        plan_world = world(mechanism, T, nodes=private(), run=run, seeds={"noise": seed})
        ran = perform(plan_world, tmp_path)
        excess.append(ran.outcome.summary["gap"])
    desk = ran.run.plan.server
    assert desk is not None
    start = ran.run.oracle.gap_at_start
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


@pytest.mark.parametrize("clock", ["barrier", SYNCHRONOUS])
def test_who_comes_back_in_the_middle_of_a_round_does_not_pay_twice(
    tmp_path: Path, clock: Any
) -> None:
    """Crashes, leaves and returns: at most one release for a round, and the run goes on to its last word."""
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": clock, "budget": BUDGET}],
        "server": {"deadline": 4.0, "quorum": 0.5},
        "network": {"latency": "300ms"},
        "fault": [
            {"at": 2.4, "for": 0.2, "crash": [1]}, {"at": 3.1, "for": 1.0, "crash": [2], "lose": "all"},
            {"at": 4.5, "for": 3.0, "leave": [3]}, {"at": 6.5, "for": 0.1, "crash": [1], "lose": "nothing"},
        ],
    }  # fmt: skip
    ran = perform(world({"kind": "wddp", "synchronise": "every-round"}, 12, **sections), tmp_path)
    assert ran.outcome.code == 0
    summary = ran.outcome.summary
    assert summary["server"]["rounds"] == 12
    assert summary["ended_by"] == "rounds"
    assert summary["epsilon"]["max"] <= 3.0
    for node in summary["nodes"]:
        assert node["releases"] <= 12
    assert np.array_equal(ran.theta, np.tile(server_of(ran), (6, 1)))  # all have read the last word


def test_a_pairs_words_are_for_the_pair(tmp_path: Path) -> None:
    """Nobody is greeted with what was said to somebody else."""
    fault = [{"at": 5.0, "for": 4.0, "leave": [2]}, {"at": 12.0, "for": 3.0, "crash": [4]}]
    mechanism = {"kind": "collaborative-admm"}
    ran = perform(world(mechanism, None, fault=fault, nodes=[{"count": 6}]), tmp_path)
    assert ran.outcome.code == 0
    said = {}
    for event in ran.events("sent"):
        if not event.get("resent"):
            said[event["node"], event["version"]] = event["to"]
        else:
            assert event["to"] == said[event["node"], event["version"]]


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_what_survivors_send_is_averaged_over_survivors(tmp_path: Path, weights: str) -> None:
    mechanism = {
        "kind": "wddp", "noise": "none", "synchronise": "every-round", "weights": weights, "learning_rate": 0.8,
    }  # fmt: skip
    nodes = [
        {"count": 5, "clock": "barrier"},
        {"name": "away", "count": 1, "clock": "barrier", "present": False},
    ]
    ran = perform(world(mechanism, 10, nodes=nodes), tmp_path)
    sizes = np.array(ran.run.plan.shards.sizes[:5], float)
    w = sizes / sizes.sum() if weights == "size" else np.full(5, 1 / 5)
    theta = np.zeros(3)
    for _ in range(10):
        theta = theta - 0.8 * sum(w[j] * slopes(ran, j, theta) for j in range(5))
    assert server_of(ran) == pytest.approx(theta, abs=1e-12)


def test_clients_may_all_be_late_or_go(tmp_path: Path) -> None:
    """Rounds that ask nobody are aborted; who comes later is asked then."""
    for fault, present in (
        ([{"at": 7.0, "join": "all"}], False),
        ([{"at": 0.15, "for": 7.0, "leave": "all"}], True),
    ):
        for mechanism in ({"kind": "fedavg"}, {"kind": "wddp", "noise": "none", "local_rounds": 3}):
            sections: dict[str, Any] = {
                "nodes": [{"count": 6, "clock": "barrier", "present": present}],
                "network": {"latency": "100ms"},
                "server": {"deadline": 5.0},
                "fault": fault,
            }
            ran = perform(world(mechanism, 6, **sections), tmp_path)
            assert ran.outcome.code == 0, ran.outcome.message
            assert ran.events("round_closed")
            assert ran.outcome.summary["server"]["aborted"] >= 1


def test_a_restart_misses_a_round_and_no_more(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "nodes": [{"count": 1, "clock": SYNCHRONOUS, "budget": BUDGET}],
        "data": UNEVEN | {"split": "even"},
        "fault": [{"at": 2.5, "for": 1.0, "crash": [0]}],
        "server": {"deadline": 3.0},
    }
    ran = perform(world({"kind": "central-gradient"}, 6, **sections), tmp_path)
    assert ran.outcome.summary["server"]["aborted"] <= 1
    assert len(ran.events("round_closed")) >= 5


def test_the_servers_noise_is_fresh_in_every_round(tmp_path: Path) -> None:
    """θ_t of rounds 1, 2, 3 of one run: what is left over the gradient step differs each time."""
    models = [np.zeros(3)]
    for rounds in (1, 2, 3):
        nodes = [{"count": 6, "clock": "barrier", "budget": BUDGET | {"epsilon": 3.0 * rounds}}]
        ran = perform(world({"kind": "jayaraman-gradient"}, rounds, nodes=nodes), tmp_path)
        models.append(server_of(ran))
        source = ran.run.members.agents[-1].noise
    draws = [source(k).standard_normal(3).tolist() for k in (1, 2, 3)]
    assert len({tuple(draw) for draw in draws}) == 3
    nodes = [{"count": 6, "clock": "barrier", "budget": BUDGET}]
    ran = perform(world({"kind": "jayaraman-gradient"}, 3, nodes=nodes), tmp_path)
    plan = ran.run.plan.server
    assert plan is not None
    central = plan.mechanism.central
    assert central is not None
    scale, theta = central.scale(6, min(ran.run.plan.shards.sizes)), np.zeros(3)
    for draw in draws:
        theta = (
            theta
            - np.mean([slopes(ran, j, theta) for j in range(6)], axis=0)
            - scale * np.array(draw)
        )
    assert server_of(ran) == pytest.approx(theta, abs=1e-6)


def test_scales_of_sealed_kinds_hold_room_for_rounding_and_for_solvers() -> None:
    """2G/(m n₁) and the grid; 2(G + tol·n)/(Λ m n₁) and the grid; w_j·2G/n_j and m cells."""
    cell = 2.0**-30
    gradient = make_plan(world({"kind": "jayaraman-gradient"}, 9, nodes=private()))
    assert gradient.server is not None
    assert gradient.server.mechanism.central is not None
    mu = gaussian.mu(3.0, 1e-4) * (1 - 1e-11)
    exact = (2 / (6 * 7) + cell * math.sqrt(3)) * 3 / mu
    assert gradient.server.mechanism.central.scale(6, 7) == pytest.approx(exact, rel=1e-13)
    output = make_plan(world({"kind": "jayaraman-output"}, None, nodes=private()))
    assert output.server is not None
    assert output.server.mechanism.central is not None
    largest = max(output.shards.sizes)
    reach = 2 * (1 + 1e-6 * largest) / 0.1
    zeta = 3.0 * (1 - 1e-11) / (reach / 42 + cell * math.sqrt(3))
    assert output.server.mechanism.central.scale(6, 7) == pytest.approx(zeta, rel=1e-13)
    aggregate = {"kind": "wddp", "synchronise": "every-round", "noise": "aggregate"}
    summed = make_plan(world(aggregate, 4, nodes=private()))
    assert summed.server is not None
    reach = 2 / sum(summed.shards.sizes) + 6 * cell * math.sqrt(3)
    assert math.sqrt(summed.server.mechanism.floor) == pytest.approx(reach * 2 / mu, rel=1e-12)
    printed = make_plan(world(aggregate | {"calibration": "as_printed"}, 4, nodes=private()))
    assert printed.server is not None
    assert printed.server.mechanism.shares is not None
    sigma = 2 * 2 / (sum(printed.shards.sizes) * mu)
    shares = (np.array(printed.shards.sizes) / sum(printed.shards.sizes) * sigma) ** 2
    assert printed.server.mechanism.shares == pytest.approx(shares, rel=1e-12)


def test_a_round_with_fewer_survivors_than_were_charged_for_is_aborted(tmp_path: Path) -> None:
    """As printed the loss of pathak grows as parties fall away: nobody was charged for one party alone."""
    fault = [{"at": 0.5, "leave": [1, 2, 3, 4, 5]}]
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS, "budget": BUDGET}], "fault": fault,
        "run": {"seed": 5, "horizon": 30.0}, "server": {"deadline": 4.0},
    }  # fmt: skip
    ran = perform(
        world({"kind": "pathak", "calibration": "as_printed"}, None, **sections), tmp_path
    )
    assert not ran.events("round_closed")
    assert any("charged for at least 6" in e["reason"] for e in ran.events("round_aborted"))


def test_the_smallest_survivor_sets_the_scale() -> None:
    from mechanisms.federated import Central, Coordinator
    from mechanisms.noise import LAWS
    from scenarios.seeds import NoiseSource

    desk = Coordinator(
        np.full(3, 1 / 3), (5, 10, 20), None, None, Central(LAWS["laplace"], 0.5, 3.0)
    )
    answers = [np.ones(4), 3 * np.ones(4)]
    made = desk.combine(np.zeros(4), [1, 2], answers, NoiseSource(1).of(9)(4))
    drawn = NoiseSource(1).of(9)(4).laplace(0.0, 3.0 / (2 * 10) / 0.5, 4)
    assert made == pytest.approx(2.0 + drawn)


@pytest.mark.parametrize("kind", ["wddp", "jayaraman-gradient", "pathak", "fedavg"])
def test_sums_over_records_are_refused(kind: str) -> None:
    """Their noise is scaled for means: a sum would move n_j times as far."""
    from scenarios.api import check

    mechanism = {"kind": kind} | ({"local_rounds": 3} if kind == "wddp" else {})
    nodes = [{"count": 6, "clock": SYNCHRONOUS}] if kind == "fedavg" else private()
    problems = check(
        world(mechanism, 4, nodes=nodes, task={"l2": 0.1, "reduction": "sum"})
    ).problems
    assert any("averages over records" in problem for problem in problems)
