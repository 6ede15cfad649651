"""Charges in whole runs: before sending, once, for lost messages too, and through crashes."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.compose import headline
from mechanisms.accounting.ledger import Ledger
from mechanisms.noise import LAWS
from scenarios.api.runs import make_plan
from scenarios.planning.seeds import NoiseSource
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import perform, private, scenario
from tests.support.finished_runs import finished


def charges(ran: Any, node: int) -> list[int]:
    return [e["k"] for e in ran.events("charged") if e["node"] == node]


def test_the_total_is_the_closed_form(tmp_path: Path) -> None:
    nodes = [{"count": 6, "budget": {"epsilon": 2.0, "delta": 0.0}}]
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 8}
    ran = perform(
        private(nodes=nodes, mechanism=mechanism, run={"seed": 5, "horizon": 60.0}), tmp_path
    )
    for node in ran.outcome.summary["nodes"]:
        assert node["releases"] == 8
        assert node["epsilon"] == pytest.approx(2.0)
        assert node["epsilon_basic"] == pytest.approx(8 * 0.25)
    line = ran.result.ledger[0]
    assert line["charged"] == pytest.approx(0.25, abs=1e-9)
    assert line["sensitivity"] / line["scale"] == pytest.approx(0.25)
    assert (line["norm"], line["law"], line["d"]) == ("l1", "laplace", 3)


def test_every_release_is_charged_before_it_is_sent() -> None:
    ran = finished(private())
    by_seq = {e["seq"]: e for e in ran.events()}
    released = [e for e in by_seq.values() if e["kind"] == "released"]
    assert released
    for event in released:
        paid = by_seq[event["cause"]]
        assert (paid["kind"], paid["node"], paid["k"]) == ("charged", event["node"], event["k"])
        assert by_seq[paid["cause"]]["kind"] == "proposed"
    for event in (e for e in by_seq.values() if e["kind"] == "sent" and not e.get("resent")):
        assert by_seq[event["cause"]]["kind"] in {"released", "derived"}


def test_a_lost_message_is_charged_as_a_delivered_one(tmp_path: Path) -> None:
    def ledger(loss: float) -> list[Any]:
        ran = perform(private(network={"topology": "ring", "loss": loss}), tmp_path)
        return [(x["t"], x["node"], x["k"], x["charged"]) for x in ran.result.ledger]

    assert ledger(0.0) == ledger(1.0)


@pytest.mark.parametrize("lose", ["volatile", "all", "nothing"])
def test_a_crash_and_rejoin_change_nothing_in_the_ledger(tmp_path: Path, lose: str) -> None:
    fault = [{"at": 3.0, "for": 4.0, "crash": [2], "lose": lose}]
    ran = perform(private(fault=fault, run={"seed": 5, "horizon": 80.0}), tmp_path)
    assert ran.outcome.code == 0
    assert charges(ran, 2) == list(range(8))
    crashed, restarted = ran.events("crashed")[0], ran.events("restarted")[0]
    before = [e for e in ran.events("charged") if e["node"] == 2 and e["seq"] < crashed["seq"]]
    assert restarted["releases"] == len(before)
    assert 0 < len(before) < 8
    assert ran.outcome.summary["nodes"][2]["epsilon"] <= 4.0


def test_noise_k_is_drawn_for_release_k_once_and_a_crash_begins_nothing_again(
    tmp_path: Path,
) -> None:
    """What is drawn in a whole run, agent by agent: 0, 1, 2 … without a gap, through two crashes."""
    fault = [
        {"at": 3.0, "for": 4.0, "crash": [2]},
        {"at": 8.0, "for": 1.0, "crash": [2], "lose": "all"},
    ]
    plan = make_plan(private(fault=fault, run={"seed": 5, "horizon": 80.0}), path="events")
    run = Run(plan, tmp_path / "run", RunGovernor(), 1.0)
    drawn: dict[int, list[int]] = {agent.id: [] for agent in run.agents}
    for agent in run.agents:

        def noise(k: int, i: int = agent.id, source: Any = agent.noise) -> Any:
            drawn[i].append(k)
            return source(k)

        agent.noise = noise
    assert asyncio.run(run.perform()).code == 0
    assert drawn == {i: list(range(8)) for i in range(6)}


def test_the_noise_of_a_release_can_be_found_in_it(tmp_path: Path) -> None:
    """O9: the first release of each agent, from known inputs, inverted: it holds NoiseSource(i)(0)."""
    nodes = [
        {
            "count": 6,
            "budget": {"epsilon": 4.0},
            "clock": {"kind": "trace", "wakes": [[1, i] for i in range(6)]},
        }
    ]
    ran = perform(private(nodes=nodes, privacy={"grid": False}), tmp_path)
    for agent in ran.run.agents:
        m = agent.mechanism
        pull = m.mu * m.confidence  # type: ignore[attr-defined]
        alpha = 1 / (1 + pull * m.smoothness)  # type: ignore[attr-defined]
        gradient = m.objective.gradient(np.zeros(3))  # type: ignore[attr-defined]
        found = -agent.model / (alpha * pull) - gradient
        spend = agent.store.ledger.at(0)
        assert spend.scale == pytest.approx(spend.charged * ran.run.plan.shards.sizes[agent.id] / 2)
        drawn = LAWS["norm-gamma"].draw(NoiseSource(5).of(agent.id)(0), spend.scale, 3)
        assert found == pytest.approx(drawn, rel=1e-9)


def test_output_noise_has_the_scale_of_its_theorem() -> None:
    """ζ = ε m Λ/(2G), Λ = 2·l2 (theory.md, A12), a millionth more noise for the solver's tolerance."""
    nodes = [{"count": 6, "budget": {"epsilon": 2.0}}]
    plan = make_plan(
        private(
            nodes=nodes,
            mechanism={"kind": "propagation", "noise": "output"},
            privacy={"calibrate": "basic"},
        )
    )
    for node, m in zip(plan.nodes, plan.shards.sizes, strict=True):
        spend = node.mechanism.spend  # type: ignore[attr-defined]
        assert spend.scale == pytest.approx(2.0 * m * (2 * 0.1) / 2, rel=1e-4)
        assert spend.scale < 2.0 * m * (2 * 0.1) / 2
        assert spend.charged <= 2.0


