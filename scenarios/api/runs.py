"""Runs a scenario from Python, or checks it."""

import asyncio
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction, signature
from pathlib import Path
from typing import Any, ParamSpec, SupportsIndex, TypeVar, cast

from scenarios.api.profiled import write_profile
from scenarios.api.result import Result
from scenarios.auditing.at_end_metrics import AT_END_METRICS
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.value_rules import number_of_seconds
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options
from scenarios.planning.files import data_folders
from scenarios.planning.given_scenario import load_for_points
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load
from scenarios.planning.wake_paths import AUTO
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import choose
from scenarios.running.control import InOtherThread, RunGovernor, Signals
from scenarios.running.profile import Profile
from scenarios.running.run import Run

Function = TypeVar("Function", bound=Callable[..., Any])
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Scenario = str | Path | Mapping[str, Any]
"""A name of the library, the path of a file, or a dict of the same shape as a file."""

_temporary: list[tempfile.TemporaryDirectory[str]] = []


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` returns: problems, or a plan."""

    problems: tuple[str, ...]
    """Every problem as `file:line:column: what, rule, value, nearest name`; empty where the scenario can run."""
    plan: Plan | None
    """What would run; None where there are problems."""

    @property
    def ok(self) -> bool:
        """Whether the scenario can run."""
        return not self.problems


def names_options(function: Function) -> Function:
    """Let a function name the nearest of its options where it is called with one that it does not have."""
    known = signature(function).parameters

    def refuse_unknown(names: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                hint = nearest(name, known)
                raise TypeError(f"{function.__name__}() has no option '{name}'; {hint}")

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        refuse_unknown(named)
        return function(*positional, **named)

    @wraps(function)
    async def call_later(*positional: Any, **named: Any) -> Any:
        refuse_unknown(named)
        return await function(*positional, **named)

    return cast("Function", call_later if iscoroutinefunction(function) else call)


def takes_options_of(
    other: Callable[Arguments, Any],
) -> Callable[[Callable[..., Returned]], Callable[Arguments, Returned]]:
    """Give a function that hands its arguments on to another the signature of that other, for callers and for mypy."""

    def sign(function: Callable[..., Returned]) -> Callable[Arguments, Returned]:
        result = signature(function).return_annotation
        shown = signature(other).replace(return_annotation=result)
        function.__signature__ = shown  # type: ignore[attr-defined] # `inspect.signature` reads it
        return names_options(function)

    return sign


def _seconds(until: float | str | None) -> float | None:
    """Read a number of seconds, or a duration as a scenario writes it."""
    if not isinstance(until, str):
        return until
    try:
        return number_of_seconds(until)
    except ValueError as error:
        raise ScenarioError.of("until", str(error)) from None


@names_options
def make_plan(
    scenario: Scenario,
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | str | None = None,
    engine: str | None = None,
    data: Any = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
    path: str = AUTO,
) -> Plan:
    """Read a scenario and return its plan; raise `ScenarioError` with every problem.

    `seed`, `until` (seconds, or a duration such as "250ms"), `engine` ("virtual" or "wall") and `set` (dotted keys and their values) come before what the
    scenario says. `data` is one pool of points, (X, y), which `[data] split` deals to the agents, or [(X0, y0), …], a pair
    for each of them; also a bunch, {"frame": a data frame, "label": its column}, {"pool": (X, y), "test": (X, y)}, or
    {"nodes": [(X0, y0), …], "test": …, "rows": …}. X and y may be arrays, lists, data frames or sparse matrices.
    `graph` is a networkx.Graph.
    `folders` are those that files may be read from, besides the scenario's own and those that HUSH_DATA names.
    `allow_code` lets the scenario run code of its own, `allow_large` lets it ask for more than the usual limits.
    `path` is how wakes are computed: "auto", "events" or "columns".
    """
    options = Options(
        seed,
        _seconds(until),
        engine,
        (*map(Path, folders), *data_folders()),
        allow_code,
        allow_large,
        data,
        graph,
        path=path,
    )
    read = load(scenario, set) if data is None else load_for_points(scenario, set)
    return resolve(checked(read), options)


@names_options
async def run(
    scenario: Scenario = "quickstart",
    *,
    seed: SupportsIndex | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    until: float | str | None = None,
    engine: str | None = None,
    data: Any = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
    out: str | Path | None = None,
    keep: str | Path | None = None,
    speed: float = math.inf,
    path: str = AUTO,
    profile: bool = False,
) -> Result:
    """Run a scenario: a name, a path, or a dict of the same shape; the other options are those of `check`.

    `out` is the folder that the run writes to. Without it the folder is temporary: the result says so (`temporary`), and
    it goes when Python ends. `keep` saves the temporary folder as that path once the run has ended, whatever ended it. Both
    are refused where they exist and are not empty. `speed` is simulated seconds per second of wall time.

    With `profile`, the result's `profile` tells where processor time went, and the folder holds `profile.svg` and
    `profile.folded`. What else happens in the main thread meanwhile is part of it.

    Raises `ScenarioError` where the scenario cannot run, `FolderError` where the folder cannot be had, and `RuntimeError`
    where nothing of the run could be judged, or a profile was asked for in another thread than the main one.

    SIGINT, SIGTERM, SIGHUP and SIGQUIT end the run early, with its folder closed. The signal is then handed on to the
    handler that the script had set, or to Python's own; if that returns, so does this function, with a result that is
    `interrupted` and warns when its figures are used.
    """
    with ExitStack() as stack:
        looking = stack.enter_context(Profile()) if profile else None
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
            path=path,
        )
        saved = None
        if out is not None:
            if keep is not None:
                raise FolderError("out names the folder already: give out or keep")
            folder = choose(plan.name, plan.seed, str(out))
        else:
            saved = None if keep is None else choose(plan.name, plan.seed, str(keep))
            folder = temporary_folder("run")
        # the wall engine paces itself; the governor holds back the virtual one
        governor = RunGovernor(speed=math.inf if plan.engine == "wall" else speed, watched=True)
        with Signals(governor, hands_on=True):
            try:
                outcome = await Run(plan, folder, governor, speed, AT_END_METRICS).perform()
                if looking is not None:
                    looking.stop()
                    write_profile(looking, folder, plan.name)
            finally:
                if saved is not None and folder.exists():
                    shutil.copytree(folder, saved, dirs_exist_ok=True)
    await asyncio.sleep(0)  # where asyncio answers SIGINT, it cancels here, not in what comes later
    if not outcome.summary:
        raise RuntimeError(outcome.message)
    temporary = out is None and saved is None
    return Result(saved or outcome.folder, outcome.code, temporary=temporary, warns=True)


def temporary_folder(name: str) -> Path:
    """Return a folder of a name that is not there yet, in a temporary one that goes when Python ends."""
    _temporary.append(tempfile.TemporaryDirectory(prefix="hush-"))
    return Path(_temporary[-1].name) / name


@takes_options_of(run)
def run_sync(scenario: Scenario = "quickstart", **options: Any) -> Result:
    """Do as `run`, with the same options, from code without an event loop, or beside one that runs.

    Beside one that runs, the run has a thread of its own, and signals reach it through this one.
    """

    def work() -> Result:
        return asyncio.run(run(scenario, **options))

    if not has_loop():
        return work()
    with Signals(InOtherThread(), hands_on=True), ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def has_loop() -> bool:
    """Whether an event loop runs in this thread, as in notebooks: then no run can have its own here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@takes_options_of(make_plan)
def check(scenario: Scenario, **options: Any) -> Checked:
    """Return the problems of a scenario, or its plan, without running it; the options are those of `run` that say what is run."""
    try:
        plan = make_plan(scenario, **options)
    except ScenarioError as error:
        return Checked(tuple(map(str, error.problems)), None)
    return Checked((), plan)
