"""Many runs: one scenario under many seeds, on this machine's cores."""

import argparse
import asyncio
import csv
import math
import os
import re
import sys
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.json_numbers import number
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.language.writer import to_toml
from scenarios.planning.check_scenario import CheckedScenario
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord, plan_text
from scenarios.records.run_folder import MANIFEST, folder_named, is_record, lock_folder, numbers
from scenarios.records.summary import settled
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from scenarios.running.worker_processes import INTERRUPTED, shared_out

_MOST = 100_000
UNKNOWN = 4
_PATIENCE_S = 2.0
"""So long a sweep waits for workers of a killed one to end: they do within a fraction of a second."""
_COLUMNS = ("loss", "accuracy", "rmse", "gain", "gap", "epsilon")


def seeds_of(text: str) -> range:
    """Read `A..B`, both ends included, or one number."""
    match = re.fullmatch(r"\s*(\d{1,18})\s*(?:\.\.\s*(\d{1,18})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not first <= last < first + _MOST:
        raise ScenarioError.of(
            "--seeds", f'must be such as "0..9", at most {_MOST:,} seeds, got {text}'
        )
    return range(first, last + 1)


def sweep_seeds(
    chosen: argparse.Namespace, options: dict[str, Any], loaded: CheckedScenario
) -> int:
    """Run a scenario under every seed; a finished one in the same folder is not run again.

    `options` are keywords of `make_plan`. Returns the exit code: that of the first run that did not end with 0.
    """
    text = chosen.seeds or loaded.read.sweep.seeds
    if text is None:
        raise ScenarioError.of(
            "--seeds", 'say which: --seeds 0..9, or [sweep] seeds = "0..9" in the file'
        )
    seeds = seeds_of(text)
    stem = f"runs/{loaded.name}-sweep-{seeds[0]}"
    places = [folder_named(chosen.out)] if chosen.out else numbers(stem)
    with lock_folder(
        places, lambda _: None, new=not chosen.out
    ) as out:  # what is there is gone on with
        return _sweep(chosen, options, seeds, out)


def _sweep(chosen: argparse.Namespace, options: dict[str, Any], seeds: range, out: Path) -> int:
    """Run every seed in a folder that this sweep alone works in."""
    jobs = min(chosen.jobs or 64, len(seeds), os.cpu_count() or 1)
    work = ((chosen.scenario, seed, out / f"seed-{seed}", options) for seed in seeds)
    rows, worst = [], 0
    try:
        with closing(shared_out(_cell, work, jobs)) as cells:
            for row in cells:
                if row["code"] == INTERRUPTED:
                    raise KeyboardInterrupt
                rows.append(row)
                worst = worst or row["code"]
                shown = "  ".join(
                    f"{k} {row[k]:.4g}" for k in _COLUMNS if isinstance(row.get(k), float)
                )
                word = "diverged" if row.get("verdict") == "diverged" else row["status"]
                say(f"seed {row['seed']:>6}  {word:<11} {shown}")
                sys.stdout.flush()
    except KeyboardInterrupt:
        done = f"{len(rows)} of {len(seeds)} seeds are done; --out {out} goes on with the others"
        raise KeyboardInterrupt(f"interrupted: {done}") from None
    _write(out / "sweep.csv", rows)
    _tell(rows, out)
    return worst


def _cell(scenario: str, seed: int, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Run one seed, or read it where it has been run."""
    plan = make_plan(scenario, seed=seed, **options)
    with ExitStack() as stack:
        _hold(path, stack)
        if any(path.iterdir()):
            row = _done(seed, path, to_toml(plan.resolved))
            if row is not None:
                return row
            for file in path.iterdir():
                file.unlink()
        outcome = asyncio.run(Run(plan, path, RunGovernor(), 1e12, AT_END_METRICS).perform())
    code = settled(outcome.summary) if outcome.code == UNKNOWN else outcome.code
    return _row(seed, code, outcome.summary)


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


_OF_A_RUN = {".json", ".jsonl", ".toml", ".csv", ".parquet", ".npz", ".new"}


def _done(seed: int, path: Path, wanted: str) -> dict[str, Any] | None:
    """Read a finished run of this very plan; None where it was cut off, so that it is to be run again.

    Anything else in the folder is refused: runs of other plans, and files that no run wrote.
    """
    planned = plan_text(path)
    if planned is not None and planned != wanted:
        raise FolderError(f"{path} holds a run of another plan: choose another --out")
    with suppress(FolderError):  # there is no manifest, or a file was torn: it was cut off
        record = RunRecord(path)
        if record.status == "finished" and record.is_judged:
            return _row(seed, settled(record.summary), record.summary)
    foreign = sorted(p.name for p in path.iterdir() if p.suffix not in _OF_A_RUN or not p.is_file())
    if foreign or (planned is None and not is_record(path)):
        named = ", ".join(foreign[:3]) or f"no {MANIFEST}"
        raise FolderError(
            f"{path} is no unfinished run to be run again ({named}): remove it, or choose another --out"
        )
    return None


def _row(seed: int, code: int, summary: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"seed": seed, "status": summary.get("status", "failed"), "code": code}
    if summary:
        row["verdict"] = summary.get("verdict")
        row["loss"] = _float(summary["loss"]["mean"])
        for score in ("accuracy", "rmse"):
            if score in summary:
                row[score] = _float(summary[score]["test"])
        row |= {key: _float(summary[key]) for key in ("gain", "gap")}
        row["epsilon"] = _float(summary["epsilon"]["max"])
        row["releases"] = summary["releases"]
    return row


def _float(value: Any) -> float | None:
    return None if value is None else number(value)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def _tell(rows: list[dict[str, Any]], out: Path) -> None:
    """Mean and standard error over seeds."""
    for name in _COLUMNS:
        values = [
            row[name]
            for row in rows
            if isinstance(row.get(name), float) and math.isfinite(row[name])
        ]
        if values:
            mean = sum(values) / len(values)
            spread = math.sqrt(sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1))
            error = f" ± {spread / math.sqrt(len(values)):.2g}" if len(values) > 1 else ""
            say(f"  {name:<10} {mean:.4g}{error}  ({len(values)} seeds)")
    say(f"  {out}/sweep.csv")
