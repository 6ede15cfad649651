"""Whole sweeps: their tables, what is run and what is not, and what goes wrong with single cells."""

import asyncio
import csv
import json
import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hush import open_run, open_sweep, run_sync, sweep
from scenarios.command.main import main
from scenarios.experiments.cells import Done, Table, Work, run_cells
from scenarios.experiments.payment import COLUMNS, why_not_payable
from scenarios.experiments.shared_cells import KILLED, SharedCells
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import read_source
from scenarios.language.writer import to_toml
from scenarios.planning.blas_threads import blas_threads
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.records.file_guard import FolderError
from scenarios.running.worker_processes import Here, Processes
from tests.support.builders import private, scenario

TINY: dict[str, Any] = scenario(
    run={"horizon": 2.0},
    data={"source": "blobs", "dimension": 2, "points": 8},
    nodes=[{"count": 2}],
)
TINY["network"] = {"topology": "path"}
LOSSES = {"network.loss": [0, 0.5]}


def started(folder: Path) -> dict[str, int]:
    """Return when each run of a sweep was begun: its scenario is written once."""
    files = (folder / "cells").glob("*/scenario.toml")
    return {file.parent.name: file.stat().st_mtime_ns for file in files}


def without_times(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a table but for its one column of time."""
    with (folder / "sweep.csv").open(newline="") as file:
        return [{k: v for k, v in row.items() if k != "wall_s"} for row in csv.DictReader(file)]


def test_a_row_holds_what_its_run_says(tmp_path: Path) -> None:
    metrics = ["loss", "loss.p90", "consensus", "updates.sum", "epsilon.basic.max"]
    swept = sweep(
        private(run={"horizon": 5.0}),
        grid={"network.loss": [0, 0.5], "mechanism.mu": [1]},
        seeds="3..4",
        metrics=metrics,
        jobs=1,
        out=tmp_path / "s",
    )
    assert [(row.settings["network.loss"], row.seed) for row in swept.rows] == [
        (0, 3),
        (0, 4),
        (0.5, 3),
        (0.5, 4),
    ]
    for row, result in swept.runs():
        alone = run_sync(
            private(run={"horizon": 5.0}),
            seed=row.seed,
            set={"network.loss": row.settings["network.loss"]},
        )
        assert result.manifest["digests"]["schedule"] == alone.manifest["digests"]["schedule"]
        losses = [node["loss"] for node in alone.summary["nodes"]]
        assert row.metrics["loss.mean"] == pytest.approx(np.mean(losses), rel=1e-12)
        assert row.metrics["loss.p90"] == pytest.approx(np.percentile(losses, 90), rel=1e-12)
        centred = alone.models - alone.models.mean(axis=0)
        assert row.metrics["consensus"] == pytest.approx(
            math.sqrt((centred**2).sum() / len(centred)), rel=1e-9
        )
        assert row.metrics["updates.sum"] == alone.summary["updates"]
        basics = [node["epsilon_basic"] for node in alone.summary["nodes"] if node["epsilon_basic"]]
        assert not basics or row.metrics["epsilon.basic.max"] == max(basics)
    table = swept.table()
    assert list(table) == [
        *("cell", "network.loss", "mechanism.mu", "seed", "status", "code", "verdict"),
        *("loss.mean", "loss.p90", "consensus", "updates.sum", "epsilon.basic.max"),
        *("wall_s", "run", "message"),
    ]
    assert swept.code == 0
    assert swept.manifest.status == "finished"
    assert open_sweep(tmp_path / "s").rows == swept.rows


def test_nothing_is_run_twice_and_more_is_run_beside_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"jobs": 1, "out": tmp_path}
    sweep(TINY, grid=LOSSES, seeds="0..1", **options)
    first, table = started(tmp_path), without_times(tmp_path)
    sweep(TINY, grid=LOSSES, seeds="0..1", **options)
    assert (started(tmp_path), without_times(tmp_path)) == (first, table)
    sweep(TINY | {"name": "renamed"}, grid=LOSSES, seeds="1..2", **options)
    second = started(tmp_path)
    assert len(second) == 6
    assert first.items() <= second.items()
    sweep(TINY, grid=LOSSES, seeds="0..1", **options)
    assert (started(tmp_path), without_times(tmp_path)) == (second, table)


def test_a_cell_that_lacks_a_metric_is_run_again_and_then_has_it(tmp_path: Path) -> None:
    sweep(TINY, seeds="0..1", jobs=1, out=tmp_path)
    before = started(tmp_path)
    sweep(TINY, seeds="0..1", metrics=["lag"], jobs=1, out=tmp_path)
    after = started(tmp_path)
    assert before.keys() == after.keys()
    assert all(after[name] > before[name] for name in after)
    swept = sweep(TINY, seeds="0..1", metrics=["lag", "gap", "loss.max"], jobs=1, out=tmp_path)
    assert started(tmp_path) == after
    assert all(math.isfinite(row.metrics["gap"]) for row in swept.rows)


def test_curves_are_the_samples_of_the_runs(tmp_path: Path) -> None:
    swept = sweep(
        TINY,
        grid=LOSSES,
        seeds="0",
        metrics=["loss.mean", "gap"],
        curves=True,
        jobs=1,
        out=tmp_path,
    )
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["cell", "network.loss", "seed", "t", "metric", "value"]
    for row, result in swept.runs():
        mine = [r for r in rows if int(r["cell"]) == row.cell]
        samples = list(result.samples())
        assert len(mine) == 2 * len(samples)
        for sample, loss, gap in zip(samples, mine[::2], mine[1::2], strict=True):
            assert float(loss["t"]) == float(gap["t"]) == sample["t"] / 1e9
            assert float(loss["value"]) == pytest.approx(np.mean(sample["values"]["loss"]))
            assert float(gap["value"]) == sample["values"]["gap"]


def test_a_run_whose_curves_lack_a_metric_is_run_again_for_them(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"seeds": "0", "metrics": ["lag.max"], "jobs": 1, "out": tmp_path}
    sweep(TINY, **asked)
    before = started(tmp_path)
    sweep(TINY, **asked)
    assert started(tmp_path) == before
    ((_, result),) = sweep(TINY, **asked, curves=True).runs()
    assert started(tmp_path) != before
    samples = list(result.samples())
    assert len(samples) > 1
    assert all("lag" in sample["values"] for sample in samples)


def test_a_file_of_a_person_in_an_unfinished_cell_is_left_alone(tmp_path: Path) -> None:
    (row,) = sweep(TINY, seeds="0", jobs=1, out=tmp_path).rows
    cell = tmp_path / row.run
    manifest = json.loads((cell / "manifest.json").read_text())
    (cell / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    (cell / "notes.txt").write_text("mine")
    (row,) = sweep(TINY, seeds="0", jobs=1, out=tmp_path).rows
    assert (row.status, row.code) == ("failed", 2)
    assert "no unfinished run to be run again (notes.txt)" in row.message
    assert (cell / "notes.txt").read_text() == "mine"
    (cell / "notes.txt").unlink()
    assert sweep(TINY, seeds="0", jobs=1, out=tmp_path).rows[0].is_finished


def test_problems_of_all_settings_are_told_before_anything_runs(tmp_path: Path) -> None:
    grid = {"network.loss": [0, 2], "mechanism.mu": [1, -1]}
    with pytest.raises(ScenarioError) as caught:
        sweep(TINY, grid=grid, seeds="0", jobs=1, out=tmp_path / "s")
    told = str(caught.value).splitlines()
    assert told == [
        "setting network.loss=0, mechanism.mu=-1; network.loss=2, mechanism.mu=-1: "
        "mechanism.mu: must be a number > 0, got -1",
        "setting network.loss=2, mechanism.mu=1; network.loss=2, mechanism.mu=-1: "
        "network.loss: must be a number from 0 to 1, got 2",
    ]
    later = {"nodes.all.budget": [{"epsilon": 4.0}, {"epsilon": 1e-9, "delta": 1e-300}]}
    with pytest.raises(ScenarioError, match=r"^setting .*epsilon=1e-09"):
        sweep(private(), grid=later, seeds="0", jobs=1, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_a_key_that_the_grid_gives_may_be_missing_in_the_scenario() -> None:
    world = private()
    del world["mechanism"]
    kinds = [
        {"kind": "cd", "noise": "norm-gamma", "releases": 3},
        {"kind": "dvp", "C": 10.0, "rho": 1.0, "eta": 1.0, "releases": 3},
    ]
    world["task"] = {}
    world["run"] = {"horizon": 3.0}
    swept = sweep(world, grid={"mechanism": kinds}, seeds=[1], jobs=1)
    labels = [row.settings["mechanism"] for row in swept.rows]
    assert labels == [
        "cd(noise=norm-gamma, releases=3)",
        "dvp(C=10.0, rho=1.0, eta=1.0, releases=3)",
    ]
    assert [result.summary["mechanism"] for _, result in swept.runs()] == ["cd", "dvp"]


@pytest.mark.slow
def test_several_scenarios_have_a_column(tmp_path: Path) -> None:
    other = TINY | {"name": "other", "network": {"topology": "path", "loss": 0.5}}
    swept = sweep([TINY, other, TINY], seeds="0", jobs=1, out=tmp_path)
    assert [row.scenario for row in swept.rows] == ["small", "other", "small (2)"]
    assert swept.table()["scenario"] == ["small", "other", "small (2)"]
    assert len(started(tmp_path)) == 2
    assert open_sweep(tmp_path).rows == swept.rows


def test_the_table_of_a_file_is_that_of_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = {
        "seeds": "0..1",
        "network.loss": [0, 0.5],
        "mechanism.mu": [1, 2],
        "zip": [["network.loss", "mechanism.mu"]],
        "metrics": ["loss.max"],
    }
    Path("own.toml").write_text(to_toml(TINY | {"sweep": own}))
    Path("bare.toml").write_text(to_toml(TINY))
    words = ["--grid", "network.loss=0,0.5", "--grid", "mechanism.mu=1,2", "--seeds", "0..1"]
    words += ["--zip", "network.loss,mechanism.mu", "--metric", "loss.max"]
    assert main(["sweep", "own.toml", "-q", "-j", "1", "-o", "a"]) == 0
    assert main(["sweep", "bare.toml", "-q", "-j", "1", "-o", "b", *words]) == 0
    assert without_times(Path("a")) == without_times(Path("b"))
    assert len(without_times(Path("a"))) == 4


@pytest.mark.slow
def test_a_notebook_can_sweep_with_one_process() -> None:
    """Where an event loop runs, no run can have its own in this process."""

    async def cell() -> int:
        return len(list(sweep(TINY, seeds="0", jobs=1).runs()))

    assert asyncio.run(cell()) == 1


def test_a_temporary_sweep_can_be_kept(tmp_path: Path) -> None:
    swept = sweep(TINY, seeds="0", jobs=1)
    assert swept.temporary
    rows = swept.rows
    swept.keep(tmp_path / "kept")
    assert open_sweep(tmp_path / "kept").rows == rows
    with pytest.raises(FolderError, match="is not temporary"):
        swept.keep(tmp_path / "again")


def test_points_from_python_go_by_their_content(tmp_path: Path) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    x = rng.uniform(-0.5, 0.5, size=(40, 2))
    y = np.where(x[:, 0] > 0, 1.0, -1.0)
    for data in ((x, y), (x.copy(), y.copy()), (x, -y)):
        sweep(TINY, data=data, seeds="0", jobs=1, out=tmp_path)
    assert len(started(tmp_path)) == 2


# what goes wrong with single cells


def test_what_fails_is_a_row_and_the_others_go_on(tmp_path: Path) -> None:
    """A file of one setting goes away between the judgement of the settings and their runs."""
    table = Table(("loss.mean",))
    good = read_source(TINY)
    bad = read_source(TINY, {"network.loss": 7})
    work = [Work(s, 0, tmp_path / "cells" / n) for s, n in ((good, "a"), (bad, "b"), (good, "c"))]
    rows = run_cells(work, table, Options())
    assert [row.status for row in rows] == ["finished", "failed", "finished"]
    assert rows[1].code == 2
    assert "must be a number from 0 to 1" in rows[1].message
    assert not (tmp_path / "cells" / "b").exists()


OWN = """
class Bad:
    def __init__(self, **_):
        import os, signal, sys
        self.how = {how!r}

    def __call__(self, *_, **__):
        raise AssertionError

    def __getattr__(self, name):
        import os, signal
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__dict__.get("how") == "raises":
            raise MemoryError
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_cell_without_memory_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "broken_loss.py").write_text(OWN.format(how="raises"))
    world = TINY | {"task": {"loss": {"kind": "broken_loss:Bad"}}}
    (tmp_path / "w.toml").write_text(to_toml(world))
    work = Work(read_source(tmp_path / "w.toml"), 0, tmp_path / "cells" / "x")
    (row,) = run_cells([work], Table(("loss.mean",)), Options(allow_code=True))
    assert (row.status, row.code) == ("failed", 2)
    assert "out of memory" in row.message


