"""How runs end: exactly where they should, on every engine and at every pace."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.language.json_numbers import exact_seconds
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from tests.support.builders import perform, private, scenario

ENDS: dict[str, dict[str, Any]] = {
    "updates": {"seed": 5, "updates": 20},
    "spent": {"seed": 5, "horizon": 500.0, "stop": "spent"},
    "horizon": {"seed": 5, "horizon": 9.0},
}


@pytest.mark.parametrize("end", ENDS)
def test_the_end_is_the_same_at_every_pace(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = private(run=ENDS[end])
    free = perform(world, tmp_path)
    wall = perform(world, tmp_path, engine="wall", speed=500.0)
    late = perform(world, tmp_path, engine="wall")
    monkeypatch.setattr("tests.support.builders.RunGovernor", lambda: RunGovernor(speed=400.0))
    paced = perform(world, tmp_path)
    assert free.digests == wall.digests == late.digests == paced.digests
    assert free.outcome.summary["ended_by"] == end


@pytest.mark.parametrize("clock", ["poisson", {"kind": "synchronous", "period": 1.0}])
@pytest.mark.parametrize("updates", [1, 8, 20])
def test_updates_are_counted_to_the_last_one(tmp_path: Path, clock: Any, updates: int) -> None:
    nodes = [{"count": 6, "clock": clock}]
    ran = perform(scenario(run={"seed": 5, "updates": updates}, nodes=nodes), tmp_path)
    assert ran.outcome.summary["updates"] == updates == len(ran.events("woke"))


def test_rounds_that_were_missed_are_not_made_up(tmp_path: Path) -> None:
    nodes = [{"count": 6, "clock": {"kind": "synchronous", "period": 1.0}}]
    fault = [{"at": 3.5, "for": 3.0, "crash": [2]}]
    ran = perform(scenario(run={"seed": 5, "rounds": 10}, nodes=nodes, fault=fault), tmp_path)
    assert [n["updates"] for n in ran.outcome.summary["nodes"]] == [10, 10, 7, 10, 10, 10]
    assert ran.outcome.summary["ended_s"] == 10.0
    assert ran.outcome.summary["ended_by"] == "rounds"


def test_a_barrier_goes_on_after_its_timeout_from_the_last_wake(tmp_path: Path) -> None:
    nodes = [{"count": 6, "clock": {"kind": "barrier", "timeout": 5.0}, "compute": "2s"}]
    network = {"topology": "ring", "loss": 1.0}
    ran = perform(
        scenario(run={"seed": 5, "horizon": 30.0}, nodes=nodes, network=network), tmp_path
    )
    wakes = [e["t"] / 1e9 for e in ran.events("woke") if e["node"] == 0]
    assert wakes == [0, 5, 10, 15, 20, 25, 30]


@pytest.mark.parametrize(
    "mechanism",
    [
        {"kind": "cd", "mu": 1.0, "noise": "norm-gamma", "releases": 4, "smooth_after": False},
        {"kind": "propagation", "mu": 1.0, "noise": "output"},
    ],
)
def test_barriers_go_on_when_agents_have_nothing_to_say(tmp_path: Path, mechanism: Any) -> None:
    nodes = [{"count": 6, "clock": "barrier", "budget": {"epsilon": 4.0}}]
    network = {"topology": "ring", "latency": {"kind": "exponential", "mean": 0.3}}
    world = private(
        run={"seed": 5, "rounds": 12}, nodes=nodes, network=network, mechanism=mechanism
    )
    ran = perform(world, tmp_path)
    assert ran.outcome.code == 0
    assert ran.outcome.summary["updates"] == 72


def test_who_never_came_is_in_no_mean(tmp_path: Path) -> None:
    nodes = [{"name": "here", "count": 5}, {"name": "never", "present": False}]
    ran = perform(scenario(nodes=nodes), tmp_path)
    summary = ran.outcome.summary
    assert summary["nodes"][5]["loss"] is None
    here = [n["loss"] for n in summary["nodes"][:5]]
    assert summary["loss"]["mean"] == pytest.approx(sum(here) / 5)
    assert summary["loss"]["max"] == max(here)


def test_an_optimum_that_is_not_single_is_not_told(tmp_path: Path) -> None:
    ran = perform(
        scenario(task={"loss": {"kind": "smoothed-hinge", "width": 0.5}, "l2": 0.0}), tmp_path
    )
    assert ran.outcome.code == 0
    assert ran.outcome.summary["gap"] is None or ran.outcome.summary["gap"] >= -1e-9


def test_a_start_at_the_optimum_has_no_relative_gap(tmp_path: Path) -> None:
    world = scenario(task={"l2": 0.1, "start": "local"}, mechanism={"kind": "local"})
    ran = perform(world, tmp_path)
    assert ran.outcome.code == 0
    assert ran.outcome.summary["gap_relative"] is None or abs(ran.outcome.summary["gap"]) < 1e-9


INSTANTS: dict[str, dict[str, Any]] = ENDS | {
    "rounds": {"seed": 5, "rounds": 6},
    "no wake can come": {"seed": 5, "updates": 500},
}


@pytest.mark.parametrize("every", [0.25, 1.0, 100.0])
@pytest.mark.parametrize("end", INSTANTS)
def test_an_instant_an_agent_and_a_metric_name_one_value(
    tmp_path: Path, end: str, every: float
) -> None:
    nodes = [{"count": 6, "clock": {"kind": "synchronous", "period": 1.0}}]
    nodes[0]["budget"] = {"epsilon": 4.0}
    if end == "no wake can come":
        nodes[0]["clock"] = {"kind": "trace", "wakes": [[2.0, 0], [3.0, 1]]}
    ran = perform(private(run=INSTANTS[end] | {"sample_every": every}, nodes=nodes), tmp_path)
    assert ran.outcome.summary["ended_by"] == end
    header, *rows = (ran.outcome.folder / "metrics.csv").read_text().splitlines()
    assert header == "t,node,metric,value"
    keys = [tuple(row.split(",")[:3]) for row in rows]
    assert len(set(keys)) == len(keys)
    last = [float(row.split(",")[3]) for row in rows if row.split(",")[2] == "loss"][-6:]
    assert last == [node["loss"] for node in ran.outcome.summary["nodes"]]
    columns = ran.result.metrics()
    named = list(zip(columns["t"], columns["node"], columns["metric"], strict=True))
    assert len(set(named)) == len(named) == len(keys)
    assert not RunRecord(ran.outcome.folder).flaws


def test_instants_are_written_to_the_nanosecond() -> None:
    assert [exact_seconds(t) for t in (0, 1, 250_000_000, 3 * 10**9, 10**15 + 1)] == [
        "0",
        "0.000000001",
        "0.25",
        "3",
        "1000000.000000001",
    ]
