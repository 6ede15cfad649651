"""Runs of hush to be measured: their plans, the path that computes wakes, the event loop alone and the whole."""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import Skip
from scenarios.api.runs import make_plan
from scenarios.planning.plan import Plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run

PATHS = ("events", "columns")
HAS_PATHS = "path" in Plan.__dataclass_fields__
"""Version 0.8.0 and older compute every wake in the detailed way, and have no name for it."""


class Ran(NamedTuple):
    """What a run took, in seconds of processor time."""

    loop: float
    """Of the time that passed in the world: from its first instant to its last."""
    whole: float
    """Of all of it: opening the folder, the samples, the end and the report."""
    run: Run


def plan_of(world: Mapping[str, Any], path: str = "auto", **options: Any) -> Plan:
    """Return the plan of a world that is computed by a path; raise `Skip` where this version has no such path."""
    plan = make_plan(world, allow_large=True, **options)
    return on_path(plan, path)


_refused: dict[str, str] = {}
"""Why paths cannot be taken, as `try_path` found out."""


def try_path(plan: Plan, path: str) -> None:
    """Find out on a small plan whether this version takes a path."""
    try:
        execute(on_path(plan, path))
    except Skip as reason:
        _refused[path] = str(reason)


def on_path(plan: Plan, path: str) -> Plan:
    """Return the same plan, computed by another path.

    Raises `Skip` where this version has no such path, or did not take it when it was tried.
    """
    if path in _refused:
        raise Skip(_refused[path])
    if HAS_PATHS:
        return replace(plan, path=path)  # type: ignore[call-arg,unused-ignore] # 0.8.0 has no paths
    if path in {"auto", "events"}:
        return plan
    raise Skip("this version of hush has one path only")


def execute(
    plan: Plan,
    *,
    at_begin: Callable[[], object] = lambda: None,
    at_end: Callable[[], object] = lambda: None,
) -> Ran:
    """Run a plan, and return what it took.

    The oracle's optimum is computed before. `at_begin` is called when time begins to pass, and `at_end` when it is over.
    Raises `Skip` where another path was asked for than the one that the run took, and SystemExit where the run failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = Run(plan, Path(folder) / "run", RunGovernor(), 1.0)
        _ = run.observers.snapshot.optimum, run.observers.snapshot.local
        spent = [0.0]
        passing = run.clock.run

        async def loop(*arguments: Any) -> None:
            at_begin()
            begun = time.process_time()
            try:
                await passing(*arguments)
            finally:
                spent[0] += time.process_time() - begun
                at_end()

        run.clock.run = loop  # type: ignore[method-assign,assignment]
        begun = time.process_time()
        outcome = asyncio.run(run.perform())
        whole = time.process_time() - begun
        if outcome.code:
            raise SystemExit(f"a run ended with code {outcome.code}: {outcome.message}")
        _refuse_other_path(plan, Path(folder) / "run")
        return Ran(spent[0], whole, run)


def _refuse_other_path(plan: Plan, folder: Path) -> None:
    """Raise `Skip` where the run did not take the path that was asked for."""
    if plan.path == "auto":
        return
    taken = json.loads((folder / "manifest.json").read_text("utf-8"))["path"]
    if taken != plan.path:
        raise Skip(f"{plan.path} was asked for, the run took {taken}")
