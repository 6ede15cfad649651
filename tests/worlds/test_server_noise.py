"""What clients of a server are charged, and what noise it buys: by each party, by all together, inside the computation."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import gaussian
from mechanisms.accounting.calibrate import rounded_down
from scenarios.api.runs import check, make_plan
from scenarios.auditing import watched_run
from scenarios.planning.seeds import NoiseSource
from tests.support.builders import Ran, perform
from tests.support.federation import BUDGET, SYNCHRONOUS, private, server_of, slopes, world


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
    """Of 25 hidden steps that contract by a = max(|1 − γ·2λ|, |1 − γ(¼ + 2λ)|) < 1 the last costs √hidden steps; else √25."""
    for l2, rate, a in ((0.05, 1.0, 0.9), (0.05, 5.0, 0.75), (0.0, 1.0, 1.0), (0.05, 6.0, 1.1)):
        hidden = (1 - a**25) / (1 + a**25) * (1 + a) / (1 - a) if a < 1 else 25.0
        mechanism = {"kind": "wddp", "local_rounds": 25, "learning_rate": rate}
        tree = world(mechanism, None, nodes=private(), task={"l2": l2})
        ran = perform(tree, tmp_path / f"{l2} {rate}")
        mu = gaussian.mu(3.0, 1e-4)
        for line in ran.result.ledger:
            size = ran.run.plan.shards.sizes[line["node"]]
            assert line["scale"] == pytest.approx(2 * math.sqrt(hidden) / (size * mu))
            assert line["charged"] == pytest.approx(mu, rel=1e-6)


def test_an_outsider_of_central_gradient_sees_the_last_model_only(tmp_path: Path) -> None:
    """μ of one step times last_iterate(0.9, 25); rounding of answers and models to the grid is in the step's reach."""
    tree = world(
        {"kind": "central-gradient"}, 25, nodes=[private()[0] | {"count": 1}], task={"l2": 0.05}
    )
    ran = perform(tree, tmp_path)
    views = ran.outcome.summary["epsilon"]["views"]
    (line,) = {
        tuple(sorted(line.items()))
        for line in (
            {k: v for k, v in e.items() if k in {"hidden", "contraction", "charged"}}
            for e in ran.result.ledger
        )
    }
    kept = dict(line)
    assert kept["contraction"] == pytest.approx(0.9)
    assert kept["hidden"] == pytest.approx(kept["charged"], rel=1e-6)
    assert kept["hidden"] >= kept["charged"]
    last = gaussian.epsilon(kept["hidden"] * gaussian.last_iterate(0.9, 25), 1e-4)
    assert views["outsider"] == pytest.approx(last, rel=1e-6)
    assert views["outsider"] < 0.9 * views["eavesdropper"]


def test_as_printed_a_party_pays_n_over_n_j(tmp_path: Path) -> None:
    """E5: σ of eq. (3) is short by n/n_j on the wire."""
    mechanism = {"kind": "wddp", "local_rounds": 25, "calibration": "as_printed"}
    ran = perform(world(mechanism, None, nodes=private()), tmp_path)
    sizes, mu = ran.run.plan.shards.sizes, gaussian.mu(3.0, 1e-4)
    for line in ran.result.ledger:
        assert line["scale"] == pytest.approx(2 * math.sqrt(25) / (sum(sizes) * mu))
        hidden = gaussian.last_iterate(0.9, 25) / 5.0
        true = sum(sizes) / sizes[line["node"]] * mu * hidden
        assert line["charged"] == pytest.approx(true, rel=1e-6)
        assert line["claimed"] == pytest.approx(mu)
    assert ran.outcome.summary["epsilon"]["max"] > 10 * ran.outcome.summary["epsilon"]["claimed"]


def test_as_printed_uniform_weights_stand_for_the_smallest_party(tmp_path: Path) -> None:
    """With weights 1/m the comparator's scale is 2G√T/(m·n₍₁₎·μ); with weights by size, 2G√T/(n·μ)."""
    for weights, believed in (("uniform", lambda s: len(s) * min(s)), ("size", sum)):
        mechanism = {
            "kind": "wddp",
            "local_rounds": 9,
            "calibration": "as_printed",
            "weights": weights,
        }
        ran = perform(world(mechanism, None, nodes=private()), tmp_path / weights)
        sizes, mu = ran.run.plan.shards.sizes, gaussian.mu(3.0, 1e-4)
        assert len(set(sizes)) > 1
        for line in ran.result.ledger:
            assert line["scale"] == pytest.approx(2 * 3 / (believed(sizes) * mu))
        same = {"source": "blobs", "dimension": 3, "points": 20}
        even = make_plan(world(mechanism, None, nodes=private(), data=same))
        both = make_plan(world(mechanism | {"weights": "size"}, None, nodes=private(), data=same))
        scales = [[s.scale for n in p.nodes for s in n.planned or ()] for p in (even, both)]
        assert scales[0] == scales[1]  # equal sizes agree to the bit


