"""Many runs: scenarios under every setting of a grid and every seed, each run once, in one table."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from scenarios.experiments.cells import Done, Work, finished, folder_of, identity_of, judge
from scenarios.experiments.grid import Grid, Setting
from scenarios.experiments.shared_cells import SharedCells
from scenarios.language.problems import Problem, ScenarioError
from scenarios.language.reader import Draft, Source, changed
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.context import Options, PlanningContext
from scenarios.planning.expectations import GoalTable
from scenarios.planning.metric_names import FIGURES, METRICS, is_known, known_names, split_metric
from scenarios.planning.plan import Plan
from scenarios.planning.scenario import read_again
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import environment, lock_folder, version
from scenarios.records.sweep_record import (
    SWEEP_SCHEMA,
    Row,
    SweepManifest,
    is_sweep,
    write_manifest,
    write_table,
)
from scenarios.running.worker_processes import Here, Processes, Workers

_OFTEN_S, _SHARE = 2.0, 30
"""The table of a sweep that goes on is written so often, and no more than one part in so many of the time is spent on it."""
_GRID = "--grid"
_AT_ONCE = 4
"""So many settings are named where one problem is that of several."""


class Watcher(Protocol):
    """What is told of a sweep while it goes on."""

    def begin(self, cells: int, known: int) -> None:
        """Learn how many cells there are, and how many of them have been run before."""
        ...

    def note(self, setting: Setting, seed: int, done: Done) -> None:
        """Learn what became of one cell."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a sweep is to do.

    `sources` are the scenarios as they were written, `names` what the table calls them. Without `metrics` the table has
    the usual ones.
    """

    sources: tuple[Source, ...]
    names: tuple[str, ...]
    grid: Grid
    options: Options
    metrics: tuple[str, ...] = ()
    jobs: int | None = None
    command: str = ""
    given: str = ""
    """The checksum of data that were handed over in Python."""


@dataclass(slots=True)
class Cell:
    """One setting under one seed."""

    setting: Setting
    seed: int
    name: str
    """The beginning of its identity: what its folder is called."""


@dataclass(slots=True)
class _Judged:
    """Every setting, read and checked, and the first one's plan."""

    settings: list[Setting]
    sources: list[Source]
    checked: list[CheckedScenario]
    plans: dict[int, Plan] = field(default_factory=dict)


def sweep_folder(places: Iterable[Path], *, new: bool) -> Any:
    """Hold the folder of a sweep; raise `FolderError` where what lies in it is no sweep."""
    return lock_folder(places, _refuse_foreign, new=new)


def _refuse_foreign(path: Path) -> None:
    if any(path.iterdir()) and not is_sweep(path):
        raise FolderError(f"{path} is not empty, and is no sweep: nothing was written")


class Sweeping:
    """A sweep that is being made. Raises `ScenarioError` with the problems of all its settings, before anything runs."""

    def __init__(self, order: Order, *, here: bool = True) -> None:
        """Judge the settings; `here` says that runs may be made in this process, where one worker is enough."""
        self.order = order
        self._here = here
        judged = _judge(order)
        self.settings = judged.settings
        self._sources = [_without_places(source) for source in judged.sources]
        self.metrics = order.metrics or usual_metrics(judged.plans.values())
        seeds = order.grid.seeds
        self.cells: list[Cell] = []
        for setting, scenario in zip(judged.settings, judged.checked, strict=True):
            for seed in seeds:
                context = PlanningContext(scenario, replace(order.options, seed=seed))
                name = identity_of(context, order.given)[:16]
                self.cells.append(Cell(setting, seed, name))
        self._done: dict[str, Done] = {}
        self._begun = time.perf_counter()

    def perform(self, out: Path, watcher: Watcher) -> int:
        """Run what has not been run before, in a folder that this sweep alone works in; return the exit code.

        It is that of the first row whose run did not end with 0. The table is written from time to time; where
        `KeyboardInterrupt` leaves this, the folder says that the sweep was interrupted.
        """
        self._begun = time.perf_counter()
        for cell in self.cells:
            if cell.name not in self._done:
                done = finished(folder_of(out, cell.name), self.metrics)
                if done is not None:
                    self._done[cell.name] = done
        watcher.begin(len(self.cells), sum(cell.name in self._done for cell in self.cells))
        self._write(out, "running")
        try:
            self._run(out, watcher)
        except BaseException:
            self._write(out, "interrupted")
            raise
        code = next((row.code for row in self.rows() if row.code), 0)
        whole = all(row.status == "finished" for row in self.rows())
        self._write(out, "finished" if whole else "failed")
        return code or 0

    def _run(self, out: Path, watcher: Watcher) -> None:
        """Run every cell that is not done."""
        of_name: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if cell.name not in self._done:
                of_name.setdefault(cell.name, []).append(cell)
        if not of_name:
            return
        work = [
            Work(self._sources[cells[0].setting.number], cells[0].seed, folder_of(out, name))
            for name, cells in of_name.items()
        ]
        jobs = max(1, min(self.order.jobs or min(64, os.cpu_count() or 1), len(work)))
        workers: Workers = Here() if jobs == 1 and self._here else Processes(jobs)
        due = time.monotonic() + _OFTEN_S
        shared = SharedCells(work, workers, self.order.options, self.metrics)
        with closing(workers):
            for one, done in shared.results():
                self._done[one.path.name] = done
                for cell in of_name[one.path.name]:
                    watcher.note(cell.setting, cell.seed, done)
                if time.monotonic() > due:
                    begun = time.monotonic()
                    self._write(out, "running")
                    now = time.monotonic()
                    due = now + max(_OFTEN_S, _SHARE * (now - begun))

    def rows(self) -> list[Row]:
        """Return the rows of the table, in the order of the grid."""
        missing = Done("missing", None)
        return [self._row(cell, self._done.get(cell.name, missing)) for cell in self.cells]

    def _row(self, cell: Cell, done: Done) -> Row:
        is_there = done.status in {"finished", "interrupted", "failed"} and done.wall_s is not None
        return Row(
            cell=cell.setting.number,
            scenario=self.order.names[cell.setting.scenario],
            settings=cell.setting.labels,
            seed=cell.seed,
            status=done.status,
            code=done.code,
            verdict=done.verdict,
            metrics=done.metrics,
            wall_s=done.wall_s,
            run=folder_of(Path(), cell.name).as_posix() if is_there else "",
            message=done.message,
        )

    def _write(self, out: Path, status: str) -> None:
        order = self.order
        manifest = SweepManifest(
            schema=SWEEP_SCHEMA,
            status=status,
            hush=version(),
            name=order.names[0] if len(order.names) == 1 else "sweep",
            scenarios=list(order.names),
            axes=[varied.axis for varied in order.grid.axes],
            seeds=list(order.grid.seeds),
            metrics=list(self.metrics),
            command=order.command,
            environment=environment(),
            wall_s=time.perf_counter() - self._begun,
            work_s=sum(done.work_s for done in self._done.values()),
        )
        write_manifest(out, manifest)
        write_table(out, manifest, self.rows())


