"""The Python interface: run a scenario, check it, open a run."""

import asyncio
import math
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction, signature
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar, cast

from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.problems import ScenarioError, nearest
from scenarios.planning.check_scenario import judged
from scenarios.planning.context import Options, data_folders
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.records.file_guard import FolderError
from scenarios.records.result import InterruptedRun, Result, open_run
from scenarios.records.run_folder import choose
from scenarios.running.control import InOtherThread, RunGovernor, Signals
from scenarios.running.run import Run

__all__ = ["Checked", "InterruptedRun", "check", "make_plan", "open_run", "run", "run_sync"]

Function = TypeVar("Function", bound=Callable[..., Any])
Scenario = str | Path | Mapping[str, Any]
"""A name of the library, the path of a file, or a dict of the same shape as a file."""

_temporary: list[tempfile.TemporaryDirectory[str]] = []


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` returns: problems, or a plan."""

    problems: tuple[str, ...]
    plan: Plan | None

    @property
    def ok(self) -> bool:
        """Whether the scenario can run."""
        return not self.problems


def names_options(function: Function) -> Function:
    """Let a function name the nearest of its options where it is called with one that it does not have."""
    known = signature(function).parameters

    def refuse_unknown(given: Iterable[str]) -> None:
        for name in given:
            if name not in known:
                said = f"{function.__name__}() has no option '{name}'; {nearest(name, known)}"
                raise TypeError(said)

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        refuse_unknown(named)
        return function(*positional, **named)

    @wraps(function)
    async def call_later(*positional: Any, **named: Any) -> Any:
        refuse_unknown(named)
        return await function(*positional, **named)

    return cast("Function", call_later if iscoroutinefunction(function) else call)


@names_options
def make_plan(
    scenario: Scenario,
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | None = None,
    engine: str | None = None,
    data: Mapping[str, Any] | None = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
) -> Plan:
    """Read and settle a scenario; raise `ScenarioError` with every problem.

    `seed`, `until` (seconds), `engine` ("virtual" or "wall") and `set` (dotted keys and their values) come before what the
    scenario says. `data` is {"nodes": [(x, y), …]}, with "test" for common test points; `graph` is a networkx.Graph.
    `folders` are those that files may be read from, besides the scenario's own and those that HUSH_DATA names.
    `allow_code` lets the scenario run code of its own, `allow_large` lets it ask for more than the usual limits.
    """
    options = Options(
        seed,
        until,
        engine,
        (*map(Path, folders), *data_folders()),
        allow_code,
        allow_large,
        data,
        graph,
    )
    return resolve(judged(load(scenario, set)), options)


@names_options
async def run(
    scenario: Scenario = "quickstart",
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | None = None,
    engine: str | None = None,
    data: Mapping[str, Any] | None = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
    out: str | Path | None = None,
    keep: str | Path | None = None,
    speed: float = math.inf,
) -> Result:
    """Run a scenario: a name, a path, or a dict of the same shape; the other options are those of `make_plan`.

    `out` is the folder that the run writes to. Without it the folder is temporary: the result says so (`temporary`), and
    it goes when Python ends. `keep` saves the temporary folder as that path once the run has ended, whatever ended it. Both
    are refused where they exist and are not empty. `speed` is simulated seconds per second of wall time.

    Raises `ScenarioError` where the scenario cannot run, `FolderError` where the folder cannot be had, and `RuntimeError`
    where nothing of the run could be judged.

    SIGINT, SIGTERM, SIGHUP and SIGQUIT end the run early, with its folder closed. The signal is then handed on to the
    handler that the script had set, or to Python's own; if that returns, so does this function, with a result that is
    `interrupted` and warns when its figures are used.
    """
    plan = make_plan(
        scenario,
        seed=seed,
        set=set,
        until=until,
        engine=engine,
        data=data,
        graph=graph,
        folders=folders,
        allow_code=allow_code,
        allow_large=allow_large,
    )
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


@names_options
def run_sync(
    scenario: Scenario = "quickstart",
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | None = None,
    engine: str | None = None,
    data: Mapping[str, Any] | None = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
    out: str | Path | None = None,
    keep: str | Path | None = None,
    speed: float = math.inf,
) -> Result:
    """Do as `run`, from code without an event loop, or beside one that runs.

    Beside one that runs, the run has a thread of its own, and signals reach it through this one.
    """

    def work() -> Result:
        return asyncio.run(
            run(
                scenario,
                seed=seed,
                set=set,
                until=until,
                engine=engine,
                data=data,
                graph=graph,
                folders=folders,
                allow_code=allow_code,
                allow_large=allow_large,
                out=out,
                keep=keep,
                speed=speed,
            )
        )

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    done: list[Result | BaseException] = []

    def work_aside() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 # carried to the caller's thread
            done.append(error)

    thread = threading.Thread(target=work_aside)
    with Signals(InOtherThread(), hands_on=True):
        thread.start()
        thread.join()
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


@names_options
def check(
    scenario: Scenario,
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | None = None,
    engine: str | None = None,
    data: Mapping[str, Any] | None = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
) -> Checked:
    """Read, judge and settle a scenario without running it; the options are those of `make_plan`."""
    try:
        plan = make_plan(
            scenario,
            seed=seed,
            set=set,
            until=until,
            engine=engine,
            data=data,
            graph=graph,
            folders=folders,
            allow_code=allow_code,
            allow_large=allow_large,
        )
    except ScenarioError as error:
        return Checked(tuple(map(str, error.problems)), None)
    return Checked((), plan)
