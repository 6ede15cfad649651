"""Rounds that lose clients: quorums, deadlines, sums with too little noise, and who comes back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.behaviours.client import has_answered
from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import perform
from tests.support.federation import BUDGET, SYNCHRONOUS, UNEVEN, private, server_of, slopes, world


@pytest.mark.parametrize(("tolerate", "aborted"), [(0, 3), (1, 0)])
def test_a_sum_with_too_little_noise_is_aborted_not_released(
    tmp_path: Path, tolerate: int, aborted: int
) -> None:
    """One of six crashes after three rounds: without provision, no aggregate is released any more."""
    mechanism = {
        "kind": "wddp",
        "synchronise": "every-round",
        "noise": "aggregate",
        "tolerate": tolerate,
    }
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
            {"at": 2.4, "for": 0.2, "crash": [1]},
            {"at": 3.1, "for": 1.0, "crash": [2], "lose": "all"},
            {"at": 4.5, "for": 3.0, "leave": [3]},
            {"at": 6.5, "for": 0.1, "crash": [1], "lose": "nothing"},
        ],
    }
    ran = perform(world({"kind": "wddp", "synchronise": "every-round"}, 12, **sections), tmp_path)
    assert ran.outcome.code == 0
    summary = ran.outcome.summary
    assert summary["server"]["rounds"] == 12
    assert summary["ended_by"] == "rounds"
    assert summary["epsilon"]["max"] <= 3.0
    for node in summary["nodes"]:
        assert node["releases"] <= 12
    assert np.array_equal(ran.theta, np.tile(server_of(ran), (6, 1)))  # all have read the last word


@pytest.mark.parametrize("weights", ["size", "uniform"])
def test_what_survivors_send_is_averaged_over_survivors(tmp_path: Path, weights: str) -> None:
    mechanism = {
        "kind": "wddp",
        "noise": "none",
        "synchronise": "every-round",
        "weights": weights,
        "learning_rate": 0.8,
    }
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


def test_a_round_with_fewer_survivors_than_were_charged_for_is_aborted(tmp_path: Path) -> None:
    """As printed the loss of pathak grows as parties fall away: nobody was charged for one party alone."""
    fault = [{"at": 0.5, "leave": [1, 2, 3, 4, 5]}]
    sections: dict[str, Any] = {
        "nodes": [{"count": 6, "clock": SYNCHRONOUS, "budget": BUDGET}],
        "fault": fault,
        "run": {"seed": 5, "horizon": 30.0},
        "server": {"deadline": 4.0},
    }
    ran = perform(
        world({"kind": "pathak", "calibration": "as_printed"}, None, **sections), tmp_path
    )
    assert not ran.events("round_closed")
    assert any("charged for at least 6" in e["reason"] for e in ran.events("round_aborted"))


def test_a_question_that_comes_twice_has_one_answer(tmp_path: Path) -> None:
    """Storage knows what was answered: a copy of the question after a crash gets the same bits, at no cost."""
    rounds = make_plan(world({"kind": "wddp", "synchronise": "every-round"}, 6, nodes=private()))
    agent = Run(rounds, tmp_path / "rounds", RunGovernor(), 1.0).agents[0]
    assert not has_answered(agent, 3)
    agent.store.publish(np.ones(3), 3)
    agent.lose_memory(everything=False)
    assert has_answered(agent, 3)
    assert not has_answered(agent, 4)
    once = make_plan(world({"kind": "pathak"}, None, nodes=private()))
    client = Run(once, tmp_path / "once", RunGovernor(), 1.0).agents[0]
    client.store.publish(np.ones(4), 1)
    assert not has_answered(client, 2)
    client.store.ledger.charge(client.mechanism.schedule(1)[0])  # type: ignore[attr-defined]
    assert has_answered(client, 2)  # whatever attempt asks for it