def test_a_setting_whose_plan_lacks_memory_is_told_in_its_rows_and_the_others_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "greedy_loss.py").write_text(OWN.format(how="raises"))
    (tmp_path / "w.toml").write_text(to_toml(TINY))
    losses = ["logistic", {"kind": "greedy_loss:Bad"}]
    swept = sweep(
        tmp_path / "w.toml", grid={"task.loss": losses}, seeds="0..1", jobs=1, allow_code=True
    )
    assert [row.status for row in swept.rows] == ["finished"] * 2 + ["failed"] * 2
    assert all("out of memory" in row.message for row in swept.rows[2:])
    assert swept.code == 2


@pytest.mark.slow
def test_a_cell_that_kills_its_worker_twice_is_told_and_the_others_finish(tmp_path: Path) -> None:
    (tmp_path / "killing_loss.py").write_text(OWN.format(how="kills"))
    world = TINY | {"task": {"loss": {"kind": "killing_loss:Bad"}}}
    (tmp_path / "w.toml").write_text(to_toml(world))
    good, bad = read_source(TINY), read_source(tmp_path / "w.toml")
    work = [Work(bad if i == 2 else good, i, tmp_path / "cells" / str(i)) for i in range(8)]
    workers = Processes(2, Options(allow_code=True))
    try:
        done = list(SharedCells(workers, Table(("loss.mean",))).results(work))
    finally:
        workers.close()
    assert sorted((one.seed, row.status) for one, row in done) == [
        (i, "killed" if i == 2 else "finished") for i in range(8)
    ]
    assert [row.message for _, row in done if row.status == "killed"] == [KILLED]


