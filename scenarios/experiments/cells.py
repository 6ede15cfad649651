"""One cell of a sweep: the hash by which it is found again, and running it, in whatever process."""

import asyncio
import hashlib
import json
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import Source
from scenarios.language.visible_text import visible
from scenarios.planning.blas_threads import OneThread
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.context import Options, PlanningContext
from scenarios.planning.own_code import failure_of_own
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.provenance import resolved_tree
from scenarios.planning.scenario import read_again
from scenarios.planning.scenario_tables import SEEDS
from scenarios.planning.wake_paths import AUTO
from scenarios.records.file_guard import FolderError
from scenarios.records.gate import flaws_of_cell
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import MANIFEST, SCHEMA, is_record, lock_folder, version
from scenarios.records.sample_values import value_in
from scenarios.records.summary import settled
from scenarios.records.sweep_record import CELLS
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from scenarios.running.worker_processes import INTERRUPTED

UNKNOWN, USAGE, OURS, DISK = 4, 2, 70, 74
_PATIENCE_S = 2.0
"""So long a cell waits for a worker of a killed sweep to end: it does within a fraction of a second."""
_LONGEST_MESSAGE = 1000
_one_at_a_time = threading.Lock()
_last: tuple[Source, CheckedScenario] | None = None
"""The scenario that was planned last in this process, as it was read."""
_UNTOLD = ("name", "summary", "tags", "extends", "sweep", "origin")
"""What a scenario says of itself that changes no run."""
_OF_A_RUN = {".json", ".jsonl", ".toml", ".csv", ".parquet", ".npz", ".hush", ".new"}


