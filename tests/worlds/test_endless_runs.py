"""Runs that nobody can go on with end, and faults that would never end are refused."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import check
from tests.support.builders import perform, private, scenario
from tests.support.hostile import SECOND, ran, wakes


def but(*away: range) -> list[int]:
    return [t for t in range(1, 21) if not any(t in span for span in away)]


ENDLESS: dict[str, dict[str, Any]] = {
    "everybody stands still": {
        "run": {"seed": 1, "updates": 100},
        "fault": [{"at": 3.0, "pause": "all"}],
    },
    "everybody crashed": {
        "run": {"seed": 1, "updates": 100},
        "fault": [{"at": 3.0, "crash": "all"}],
    },
    "half stand still, half are gone": {
        "run": {"seed": 1, "updates": 100},
        "fault": [{"at": 3.0, "pause": [0, 1, 2]}, {"at": 4.0, "crash": [3, 4, 5]}],
    },
    "still, until spent": {
        "run": {"seed": 1, "horizon": 1e5, "stop": "spent"},
        "fault": [{"at": 3.0, "pause": "all"}],
    },
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("clock", ["poisson", "synchronous"])
def test_a_run_ends_when_no_wake_can_come(tmp_path: Path, name: str, clock: str) -> None:
    nodes = [{"name": "peers", "count": 6, "clock": clock, "budget": {"epsilon": 4.0}}]
    made = perform(private(nodes=nodes, **ENDLESS[name]), tmp_path)
    assert made.outcome.code == 0
    assert made.outcome.summary["ended_by"] == "no wake can come"
    assert made.outcome.summary["ended_s"] <= 4.0


@pytest.mark.parametrize("clock", ["poisson", {"kind": "barrier", "timeout": 5.0}])
@pytest.mark.parametrize("fault", ["crash", "pause", "leave"])
def test_without_its_server_a_run_of_rounds_ends(tmp_path: Path, clock: Any, fault: str) -> None:
    tree = scenario(
        mechanism={"kind": "fedavg"},
        run={"seed": 1, "rounds": 15},
        nodes=[{"count": 3, "clock": clock}],
        network={"latency": 0.1},
        server={"deadline": 2.0},
        fault=[{"at": 0.3, fault: "server"}],
    )
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    assert made.outcome.summary["ended_by"] == "no round can be opened"


def test_a_round_that_a_crash_of_the_server_cuts_off_is_aborted(tmp_path: Path) -> None:
    faults = [
        {"at": 0.3, "for": 1.0, "crash": "server"},
        {"at": 4.0, "for": 6.0, "pause": "server"},
    ]
    tree = scenario(
        mechanism={"kind": "fedavg"},
        run={"seed": 1, "rounds": 15},
        network={"latency": 0.2},
        nodes=[{"count": 3, "clock": {"kind": "barrier", "timeout": 5.0}}],
        server={"deadline": 2.0},
        fault=faults,
    )
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message
    ended = len(made.events("round_closed")) + len(made.events("round_aborted"))
    assert len(made.events("round_opened")) == ended


def test_a_paused_client_that_crashes_and_comes_back_still_stands_still(tmp_path: Path) -> None:
    faults = [
        {"at": 0.05, "pause": [0], "for": 9.0},
        {"at": 1.0, "crash": [0], "lose": "nothing", "for": 1.0},
    ]
    tree = scenario(
        mechanism={"kind": "fedavg"},
        run={"seed": 1, "rounds": 5},
        network={"latency": 0.1},
        nodes=[{"count": 3, "clock": {"kind": "barrier", "timeout": 5.0}}],
        server={"deadline": 4.0, "quorum": 0.5},
        fault=faults,
    )
    made = perform(tree, tmp_path)
    assert made.outcome.code == 0, made.outcome.message


def test_who_is_alone_at_a_barrier_goes_on_at_the_pace_of_its_patience(tmp_path: Path) -> None:
    nodes = [{"count": 2, "clock": "barrier"}]
    network = {"topology": "path", "latency": 0.1, "silence": 2.0}
    fault = [{"at": 1.05, "for": 9.0, "crash": [0]}]
    made = ran(tmp_path, *fault, nodes=nodes, network=network, run={"seed": 1, "rounds": 60})
    alone = [t for t in wakes(made, 1) if 4 < t < 10]
    assert [round(b - a, 6) for a, b in pairwise(alone)] == [2.0] * (len(alone) - 1)
    lossy = scenario(nodes=nodes, network=network | {"loss": 0.1}, run={"seed": 1, "rounds": 60})
    assert any(
        "a barrier needs a timeout where messages can be lost" in p for p in check(lossy).problems
    )


def test_the_shortest_window_is_a_nanosecond(tmp_path: Path) -> None:
    made = ran(tmp_path, {"at": 1.0, "for": 1e-9, "crash": [0]})
    assert [e["t"] for e in made.events("fault_ended")] == [SECOND + 1]
    shorter = scenario(fault=[{"at": 1.0, "for": 1e-10, "crash": [0]}])
    assert any("must be > 0, and at least 1e-09" in problem for problem in check(shorter).problems)


@pytest.mark.parametrize(
    "fault",
    [
        {"every": 1e-6, "crash": [0]},
        {"every": {"kind": "uniform", "min": 0, "max": 0}, "crash": [0]},
        {"at": 0.0, "churn": {"on": "all", "session": "1ms", "downtime": "1ns"}},
    ],
)
def test_faults_that_come_too_often_are_refused(fault: dict[str, Any]) -> None:
    assert any(
        "needs --allow-large" in problem for problem in check(scenario(fault=[fault])).problems
    )


def test_windows_of_random_length_on_one_link_end_each_by_itself(tmp_path: Path) -> None:
    lasts = {"kind": "uniform", "min": 0, "max": 6}
    made = ran(
        tmp_path, {"every": 1.25, "until": 10.0, "for": lasts, "rate": {"on": "all", "bytes": 1000}}
    )
    assert all(not agent.outbox.links.effects for agent in made.run.agents)