def test_clipping_is_on_where_it_matters(tmp_path: Path) -> None:
    """Squared loss with a tight clip: unclipped gradients are longer, and every run checks it."""
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "gaussian", "releases": 8, "clip": 0.05}
    ran = perform(private(mechanism=mechanism, task={"loss": "squared", "l2": 0.1}), tmp_path)
    assert ran.outcome.code == 0
    assert ran.outcome.summary["invariants"]["sensitivity"]["verdict"] == "pass"
    for agent in ran.run.agents:
        m = agent.mechanism
        free = m.objective.longest_gradient(agent.model, None, "l2")  # type: ignore[attr-defined]
        assert free > 0.05
        assert m.longest_gradient(agent.model) == pytest.approx((0.05, 0.05))  # type: ignore[attr-defined]


@pytest.mark.parametrize("releases", [3, 7, 13, 100])
@pytest.mark.parametrize("noise", ["laplace", "norm-gamma", "gaussian"])
@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
def test_a_spent_budget_is_never_over_its_cap_not_by_an_ulp(
    noise: str, releases: int, epsilon: float
) -> None:
    delta = 1e-5 if noise == "gaussian" else 0.0
    nodes = [{"count": 6, "budget": {"epsilon": epsilon, "delta": delta}}]
    mechanism = {"kind": "cd", "mu": 1.0, "noise": noise, "releases": releases}
    for node in make_plan(private(nodes=nodes, mechanism=mechanism)).nodes:
        ledger = Ledger()
        for spend in node.mechanism.spends:  # type: ignore[attr-defined]
            assert node.cap is not None
            assert node.cap.admits(ledger, spend)
            ledger.charge(spend)
        assert headline(ledger.tally, delta)[0] <= epsilon


def test_a_spent_agent_never_releases_again(tmp_path: Path) -> None:
    ran = perform(private(run={"seed": 5, "horizon": 60.0}), tmp_path)
    spent = {e["node"]: e["seq"] for e in ran.events("spent")}
    assert set(spent) == set(range(6))
    for event in ran.events("released", "derived"):
        assert (event["seq"] > spent[event["node"]]) == (event["kind"] == "derived")


