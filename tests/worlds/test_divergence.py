"""Models that are no numbers any more: told, never sent, and not brought back by a crash."""

import asyncio
import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.events import Charged
from scenarios.api.runs import make_plan
from scenarios.console.sources.ending import ending
from scenarios.experiments.scenario_tests import FAILED, Case, attempt
from scenarios.language.null_reasons import UNMEASURED
from scenarios.language.writer import to_toml
from scenarios.planning.forecast import forecast
from scenarios.records.summary_text import in_words
from scenarios.running.control import RunGovernor
from scenarios.running.observers.progress_lines import Lines
from scenarios.running.run import Run
from tests.support.altered import overflowing
from tests.support.builders import Ran, perform, private, scenario
from tests.support.command import hush

SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}
HOT: dict[str, dict[str, Any]] = {
    "fedavg": {"kind": "fedavg", "learning_rate": 1e200, "epochs": 3},
    "wddp": {"kind": "wddp", "noise": "none", "synchronise": "every-round", "learning_rate": 1e300},
    "dvp": {"kind": "dvp", "alpha": 1e-12, "releases": 30},
    "pvp": {"kind": "pvp", "alpha": 1e-12, "releases": 30},
}


@pytest.mark.parametrize("lose", ["volatile", "all", "nothing"])
@pytest.mark.parametrize("name", HOT)
def test_what_diverges_says_so_and_poisons_nobody(tmp_path: Path, name: str, lose: str) -> None:
    fault = [
        {"at": 3.5, "for": 1.0, "crash": [1], "lose": lose},
        {"at": 5.5, "for": 1.0, "crash": [2], "lose": lose},
        {"at": 7.5, "for": 1.0, "leave": [3]},
    ]
    server = {"server": {"deadline": 2.0, "quorum": 0.5}} if name in {"fedavg", "wddp"} else {}
    run = {"seed": 5, "rounds": 12}
    task = {"l2": 0.1, "loss": "squared"} if server else {}
    nodes = [{"count": 6, "clock": SYNCHRONOUS}]
    world = scenario(mechanism=HOT[name], nodes=nodes, run=run, task=task, fault=fault, **server)
    ran = perform(world, tmp_path)
    all_gone = all(agent.diverged for agent in ran.run.agents)
    assert ran.outcome.code == int(all_gone), ran.outcome.message
    assert ran.outcome.status == "finished"
    assert ran.events("diverged") or name == "dvp"  # whose ridge grows with its noise
    for agent in ran.run.members.agents:
        assert agent.diverged or np.isfinite(agent.model).all()
        assert agent.store.published is None or np.isfinite(agent.store.published[:3]).all()


def explode(folder: Path, hit: int, **sections: Any) -> Ran:
    """Run the private world of six agents in two groups; the first `hit` agents diverge at release 2."""
    budget = {"epsilon": 4.0, "delta": 1e-5}
    nodes = [{"name": n, "count": 3, "budget": budget} for n in ("left", "right")]
    run = Run(make_plan(private(nodes=nodes, **sections)), folder / f"{hit}", RunGovernor(), 1e12)

    def spoil(event: Charged) -> None:
        if event.node is not None and event.node < hit and event.k == 2:
            agent = run.agents[event.node]
            agent.mechanism = overflowing(agent.mechanism, state_too=True)

    run.log.watch(spoil, (Charged,))
    said = list[str]()
    lines = Lines(
        run.plan,
        said.append,
        run.observers.budget.terms,
        as_json=True,
        why=run.observers.measurements.why,
    )
    run.log.subscribe(lines, is_patient=True)
    ran = Ran(run, asyncio.run(run.perform()))
    for line in map(json.loads, said):
        holed = [".".join(hole) for hole in holes(line)]
        assert set(holed) == set(line.get("reasons", {})), line
    assert sum(agent.diverged for agent in run.agents) == hit
    return ran


@pytest.mark.parametrize("hit", range(7))
def test_means_say_over_whom_they_are_and_a_run_without_survivors_is_no_success(
    tmp_path: Path, hit: int
) -> None:
    ran = explode(tmp_path, hit)
    summary, left = ran.outcome.summary, 6 - hit
    assert ran.outcome.status == ran.result.status == "finished"
    assert ran.outcome.code == (1 if hit == 6 else 0)
    assert summary["verdict"] == ("diverged" if hit == 6 else "pass")
    assert ran.result.verdicts["verdict"] == summary["verdict"]
    assert summary["means_over"] == {"agents": left, "of": 6, "words": f"{left} of 6 agents"}
    of_left, of_right = (group["means_over"]["agents"] for group in summary["groups"])
    assert (of_left, of_right) == (max(0, 3 - hit), min(3, 6 - hit))
    survivors = [node["loss"] for node in summary["nodes"] if node["state"] != "diverged"]
    assert len(survivors) == left
    expected = sum(survivors) / left if left else None
    assert summary["loss"]["mean"] == (None if expected is None else pytest.approx(expected))
    said = "\n".join(in_words(summary))
    assert (f"({left} of 6 agents)" in said) == (hit > 0)
    assert ("DIVERGED" in said) == (hit == 6)
    screen = " ".join(line for line, _ in ending(summary, "", tmp_path))
    assert ("every agent diverged" in screen) == (hit == 6)


