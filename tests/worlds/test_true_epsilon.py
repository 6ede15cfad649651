"""Whole runs: noise from every calibration, totals in every view, caps that hold, what depends on outputs, comparisons."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.compose import by, totals
from mechanisms.accounting.loss import tally
from scenarios.api.runs import make_plan
from scenarios.language.json_numbers import number
from scenarios.planning.forecast import forecast
from tests.support.builders import perform, private, scenario
from tests.support.catalogue import EVERY, world
from tests.support.catalogue import private as is_private
from tests.support.finished_runs import finished
from tests.support.marks import one_in

BUDGET = {"epsilon": 2.0, "delta": 1e-5}
TWO: dict[str, dict[str, Any]] = {
    "cd laplace": {"kind": "cd", "noise": "laplace", "releases": 30},
    "cd norm-gamma": {"kind": "cd", "noise": "norm-gamma", "releases": 30},
    "cd growing": {"kind": "cd", "noise": "norm-gamma", "releases": 20, "schedule": "growing"},
    "dvp": {"kind": "dvp", "releases": 30},
    "dvp alpha": {"kind": "dvp", "alpha": 0.2},
    "dvp growing": {"kind": "dvp", "alpha": {"start": 0.05, "growth": 1.1}},
    "pvp": {"kind": "pvp", "releases": 30},
    "pvp final": {"kind": "pvp", "releases": 10, "final_dual": True, "final_share": 0.3},
    "pp": {"kind": "pp", "releases": 30},
    "warm-cd": {"kind": "warm-cd", "noise": "norm-gamma", "releases": 20},
}


def plan(name: str, how: str, **sections: Any) -> Any:
    regularised = {"l2": 0.5} if "cd" in name else {}
    nodes = [{"count": 4, "budget": BUDGET}]
    base: dict[str, Any] = {
        "mechanism": TWO[name],
        "task": regularised,
        "nodes": nodes,
        "privacy": {"calibrate": how},
        "data": {"source": "blobs", "dimension": 8, "points": 60, "test_points": 0},
    }
    return make_plan(scenario(**(base | sections)))


@pytest.mark.parametrize("how", ["basic", "kov", "rdp", "pld"])
@pytest.mark.parametrize("name", TWO)
def test_noise_is_calibrated_to_the_budget_by_every_accountant(name: str, how: str) -> None:
    """The inverse of the accountant: its total is the budget, to 1 %, and never above."""
    made = plan(name, how)
    for node in made.nodes:
        spends = node.mechanism.schedule(len(node.neighbours))
        total = by(how, tally(spends), 1e-5)
        assert total <= 2.0 * (1 + 1e-9)
        fits = "alpha" in TWO[name]  # given an alpha, as many releases as fit
        assert total >= 2.0 * (0.8 if fits else 0.99)
        assert node.cap.accountant == how
        assert node.cap.holds(tally(spends))


def test_a_tighter_calibration_needs_less_noise() -> None:
    charges = [
        plan("cd norm-gamma", how).nodes[0].mechanism.schedule(2)[0].charged
        for how in ("basic", "kov", "rdp", "pld")
    ]
    assert charges == sorted(charges)
    assert charges[-1] > 3 * charges[0]


@pytest.mark.parametrize("how", one_in(3, ["kov", "rdp", "pld"]))
@pytest.mark.parametrize("name", TWO)
def test_a_run_makes_all_that_was_planned_and_check_told_the_truth(
    name: str, how: str, tmp_path: Path
) -> None:
    made = plan(name, how, run={"seed": 5, "horizon": 200.0, "stop": "spent", "sample_every": 50.0})
    told = forecast(made)["groups"][0]
    ran = perform(made, tmp_path)
    assert ran.outcome.code == 0
    assert ran.outcome.summary["refused"] == 0
    spent = ran.outcome.summary["epsilon"]
    assert spent["max"] == pytest.approx(told["epsilon"], rel=1e-6)
    assert spent["side_by_side"] == pytest.approx(told["epsilon_by"], rel=1e-6)
    assert told["epsilon_by"][how] <= 2.0 * (1 + 1e-9)
    assert told["epsilon"] == min(told["epsilon_by"].values())


@pytest.mark.parametrize("name", [n for n in EVERY if is_private(n)])
def test_every_figure_of_a_run_is_that_of_its_ledgers(name: str) -> None:
    ran = finished(world(name, "poisson"))
    told = ran.outcome.summary["epsilon"]
    composed: dict[str, float] = {}
    for agent in ran.run.agents:
        for accountant, value in totals(tally(agent.store.ledger.spends), 1e-5).items():
            composed[accountant] = max(value, composed.get(accountant, 0.0))
    assert told["side_by_side"] == pytest.approx(composed)
    worst = max(
        min(totals(tally(a.store.ledger.spends), 1e-5).values(), default=0.0)
        for a in ran.run.agents
        if len(a.store.ledger)
    )
    assert told["max"] == pytest.approx(worst)


# views


def test_who_sees_sums_only_sees_the_colluders_noise_too(tmp_path: Path) -> None:
    """Six clients, one colludes: the server knows his noise, an outsider to the sum does not: μ falls by √(5/6)."""
    views = ["server", "aggregate"]
    tree = world("wddp sum", "barrier", rounds=4, privacy={"views": views})
    tree["mechanism"] = tree["mechanism"] | {"tolerate": 0, "colluders": 1}
    ran = perform(tree, tmp_path)
    spend = ran.run.agents[0].store.ledger.spends[0]
    assert spend.summed == pytest.approx(spend.charged * np.sqrt(5 / 6))
    seen = ran.outcome.summary["epsilon"]["views"]
    assert set(seen) == {"eavesdropper", "server", "aggregate", "outsider"}
    assert seen["aggregate"] < seen["server"] == seen["eavesdropper"] == seen["outsider"]
    assert ran.outcome.summary["epsilon"]["max"] == seen["server"]
    swapped = perform(tree | {"privacy": {"views": views[::-1]}}, tmp_path)
    assert swapped.outcome.summary["epsilon"]["max"] == pytest.approx(seen["aggregate"])
    assert swapped.outcome.summary["epsilon"]["view"] == "aggregate"


@pytest.mark.parametrize("name", ["wddp once", "jayaraman-gradient", "pathak"])
def test_what_crosses_the_wire_in_clear_has_no_gain_in_any_view(name: str) -> None:
    """E5 (iv): a sum of what was seen one by one protects nobody better; one noise inside is the same for all."""
    seen = finished(world(name, "barrier", rounds=4)).outcome.summary["epsilon"]["views"]
    assert len(set(seen.values())) == 1


def test_a_local_model_is_nothing_to_the_network_and_everything_to_who_is_shown_it() -> None:
    seen = finished(world("local", "poisson")).outcome.summary["epsilon"]["views"]
    assert seen == {"eavesdropper": 0.0, "outsider": "inf"}


# live figures, and the end


def test_samples_and_the_end_agree_and_epsilon_never_falls(tmp_path: Path) -> None:
    run = {"seed": 5, "horizon": 30.0, "sample_every": 3.0}
    ran = perform(private(run=run), tmp_path)
    epsilons = [[number(v) for v in e["values"]["epsilon"]] for e in ran.events("sampled")]
    assert (np.diff(np.array(epsilons), axis=0) >= -1e-12).all()
    assert ran.run.observers.budget.is_live


def test_a_schedule_that_is_dear_to_compose_waits_for_the_end(tmp_path: Path) -> None:
    """Samples then tell the tightest of what is cheap: an upper bound too."""
    mechanism = {"kind": "cd", "noise": "norm-gamma", "releases": 600}
    ran = perform(private(mechanism=mechanism, run={"seed": 5, "horizon": 30.0}), tmp_path)
    assert not ran.run.observers.budget.is_live
    samples = [max(map(number, e["values"]["epsilon"])) for e in ran.events("sampled")]
    told = ran.outcome.summary["epsilon"]
    assert samples[-1] == told["max"] == told["side_by_side"]["pld"]
    assert samples[-2] >= told["max"] * 0.9
    assert told["accountant"] == "pld"


def test_resolved_says_what_tightest_was_and_runs_again(tmp_path: Path) -> None:
    first = perform(private(), tmp_path)
    text = (first.outcome.folder / "resolved.toml").read_text()
    assert '# privacy.accountant: "tightest" was gaussian\n' in text or "was pld" in text
    assert (
        f'# privacy.calibrate: "tightest" was {first.outcome.summary["epsilon"]["calibrated"]}\n'
        in text
    )
    second = perform(str(first.outcome.folder / "resolved.toml"), tmp_path)
    assert second.digests == first.digests


# comparisons


def test_a_scenario_is_compared_with_another_of_the_same_seed(tmp_path: Path) -> None:
    expects = [
        {"metric": "epsilon.max", "compared_to": "twin.toml", "ratio_below": 1.1, "name": "ratio"},
        {
            "metric": "epsilon.max",
            "compared_to": "twin.toml",
            "difference_below": -0.5,
            "name": "gain",
        },
        {"metric": "messages.lost", "compared_to": "twin.toml", "ratio_below": 0.5, "name": "lost"},
    ]
    from scenarios.language.writer import to_toml

    base = private(expect=expects)
    twin = private(
        mechanism=base["mechanism"] | {"releases": 4}, network={"topology": "ring", "loss": 0.3}
    )
    (tmp_path / "mine.toml").write_text(to_toml(base))
    (tmp_path / "twin.toml").write_text(to_toml(twin))
    ran = perform(str(tmp_path / "mine.toml"), tmp_path)
    other = perform(str(tmp_path / "twin.toml"), tmp_path)
    mine, theirs = (r.outcome.summary["epsilon"]["max"] for r in (ran, other))
    told = {j["name"]: j for j in ran.outcome.summary["expectations"]}
    assert told["ratio"]["got"] == pytest.approx(mine / theirs)
    assert told["gain"]["got"] == pytest.approx(mine - theirs)
    assert told["lost"]["got"] == 0.0
    assert told["ratio"]["verdict"] == ("pass" if mine / theirs < 1.1 else "fail")
    assert told["lost"]["verdict"] == "pass"
    assert ran.outcome.code == (0 if all(j["verdict"] == "pass" for j in told.values()) else 1)


def test_the_server_who_colludes_is_charged_the_honest_noise_only() -> None:
    from mechanisms.accounting.spend import Spend
    from mechanisms.accounting.views import VIEWS, seen_in

    spend = Spend("wddp", "gaussian", "", 1.0, 1.0, "l2", 3, 0.0, 2.0, 2.0, summed=1.5)
    assert {view: seen_in(view, spend).charged for view in VIEWS} == {
        "eavesdropper": 2.0,
        "server": 2.0,
        "aggregate": 1.5,
        "outsider": 2.0,
    }


def test_a_warm_start_and_gaussian_descent_share_a_budget() -> None:
    mechanism = {"kind": "warm-cd", "noise": "gaussian", "releases": 10}
    nodes = [{"count": 4, "budget": BUDGET}]
    made: Any = make_plan(scenario(mechanism=mechanism, nodes=nodes, task={"l2": 0.5}))
    bag = tally(made.nodes[0].mechanism.schedule(2))
    assert 2.0 * 0.998 <= by("pld", bag, 1e-5) <= 2.0 * (1 + 1e-9)
    assert totals(bag, 1e-5)["gaussian"] > 2.0  # a sum of the two parts says more


def test_printed_gaussian_noise_claims_a_number() -> None:
    """Its releases are Gaussian: no pure composition, printed wrong or right, has a claim for them."""
    mechanism = {"kind": "cd", "noise": "gaussian", "releases": 4, "calibration": "as_printed"}
    made = make_plan(scenario(mechanism=mechanism, nodes=[{"count": 4, "budget": BUDGET}]))
    from scenarios.planning import totals

    spends: Any = made.nodes[0].mechanism.schedule(2)  # type: ignore[attr-defined]
    assert 0 < totals.claimed(made, spends, 1e-5) < 10


@pytest.mark.parametrize("deltas", [(1e-4, 1e-4), (1e-4, 1e-9)])
def test_the_same_ledgers_are_all_ledgers_under_every_accountant(
    tmp_path: Path, deltas: tuple[float, float]
) -> None:
    """Agents that have only warmed up made pure releases; the others' Gaussian ones have no basic ε: no basic total."""
    tree = private(
        mechanism={"kind": "warm-cd", "noise": "gaussian", "releases": 6},
        nodes=[
            {
                "name": "busy",
                "count": 2,
                "clock": {"kind": "poisson", "rate": 2.0},
                "budget": {"epsilon": 4.0, "delta": deltas[0]},
            },
            {
                "name": "slow",
                "count": 2,
                "clock": {"kind": "periodic", "period": "6s"},
                "budget": {"epsilon": 4.0, "delta": deltas[1]},
            },
        ],
        run={"seed": 3, "horizon": 9.0},
        data={"source": "blobs", "dimension": 3, "points": 30},
    )
    ran = perform(tree, tmp_path)
    summary = ran.outcome.summary
    assert {number(node["epsilon_basic"]) == math.inf for node in summary["nodes"]} == {True, False}
    told = summary["epsilon"]["side_by_side"]
    assert "basic" not in told
    assert "kov" not in told
    assert min(map(number, told.values())) >= number(summary["epsilon"]["max"]) * (1 - 1e-9)
