"""What a person did, exported and run again, gives the same schedule; and nothing else does."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.result import open_run
from scenarios.api.runs import make_plan
from scenarios.experiments.random_worlds import Dice, random_faults, small_world
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.manual_faults import Steering
from scenarios.running.run import Run
from tests.support.builders import private, scenario
from tests.support.marks import one_in

Act = Callable[[Steering], Any]


def session(
    tree: dict[str, Any], folder: Path, acts: list[tuple[float, Act]], **options: Any
) -> tuple[Run, Steering]:
    """Run a world, and do something as soon as its time has reached an instant."""
    plan = make_plan(tree, **options)
    governor = RunGovernor(watched=True, steers=True)
    run = Run(plan, folder / "session", governor, 1e12)
    steering = Steering(run)
    todo = sorted(acts, key=lambda act: act[0])

    def look() -> None:
        while todo and run.clock.now >= todo[0][0] * 1e9:
            todo.pop(0)[1](steering)

    run.between.append(look)
    governor.free = False

    def allowance(_: int) -> float:
        look()
        return 0.0

    governor.allowance = allowance  # type: ignore[method-assign,assignment] # a person who looks at every entry
    asyncio.run(run.perform())
    return run, steering


def again(steering: Steering, folder: Path) -> Path:
    """Export a session, and run the file."""
    file = steering.export(folder / "again.toml")
    outcome = asyncio.run(Run(make_plan(file), folder / "again", RunGovernor(), 1e12).perform())
    assert outcome.status == "finished", outcome.message
    return outcome.folder


def digest(folder: Path) -> str:
    return str(RunRecord(folder).manifest["digests"]["schedule"])


def fault(**table: Any) -> Act:
    return lambda steering: steering.fault(table)


def heal(number: int) -> Act:
    return lambda steering: steering.heal(number)


def test_crash_partition_heal_join_and_resume_are_replayed_to_the_event(tmp_path: Path) -> None:
    budget = {"epsilon": 4.0, "delta": 1e-5}
    late = {"count": 1, "name": "late", "present": False, "budget": budget}
    tree = private(nodes=[{"count": 5, "budget": budget}, late])
    run, steering = session(
        tree,
        tmp_path,
        [
            (2.0, fault(crash=[2])),
            (3.0, fault(pause=[0])),
            (4.0, fault(partition={"groups": [[0, 1], [3, 4]]})),
            (5.0, heal(2)),
            (5.0, heal(0)),
            (6.0, fault(join="late")),
            (7.0, heal(1)),
        ],
    )
    folder = again(steering, tmp_path)
    assert digest(run.folder.path) == digest(folder)
    assert RunRecord(run.folder.path).manifest["steered_by_hand"]
    inputs = [
        json.loads(line) for line in (run.folder.path / "inputs.jsonl").read_text().splitlines()
    ]
    assert [i["what"] for i in inputs] == [
        "fault",
        "fault",
        "fault",
        "heal",
        "heal",
        "fault",
        "heal",
    ]
    began = {e["seq"]: e for e in open_run(run.folder.path).events() if e["kind"] == "fault_began"}
    assert [i["at"] for i in inputs if i["what"] == "fault"] == [e["t"] for e in began.values()]


@pytest.mark.parametrize("number", one_in(10, range(150)))
def test_random_sessions_are_replayed_to_the_event(tmp_path: Path, number: int) -> None:
    """Whatever a hand does to a random world, at random instants, the exported file does as well."""
    luck = Dice(20261119, number)
    tree = small_world(luck, faults=luck.whole(0, 2))
    acts = list[tuple[float, Act]]()
    refused = list[str]()
    for entry in random_faults(luck, tree, 4):
        table = {k: v for k, v in entry.items() if k not in {"name", "oracle", *_TIMES}}
        if luck.pick((True, False)):
            table.pop("for", None)
        acts.append((luck.whole(0, 4000) / 1000, trying(table, refused)))
    acts += [(luck.whole(1000, 5000) / 1000, healing(luck.whole(0, 5), refused)) for _ in range(3)]
    run, steering = session(tree, tmp_path, acts)
    assert digest(run.folder.path) == digest(again(steering, tmp_path)), steering.text()


_TIMES = ("at", "every", "when", "times", "nth", "later", "after", "until", "probability")


def trying(table: dict[str, Any], refused: list[str]) -> Act:
    def act(steering: Steering) -> None:
        try:
            steering.fault(table)
        except ScenarioError as error:
            refused.append(str(error))

    return act


def healing(number: int, refused: list[str]) -> Act:
    def act(steering: Steering) -> None:
        try:
            steering.heal(number)
        except ScenarioError as error:
            refused.append(str(error))

    return act


def test_whoever_kills_a_session_finds_what_was_done(tmp_path: Path) -> None:
    """The scenario in the folder is the session's as soon as the journal is: before the run ends."""
    plan = make_plan(private())
    governor = RunGovernor(watched=True, steers=True)
    run = Run(plan, tmp_path / "session", governor, 1e12)
    steering, seen = Steering(run), list[str]()

    def look() -> None:
        if run.clock.now > 2_000_000_000 and not run.journal.steered:
            steering.fault({"crash": [2], "for": 3.0})
        elif run.journal.steered and not run.journal.unwritten:
            seen.append((run.folder.path / "resolved.toml").read_text())

    run.between.append(look)
    asyncio.run(run.perform())
    assert 'name = "hand-1"' in seen[0]
    assert "crash = [2]" in seen[0]


def test_an_exported_session_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    """A file that is given away tells nothing of where it was made; its data keep their relative paths."""
    home = tmp_path / "home-of-a-person"
    (home / "nodes").mkdir(parents=True)
    for i in range(2):
        np.savez(home / "nodes" / f"{i:03d}.npz", x=np.full((3, 2), 0.1), y=np.ones(3))
    world = scenario(
        data={"source": "files", "path": "nodes"},
        network={"topology": "path"},
        nodes=[{"name": "peers", "count": 2}],
    )
    (home / "world.toml").write_text(to_toml(world), encoding="utf-8")
    plan = make_plan(home / "world.toml")
    run = Run(plan, tmp_path / "run", RunGovernor(watched=True, steers=True), 1e12)
    file = Steering(run).export(home / "session.toml")
    text = file.read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert "home-of-a-person" not in text
    assert "nodes/000.npz" in text.splitlines()[3]
    assert make_plan(file).shards.sizes == plan.shards.sizes
    run.recorder.close()


def test_an_exported_session_of_data_in_memory_says_so(tmp_path: Path) -> None:
    data = {"nodes": [(np.full((3, 2), 0.1), np.ones(3))] * 6}
    run = Run(
        make_plan(scenario(), data=data),
        tmp_path / "run",
        RunGovernor(watched=True, steers=True),
        1e12,
    )
    file = Steering(run).export(tmp_path / "session.toml")
    with pytest.raises(ScenarioError, match="handed over in Python"):
        make_plan(file)
    run.recorder.close()
