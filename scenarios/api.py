"""What Python code and the command share: run, check, open."""

import asyncio
import math
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.problems import ScenarioError
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.records.file_guard import FolderError
from scenarios.records.result import InterruptedRun, Result, open_run
from scenarios.records.run_folder import choose
from scenarios.running.control import Elsewhere, RunGovernor, Signals
from scenarios.running.run import Run

__all__ = ["Checked", "InterruptedRun", "check", "make_plan", "open_run", "run", "run_sync"]

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
    keep: str | Path | None = None,
    speed: float = math.inf,
    **options: Any,
) -> Result:
    """Run a scenario: a name, a path, or a dict of the same shape.

    `out` is the folder that the run writes to. Without it the folder is temporary: the result says
    so (`temporary`), and it goes when Python ends. `keep` saves the temporary folder as that path once
    the run has ended, whatever ended it. Both are refused where they exist and are not empty.

    SIGINT, SIGTERM, SIGHUP and SIGQUIT end the run early, with its folder closed. The signal is then
    handed on to the handler that the script had set, or to Python's own; if that returns, so does this
    function, with a result that is `interrupted` and warns when its figures are used.
    """
    plan = make_plan(scenario, **options)
    saved = None
    if out is not None:
        if keep is not None:
            raise FolderError("out names the folder already: give out or keep")
        path = choose(plan.name, plan.seed, str(out))
    else:
        saved = None if keep is None else choose(plan.name, plan.seed, str(keep))
        path = _temporary_folder()
    governor = RunGovernor(speed=_pace(plan, speed), watched=True)
    with Signals(governor, hands_on=True):
        try:
            outcome = await Run(plan, path, governor, speed, AT_END_METRICS).perform()
        finally:
            if saved is not None and path.exists():
                shutil.copytree(path, saved, dirs_exist_ok=True)
    await asyncio.sleep(0)  # where asyncio answers SIGINT, it cancels here, not in what comes later
    if not outcome.summary:
        raise RuntimeError(outcome.message)
    temporary = out is None and saved is None
    return Result(saved or outcome.folder, outcome.code, temporary=temporary, warns=True)


def _pace(plan: Plan, speed: float) -> float:
    """The wall engine paces itself; the virtual one is held back by the hand."""
    return math.inf if plan.engine == "wall" else speed


def _temporary_folder() -> Path:
    _temporary.append(tempfile.TemporaryDirectory(prefix="hush-"))
    return Path(_temporary[-1].name) / "run"


def run_sync(scenario: str | Path | Mapping[str, Any] = "quickstart", **options: Any) -> Result:
    """Do as `run`, from code without an event loop, or beside one that runs.

    Beside one that runs, the run has a thread of its own, and signals reach it through this one.
    """
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
    with Signals(Elsewhere(), hands_on=True):
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
