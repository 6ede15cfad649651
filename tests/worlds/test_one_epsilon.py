"""Law: of one run there is one ε: live, in its samples, its summary, its replay, and in `hush show` of any cut of it."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from actors.events import Charged
from scenarios.api.runs import make_plan
from scenarios.console.sources.recording import Recording
from scenarios.language.json_numbers import number
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import epsilon_of
from scenarios.records.run_folder import AT_THE_END
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.altered import overflowing
from tests.support.catalogue import EVERY, family, private, world
from tests.support.finished_runs import finished
from tests.support.records import RUNNING, write_record


def near(value: float) -> Any:
    """To the last bits: what files hold of a charge is the charge itself."""
    return pytest.approx(value, rel=1e-15, abs=0.0)


def ran(tree: dict[str, Any], folder: Path, stopped: dict[int, int]) -> Run:
    """Run a world in which some agents diverge after so many releases."""
    run = Run(make_plan(tree), folder, RunGovernor(), 1e12)

    def spoil(event: Charged) -> None:
        if event.node is not None and stopped.get(event.node) == event.k + 1:
            agent = run.agents[event.node]
            agent.mechanism = overflowing(agent.mechanism)

    run.log.watch(spoil, (Charged,))
    asyncio.run(run.perform())
    return run


def cut(folder: Path, at: int, there: Path) -> Path:
    """A copy of a run as SIGKILL would have left it after its event number `at`."""
    shutil.copytree(folder, there)
    kept = [e for e in RunRecord(folder).events() if e["seq"] <= at]
    write_record(there, kept, RunRecord(folder).ledger_lines())
    for name in ("ledger.jsonl", *AT_THE_END, "metrics.csv", "metrics.parquet"):
        (there / name).unlink(missing_ok=True)
    manifest = json.loads((there / "manifest.json").read_text())
    (there / "manifest.json").write_text(json.dumps(manifest | RUNNING))
    return there


def agrees_everywhere(run: Run, tmp_path: Path) -> None:
    """At the end, and at every sample."""
    folder = run.folder.path
    summary = json.loads((folder / "summary.json").read_text())["epsilon"]
    recording = Recording(RunRecord(folder))
    recording.seek(recording.length)
    assert recording.epsilons().max() == near(number(summary["max"]))
    assert float(run.observers.budget.headline().max()) == near(number(summary["max"]))
    samples = [e for e in RunRecord(folder).events() if e["kind"] == "sampled"]
    for place in sorted({0, len(samples) // 3, 2 * len(samples) // 3, len(samples) - 1}):
        sample = samples[place]
        live = max(map(number, sample["values"]["epsilon"]))
        replayed = Recording(RunRecord(folder))
        replayed.seek_event(sample["seq"])
        replayed_max = float(replayed.epsilons().max())
        shown = epsilon_of(RunRecord(cut(folder, sample["seq"], tmp_path / f"cut-{place}")))
        assert number(shown["max"]) == near(replayed_max)
        if place < len(samples) - 1:  # the last one is taken when every accountant is asked
            assert live == near(replayed_max)


@pytest.mark.parametrize("name", [n for n in EVERY if private(n)])
def test_every_kind_has_one_epsilon(name: str, tmp_path: Path) -> None:
    agrees_everywhere(finished(world(name, "synchronous")).run, tmp_path)


@pytest.mark.parametrize("view", ["eavesdropper", "server", "aggregate", "outsider"])
@pytest.mark.parametrize(
    "name", ["wddp sum", "central-gradient", "wddp once", "cd", "dvp", "local"]
)
def test_every_view_has_one_epsilon(name: str, view: str, tmp_path: Path) -> None:
    if view in {"server", "aggregate"} and family(name) != "server":
        pytest.skip("there is no server")
    tree = world(name, "synchronous", privacy={"views": [view]})
    agrees_everywhere(finished(tree).run, tmp_path)


@pytest.mark.parametrize(
    ("name", "stopped"),
    [
        ("cd laplace", {0: 2, 3: 5}),
        ("cd laplace", dict.fromkeys(range(6), 2)),
        ("cd gaussian", {2: 1}),
        ("dvp", {1: 3}),
        ("pp noise", {4: 2}),
        ("warm-cd", {0: 2}),
    ],
)
def test_diverged_agents_are_charged_alike_by_every_reader(
    name: str, stopped: dict[int, int], tmp_path: Path
) -> None:
    run = ran(world(name, "synchronous"), tmp_path / "run", stopped)
    assert [agent.id for agent in run.agents if agent.diverged] == sorted(stopped)
    agrees_everywhere(run, tmp_path)
