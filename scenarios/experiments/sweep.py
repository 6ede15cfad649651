"""Many runs: scenarios under every setting of a grid and every seed, each run once, in one table."""

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec

from scenarios.experiments import payment
from scenarios.experiments.cells import Done, Table, Work, damage, finished, folder_of, identities
from scenarios.experiments.choose import Choice, best, drawn
from scenarios.experiments.curves import write_curves
from scenarios.experiments.grid import Setting
from scenarios.experiments.orders import Order
from scenarios.experiments.settings import Judgement, Read, judge_settings, read_settings
from scenarios.experiments.shared_cells import SharedCells
from scenarios.experiments.table_metrics import asked, held, usual
from scenarios.language.json_numbers import show
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import changed
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import PlanningContext
from scenarios.planning.files import BadData
from scenarios.planning.scenario import read_again
from scenarios.planning.seeds import derived_seed, generator
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import environment, lock_folder, version
from scenarios.records.sweep_record import (
    CELLS,
    SWEEP_SCHEMA,
    Chosen,
    Row,
    SweepManifest,
    SweepRecord,
    is_sweep,
    write_manifest,
    write_table,
)
from scenarios.running.worker_processes import Here, Processes, Workers

_OFTEN_S, _SHARE = 2.0, 30
"""The table of a sweep that goes on is written so often, and no more than one part in so many of the time is spent on it."""
_NAME = 16
"""So many hexadecimal digits of its identity name the folder of a cell."""
_EPSILON = "epsilon.max"
_MISSING, _STOPPED = Done("missing", None), Done("stopped", None)
UNDECIDED = 4
"""The exit code of a sweep whose choice could not be made."""