def test_noise_of_a_secure_sum_is_shared_among_the_honest() -> None:
    """w_jσ_j = σ*/√(m − h − dropouts); the sum's variance never falls below σ*²."""
    mechanism = {
        "kind": "wddp",
        "synchronise": "every-round",
        "noise": "aggregate",
        "tolerate": 1,
        "colluders": 2,
    }
    plan = make_plan(world(mechanism, 4, nodes=private(), server={"quorum": 0.5}))
    assert plan.server is not None
    desk = plan.server.mechanism
    assert desk.shares is not None
    assert desk.floor == pytest.approx(desk.shares[0] * 3)
    assert desk.refuses([0, 1, 2, 3, 4]) is None
    assert desk.refuses([0, 1, 2, 3]) is not None
    worst = max(2.0 / sum(plan.shards.sizes) * 2 / gaussian.mu(3.0, 1e-4) for _ in range(6))
    assert math.sqrt(desk.floor) == pytest.approx(worst, rel=1e-5)
    assert plan.nodes[0].planned is not None
    (spend,) = set(plan.nodes[0].planned)
    # an observer of sums that colludes with no client faces the noise of all five
    assert spend.summed == pytest.approx(spend.sensitivity / math.sqrt(5 * desk.shares[0]))
    assert spend.charged == pytest.approx(spend.sensitivity / math.sqrt(3 * desk.shares[0]))


@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
@pytest.mark.parametrize("kind", ["jayaraman-gradient", "jayaraman-output", "pathak"])
def test_the_smallest_budget_sets_the_noise_inside_the_computation(
    kind: str, calibration: str
) -> None:
    small, large = private(epsilon=1.0), private(epsilon=5.0)
    nodes = [large[0] | {"name": "rich", "count": 3}, small[0] | {"name": "poor", "count": 3}]
    mechanism = {"kind": kind, "calibration": calibration}
    rounds = 4 if kind == "jayaraman-gradient" else None
    scales = []
    for groups in (nodes, [small[0]]):
        plan = make_plan(world(mechanism, rounds, nodes=groups))
        assert plan.server is not None
        assert plan.server.mechanism.central is not None
        scales.append(plan.server.mechanism.central.scale(6, 7))
    assert scales[0] == pytest.approx(scales[1], rel=1e-9)


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
    mechanism, privacy = {"kind": kind, "calibration": calibration}, {"calibrate": "basic"}
    plan = make_plan(world(mechanism, None, nodes=private(), privacy=privacy))
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
    ran = perform(world(mechanism, None, nodes=private(), privacy=privacy), tmp_path)
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


@pytest.mark.slow
def test_the_servers_noise_is_fresh_in_every_round(tmp_path: Path) -> None:
    """θ_t of rounds 1, 2, 3 of one run: what is left over the gradient step differs each time."""
    models = [np.zeros(3)]
    for rounds in (1, 2, 3):
        nodes = [{"count": 6, "clock": "barrier", "budget": BUDGET | {"epsilon": 3.0 * rounds}}]
        ran = perform(world({"kind": "jayaraman-gradient"}, rounds, nodes=nodes), tmp_path)
        models.append(server_of(ran))
    source = NoiseSource(ran.run.plan.seeds["noise"]).of(6)
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
    mu = rounded_down(gaussian.mu(3.0, 1e-4))
    exact = (2 / (6 * 7) + cell * math.sqrt(3)) * 3 / mu
    assert gradient.server.mechanism.central.scale(6, 7) == pytest.approx(exact, rel=1e-13)
    basic = {"calibrate": "basic"}
    output = make_plan(world({"kind": "jayaraman-output"}, None, nodes=private(), privacy=basic))
    assert output.server is not None
    assert output.server.mechanism.central is not None
    largest = max(output.shards.sizes)
    reach = 2 * (1 + 1e-6 * largest) / 0.1
    zeta = rounded_down(3.0 * (1 - 1e-11)) / (reach / 42 + cell * math.sqrt(3))
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