def test_who_never_took_part_is_no_survivor(tmp_path: Path) -> None:
    nodes = [
        {"name": "here", "count": 3, "clock": SYNCHRONOUS},
        {"name": "late", "clock": SYNCHRONOUS, "present": False},
    ]
    ran = perform(
        scenario(
            mechanism=HOT["fedavg"],
            task={"l2": 0.1, "loss": "squared"},
            run={"rounds": 3},
            nodes=nodes,
            server={"deadline": 2.0},
        ),
        tmp_path,
    )
    states = [node["state"] for node in ran.outcome.summary["nodes"]]
    assert states == ["diverged"] * 3 + ["absent"]
    assert (ran.outcome.code, ran.outcome.summary["verdict"]) == (1, "diverged")


def holes(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every place of a JSON tree that holds null."""
    if tree is None:
        return [path]
    if not isinstance(tree, (dict, list)):
        return []
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [hole for key, value in entries for hole in holes(value, (*path, str(key)))]


GAIN = [{"metric": "gain.mean", "above": -1.0}, {"metric": "gap.relative", "below": 9.0}]
SPARE: dict[str, dict[str, Any]] = {
    "no test points": {"data": {"source": "blobs", "dimension": 3, "points": 30, "test_points": 0}},
    "rounds": {"run": {"seed": 5, "rounds": 3}, "nodes": [{"count": 6, "clock": SYNCHRONOUS}]},
    "no convex objective": {"task": {"loss": "welsch"}},
    "a target out of reach": {"targets": {"far": {"metric": "loss.mean", "at_most": 0.0}}},
    "nobody there": {"nodes": [{"count": 6, "present": False}]},
    "traces": {"nodes": [{"count": 6, "clock": {"kind": "trace", "wakes": [[1.0, 0]]}}]},
    "pairs": {"mechanism": {"kind": "collaborative-admm"}},
    "a server": {"mechanism": {"kind": "fedavg"}, "run": {"seed": 5, "rounds": 3}, "server": {}},
    "no minimum": {"task": {"l2": 0.0}, "data": {"source": "blobs", "points": 3, "dimension": 5}},
}


@pytest.mark.parametrize("name", [*SPARE, "diverged"])
def test_where_json_holds_no_number_its_reason_stands_beside_it(tmp_path: Path, name: str) -> None:
    if name == "diverged":
        summary = explode(tmp_path, 6, expect=GAIN).outcome.summary
    else:
        world = scenario(**({"expect": GAIN} | SPARE[name]))
        checked = forecast(make_plan(world))
        summary = perform(world, tmp_path).outcome.summary
        assert_reasons(checked)
    assert_reasons(summary)
    for expected in summary["expectations"]:
        assert expected["got"] is not None or expected["note"], expected


def assert_reasons(tree: dict[str, Any]) -> None:
    reasons = tree["reasons"]
    found = {hole: [p for p in reasons if fits(hole, p.split("."))] for hole in holes(tree)}
    assert all(found.values()), [hole for hole, patterns in found.items() if not patterns]
    assert UNMEASURED not in reasons.values(), reasons


def fits(hole: tuple[str, ...], pattern: list[str]) -> bool:
    """Whether a place is meant; a star stands for an entry, whatever its name."""
    return fnmatch(".".join(hole), ".".join(pattern))


@pytest.mark.slow
def test_a_sweep_and_a_test_of_runs_without_survivors_fail_and_say_so(tmp_path: Path) -> None:
    nodes = [{"count": 3, "clock": SYNCHRONOUS}]
    world = scenario(
        mechanism=HOT["fedavg"],
        task={"l2": 0.1, "loss": "squared"},
        run={"rounds": 3},
        nodes=nodes,
        server={"deadline": 2.0},
    )
    (tmp_path / "hot.toml").write_text(to_toml(world))
    swept = hush("sweep", "./hot.toml", "--seeds", "0..1", "--out", "swept", cwd=tmp_path)
    assert swept.returncode == 1
    assert swept.stdout.count("  diverged ") == 2
    header, *rows = (tmp_path / "swept/sweep.csv").read_text().splitlines()
    at = header.split(",").index("verdict")
    assert [row.split(",")[at] for row in rows] == ["diverged", "diverged"]
    tested = attempt(Case(str(tmp_path / "hot.toml"), 0))
    assert (tested.code, tested.word) == (1, FAILED)
    assert tested.lines[0].startswith("every agent diverged")