@pytest.mark.slow
def test_batches_hold_every_cell_once(tmp_path: Path) -> None:
    source = read_source(TINY)
    work = [Work(source, seed, tmp_path / "cells" / str(seed)) for seed in range(12)]
    shared = SharedCells(Here(Options()), Table(("loss.mean",)))
    told = [one.seed for lot in (work[:5], work[5:]) for one, _ in shared.results(lot)]
    assert sorted(told) == list(range(12))


def _threads(_: Options) -> tuple[int | None, str | None]:
    return blas_threads(), os.environ.get("OPENBLAS_NUM_THREADS")


@pytest.mark.slow
def test_workers_have_one_blas_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the program that sweeps has asked for more."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    workers = Processes(2, Options())
    try:
        assert workers.submit(_threads).result() == (1, "1")
    finally:
        workers.close()


class Steady(Here):
    """Workers that take the same time for every cell, by their own account; they run nothing."""

    jobs = 2

    def __init__(self, work_s: float) -> None:
        super().__init__(Options())
        self._work_s = work_s
        self.sizes: list[int] = []

    def submit(self, act: Any, *arguments: Any) -> Any:
        del act
        self.sizes.append(len(arguments[0]))
        return super().submit(
            lambda *_: [Done("finished", 0, work_s=self._work_s)] * self.sizes[-1]
        )