def test_the_smallest_survivor_sets_the_scale() -> None:
    from mechanisms.federated import Central, Coordinator
    from mechanisms.noise import LAWS
    from scenarios.planning.seeds import NoiseSource

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
    mechanism = {"kind": kind} | ({"local_rounds": 3} if kind == "wddp" else {})
    nodes = [{"count": 6, "clock": SYNCHRONOUS}] if kind == "fedavg" else private()
    problems = check(
        world(mechanism, 4, nodes=nodes, task={"l2": 0.1, "reduction": "sum"})
    ).problems
    assert any("averages over records" in problem for problem in problems)


def test_noise_is_told_beside_the_step_it_disturbs(tmp_path: Path) -> None:
    """noise.ratio: σ√d over the gradient; γσ√(dT) over the path; of the one output over its pull."""
    from scenarios.planning.forecast import forecast

    plan = make_plan(world({"kind": "wddp", "synchronise": "every-round"}, 6, nodes=private()))
    theta = np.zeros(3)
    ran = perform(
        world({"kind": "wddp", "synchronise": "every-round"}, 6, nodes=private()), tmp_path
    )
    wanted = [
        node.mechanism.task.sigma * math.sqrt(3) / np.linalg.norm(slopes(ran, node.id, theta))  # type: ignore[attr-defined]
        for node in plan.nodes
    ]
    assert forecast(plan)["groups"][0]["noise_to_step"] == pytest.approx(np.median(wanted))
    once = make_plan(
        world({"kind": "wddp", "local_rounds": 4, "learning_rate": 0.5}, None, nodes=private())
    )
    ratios = []
    for node in once.nodes:
        path = theta
        for _ in range(4):
            path = path - 0.5 * slopes(ran, node.id, path)
        sigma = node.mechanism.task.sigma  # type: ignore[attr-defined]
        ratios.append(0.5 * sigma * math.sqrt(12) / np.linalg.norm(path))
    assert forecast(once)["groups"][0]["noise_to_step"] == pytest.approx(np.median(ratios))
    inside = make_plan(world({"kind": "jayaraman-gradient"}, 6, nodes=private()))
    assert forecast(inside)["groups"][0]["noise_to_step"] is None


def test_an_outsider_is_not_shown_the_copy_of_a_client_that_missed_the_last_word() -> None:
    """Two models in a row show a step, which costs more than the last model: it is charged for the server's alone."""
    alone = private()[0] | {"count": 1, "clock": {"kind": "poisson", "rate": 1.0}}
    tree = world({"kind": "central-gradient"}, 9, nodes=[alone])
    apart = 0
    for seed in range(8):
        plan = make_plan(tree | {"run": tree["run"] | {"seed": seed}, "network": {"loss": 0.4}})
        agents = watched_run.perform(plan).members.agents
        apart += not np.array_equal(agents[0].model, agents[1].model)
        client = plan.nodes[0].mechanism
        seen = watched_run.observe(plan, 0, (client, client), "audit/0/0")
        assert len(seen.models) == plan.dimension
    assert apart > 0


def test_steps_on_a_loss_that_is_not_convex_do_not_contract() -> None:
    """Welsch's loss, of slope e^(−½) at most, bends downwards as far as upwards: 25 steps cost √25."""
    tree = world(
        {"kind": "wddp", "local_rounds": 25},
        None,
        nodes=private(),
        task={"l2": 0.05, "loss": "welsch"},
    )
    plan = make_plan(tree)
    mu = gaussian.mu(3.0, 1e-4)
    for node, size in zip(plan.nodes, plan.shards.sizes, strict=True):
        assert node.planned is not None
        assert node.planned[0].scale == pytest.approx(2 * math.exp(-0.5) * 5 / (size * mu))


