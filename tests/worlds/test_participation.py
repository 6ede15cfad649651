"""Releases that follow participation: what was missed passes on, what no agent read is not paid for again, and nothing else moves."""

from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.scenario import load
from tests.support.builders import Ran, perform, scenario

CRASH = [{"at": 2.0, "for": 3.0, "crash": [0, 2], "lose": "volatile"}]


def world(mechanism: dict[str, Any], **sections: Any) -> dict[str, Any]:
    nodes = [
        {
            "name": "peers",
            "count": 6,
            "clock": {"kind": "poisson", "rate": 1.0},
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    base: dict[str, Any] = {
        "run": {"seed": 5, "horizon": 40.0},
        "nodes": nodes,
        "network": {
            "topology": "ring",
            "latency": {"kind": "exponential", "mean": 0.8},
            "loss": 0.3,
        },
        "mechanism": {"kind": "cd", "noise": "gaussian", "releases": 12, **mechanism},
    }
    return scenario(**(base | sections))


def ran(mechanism: dict[str, Any], tmp_path: Any, **sections: Any) -> Ran:
    return perform(make_plan(world(mechanism, **sections)), tmp_path)


def charges(one: Ran, node: int) -> list[float]:
    return [float(e["charged"]) for e in one.events("charged") if e["node"] == node]


@pytest.mark.parametrize("fault", [[], CRASH])
def test_shares_that_pass_on_use_the_budget_and_no_more(fault: Any, tmp_path: Any) -> None:
    """Σμ² of an agent that was there for the last of its wakes is that of its budget, whatever it missed."""
    even = ran({}, tmp_path / "even")
    total = sum(c**2 for c in charges(even, 1))
    one = ran({"schedule": "rollover"}, tmp_path / "one", fault=fault)
    for node in range(6):
        mine = charges(one, node)
        assert sum(c**2 for c in mine) == pytest.approx(total, rel=1e-8)
        assert mine == sorted(mine)
    missed = {node for node in range(6) if len(charges(one, node)) < 12}
    assert missed == ({0, 2} if fault else set())


def test_a_share_that_was_passed_on_claims_what_it_charges(tmp_path: Any) -> None:
    """The claims of an agent, too, make up its budget, whatever it missed."""
    even = ran({}, tmp_path / "even")
    total = sum(line["claimed"] ** 2 for line in even.result.ledger if line["node"] == 1)
    one = ran({"schedule": "rollover"}, tmp_path / "one", fault=CRASH)
    assert len({line["charged"] for line in one.result.ledger}) > 1
    for node in range(6):
        mine = [line for line in one.result.ledger if line["node"] == node]
        assert sum(line["claimed"] ** 2 for line in mine) == pytest.approx(total, rel=1e-8)
        for line in mine:
            assert line["claimed"] == pytest.approx(line["charged"], rel=1e-12)
            assert line["charged"] == pytest.approx(line["sensitivity"] / line["scale"], rel=1e-12)


def test_an_agent_that_was_alone_passes_its_shares_on(tmp_path: Any) -> None:
    """It was up all the time, and had no neighbour to release to for four wakes of eight: nothing is lost."""
    nodes = [
        {
            "name": "peers",
            "count": 6,
            "clock": {"kind": "synchronous", "period": 1.0},
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    fault = [{"at": 1.5, "for": 4.0, "leave": [1, 2, 3, 4, 5]}]
    common = {"releases": 8}
    whole = charges(ran(common, tmp_path / "whole", nodes=nodes), 0)
    alone = charges(
        ran({**common, "schedule": "rollover"}, tmp_path / "alone", nodes=nodes, fault=fault), 0
    )
    assert (len(whole), len(alone)) == (8, 4)
    assert sum(c**2 for c in alone) == pytest.approx(sum(c**2 for c in whole), rel=1e-8)


def test_an_agent_that_waits_passes_its_shares_on_and_stays_within_its_budget(
    tmp_path: Any,
) -> None:
    both = ran({"schedule": "rollover", "release": "when-read"}, tmp_path / "both")
    total = sum(c**2 for c in charges(ran({}, tmp_path / "even"), 1))
    sums = [sum(c**2 for c in charges(both, node)) for node in range(6)]
    assert all(0 < one <= total * (1 + 1e-9) for one in sums)
    assert any(len(charges(both, node)) < 12 for node in range(6))
    assert any(len(set(charges(both, node))) > 1 for node in range(6))


def test_a_share_that_was_charged_does_not_come_back(tmp_path: Any) -> None:
    """Crashes between charge and send spend shares: the others are what they are, and all are within the budget."""
    fault = [
        {"every": 3.0, "times": 3, "privacy": {"on": [1], "kind": "crash-after-charge"}},
    ]
    total = sum(c**2 for c in charges(ran({}, tmp_path / "even"), 1))
    one = ran({"schedule": "rollover"}, tmp_path / "one", fault=fault)
    assert len(one.events("crashed")) > 0
    assert len(one.events("refused")) == 0
    assert sum(c**2 for c in charges(one, 1)) <= total * (1 + 1e-9)


def test_where_all_are_there_shares_that_pass_on_are_equal_ones(tmp_path: Any) -> None:
    plain = ran({}, tmp_path / "plain")
    rolled = ran({"schedule": "rollover"}, tmp_path / "rolled")
    assert np.array_equal(plain.theta, rolled.theta)


def test_certain_survival_is_the_growing_schedule(tmp_path: Any) -> None:
    one = ran({"schedule": "survival", "survival": 1.0}, tmp_path / "one")
    other = ran({"schedule": "growing"}, tmp_path / "other")
    assert charges(one, 0) == charges(other, 0)


def test_survival_weights_are_the_growing_ones_times_a_root_of_the_chance(tmp_path: Any) -> None:
    """μ_k ∝ growing_k·S_k^(1/4); ε_k ∝ growing_k·S_k^(1/3), under basic composition."""
    chances = [0.9**k for k in range(12)]
    for noise, power in (("gaussian", 0.25), ("norm-gamma", 1 / 3)):
        common = {"noise": noise}
        grown = charges(ran({**common, "schedule": "growing"}, tmp_path / f"{noise}1"), 1)
        kept = charges(
            ran({**common, "schedule": "survival", "survival": chances}, tmp_path / f"{noise}2"), 1
        )
        ratio = [a / b for a, b in zip(kept, grown, strict=True)]
        wanted = [ratio[0] * chance**power for chance in chances]
        assert ratio == pytest.approx(wanted, rel=1e-6)


def test_a_poisson_clock_tells_the_chance_of_reaching_a_release(tmp_path: Any) -> None:
    """S_k = P(Poisson(rate·horizon) ≥ k): with forty wakes in the mean the first twelve are all but certain."""
    certain = charges(ran({"schedule": "survival"}, tmp_path / "a"), 1)
    growing = charges(ran({"schedule": "growing"}, tmp_path / "b"), 1)
    assert certain == pytest.approx(growing, rel=1e-3)
    few = world({"schedule": "survival"}, run={"seed": 5, "horizon": 6.0})
    plan = make_plan(few)
    spends = plan.nodes[0].planned
    assert spends is not None
    assert spends[-1].charged < 0.9 * spends[0].charged


def test_after_the_first_every_release_follows_an_acknowledgement(tmp_path: Any) -> None:
    """Between two releases some neighbour merged the first of them, or what was sent later, and a message of that neighbour came back."""
    one = ran({"release": "when-read"}, tmp_path)
    version: dict[int, int] = {}
    """The version of each agent's last release."""
    merged: dict[tuple[int, int], int] = {}
    """(reader, sender) → the newest version that the reader merged."""
    said: dict[tuple[int, int], dict[int, int]] = {}
    """(sender, version) → what its message says that the sender had merged."""
    heard: dict[int, bool] = {}
    pending: dict[int, bool] = {}
    for event in one.events("merged", "released", "sent"):
        node = event["node"]
        if event["kind"] == "merged":
            for sender, number in zip(event["senders"], event["versions"], strict=True):
                merged[node, sender] = number
                read = said.get((sender, number), {}).get(node, -1)
                if node in version and read >= version[node]:
                    heard[node] = True
        elif event["kind"] == "released":
            assert node not in version or heard[node]
            pending[node] = True
        else:
            said[node, event["version"]] = {s: v for (r, s), v in merged.items() if r == node}
            if pending.pop(node, False):
                version[node], heard[node] = event["version"], False
    assert len(version) == 6


def test_waiting_pays_for_fewer_releases_that_nobody_reads(tmp_path: Any) -> None:
    network = {"topology": "ring", "latency": {"kind": "exponential", "mean": 3.0}, "loss": 0.6}
    always = ran({}, tmp_path / "a", network=network).outcome.summary
    waiting = ran({"release": "when-read"}, tmp_path / "b", network=network).outcome.summary
    assert waiting["releases"] < always["releases"]
    assert waiting["epsilon"]["mean"] < always["epsilon"]["mean"]


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        ({"schedule": "rollover", "noise": "laplace"}, "add up"),
        ({"schedule": "survival", "survival": [0.5, 0.9]}, "one for each of 12"),
        ({"schedule": "survival", "survival": [0.5] * 11 + [0.9]}, "earlier"),
        ({"survival": 0.9}, 'belongs to schedule = "survival"'),
        ({"release": "when-read", "smooth_after": False}, "smooth_after"),
    ],
)
def test_what_does_not_fit_together_is_refused(mechanism: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        make_plan(world(mechanism))


def test_basic_shares_pass_on_by_epsilon(tmp_path: Any) -> None:
    one = ran(
        {"schedule": "rollover", "noise": "norm-gamma"},
        tmp_path,
        privacy={"calibrate": "basic"},
        fault=CRASH,
    )
    for node in range(6):
        assert sum(charges(one, node)) == pytest.approx(4.0, rel=1e-8)


def test_the_three_are_keys_of_cd_alone() -> None:
    for kind in ("warm-cd", "local-dp"):
        table = {"kind": kind, "schedule": "rollover"}
        with pytest.raises(ScenarioError):
            load(scenario(mechanism=table)).report.stop_if_any()