@pytest.mark.parametrize(("work_s", "largest"), [(1.0, 1), (0.1, 4), (0.01, 29), (1e-9, 29)])
def test_batches_take_no_longer_than_they_may_and_hold_every_cell_once(
    work_s: float, largest: int
) -> None:
    """0.4 s of cells at most, and no more than a quarter of what waits: two batches for each of two workers."""
    source, workers = read_source(TINY), Steady(work_s)
    work = [Work(source, seed, Path(f"cells/{seed}")) for seed in range(120)]
    told = [one.seed for one, _ in SharedCells(workers, Table(("loss.mean",))).results(work)]
    assert sorted(told) == list(range(120))
    assert sum(workers.sizes) == 120
    assert workers.sizes[:4] == [1] * 4  # nothing is known of how long a cell takes
    assert max(workers.sizes) == largest


@pytest.mark.slow
def test_processes_hold_every_cell_once(tmp_path: Path) -> None:
    source = read_source(TINY)
    work = [Work(source, seed, tmp_path / "cells" / str(seed)) for seed in range(30)]
    workers = Processes(2, Options())
    try:
        told = [one.seed for one, _ in SharedCells(workers, Table(("loss.mean",))).results(work)]
    finally:
        workers.close()
    assert sorted(told) == list(range(30))


# choices and races


def chosen_rows(swept: Any) -> set[tuple[Any, ...]]:
    return {tuple(row.settings.values()) for row in swept.chosen}