def _without_places(source: Source) -> Source:
    """Return a source without the places of its keys: it was judged, and travels to workers."""
    return replace(source, draft=Draft(source.tree, {}, {}))


def _judge(order: Order) -> _Judged:
    """Read and judge every setting under the first seed, before anything runs."""
    judged = _Judged(list(order.grid.settings()), [], [])
    problems: dict[Problem, list[Setting]] = {}

    def attempt(setting: Setting, act: Callable[[], None]) -> None:
        try:
            act()
        except ScenarioError as error:
            for problem in error.problems:
                at_grid = problem.spot is not None and problem.spot.file == _GRID
                known = replace(problem, spot=None) if at_grid else problem
                problems.setdefault(known, []).append(setting)

    def read(setting: Setting) -> None:
        base = order.sources[setting.scenario]
        source = changed(base, setting.values, _GRID)
        tree = {key: value for key, value in source.tree.items() if key != "sweep"}
        source = replace(source, draft=replace(source.draft, tree=tree))
        judged.checked.append(checked(read_again(source)))
        judged.sources.append(source)

    for setting in judged.settings:
        attempt(setting, lambda setting=setting: read(setting))  # type: ignore[misc] # mypy: a default
    _raise(problems, len(judged.settings))

    def plan(setting: Setting) -> None:
        source = judged.sources[setting.number]
        judged.plans[setting.number] = judge(source, order.grid.seeds[0], order.options)

    for setting in judged.settings:
        attempt(setting, lambda setting=setting: plan(setting))  # type: ignore[misc] # mypy: a default
    _raise(problems, len(judged.settings))
    return judged


def _raise(problems: Mapping[Problem, Sequence[Setting]], settings: int) -> None:
    """Raise what was found; a problem of several settings is told once, and names them."""
    told = list[Problem]()
    for problem, those in problems.items():
        words = list(filter(None, (setting.in_words() for setting in those)))
        if not words or (problem.spot is not None and len(those) == settings > 1):
            told.append(problem)  # it is that of the scenario, whatever varies
            continue
        more = f"; and {len(words) - _AT_ONCE} more" if len(words) > _AT_ONCE else ""
        where = f"setting {'; '.join(words[:_AT_ONCE])}{more}"
        where += f": {problem.where}" if problem.where else ""
        told.append(replace(problem, where=where))
    if told:
        raise ScenarioError(told)


def usual_metrics(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Return the metrics of a table for which none were asked: what every summary says, and the figures of targets."""
    names: dict[str, None] = {"loss.mean": None}
    several = list(plans)
    scores = dict.fromkeys("accuracy" if plan.loss.margin else "rmse" for plan in several)
    for score in scores:
        names[f"{score}.test.mean"] = None
        validated = f"{score}.validation"
        if validated in METRICS and any(plan.shards.validation for plan in several):
            names[f"{validated}.mean"] = None
    names |= dict.fromkeys(("gain.mean", "gap", "epsilon.max", "releases.sum"))
    for plan in several:
        names |= {f"{figure}.{goal}": None for goal in plan.targets for figure in FIGURES}
    return tuple(names)


def metrics_asked(names: Iterable[str], targets: Iterable[str], option: str) -> tuple[str, ...]:
    """Return metrics as the table calls them, one of agents with its aggregate; raise `ScenarioError` for unknown names."""
    goals, asked = list(targets), dict[str, None]()
    for name in names:
        if not is_known(name, goals):
            from scenarios.language.problems import nearest

            raise ScenarioError.of(
                option, f"no metric '{name}'; {nearest(name, known_names(goals))}"
            )
        base, how = split_metric(name)
        metric = METRICS.get(base)
        asked[
            f"{name}.mean" if metric is not None and metric.per_agent and how is None else name
        ] = None
    return tuple(asked)


def goals_of(scenarios: Iterable[CheckedScenario]) -> dict[str, GoalTable]:
    """Return the targets of some scenarios by their names."""
    return {name: goal for scenario in scenarios for name, goal in scenario.read.targets.items()}