@pytest.mark.parametrize("l2", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("rate", [0.25, 1.0, 5.0, 6.0])
def test_a_hidden_step_contracts_as_the_public_bounds_say(rate: float, l2: float) -> None:
    """By max(|1 − γ·2λ|, |1 − γ(¼ + 2λ)|), and its μ is 2G/(n_jσ_j): no milder step, at any rate."""
    tree = world(
        {"kind": "central-gradient", "learning_rate": rate},
        4,
        nodes=[private()[0] | {"count": 1}],
        task={"l2": l2},
    )
    plan = make_plan(tree)
    (node,), (size,) = plan.nodes, plan.shards.sizes
    assert node.planned is not None
    spend = node.planned[0]
    assert spend.hidden is not None
    bound = max(abs(1 - rate * 2 * l2), abs(1 - rate * (0.25 + 2 * l2)))
    assert spend.hidden.contraction == pytest.approx(bound, rel=1e-12)
    assert spend.hidden.mu == pytest.approx(2 / (size * spend.scale), rel=1e-12)


@pytest.mark.parametrize("rate", [0.25, 1.0])
def test_rounding_is_in_the_reach_of_a_hidden_step(rate: float) -> None:
    """The answer moves by a cell in each coordinate, and the model by one more: 1/γ cells of the gradient."""
    tree = world(
        {"kind": "central-gradient", "learning_rate": rate},
        4,
        nodes=[private()[0] | {"count": 1}],
        privacy={"grid": 2.0**-10},
    )
    (node,) = make_plan(tree).nodes
    assert node.planned is not None
    spend = node.planned[0]
    assert spend.hidden is not None
    cells = 2.0**-10 * math.sqrt(3) * (1 + 1 / rate)
    assert spend.hidden.mu == pytest.approx((spend.sensitivity + cells) / spend.scale, rel=1e-12)


INSIDE = {"jayaraman-gradient": 6, "jayaraman-output": None, "pathak": None}
"""Kinds with one noise inside the computation, and their rounds."""


def loss_of_party(noise: float, law: str, reach: float, survivors: int, size: int) -> float:
    """What noise of a scale costs a party: its record moves a mean over survivors by reach/(m·n_j) (theory.md, 2.2)."""
    moved = reach / (survivors * size)
    return noise * moved if law == "norm-gamma" else moved / noise


@pytest.mark.parametrize("calibration", ["corrected", "as_printed"])
@pytest.mark.parametrize("kind", INSIDE)
def test_all_parties_are_charged_for_the_one_noise_that_leaves(
    tmp_path: Path, kind: str, calibration: str
) -> None:
    """Its scale is that of the smallest party; a party with twice its points is charged half as much."""
    mechanism = {"kind": kind, "calibration": calibration}
    privacy = {"grid": False, "calibrate": "basic"} if INSIDE[kind] is None else {"grid": False}
    nodes = private(delta=0.0) if INSIDE[kind] is None else private()
    ran = perform(world(mechanism, INSIDE[kind], nodes=nodes, privacy=privacy), tmp_path)
    sizes = ran.run.plan.shards.sizes
    assert len(set(sizes)) > 2
    server = ran.run.plan.server
    assert server is not None
    central = server.mechanism.central
    assert central is not None
    lines = ran.result.ledger
    assert {line["scale"] for line in lines} == {central.scale(6, min(sizes))}
    parts = [line["charged"] * sizes[line["node"]] for line in lines]
    assert parts == pytest.approx([parts[0]] * len(parts), rel=1e-6)
    for line in lines:
        told = loss_of_party(line["scale"], central.law.name, line["sensitivity"], 1, 1)
        assert line["charged"] == pytest.approx(told, abs=2e-9)


@pytest.mark.parametrize("quorum", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("kind", INSIDE)
def test_no_survivors_cost_a_party_more_than_it_is_charged_and_some_cost_it_that(
    kind: str, quorum: float
) -> None:
    """Over all sets of survivors that a round is released with."""
    tree = world({"kind": kind}, INSIDE[kind], nodes=private(), server={"quorum": quorum})
    plan = make_plan(tree)
    assert plan.server is not None
    central, sizes = plan.server.mechanism.central, plan.shards.sizes
    assert central is not None
    for j, node in enumerate(plan.nodes):
        assert node.planned is not None
        worst = 0.0
        for m in range(math.ceil(6 * quorum - 1e-9), 7):
            for survivors in combinations(range(6), m):
                if j not in survivors:
                    continue
                scale = central.scale(m, min(sizes[i] for i in survivors))
                moved = central.reach / (m * sizes[j]) + central.slack
                worst = max(worst, central.law.charge(scale, moved))
        assert node.planned[0].charged == pytest.approx(worst, rel=1e-5)
        assert node.planned[0].charged >= worst * (1 - 1e-12)