@pytest.mark.parametrize("paid", [False, True])
def test_no_folder_of_a_choice_that_is_not_paid_for_says_that_its_epsilon_covers_the_run(
    tmp_path: Path, *, paid: bool
) -> None:
    world = private(
        run={"horizon": 2.0},
        data={"source": "blobs", "dimension": 3, "points": 40, "validation": 0.3},
        seeds={"data": 1},
    )
    choose = {"by": "accuracy.validation", "over": ["mechanism.mu"]}
    sweep(
        world,
        grid={"mechanism.mu": [1, 5]},
        choose=choose | ({"epsilon": 1.0} if paid else {}),
        seeds="0",
        jobs=1,
        out=tmp_path / "swept",
    )
    summaries = sorted((tmp_path / "swept").rglob("summary.json"))
    assert len(summaries) == 2
    for path in summaries:
        epsilon = json.loads(path.read_text("utf-8"))["epsilon"]
        assert epsilon["covered"] is paid
        assert (
            any("candidate of a choice by accuracy" in said for said in epsilon["not_covered"])
            is not paid
        )


@pytest.mark.parametrize("way", ["choice", "race"])
def test_runs_of_an_open_sweep_are_not_taken_as_candidates(tmp_path: Path, way: str) -> None:
    """A run that nothing was chosen from says that its ε covers it: the same sweep with a choice runs it again."""
    world = private(
        run={"horizon": 2.0},
        data={"source": "blobs", "dimension": 3, "points": 40, "validation": 0.3},
    )
    options: dict[str, Any] = {"grid": {"mechanism.mu": [1, 5]}, "seeds": "0..1", "jobs": 1}
    metric = "accuracy.validation"
    sweep(world, metrics=[metric], out=tmp_path, **options)
    chooses: dict[str, Any] = {
        "choice": {"choose": {"by": metric, "over": ["mechanism.mu"]}},
        "race": {"race": metric, "metrics": [metric]},
    }
    swept = sweep(world, out=tmp_path, **options, **chooses[way])
    for row, run in swept.runs():
        assert not run.summary["epsilon"]["covered"], row


@pytest.mark.slow
def test_a_choice_is_that_of_brute_force_and_is_said_to_be_uncovered() -> None:
    world = private(
        run={"horizon": 4.0},
        data={"source": "blobs", "dimension": 3, "points": 40, "validation": 0.3},
    )
    swept = sweep(
        world,
        grid={"network.loss": [0, 0.8], "mechanism.mu": [0.2, 1, 5]},
        seeds="0..2",
        choose={"by": "accuracy.validation", "over": ["mechanism.mu"]},
        jobs=1,
    )
    wanted = set()
    for loss in (0, 0.8):
        means = {
            mu: np.mean(
                [
                    row.metrics["accuracy.validation.mean"]
                    for row in swept.rows
                    if row.settings == {"network.loss": loss, "mechanism.mu": mu}
                ]
            )
            for mu in (0.2, 1, 5)
        }
        wanted.add((loss, max(means, key=lambda mu: means[mu])))
    assert chosen_rows(swept) == wanted
    notes = " ".join(swept.manifest.notes)
    assert "ε does not cover it" in notes
    total = sum(
        row.metrics["epsilon.max"] for row in swept.rows if row.settings["network.loss"] == 0
    )
    assert f"up to {total:.4g}" in notes
    assert "share their draws" in notes


@pytest.mark.slow
def test_a_candidate_that_diverged_is_not_chosen_by_what_it_was_before() -> None:
    """It diverges at its first step, so its last loss is that of the start, 1: more than the other's."""
    world = scenario(
        run={"seed": 5, "rounds": 20},
        task={"loss": {"kind": "squared"}},
        nodes=[{"count": 3, "clock": "barrier", "compute": "100ms"}],
        mechanism={"kind": "fedavg"},
        network={},
    )
    rate = "mechanism.learning_rate"
    wished: dict[str, Any] = {"by": "loss", "over": [rate], "better": "higher"}
    swept = sweep(world, grid={rate: [0.1, 1e9]}, seeds="0..1", choose=wished, jobs=1)
    good, bad = swept.rows[:2], swept.rows[2:]
    assert {row.verdict for row in bad} == {"diverged"}
    assert sum(row.metrics["loss.mean"] for row in bad) > sum(
        row.metrics["loss.mean"] for row in good
    )
    assert {row.settings[rate] for row in swept.chosen} == {0.1}


PAID = private(
    run={"horizon": 4.0},
    seeds={"data": 3},
    data={"source": "blobs", "dimension": 3, "points": 40, "validation": 0.3},
)
BY_VALIDATION = {"by": "accuracy.validation", "over": ["mechanism.mu"], "epsilon": 0.5}
MUS: dict[str, list[Any]] = {"mechanism.mu": [0.2, 1]}