class Watcher(Protocol):
    """What is told of a sweep while it goes on."""

    def begin(self, cells: int, known: int) -> None:
        """Learn how many cells there are, and how many of them have been run before."""
        ...

    def refuse(self, words: str) -> None:
        """Learn, in a sentence, that cells which were run before are damaged, and are run again."""
        ...

    def note(self, setting: Setting, seed: int, done: Done) -> None:
        """Learn what became of one cell."""
        ...

    def stop(self, cells: int) -> None:
        """Learn that so many cells will not be run, because they cannot win any more."""
        ...


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting under one seed."""

    read: Read
    seed: int
    name: str
    """The beginning of its identity: what its folder is called."""

    @property
    def place(self) -> tuple[int, int]:
        """The setting and the seed."""
        return self.read.setting.number, self.seed


def sweep_folder(places: Iterable[Path], *, new: bool) -> AbstractContextManager[Path]:
    """Hold the folder of a sweep; raise `FolderError` where what lies in it is no sweep."""
    return lock_folder(places, _refuse_foreign, new=new)


def _refuse_foreign(path: Path) -> None:
    if any(path.iterdir()) and not is_sweep(path):
        raise FolderError(f"{path} is not empty, and is no sweep: nothing was written")


class Sweeping:
    """A sweep that is being made. Raises `ScenarioError` with what can be seen of all its settings without their data."""

    def __init__(self, order: Order, *, here: bool = True) -> None:
        """Read every setting; `here` says that runs may be made in this process, where one worker is enough."""
        self.order = order
        self._here = here
        reads = read_settings(order.sources, order.grid)
        self.settings = [read.setting for read in reads]
        self.metrics, self.table = _columns(order, reads)
        self._options = replace(
            order.options,
            columns=tuple(sorted(self.table.held)),
            curves=order.curves,
            chosen_by=_unpaid_metric(order),
        )
        self.cells = list(self._cells(reads))
        self._done: dict[str, Done] = {}
        self._stopped: set[tuple[int, int]] = set()
        self._judged: dict[int, Judgement] = {}
        self._chosen: dict[int, tuple[float, float]] = {}
        """Each setting that was chosen, with Σε and Σδ over the runs of its group."""
        self._notes: list[str] = []
        self._begun = time.perf_counter()

    def _cells(self, reads: Sequence[Read]) -> Iterator[Cell]:
        """Yield every cell, in the order of the table. Raises `ScenarioError` where a file cannot be had."""
        without: list[Read] = []
        problem = ""
        for read in reads:
            try:
                yield from self._cells_of(read)
            except BadData as error:  # its plan says where in the scenario that file is named
                without.append(read)
                problem = str(error)
        if without:
            judge_settings(without, self.order.grid.seeds[0], Here(self._options), len(reads))
            raise ScenarioError.of("", problem)

    def _cells_of(self, read: Read) -> Iterator[Cell]:
        """Yield the cells of one setting. Raises BadData where a file that tells them apart cannot be had."""
        order, seeds = self.order, self.order.grid.seeds
        context = PlanningContext(read.scenario, replace(self._options, seed=seeds[0]))
        if order.choice is None or order.choice.epsilon is None:
            names = identities(context, seeds, order.given)
            yield from (Cell(read, s, n[:_NAME]) for s, n in zip(seeds, names, strict=True))
            return
        name = next(identities(context, seeds[:1], order.given))
        for seed in seeds:
            own = derived_seed(seed, f"{payment.NOISE}/{name}")
            yield self._with_noise(read, seed, own)

    def _with_noise(self, read: Read, seed: int, noise: int) -> Cell:
        """Return a cell whose noise is not that of other settings under the same seed."""
        if read.scenario.read.seeds.noise is not None:
            said = "seeds.noise is fixed: candidates would share their noise, and their ε would not add up"
            raise ScenarioError.of("choose.epsilon", said)
        source = changed(read.source, {"seeds.noise": noise}, "choose")
        scenario = checked(read_again(source))
        context = PlanningContext(scenario, replace(self.order.options, seed=seed))
        name = next(identities(context, [seed], self.order.given))
        return Cell(Read(read.setting, source, scenario), seed, name[:_NAME])

    def judge(self, *, everything: bool = False) -> None:
        """Plan the settings that are still to be run, or all of them, under the first seed.

        Raises `ScenarioError` with the problems of all of them.
        """
        with closing(self._workers(None)) as workers:
            self._judge(workers, everything=everything)

    def _judge(self, workers: Workers, *, everything: bool) -> None:
        open_ = {cell.read.setting.number for cell in self.cells if cell.name not in self._done}
        firsts = {cell.read.setting.number: cell.read for cell in reversed(self.cells)}
        due = [read for number, read in sorted(firsts.items()) if everything or number in open_]
        judgements = judge_settings(due, self.order.grid.seeds[0], workers, len(firsts))
        for read, judgement in zip(due, judgements, strict=True):
            self._judged[read.setting.number] = judgement
        choice = self.order.choice
        if choice is not None and choice.epsilon is not None:
            self._refuse_unpayable(choice)

    def _refuse_unpayable(self, choice: Choice) -> None:
        """Raise `ScenarioError` where a choice cannot be paid for, and say why."""
        for judgement in self._judged.values():
            if judgement.unpayable:
                said = f"cannot pay for this choice: {judgement.unpayable}"
                raise ScenarioError.of("choose.epsilon", said)
        for group in choice.groups(self.order.grid, self.settings):
            if len({self._judged[setting.number].held for setting in group}) > 1:
                said = "cannot pay for this choice: what is chosen changes the validation points"
                raise ScenarioError.of("choose.epsilon", said)

    def _workers(self, folder: Path | None) -> Workers:
        """Return what the work is done by; a cluster only where it sees the folder."""
        order = self.order
        if order.cluster is not None and folder is not None:
            from scenarios.experiments.cluster import Cluster

            heavy = order.options.data is not None or order.options.graph is not None
            return Cluster(order.cluster, self._options, folder, heavy=heavy)
        cores = min(64, os.cpu_count() or 1)
        jobs = max(1, min(order.jobs or cores, len(self.cells)))
        if jobs == 1 and self._here:
            return Here(self._options)
        return Processes(jobs, self._options)

    def perform(self, out: Path, watcher: Watcher) -> int:
        """Run what has not been run before, in a folder that this sweep alone works in; return the exit code.

        It is that of the first row whose run did not end with 0. The table is written from time to time; where
        `KeyboardInterrupt` leaves this, the folder says that the sweep was interrupted. Raises `ScenarioError` with the
        problems of all settings before anything runs.
        """
        self._begun = time.perf_counter()
        self._refuse_other(out)
        folder = out.resolve()
        damaged: dict[str, tuple[str, ...]] = {}
        for name in dict.fromkeys(cell.name for cell in self.cells):
            done = finished(folder_of(folder, name), self.table)
            if done is not None:
                self._done[name] = done
            elif why := damage(folder_of(folder, name)):
                damaged[name] = why
        paid = self.order.choice is not None and self.order.choice.epsilon is not None
        with closing(self._workers(folder)) as workers:
            if paid or any(cell.name not in self._done for cell in self.cells):
                self._judge(workers, everything=paid)
            if damaged:
                watcher.refuse(_damaged_in_words(damaged))
            watcher.begin(len(self.cells), sum(cell.name in self._done for cell in self.cells))
            try:
                self._write(out, "running")
                self._run(folder, workers, watcher)
                return self._conclude(out)
            except BaseException as error:
                cut = isinstance(error, KeyboardInterrupt)
                with suppress(OSError):
                    self._write(out, "interrupted" if cut else "failed")
                raise

    def _refuse_other(self, out: Path) -> None:
        """Raise `FolderError` where the folder holds a sweep of other scenarios, whose table would be lost.

        A scenario that was only renamed has cells in common with the former sweep.
        """
        if not is_sweep(out):
            return
        former, names = SweepRecord(out).manifest.scenarios, self._manifest("running").scenarios
        known = any(folder_of(out, cell.name).exists() for cell in self.cells)
        if former != names and not known:
            held, wanted = ", ".join(former), ", ".join(names)
            raise FolderError(
                f"{out} holds a sweep of {held}, not of {wanted}: choose another --out"
            )

    def _conclude(self, out: Path) -> int:
        """Choose, and write the table for the last time."""
        code = next((done.code for done in map(self._of, self.cells) if done.code), 0)
        if self.order.choice is not None and not self._choose(self.order.choice, out):
            code = code or UNDECIDED
        whole = all(self._of(cell).status in {"finished", "stopped"} for cell in self.cells)
        if self.order.curves:
            write_curves(out, self._manifest("finished"), self.rows())
        self._write(out, "finished" if whole else "failed")
        return code

    @property
    def trace(self) -> str:
        """Where a fault of hush happened in the first cell that had one; empty where none had."""
        return next((d.trace for d in map(self._of, self.cells) if d.trace), "")

    def _run(self, folder: Path, workers: Workers, watcher: Watcher) -> None:
        """Run every cell that is not done: all at once, or seed by seed where settings race."""
        shared = SharedCells(workers, self.table)
        written = _Written()
        for round_, cells in enumerate(self._rounds(), 1):
            of_name: dict[str, list[Cell]] = {}
            for cell in cells:
                if cell.place not in self._stopped and cell.name not in self._done:
                    of_name.setdefault(cell.name, []).append(cell)
            work = [
                Work(same[0].read.source, same[0].seed, folder_of(folder, name))
                for name, same in of_name.items()
            ]
            for one, done in shared.results(work):
                self._done[one.path.name] = done
                for cell in of_name[one.path.name]:
                    watcher.note(cell.read.setting, cell.seed, done)
                if written.is_due():
                    self._write(folder, "running")
                    written.note()
            self._stop_losers(round_, watcher)

    def _rounds(self) -> list[list[Cell]]:
        if self.order.race is None:
            return [self.cells]
        seeds = self.order.grid.seeds
        return [self.cells[i :: len(seeds)] for i in range(len(seeds))]

    def _stop_losers(self, seen: int, watcher: Watcher) -> None:
        """Stop the settings of each group that are beaten after so many seeds."""
        race, seeds = self.order.race, self.order.grid.seeds
        if race is None:
            return
        of_setting: dict[int, list[Cell]] = {}
        for cell in self.cells:
            of_setting.setdefault(cell.read.setting.number, []).append(cell)
        for group in self._groups():
            numbers = [setting.number for setting in group]
            racing = [n for n in numbers if (n, seeds[-1]) not in self._stopped]
            values = {
                n: [self._of(c).metrics.get(race.by, math.nan) for c in of_setting[n][:seen]]
                for n in racing
            }
            for number in race.losers(values, len(numbers)):
                late = of_setting[number][seen:]
                self._stopped |= {cell.place for cell in late}
                watcher.stop(len(late))

    def _groups(self) -> list[list[Setting]]:
        """Return the settings that compete with each other."""
        choice = self.order.choice
        return [self.settings] if choice is None else choice.groups(self.order.grid, self.settings)

    def _choose(self, choice: Choice, out: Path) -> bool:
        """Mark what is chosen of each group, and note what that means for ε; return whether each group had a best."""
        done = {cell.place: self._of(cell) for cell in self.cells}
        seeds = self.order.grid.seeds
        groups = choice.groups(self.order.grid, self.settings)
        undecided = 0
        for number, group in enumerate(groups):
            scores = {}
            for setting in group:
                values = [_score(done[setting.number, s], choice.by) for s in seeds]
                scores[setting.number] = math.fsum(values) / len(values)
            chosen = self._chosen_of(choice, number, group, scores, out)
            if chosen is None:
                undecided += 1
            else:
                self._chosen[chosen] = self._spent(group)
        self._notes += _words(choice, len(groups), undecided)
        if choice.epsilon is None:
            self._notes += self._unpaid(groups)
        return undecided == 0

    def _chosen_of(
        self,
        choice: Choice,
        number: int,
        group: Sequence[Setting],
        scores: dict[int, float],
        out: Path,
    ) -> int | None:
        """Return which setting of a group is chosen; None where that cannot be said."""
        if choice.epsilon is None:
            return best(scores, higher=choice.higher)
        if any(map(math.isnan, scores.values())):
            return None
        mine = {setting.number for setting in group}
        for cell in self.cells:
            if cell.read.setting.number not in mine:
                continue
            why = payment.why_not_released(RunRecord(folder_of(out, cell.name)))
            if why or not math.isfinite(self._of(cell).metrics[_EPSILON]):
                self._notes.append(f"nothing was chosen: {why or 'a run has no finite ε'}")
                return None
        moves = payment.sensitivity([self._judged[setting.number] for setting in group])
        rng = generator(self.order.grid.seeds[0], f"{payment.DRAW}/{number}")
        return drawn(scores, choice.epsilon, moves, rng)

    def _spent(self, group: Sequence[Setting]) -> tuple[float, float]:
        """Return Σε and Σδ over the runs of a group: basic composition, if each run has noise of its own."""
        mine = {setting.number for setting in group}
        runs = [self._of(cell) for cell in self.cells if cell.read.setting.number in mine]
        spent = [run for run in runs if _EPSILON in run.metrics]
        return math.fsum(r.metrics[_EPSILON] for r in spent), math.fsum(r.delta for r in spent)

    def _unpaid(self, groups: Sequence[Sequence[Setting]]) -> Iterator[str]:
        """Yield what a choice that was not paid for would cost."""
        yield (
            "the choice reads data, and ε does not cover it: the ε of a row is that of its run alone"
        )
        totals = [self._spent(group) for group in groups]
        worst = max(totals, default=(0.0, 0.0))
        if math.isfinite(worst[0]) and worst[0] > 0:
            runs = max(len(group) for group in groups) * len(self.order.grid.seeds)
            yield (
                f"by basic composition over the {runs} runs of all candidates and seeds, ε would be up to "
                f"{show(worst[0])} (δ {worst[1]:.3g}) for a training record, if each run had noise of its own; here runs "
                "of one seed share their draws"
            )

    def _of(self, cell: Cell) -> Done:
        """Return what became of a cell."""
        if cell.place in self._stopped:
            return _STOPPED
        return self._done.get(cell.name, _MISSING)

    def rows(self) -> list[Row]:
        """Return the rows of the table, in the order of the grid."""
        return [self._row(cell) for cell in self.cells]

    def _row(self, cell: Cell) -> Row:
        done, setting = self._of(cell), cell.read.setting
        choice, metrics = self.order.choice, dict(done.metrics)
        if choice is not None and choice.epsilon is not None and setting.number in self._chosen:
            spent = (*self._chosen[setting.number], choice.epsilon)
            metrics |= dict(zip(payment.COLUMNS, spent, strict=True))
        return Row(
            cell=setting.number,
            scenario=self.order.names[setting.scenario],
            settings=setting.labels,
            seed=cell.seed,
            status=done.status,
            code=done.code,
            verdict=done.verdict,
            metrics=metrics,
            wall_s=done.wall_s,
            run=folder_of(Path(), cell.name).as_posix() if done.wall_s is not None else "",
            message=done.message,
            chosen=choice is None or setting.number in self._chosen,
        )

    def _manifest(self, status: str) -> SweepManifest:
        order, choice = self.order, self.order.choice
        return SweepManifest(
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
            choice=None
            if choice is None
            else Chosen(choice.by, list(choice.over), choice.higher, choice.epsilon),
            notes=[*self._notes, *self._of_race()],
            wall_s=time.perf_counter() - self._begun,
            work_s=sum(done.work_s for done in self._done.values()),
        )

    def _of_race(self) -> list[str]:
        race = self.order.race
        if race is None:
            return []
        among = "of each choice " if self.order.choice is not None else ""
        return [
            f"settings {among}raced by {race.by}: {len(self._stopped)} of {len(self.cells)} cells were not run, because "
            f"their setting could not win any more (paired t-intervals, together at {race.confidence:.0%})"
        ]

    def _write(self, out: Path, status: str) -> None:
        manifest = self._manifest(status)
        # First: a folder with a table alone would be no sweep. One that is finished says so with the checksum of its table.
        begun = "running" if status == "finished" else status
        write_manifest(out, msgspec.structs.replace(manifest, status=begun))
        digest = write_table(out, manifest, self.rows())
        write_manifest(out, msgspec.structs.replace(manifest, table_sha256=digest))


def _unpaid_metric(order: Order) -> str | None:
    """Return the metric by which settings are chosen, or stopped by a race, at no ε; None where none is."""
    unpaid = (order.choice if order.choice and order.choice.epsilon is None else None, order.race)
    return next((way.by for way in unpaid if way is not None), None)


def _damaged_in_words(damaged: Mapping[str, Sequence[str]]) -> str:
    """Say which finished cells are damaged, and why the first of them is."""
    name, why = next(iter(damaged.items()))
    cells = "1 finished cell is" if len(damaged) == 1 else f"{len(damaged)} finished cells are"
    return f"{cells} damaged and run again; {CELLS}/{name}: {'; '.join(why)}"


def _score(done: Done, metric: str) -> float:
    """Return what a run is chosen by; NaN where it diverged: its last sample is of the time before."""
    return math.nan if done.verdict == "diverged" else done.metrics.get(metric, math.nan)


def _columns(order: Order, reads: Sequence[Read]) -> tuple[tuple[str, ...], Table]:
    """Return the columns of metrics, and what runs must hold therefore."""
    scenarios = [read.scenario for read in reads]
    named = asked(order.metrics, scenarios, "metrics")
    judged = asked((p.by for p in (order.choice, order.race) if p), scenarios, "choose and race")
    held_out = any(scenario.read.data.validation for scenario in scenarios)
    if not held_out and (void := [name for name in judged if ".validation" in name]):
        said = f"{', '.join(void)}: no validation points: give data.validation"
        raise ScenarioError.of("choose and race", said)
    of_choice = () if order.choice is None else (_EPSILON,)
    columns = tuple(dict.fromkeys((*(named or usual(scenarios)), *judged, *of_choice)))
    paid = order.choice is not None and order.choice.epsilon is not None
    shown = (*columns, *payment.COLUMNS) if paid else columns
    keys = {column for varied in order.grid.axes for column in varied.axis.columns}
    if clash := keys & set(shown):
        raise ScenarioError.of("metrics", f"{', '.join(sorted(clash))} varies already")
    wanted = columns if order.curves else (*named, *judged)
    sampled = held(wanted, last=False) if order.curves else frozenset[str]()
    return shown, Table(columns, held(wanted, last=True), sampled)


def _words(choice: Choice, groups: int, undecided: int) -> Iterator[str]:
    over, way = ", ".join(choice.over), "highest" if choice.higher else "lowest"
    if choice.epsilon is None:
        yield f"{over} chosen by {choice.by} (the {way} mean over seeds){_read_by(choice.by)}"
    else:
        yield (
            f"{over} drawn by the exponential mechanism with the mean of {choice.by} over seeds: each of {groups} choices "
            f"costs a validation record ε = {choice.epsilon:g}, together {groups * choice.epsilon:g}; a training record has "
            f"the ε and the δ of all candidates and seeds ({', '.join(payment.COLUMNS[:2])}: basic composition, view "
            "eavesdropper, one record of one agent replaced). It covers the choice, not the validation scores that this "
            "table shows"
        )
    if undecided:
        yield f"{undecided} of {groups} groups have no choice: no candidate has a value for every seed"


def _read_by(metric: str) -> str:
    """Return which data a choice by a metric reads, for a note."""
    if ".validation" in metric:
        return " on held-out data"
    if ".test" in metric:
        return ": on test points, so that the score of what is chosen is too good there"
    return ""


class _Written:
    """When the table of a sweep that goes on is to be written again."""

    def __init__(self) -> None:
        self._due = time.monotonic() + _OFTEN_S
        self._begun = 0.0

    def is_due(self) -> bool:
        self._begun = time.monotonic()
        return self._begun > self._due

    def note(self) -> None:
        now = time.monotonic()
        self._due = now + max(_OFTEN_S, _SHARE * (now - self._begun))