def adaptive(**budget: Any) -> dict[str, Any]:
    """Build a world whose filter is stricter than its calibration, so that caps refuse."""
    nodes = [{"count": 6, "budget": {"epsilon": 1.0, "delta": 1e-4, **budget}}]
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 100}
    return private(
        nodes=nodes,
        mechanism=mechanism,
        privacy={"filter": "basic"},
        run={"seed": 5, "horizon": 120.0},
    )


def test_a_cap_refuses_before_noise_is_drawn(tmp_path: Path) -> None:
    ran = perform(adaptive(), tmp_path)
    refused = ran.events("refused")
    assert refused
    proposed = {e["seq"]: e for e in ran.events("proposed")}
    for event in refused:
        assert event["spent"] + event["charged"] > event["cap"]
        assert proposed[event["cause"]]["node"] == event["node"]
    charged = {e["cause"] for e in ran.events("charged")}
    assert not charged & {e["cause"] for e in refused}
    for node in ran.outcome.summary["nodes"]:
        assert node["epsilon_basic"] <= 1.0
        assert node["refused"] > 0
        assert node["state"] == "spent"


@pytest.mark.parametrize(
    ("on_exhausted", "after"), [("listen", set()), ("smooth", {"derived"}), ("leave", set())]
)
def test_what_an_agent_does_without_budget(
    tmp_path: Path, on_exhausted: str, after: set[str]
) -> None:
    ran = perform(adaptive(on_exhausted=on_exhausted), tmp_path)
    assert ran.outcome.code == 0
    spent = {e["node"]: e["seq"] for e in ran.events("spent")}
    assert spent
    later = {
        e["kind"]
        for e in ran.events("released", "derived")
        if e["seq"] > spent.get(e["node"], 10**9)
    }
    assert later == after
    for node in ran.outcome.summary["nodes"]:
        if node["id"] in spent:
            assert node["state"] == ("left" if on_exhausted == "leave" else "spent")
        else:  # the last one left has nobody to publish to, and so never meets its cap
            assert on_exhausted == "leave"
    assert len(spent) >= 3
    woke_late = {e["node"] for e in ran.events("woke") if e["seq"] > spent.get(e["node"], 10**9)}
    assert (woke_late == set()) == (on_exhausted == "leave")


def test_the_run_ends_when_everybody_is_spent(tmp_path: Path) -> None:
    ran = perform(private(run={"seed": 5, "horizon": 500.0, "stop": "spent"}), tmp_path)
    assert ran.outcome.summary["ended_by"] == "spent"
    assert ran.outcome.summary["ended_s"] < 500
    assert all(node["releases"] == 8 for node in ran.outcome.summary["nodes"])


def test_releases_lie_on_the_grid_and_the_rounded_vector_is_the_state(tmp_path: Path) -> None:
    ran = perform(private(run={"seed": 5, "horizon": 6.0}), tmp_path)
    grid = 2.0**-30
    for agent in ran.run.agents:
        if len(agent.store.ledger) and agent.store.published is not None:
            assert np.array_equal(
                np.rint(agent.store.published / grid) * grid, agent.store.published
            )
            assert np.array_equal(agent.model, agent.store.published)


def test_a_resend_costs_nothing(tmp_path: Path) -> None:
    fault = [{"at": 5.0, "for": 3.0, "leave": [2]}]
    ran = perform(private(fault=fault), tmp_path)
    resent = [e for e in ran.events("sent") if e.get("resent")]
    assert {e["to"][0] for e in resent} == {2}
    assert all(e["cause"] != c["seq"] for e in resent for c in ran.events("charged"))
    assert len(ran.events("charged")) == len(ran.events("released"))


def test_without_noise_the_ledger_says_infinity() -> None:
    ran = finished(scenario())
    assert ran.outcome.summary["epsilon"]["max"] == "inf"
    assert {line["charged"] for line in ran.result.ledger} == {"inf"}


def test_an_agent_whose_clock_never_ticks_spends_nothing(tmp_path: Path) -> None:
    nodes = [
        {"name": "awake", "count": 5, "budget": {"epsilon": 4.0}},
        {
            "name": "asleep",
            "count": 1,
            "budget": {"epsilon": 4.0},
            "clock": {"kind": "trace", "wakes": [[0, 0]]},
        },
    ]
    ran = perform(private(nodes=nodes), tmp_path)
    asleep = ran.outcome.summary["nodes"][5]
    assert (asleep["epsilon"], asleep["releases"], asleep["updates"]) == (0.0, 0, 0)