def test_a_choice_that_is_paid_for_says_both_prices_and_shares_no_noise(tmp_path: Path) -> None:
    swept = sweep(PAID, grid=MUS, seeds="0..1", choose=BY_VALIDATION, jobs=1, out=tmp_path)
    (setting,) = chosen_rows(swept)
    assert setting[0] in (0.2, 1)
    spent = sum(row.metrics["epsilon.max"] for row in swept.rows)
    for row in swept.rows:
        prices = [row.metrics[name] for name in COLUMNS]
        if row.chosen:
            assert prices == pytest.approx([spent, 4e-5, 0.5], rel=1e-12)
        else:
            assert all(map(math.isnan, prices))
    noises = {result.resolved["seeds"]["noise"] for _, result in swept.runs()}
    assert len(noises) == 4
    assert sweep(PAID, grid=MUS, seeds="0..1", choose=BY_VALIDATION, jobs=1, out=tmp_path).rows == (
        swept.rows
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seeds": {}}, "fix seeds.data"),
        ({"seeds": {"data": 3, "noise": 4}}, "seeds.noise is fixed"),
        ({"data": {"source": "blobs", "dimension": 3}}, "give data.validation"),
        ({"mechanism": {"kind": "cd"}, "nodes": [{"count": 6}]}, "is not private"),
        ({"privacy": {"views": ["outsider"]}}, "view outsider"),
        (
            {
                "network": {"topology": {"kind": "similarity", "gamma": 1}},
                "data": {"source": "separators", "dimension": 3, "points": 40, "validation": 0.3},
            },
            "does not cover the run",
        ),
    ],
)
def test_a_choice_that_cannot_be_paid_for_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        sweep(PAID | change, grid=MUS, seeds="0..1", choose=BY_VALIDATION, jobs=1)


