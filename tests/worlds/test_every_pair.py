"""Every mechanism under every clock over every network: it runs to the end with all invariants on, or says why not."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import check
from tests.support.builders import perform
from tests.support.catalogue import EVERY, family, private, world
from tests.support.finished_runs import finished
from tests.support.marks import one_in

CLOCKS: dict[str, Any] = {
    "synchronous": "synchronous",
    "barrier": {"kind": "barrier", "timeout": 1.5},
    "poisson": "poisson",
}
NETWORKS: dict[str, dict[str, Any]] = {
    "clean": {},  # the catalogue's own, so that other tests share these runs: a ring without latency
    "hostile": {
        "network": {
            "topology": "ring",
            "latency": {"kind": "exponential", "mean": 0.3},
            "loss": 0.1,
        }
    },
    "churn": {
        "network": {"topology": "complete", "latency": "50ms"},
        "fault": [
            {"at": 3.2, "leave": [1]},
            {"at": 6.1, "join": [1]},
            {"at": 4.0, "for": 2.0, "crash": [2]},
        ],
    },
}
EVERY_DAY = {*product(CLOCKS, ["clean"]), ("poisson", "hostile"), ("barrier", "churn")}
SENSELESS = {
    "alone": "a barrier would never open",
    "pairs": "there is no round to wait for",
}


@pytest.mark.parametrize(
    ("clock", "network"),
    [
        pytest.param(*pair, marks=() if pair in EVERY_DAY else pytest.mark.slow)
        for pair in product(CLOCKS, NETWORKS)
    ],
)
@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_runs_under_every_clock_over_every_network(
    name: str, clock: str, network: str
) -> None:
    sections = dict(NETWORKS[network])
    if name == "central-gradient" and "fault" in sections:
        sections["fault"] = [{"at": 3.2, "for": 2.0, "crash": [0]}]
    scenario = world(name, CLOCKS[clock], **sections)
    if clock == "barrier" and family(name) in SENSELESS:
        problems = check(scenario).problems
        assert any(SENSELESS[family(name)] in problem for problem in problems)
        return
    ran = finished(scenario)
    summary = ran.outcome.summary
    assert ran.outcome.code == 0, ran.outcome.message
    assert summary["status"] == "finished"
    verdicts = {n: v["verdict"] for n, v in summary["invariants"].items()}
    assert set(verdicts.values()) == {"pass"}, verdicts
    told = summary["messages"]
    arrived = told["delivered"] + told["lost"] + told["rejected"] + told["in_flight"]
    assert told["sent"] + told["duplicated"] == arrived
    assert (told["sent"] > 0) == (family(name) != "alone")
    assert math.isfinite(summary["loss"]["mean"])
    epsilon = float(summary["epsilon"]["max"])
    if private(name):
        cap = math.inf if name.startswith("pp noise") else 4.0
        assert 0 < epsilon <= cap
        assert summary["releases"] > 0
    elif name == "local":
        assert epsilon == 0
    else:
        assert epsilon == math.inf


@pytest.mark.parametrize("name", one_in(3, EVERY))
def test_every_mechanism_takes_the_same_path_twice_and_on_the_wall(
    tmp_path: Path, name: str
) -> None:
    """Same seed, same run, on both engines; what the solvers remember is not carried from run to run."""
    network = {"topology": "ring", "latency": {"kind": "exponential", "mean": 0.2}, "loss": 0.05}
    scenario = world(name, network=network)
    first = perform(scenario, tmp_path)
    again = perform(first.run.plan, tmp_path)
    wall = perform(scenario, tmp_path, engine="wall")
    assert first.outcome.code == again.outcome.code == wall.outcome.code == 0
    assert first.digests == again.digests == wall.digests


@pytest.mark.parametrize("name", one_in(3, EVERY))
def test_compute_time_changes_no_ledger(tmp_path: Path, name: str) -> None:
    """Stragglers release later what they release, and pay the same."""
    if family(name) == "pairs":
        scenario = world(name)
        scenario["nodes"][0]["compute"] = "200ms"
        assert any("answers at once" in problem for problem in check(scenario).problems)
        return
    scenario = world(name, "synchronous")
    scenario["nodes"][0]["compute"] = {"kind": "uniform", "min": "50ms", "max": "400ms"}
    slow = perform(scenario, tmp_path)
    quick = finished(world(name, "synchronous"))
    assert slow.outcome.code == 0
    costs = [
        [e["charged"] for e in sorted(ran.result.ledger, key=lambda e: (e["node"], e["k"]))]
        for ran in (slow, quick)
    ]
    assert costs[0] == costs[1]
