"""The identity of a cell: whatever changes a run changes it, and nothing else does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.experiments.cells import identities
from scenarios.experiments.orders import Wishes, order_of
from scenarios.experiments.sweep import Sweeping
from scenarios.language.writer import to_toml
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options, PlanningContext
from scenarios.planning.scenario import load
from scenarios.records.sample_values import value_in
from tests.support.builders import private, scenario


def identity(
    world: Mapping[str, Any] | Path, seed: int = 1, given: str = "", **options: Any
) -> str:
    read = checked(load(world, options.pop("set", None)))
    context = PlanningContext(read, Options(seed=seed, **options))
    return next(iter(identities(context, [seed], given)))


def test_two_readings_of_one_scenario_are_one_cell() -> None:
    assert identity(private()) == identity(private())


@pytest.mark.parametrize(
    "change",
    [
        {"network.loss": 0.1},
        {"network.latency": "1ms"},
        {"mechanism.mu": 1.0000001},
        {"mechanism.releases": 9},
        {"nodes.0.count": 7},
        {"nodes.peers.budget.epsilon": 4.5},
        {"nodes.peers.budget.delta": 2e-5},
        {"nodes.peers.clock": "synchronous"},
        {"data.points": 31},
        {"data.validation": 0.1},
        {"data.split": {"kind": "uneven", "ratio": 2}},
        {"task.l2": 0.2},
        {"run.horizon": 21.0},
        {"run.sample_every": "2s"},
        {"privacy.accountant": "basic"},
        {"seeds.noise": 3},
        {"expect": [{"metric": "loss.mean", "below": 9}]},
        {"targets.good": {"metric": "loss.mean", "below": 9}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_changes_a_run_changes_its_identity(change: dict[str, Any]) -> None:
    assert identity(private(), set=change) != identity(private())


def test_a_path_that_was_asked_for_is_another_cell() -> None:
    """One path may differ from another by a step of the release grid, so none stands for another."""
    asked = {identity(private(), path=path) for path in ("auto", "events", "columns")}
    assert len(asked) == 3
    assert identity(private()) in asked


@pytest.mark.parametrize(("name", "other"), [("version", lambda: "99.0"), ("SCHEMA", 99)])
def test_another_version_of_hush_or_of_its_record_is_another_cell(
    name: str, other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity(private())
    monkeypatch.setattr(f"scenarios.experiments.cells.{name}", other)
    assert identity(private()) != before


def test_seed_engine_and_data_change_it() -> None:
    base = identity(private())
    assert len({base, identity(private(), 2), identity(private(), engine="wall")}) == 3
    assert len({base, identity(private(), given="a"), identity(private(), given="b")}) == 3
    assert identity(private(), until=3.0) != base


@pytest.mark.parametrize(
    "change",
    [
        {"name": "another"},
        {"summary": "words"},
        {"tags": ["a"]},
        {"sweep": {"seeds": "0..3"}},
        {"network.loss": 0.0},
        {"network.loss": 0},
        {"run.seed": 77},
    ],
)
def test_what_changes_no_run_does_not_change_it(change: dict[str, Any]) -> None:
    """A name, words, a default that is written out, and 0 for 0.0; `run.seed` is overruled."""
    assert identity(private(), set=change) == identity(private())


def test_a_file_of_the_scenario_goes_by_its_content(tmp_path: Path) -> None:
    def world(folder: Path, value: float) -> Path:
        (folder / "nodes").mkdir(parents=True)
        for i in range(3):
            x = np.full((4, 2), value / 10)
            np.savez(folder / "nodes" / f"{i:03d}.npz", x=x, y=np.array([1.0, -1, 1, -1]))
        data = "[data]\nsource = 'files'\npath = 'nodes'\n"
        text = f"schema = 1\n[mechanism]\nkind = 'cd'\n[[nodes]]\ncount = 3\n{data}"
        (folder / "w.toml").write_text(text)
        return folder / "w.toml"

    first = identity(world(tmp_path / "a", 1.0))
    assert identity(world(tmp_path / "b", 1.0)) == first
    assert identity(world(tmp_path / "c", 2.0)) != first


def test_code_of_the_scenarios_own_goes_by_its_content(tmp_path: Path) -> None:
    world = scenario(network={"topology": {"kind": "mine.graphs:Ring"}})
    (tmp_path / "w.toml").write_text(to_toml(world))
    (tmp_path / "mine").mkdir()
    seen = set()
    for text in ("A = 1\n", "A = 2\n"):
        (tmp_path / "mine" / "graphs.py").write_text(text)
        seen.add(identity(tmp_path / "w.toml", allow_code=True))
    assert len(seen) == 2


def test_the_order_of_axes_does_not_change_the_set_of_cells() -> None:
    grid: dict[str, list[Any]] = {"network.loss": [0, 0.1], "mechanism.mu": [1, 2, 3]}
    names = []
    for keys in (list(grid), list(grid)[::-1]):
        wishes = Wishes(grid={key: grid[key] for key in keys}, seeds=[1, 2])
        sweep = Sweeping(order_of([private()], {}, Options(), wishes))
        names.append([cell.name for cell in sweep.cells])
    assert len(set(names[0])) == 12
    assert set(names[0]) == set(names[1])
    assert names[0] != names[1]


def test_equal_settings_of_two_scenarios_share_their_runs() -> None:
    other = private(name="other", summary="the same world under another name")
    sweep = Sweeping(order_of([private(), other], {}, Options(), Wishes(seeds=[1, 2, 3])))
    assert len(sweep.cells) == 6
    assert len({cell.name for cell in sweep.cells}) == 3


def test_metrics_are_folded_over_agents_as_their_names_say() -> None:
    values = {"loss": [1.0, None, 3.0, "inf"], "gap": 2.0, "bias": None}
    assert value_in("loss.min", values, {}) == 1.0
    assert value_in("loss.mean", {"loss": [1.0, None, 3.0]}, {}) == 2.0
    assert value_in("loss", {"loss": [1.0, None, 3.0]}, {}) == 2.0
    assert value_in("loss.sum", {"loss": [1.0, None, 3.0]}, {}) == 4.0
    assert value_in("loss.max", values, {}) == np.inf
    assert value_in("gap", values, {}) == 2.0
    assert np.isnan(value_in("bias", values, {}))
    assert np.isnan(value_in("consensus", values, {}))
    assert value_in("time_to.good", values, {"time_to.good": 4.5}) == 4.5