def test_only_what_was_released_can_be_judged_and_paid_for() -> None:
    world = PAID | {
        "mechanism": {"kind": "wddp", "learning_rate": 0.1, "local_rounds": 1},
        "run": {"rounds": 3},
        "nodes": [{"count": 6, "clock": "barrier", "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    }
    del world["network"]
    plan = resolve(checked(load(world)), Options(seed=1))
    assert "has a server" in why_not_payable(plan, load(world).read)


@pytest.mark.parametrize(
    ("choose", "why"),
    [
        ({"by": "loss", "over": ["mechanism.mu"], "epsilon": 1.0}, "accuracies only"),
        ({"by": "accuracy.test", "over": ["mechanism.mu"], "epsilon": 1.0}, "validation.mean only"),
        ({"by": "accuracy.validation", "over": ["data.points"]}, "'data.points' does not vary"),
        ({"by": "messages.sent", "over": ["mechanism.mu"]}, "higher or lower"),
        ({"by": "acuracy", "over": ["mechanism.mu"], "better": "higher"}, "unknown metric"),
        ({"over": ["mechanism.mu"]}, "by which metric"),
        ({"by": "loss"}, "must have 1 to"),
        ({"by": "loss", "over": 5}, "choose.over: must be an array, got 5"),
        ({"by": "loss", "over": ["mechanism.mu"], "better": "best"}, "choose.better: "),
        *(
            (BY_VALIDATION | {"epsilon": epsilon}, "choose.epsilon: must be a number > 0")
            for epsilon in (0, -1.0, math.nan, math.inf, "a", True)
        ),
        ("loss", "choose: must be a table, got"),
        ({"by": "loss", "ober": []}, "unknown key 'ober'; did you mean 'over'?"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(choose: Any, why: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        sweep(PAID, grid=MUS, seeds="0", choose=choose, jobs=1)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "wish",
    [
        {"choose": {"by": "accuracy.validation", "over": ["mechanism.mu"]}},
        {"race": "accuracy.validation"},
    ],
)
def test_nothing_is_judged_by_points_that_are_not_held_out(wish: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=r"no validation points: give data\.validation"):
        sweep(PAID, grid=MUS, seeds="0", set={"data.validation": 0.0}, jobs=1, **wish)


def test_a_paid_choice_among_other_validation_points_is_refused() -> None:
    grid = {"data.points": [40, 50]}
    with pytest.raises(ScenarioError, match="what is chosen changes the validation points"):
        sweep(PAID, grid=grid, seeds="0", choose=BY_VALIDATION | {"over": list(grid)}, jobs=1)


def test_nothing_is_drawn_where_the_model_of_an_agent_is_not_what_it_released() -> None:
    crashed = PAID | {"fault": [{"at": 3.9, "crash": [1]}]}
    swept = sweep(crashed, grid=MUS, seeds="0", choose=BY_VALIDATION, jobs=1)
    assert (swept.code, swept.chosen) == (4, ())
    assert "is not what it last released" in " ".join(swept.manifest.notes)


@pytest.mark.slow
def test_choices_of_several_groups_are_drawn_apart() -> None:
    """At ε = 1e-9 each of two is drawn with a chance of ½: ten groups draw both."""
    grid = MUS | {"network.loss": [i / 20 for i in range(10)]}
    swept = sweep(PAID, grid=grid, seeds="0", choose=BY_VALIDATION | {"epsilon": 1e-9}, jobs=1)
    assert {row.settings["mechanism.mu"] for row in swept.chosen} == set(MUS["mechanism.mu"])
    assert len(swept.chosen) == 10


ONE: dict[str, Any] = {"seeds": "0", "grid": MUS, "jobs": 1}


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        ({"seeds": [1.5]}, "seeds: must be different whole numbers"),
        ({"seeds": [True, 2]}, "seeds: must be different whole numbers"),
        ({"seeds": 5}, "seeds: must be different whole numbers"),
        ({"grid": {"mechanism.mu": 5}}, "mechanism.mu: must be a list of values, got 5"),
        ({"grid": {"mechanism.kind": "cd"}}, "mechanism.kind: must be a list of values"),
        ({"grid": ["mechanism.mu"]}, "grid: must be a table of keys"),
        ({"grid": {"mechanism.mu": [None]}}, "mechanism.mu: None is no value"),
        ({"metrics": "loss"}, "metrics: must be a list of values"),
        ({"zip": ["mechanism.mu", "network.loss"]}, "zip: must be a list of values"),
    ],
)
def test_what_python_says_wrongly_of_a_sweep_is_one_sentence(
    wishes: dict[str, Any], why: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        sweep(PAID, **(ONE | wishes))
    assert why in str(caught.value)


SLOW, FAST = ({"kind": "poisson", "rate": rate} for rate in (1e-6, 1.0))


@pytest.mark.slow
def test_a_race_stops_what_cannot_win_and_says_so(tmp_path: Path) -> None:
    """With no steps at all the loss stays that of zeros: a few seeds are enough to see it."""
    world = scenario(run={"horizon": 10.0})
    grid: dict[str, list[Any]] = {"nodes.all.clock": [SLOW, FAST], "mechanism.mu": [0.1]}
    swept = sweep(world, grid=grid, seeds="0..9", race="loss", jobs=1, out=tmp_path)
    slow = [row.status for row in swept.rows if row.cell == 0]
    assert [row.status for row in swept.rows if row.cell == 1] == ["finished"] * 10
    ran = slow.count("finished")
    assert 3 <= ran < 10
    assert slow == ["finished"] * ran + ["stopped"] * (10 - ran)
    assert swept.code == 0
    assert swept.manifest.status == "finished"
    assert f"{10 - ran} of 20 cells were not run" in " ".join(swept.manifest.notes)
    before = started(tmp_path)
    again = sweep(world, grid=grid, seeds="0..9", race="loss", jobs=1, out=tmp_path)
    assert (started(tmp_path), again.rows) == (before, swept.rows)


# as a user sees it


def test_a_pipe_has_a_line_for_each_cell_and_quiet_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.toml").write_text(to_toml(TINY))
    words = ["sweep", "w.toml", "--seeds", "0..2", "-j", "1", "-o", "out"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.out.count("  finished ") == 3
    assert told.err == ""
    assert main(words) == 0
    assert "3 of 3 cells have been run before" in capsys.readouterr().out
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    manifest = json.loads(Path("out/sweep.json").read_text())
    assert manifest["seeds"] == [0, 1, 2]


def test_many_cells_have_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from scenarios.command.sweep import Lines
    from scenarios.experiments.grid import Setting

    told, setting = Lines(), Setting(0, 0, {}, {})
    told.begin(1000, 100)
    for seed in range(900):
        told.note(setting, seed, Done("finished", 0))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 19
    assert lines[0] == "100 of 1000 cells have been run before"
    assert [line.split()[0] for line in lines[1:]] == [f"{n}/1000" for n in range(150, 1001, 50)]
    assert lines[-1].endswith(", 0 s left")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59.9, "1 min 00 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")],
)
def test_times_are_told_in_words(seconds: float, words: str) -> None:
    from scenarios.command.sweep import length

    assert length(seconds) == words


@pytest.mark.slow
def test_check_judges_every_setting_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "w.toml"
    file.write_text(to_toml(TINY | {"sweep": {"seeds": "0..4", "network.loss": [0, 0.5]}}))
    assert main(["check", str(file)]) == 0
    assert "2 settings × 5 seeds" in capsys.readouterr().out
    file.write_text(to_toml(TINY | {"sweep": {"seeds": "0..4", "network.loss": [0, 5]}}))
    assert main(["check", str(file)]) == 2
    assert "setting network.loss=5: network.loss: must be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"seeds": "a"}, "sweep.seeds: must be such as"),
        ({"seedz": "0..1"}, "did you mean 'seeds'?"),
        ({"network.loss": 3}, "must be an array of the values that 'network.loss' takes"),
        ({"network": {"loss": 3}}, "must be an array of the values that 'network.loss' takes"),
        ({"network.loss": []}, "must be an array"),
        ({"choose": {"by": "loss"}}, "needs 'over'"),
        ({"choose": {"by": "loss", "over": ["x"], "ovr": 1}}, "unknown key 'ovr'"),
        ({"zip": ["a"]}, "must be an array"),
    ],
)
def test_a_sweep_that_is_none_is_refused_with_its_place(own: dict[str, Any], why: str) -> None:
    read = load(TINY | {"sweep": own})
    with pytest.raises(ScenarioError) as caught:
        checked(read)
    assert why in str(caught.value)


def test_a_nested_table_names_the_same_keys_as_quotes() -> None:
    nested = load(TINY | {"sweep": {"network": {"loss": [0, 1]}}}).read.sweep.axes
    assert nested == load(TINY | {"sweep": {"network.loss": [0, 1]}}).read.sweep.axes


# killed and gone on with


@pytest.mark.slow
def test_a_killed_sweep_goes_on_and_its_table_is_that_of_an_undisturbed_one(tmp_path: Path) -> None:
    import subprocess
    import sys
    import time

    from tests.support.paths import ROOT

    (tmp_path / "w.toml").write_text(to_toml(TINY))
    words = ["--grid", "network.loss=0,0.1,0.2,0.3", "--seeds", "0..24", "-q", "-j", "2", "-o"]

    def begun(out: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "hush", "sweep", "w.toml", *words, out],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

    killed = begun("a")
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "a").glob("cells/*/summary.json"))) < 30:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    time.sleep(0.5)  # its workers end by themselves
    assert open_sweep(tmp_path / "a").manifest.status == "running"
    assert len(open_sweep(tmp_path / "a").rows) == 100
    ended = {
        path.parent.name
        for path in (tmp_path / "a").glob("cells/*/summary.json")
        if open_run(path.parent).status == "finished"
    }
    assert 30 <= len(ended) < 100
    before = started(tmp_path / "a")
    assert begun("a").wait(timeout=120) == 0
    after = started(tmp_path / "a")
    assert {name: after[name] for name in ended} == {name: before[name] for name in ended}
    assert len(after) == 100
    assert begun("b").wait(timeout=120) == 0
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")


