"""Same seed, same run: in two processes, under two hash seeds, on two engines, beside other agents."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import perform, private
from tests.support.paths import ROOT

HOSTILE = {
    "topology": "complete",
    "latency": {"kind": "lognormal", "median": 0.1, "sigma": 1.0},
    "loss": 0.1,
}
FAULT = [{"at": 4.0, "for": 5.0, "crash": [1]}, {"at": 6.0, "leave": [3]}]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring5-dropout", "churn-phones", "regional-outage"])
def test_two_processes_with_two_hash_seeds_agree(tmp_path: Path, name: str) -> None:
    found = []
    for hash_seed in ("1", "2"):
        out = tmp_path / hash_seed
        command = [
            sys.executable,
            "-m",
            "scenarios",
            "run",
            name,
            "--quiet",
            "--twice",
            "--out",
            str(out),
        ]
        subprocess.run(
            command,
            cwd=ROOT,
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        found.append(json.loads((out / "manifest.json").read_text())["digests"])
    assert found[0] == found[1]


def test_the_same_seed_is_the_same_run_and_another_is_not(tmp_path: Path) -> None:
    world = private(network=HOSTILE, fault=FAULT)
    one, again = perform(world, tmp_path), perform(world, tmp_path)
    other = perform(world, tmp_path, seed=6)
    assert one.digests == again.digests
    assert one.digests["schedule"] != other.digests["schedule"]
    assert one.digests["value"] != other.digests["value"]


@pytest.mark.slow
def test_the_schedule_digest_holds_what_each_release_was_charged(tmp_path: Path) -> None:
    """Two budgets, both fulfilled: the same wakes, releases and messages at the same instants, for other charges."""
    worlds = [
        private(nodes=[{"count": 6, "budget": {"epsilon": epsilon}}], network=HOSTILE)
        for epsilon in (4.0, 5.0)
    ]
    small, large = (perform(world, tmp_path) for world in worlds)
    for kind in ("woke", "released", "sent", "delivered"):
        told = [[(e["t"], e["node"]) for e in ran.events(kind)] for ran in (small, large)]
        assert told[0] == told[1]
        assert told[0]
    assert small.digests["schedule"] != large.digests["schedule"]


@pytest.mark.parametrize(
    "clock",
    [
        {"kind": "poisson", "rate": 2.0},
        {"kind": "synchronous", "period": 0.5},
        {"kind": "barrier", "timeout": 1.0},
        {"kind": "periodic", "period": 0.4, "jitter": 0.3},
    ],
)
@pytest.mark.parametrize("speed", [200.0, 1e12], ids=["on time", "late"])
def test_the_wall_engine_has_the_same_schedule_and_models(
    tmp_path: Path, clock: dict[str, Any], speed: float
) -> None:
    nodes = [{"count": 6, "clock": clock, "compute": "10ms", "budget": {"epsilon": 4.0}}]
    world = private(network=HOSTILE, fault=FAULT, nodes=nodes, run={"seed": 5, "horizon": 12.0})
    virtual = perform(world, tmp_path)
    wall = perform(world, tmp_path, engine="wall", speed=speed)
    assert virtual.outcome.code == wall.outcome.code == 0
    assert virtual.digests == wall.digests
    assert np.array_equal(virtual.theta, wall.theta)
    assert any("late_ns" in e for e in wall.events()) or speed < 1e6


def instants(ran: Any, kind: str, node: int) -> list[int]:
    return [e["t"] for e in ran.events(kind) if e["node"] == node]


def fates(ran: Any, node: int, receiver: int) -> list[tuple[int, int]]:
    found = []
    for e in ran.events("sent"):
        if e["node"] == node and receiver in e["to"] and not e.get("resent"):
            arrival = e["arrives"][e["to"].index(receiver)]
            found.append((e["t"], arrival))
    return found


def test_another_agent_leaves_all_other_draws_alone(tmp_path: Path) -> None:
    nodes = [{"name": "a", "count": 6, "budget": {"epsilon": 4.0}}]
    data = {"source": "separators", "dimension": 3, "points": 12, "scale": "row"}
    small = perform(private(nodes=nodes, data=data, network=HOSTILE), tmp_path)
    more = [*nodes, {"name": "b", "count": 1, "budget": {"epsilon": 4.0}}]
    large = perform(private(nodes=more, data=data, network=HOSTILE), tmp_path)
    for i in range(6):
        assert instants(small, "woke", i) == instants(large, "woke", i)
        assert fates(small, i, (i + 1) % 6) == fates(large, i, (i + 1) % 6)
        assert np.array_equal(small.run.plan.shards.train[i][0], large.run.plan.shards.train[i][0])
        assert np.array_equal(small.run.plan.shards.train[i][1], large.run.plan.shards.train[i][1])


def test_a_fault_leaves_the_others_draws_alone(tmp_path: Path) -> None:
    world = private(
        network=HOSTILE, mechanism={"kind": "cd", "mu": 1.0, "noise": "norm-gamma", "releases": 50}
    )
    calm, hit = perform(world, tmp_path), perform(world | {"fault": FAULT[:1]}, tmp_path)
    for i in (0, 2, 3, 4, 5):
        assert instants(calm, "woke", i) == instants(hit, "woke", i)
        assert fates(calm, i, (i + 1) % 6) == fates(hit, i, (i + 1) % 6)


@pytest.mark.parametrize("purpose", ["data", "clock", "link", "noise"])
def test_each_purpose_has_a_seed_of_its_own(tmp_path: Path, purpose: str) -> None:
    base, other = (
        perform(private(network=HOSTILE, seeds=seeds), tmp_path) for seeds in ({}, {purpose: 99})
    )
    same = {
        "data": np.array_equal(base.run.plan.shards.train[0][0], other.run.plan.shards.train[0][0]),
        "clock": instants(base, "woke", 0) == instants(other, "woke", 0),
        "link": fates(base, 0, 1) == fates(other, 0, 1),
    }
    if purpose == "noise":
        assert base.digests["schedule"] == other.digests["schedule"]
        assert base.digests["value"] != other.digests["value"]
        assert all(same.values())
    else:
        assert not same[purpose]
        if purpose != "clock":
            assert same["clock"]


def test_sampling_and_expecting_change_no_model(tmp_path: Path) -> None:
    often = {"seed": 5, "horizon": 20.0, "sample_every": 0.1}
    expect = [{"metric": "gap", "at_most": 1e9}, {"metric": "loss.pooled.mean", "at_most": 1e9}]
    plain, watched = (
        perform(private(), tmp_path),
        perform(private(run=often, expect=expect), tmp_path),
    )
    assert np.array_equal(plain.theta, watched.theta)


def test_a_resolved_scenario_is_the_same_run(tmp_path: Path) -> None:
    first = perform(private(network=HOSTILE, fault=FAULT), tmp_path)
    again = perform(str(first.outcome.folder / "resolved.toml"), tmp_path)
    assert first.digests == again.digests
    assert again.run.plan.resolved == first.run.plan.resolved


@pytest.mark.parametrize(
    "world",
    [
        private(
            network=HOSTILE,
            fault=FAULT,
            expect=[{"metric": "loss.mean", "below": 9.0, "after": 6.0}],
        ),
        "private-consensus",
        "federated-dropout",
    ],
)
def test_a_run_that_was_cut_off_is_the_same_run_again(tmp_path: Path, world: Any) -> None:
    """With what its file says of later, and with the noise of all its rounds."""
    first = perform(world, tmp_path, until=3.0)
    again = perform(str(first.outcome.folder / "resolved.toml"), tmp_path)
    assert first.digests == again.digests
    assert again.run.plan.resolved == first.run.plan.resolved
    assert again.result.summary["ended_s"] <= 3.0


def test_a_resolved_twin_keeps_what_it_extends(tmp_path: Path) -> None:
    nodes = [{"name": "peers", "clock": {"kind": "synchronous", "period": "250ms"}}]
    first = perform({"schema": 1, "extends": "library:ring5-dropout", "nodes": nodes}, tmp_path)
    again = perform(str(first.outcome.folder / "resolved.toml"), tmp_path)
    assert first.digests == again.digests