@dataclass(frozen=True, slots=True)
class Work:
    """One run that a sweep wants: a scenario as it was written, a seed, and the folder that the run goes to."""

    source: Source
    seed: int
    path: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one run, as the table has it."""

    status: str
    code: int | None
    verdict: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    delta: float = 0.0
    """The largest δ of any agent."""
    wall_s: float | None = None
    """Seconds that the run took, without its plan; from its record."""
    message: str = ""
    trace: str = ""
    """Where a fault of hush happened; empty where there was none."""
    work_s: float = 0.0
    """Seconds that it took here, all in all."""


@dataclass(frozen=True, slots=True)
class Table:
    """What the table of a sweep wants of each run: its columns, and the metrics that the run must hold therefore."""

    metrics: tuple[str, ...]
    held: frozenset[str] = frozenset()
    """Metrics that the last sample holds, or a finished run is run again: those that no run takes by itself."""
    sampled: frozenset[str] = frozenset()
    """Metrics that the first sample holds, or a finished run is run again."""


def identities(context: PlanningContext, seeds: Iterable[int], given: str = "") -> Iterator[str]:
    """Yield, for each seed, the hash of what a run of a scenario depends on, in 64 hexadecimal digits.

    It is that of the scenario in full (every default, every seed, the checksums of its files), without its name and its
    notes, of the version of hush, of the version of its record, of the path where one was asked for, and of
    the metric that settings are chosen by where no ε pays for that: its ε then does not cover the run. `given` is the checksum of data that were handed over
    in Python. Of data nothing is read but their checksums, and nothing is planned.
    """
    tree = resolved_tree(context)
    told = {key: value for key, value in tree.items() if key not in _UNTOLD}
    known = _canonical(
        {
            "plan": told,
            "data": tree["origin"]["sha256"],
            "code": _own_code(told, context.scenario.folder),
            "given": given,
            "hush": version(),
            "record": SCHEMA,
            **({} if context.path == AUTO else {"path": context.path}),
            **({} if context.options.chosen_by is None else {"chosen": context.options.chosen_by}),
        }
    )
    fixed = {purpose: getattr(context.read.seeds, purpose) for purpose in SEEDS}
    for seed in seeds:
        known["plan"]["run"]["seed"] = seed
        known["plan"]["seeds"] = {p: seed if own is None else own for p, own in fixed.items()}
        text = json.dumps(known, sort_keys=True, separators=(",", ":"))
        yield hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    """Return a value with one form for each number: 1.0 is 1."""
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _own_code(tree: Any, folder: Path) -> dict[str, str]:
    """Return the checksums of the modules of the scenario's own that a scenario names, as far as they lie beside it."""
    found: dict[str, str] = {}
    for kind in _own_kinds(tree):
        file = folder.joinpath(*kind.partition(":")[0].split(".")).with_suffix(".py")
        if file.is_file():
            found[kind] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def _own_kinds(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        kinds = (tree.get("kind"), tree.get("source"))
        yield from (kind for kind in kinds if isinstance(kind, str) and ":" in kind)
        tree = list(tree.values())
    for item in tree if isinstance(tree, list) else ():
        yield from _own_kinds(item)


def folder_of(sweep: Path, name: str) -> Path:
    """Return the folder of a cell in that of its sweep."""
    return sweep / CELLS / name


def plan_of(source: Source, seed: int, options: Options) -> Plan:
    """Return the plan of a cell. Raises `ScenarioError` with everything that is wrong with it."""
    global _last  # noqa: PLW0603 # cells of one setting follow each other
    scenario = _last[1] if _last is not None and _last[0] is source else checked(read_again(source))
    _last = None  # where planning fails, the problems stay with the scenario
    plan = resolve(scenario, replace(options, seed=seed))
    _last = source, scenario
    return plan


def finished(path: Path, table: Table) -> Done | None:
    """Read a cell that has been run; None where there is no finished run, or it holds too few metrics.

    A run is finished where its files are what their checksums say, and its record ends with the event `finished`.
    """
    if not path.exists():
        return None
    with suppress(FolderError):  # there is no manifest, or a file was torn: it was cut off
        record = RunRecord(path)
        if record.status != "finished" or flaws_of_cell(record) or record.summary_file is None:
            return None
        values = record.last_sample
        first = next(record.curves(), (0.0, {}))[1] if table.sampled else {}
        if table.held <= values.keys() and table.sampled <= first.keys():
            summary = record.summary_file
            return _done(settled(summary), summary, values, table.metrics)
    return None


def damage(path: Path) -> tuple[str, ...]:
    """Return why a run that its manifest calls finished cannot be used, a sentence each; empty where it can, or is not over."""
    try:
        record = RunRecord(path)
    except FolderError:  # there is no manifest that can be read: nothing says that it is finished
        return ()
    return flaws_of_cell(record) if record.manifest["status"] == "finished" else ()


def run_cells(work: Sequence[Work], table: Table, options: Options) -> list[Done]:
    """Run some cells, one after the other, up to one that was interrupted; what goes wrong with one is told in its row.

    In one process one cell runs at a time, whichever threads call this: a run owns the settings of its process.
    """
    with _one_at_a_time:
        rows = list[Done]()
        for one in work:
            rows.append(run_cell(one, table, options))
            if rows[-1].code == INTERRUPTED:
                break
        return rows


def run_cell(work: Work, table: Table, options: Options) -> Done:
    """Run one cell; whatever goes wrong is told in its row."""
    begun = time.perf_counter()
    trace = ""
    try:
        done = _run(work, table, options)
    except (ScenarioError, FolderError) as error:
        done = Done("failed", USAGE, message=_one_line(error))
    except MemoryError:
        done = Done("failed", USAGE, message="out of memory; a smaller scenario would fit")
    except OSError as error:
        done = Done("failed", DISK, message=_one_line(error.strerror or error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 # the other cells go on
        failure = failure_of_own(error)
        if failure is None:
            said = f"{type(error).__name__}: {_one_line(error)}"
            done, trace = Done("failed", OURS, message=said), traceback.format_exc()
        else:
            done = Done("failed", USAGE, message=_one_line(failure))
    return replace(done, trace=trace, work_s=time.perf_counter() - begun)


def _one_line(error: object) -> str:
    """Return what an error says in one line, cut short where it is very long."""
    text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    return visible(text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…")


@OneThread()
def _run(work: Work, table: Table, options: Options) -> Done:
    with ExitStack() as stack:
        _hold(work.path, stack)
        if any(work.path.iterdir()):
            done = finished(work.path, table)
            if done is not None:
                return done
            _clear(work.path)
        plan = plan_of(work.source, work.seed, options)
        run = Run(plan, work.path, RunGovernor(), 1e12, AT_END_METRICS)
        outcome = asyncio.run(run.perform())
    code = settled(outcome.summary) if outcome.code == UNKNOWN else outcome.code
    last = run.observers.last
    values = {} if last is None else last.values
    done = _done(code, outcome.summary, values, table.metrics)
    return replace(done, status=outcome.status, message=_one_line(outcome.message))


def _hold(path: Path, stack: ExitStack) -> None:
    """Hold a cell's folder; a worker of a sweep that was killed has it until it ends, which is soon."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            stack.enter_context(lock_folder([path], lambda _: None))
        except FolderError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _clear(path: Path) -> None:
    """Remove what a run that was cut off left; files that no run wrote are left alone, and refused."""
    foreign = sorted(p.name for p in path.iterdir() if p.suffix not in _OF_A_RUN or not p.is_file())
    if foreign or not is_record(path):
        named = ", ".join(foreign[:3]) or f"no {MANIFEST}"
        said = f"{path} is no unfinished run to be run again ({named})"
        raise FolderError(f"{said}: remove it, or choose another folder")
    for file in path.iterdir():
        file.unlink()


def _done(
    code: int, summary: Mapping[str, Any], values: Mapping[str, Any], metrics: Sequence[str]
) -> Done:
    """Return the row of a run from its summary and its last sample."""
    if not summary:
        return Done("failed", code)
    targets = summary.get("targets") or {}
    return Done(
        str(summary["status"]),
        code,
        str(summary.get("verdict", "")),
        {name: value_in(name, values, targets) for name in metrics},
        delta=float((summary.get("epsilon") or {}).get("delta") or 0.0),
        wall_s=summary.get("wall_s"),
    )