@pytest.mark.parametrize(
    ("place", "table"),
    [
        ("data", {"source": "csv", "path": "no.csv", "label": "y"}),
        ("data", {"source": "files", "path": "no"}),
        ("data", {"source": "bank"}),
        ("data", {"source": "movielens"}),
        ("network.topology", {"kind": "file", "path": "no.txt"}),
        ("network.latency", {"kind": "matrix", "path": "no.txt"}),
        ("network.latency", {"kind": "trace", "path": "no.txt"}),
        ("nodes.0.clock", {"kind": "trace", "path": "no.txt"}),
    ],
    ids=lambda value: value.get("source", value.get("kind")) if isinstance(value, dict) else value,
)
@pytest.mark.parametrize("pays", [False, True])
def test_a_file_that_is_missing_is_told_before_anything_runs(
    place: str,
    table: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    pays: bool,
) -> None:
    """A cell is known by its files, so they are looked for before a plan would say that they are not there."""
    monkeypatch.delenv("HUSH_DATA", raising=False)
    choose = {"by": "accuracy.validation", "over": ["network.loss"], "epsilon": 1.0}
    paid: dict[str, Any] = {"choose": choose} if pays else {}
    changes = {place: table, "data.validation": 0.25, "seeds.data": 1}
    with pytest.raises(ScenarioError, match=r"no such file: \S*(no|bank|ml-100k)") as caught:
        sweep(TINY, grid=LOSSES, seeds="0..1", set=changes, out=tmp_path / "s", **paid)
    assert all(f"{place}: no such file" in str(problem) for problem in caught.value.problems)
    assert not (tmp_path / "s").exists()
