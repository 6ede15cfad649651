"""What Python code and the command share: run, check, open."""

import asyncio
import math
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.conduct import Run
from scenarios.folder import choose
from scenarios.governor import Hand
from scenarios.plan import Plan
from scenarios.problem import ScenarioError
from scenarios.read import load
from scenarios.resolve import resolve
from scenarios.result import Result, open_run
from scenarios.settling import Options

__all__ = ["Checked", "check", "make_plan", "open_run", "run", "run_sync"]

_temporary: list[tempfile.TemporaryDirectory[str]] = []


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` found: problems, or a plan."""

    problems: tuple[str, ...]
    plan: Plan | None

    @property
    def ok(self) -> bool:
        """Whether the scenario can run."""
        return not self.problems


def make_plan(
    scenario: str | Path | Mapping[str, Any],
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | None = None,
    engine: str | None = None,
    data: Mapping[str, Any] | None = None,
    graph: Any = None,
    folders: tuple[Path, ...] = (),
    allow_code: bool = False,
    allow_large: bool = False,
) -> Plan:
    """Read and resolve a scenario; raise `ScenarioError` with every problem."""
    named = tuple(Path(p) for p in os.environ.get("HUSH_DATA", "").split(os.pathsep) if p)
    options = Options(seed, until, engine, (*folders, *named), allow_code, allow_large, data, graph)
    return resolve(load(scenario, set), options)


async def run(
    scenario: str | Path | Mapping[str, Any] = "quickstart",
    *,
    out: str | Path | None = None,
    speed: float = math.inf,
    **options: Any,
) -> Result:
    """Run a scenario: a name, a path, or a dict of the same shape.

    Without `out`, the folder is temporary and goes when Python ends.
    """
    plan = make_plan(scenario, **options)
    path = _temporary_folder() if out is None else choose(plan.name, plan.seed, str(out))
    outcome = await Run(plan, path, Hand(speed=_pace(plan, speed), watched=True), speed).perform()
    if not outcome.summary:
        raise RuntimeError(outcome.message)
    return Result(outcome.folder, outcome.code)


def _pace(plan: Plan, speed: float) -> float:
    """The wall engine paces itself; the virtual one is held back by the hand."""
    return math.inf if plan.engine == "wall" else speed


def _temporary_folder() -> Path:
    _temporary.append(tempfile.TemporaryDirectory(prefix="hush-"))
    return Path(_temporary[-1].name) / "run"


def run_sync(scenario: str | Path | Mapping[str, Any] = "quickstart", **options: Any) -> Result:
    """Do as `run`, from code without an event loop, or beside one that runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run(scenario, **options))
    found: list[Result | BaseException] = []

    def work() -> None:
        try:
            found.append(asyncio.run(run(scenario, **options)))
        except BaseException as error:  # noqa: BLE001 # carried to the caller's thread
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def check(scenario: str | Path | Mapping[str, Any], **options: Any) -> Checked:
    """Read, resolve and judge without running."""
    try:
        return Checked((), make_plan(scenario, **options))
    except ScenarioError as error:
        return Checked(tuple(map(str, error.problems)), None)
