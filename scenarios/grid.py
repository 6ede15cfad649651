"""Many runs: one scenario under many seeds, on this machine's cores."""

import argparse
import asyncio
import csv
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from scenarios.api import make_plan
from scenarios.conduct import Run
from scenarios.folder import FolderError, choose
from scenarios.governor import Hand
from scenarios.problem import Problem, ScenarioError
from scenarios.read import load
from scenarios.saying import say
from scenarios.summary import settled
from scenarios.values import number
from scenarios.write import to_toml

_MOST = 100_000
UNKNOWN = 4
_COLUMNS = ("loss", "accuracy", "rmse", "gain", "gap", "epsilon")


def seeds_of(text: str) -> range:
    """Read `A..B`, both ends included, or one number."""
    match = re.fullmatch(r"\s*(\d{1,18})\s*(?:\.\.\s*(\d{1,18})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not first <= last < first + _MOST:
        raise ScenarioError(
            [Problem("--seeds", f'must be such as "0..9", at most {_MOST:,} seeds, got {text}')]
        )
    return range(first, last + 1)


def sweep_seeds(chosen: argparse.Namespace, changes: dict[str, Any]) -> int:
    """Run every seed; a finished one in the same folder is not run again."""
    loaded = load(chosen.scenario, changes)
    text = chosen.seeds or loaded.read["sweep"].get("seeds")
    if text is None:
        raise ScenarioError(
            [Problem("--seeds", 'say which: --seeds 0..9, or [sweep] seeds = "0..9" in the file')]
        )
    seeds = seeds_of(text)
    out = Path(chosen.out) if chosen.out else choose(f"{loaded.name}-sweep", seeds[0], None)
    if out.exists() and not out.is_dir():
        raise FolderError(f"{out} is not a folder")
    out.mkdir(parents=True, exist_ok=True)
    options = {
        "set": changes,
        "folders": tuple(Path(p).resolve() for p in chosen.data),
        "allow_code": chosen.allow_code,
        "allow_large": chosen.allow_large,
    }
    work = (delayed(_cell)(chosen.scenario, seed, out / f"seed-{seed}", options) for seed in seeds)
    found = Parallel(
        n_jobs=min(chosen.jobs or 64, len(seeds), os.cpu_count() or 1), return_as="generator"
    )(work)
    rows, worst = [], 0
    for row in found:
        rows.append(row)
        worst = worst or row["code"]
        shown = "  ".join(f"{k} {row[k]:.4g}" for k in _COLUMNS if isinstance(row.get(k), float))
        word = "diverged" if row.get("verdict") == "diverged" else row["status"]
        say(f"seed {row['seed']:>6}  {word:<11} {shown}")
        sys.stdout.flush()
    _write(out / "sweep.csv", rows)
    _tell(rows, out)
    return worst


def _cell(scenario: str, seed: int, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Run one seed, or read it where it has been run."""
    plan = make_plan(scenario, seed=seed, **options)
    if path.exists() and any(path.iterdir()):
        return _done(seed, path, to_toml(plan.resolved))
    outcome = asyncio.run(Run(plan, path, Hand(), 1e12).perform())
    code = settled(outcome.summary) if outcome.code == UNKNOWN else outcome.code
    return _row(seed, code, outcome.summary)


def _done(seed: int, path: Path, wanted: str) -> dict[str, Any]:
    """Read a finished run of this very plan; anything else in the folder is refused."""
    resolved, summary = path / "resolved.toml", path / "summary.json"
    if not resolved.exists() or _without_comments(resolved.read_text("utf-8")) != wanted:
        raise FolderError(f"{path} holds a run of another plan: choose another --out")
    found = json.loads(summary.read_text("utf-8")) if summary.exists() else {}
    if found.get("status") != "finished":
        raise FolderError(f"{path} holds an unfinished run: remove it, or choose another --out")
    return _row(seed, settled(found), found)


def _without_comments(text: str) -> str:
    """Leave out what a run noted in its resolved scenario at its end."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


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
