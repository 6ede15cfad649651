"""Print which functions run, file after file, on five ways through hush, and write them into architecture.md.

A profiler hook sees every call. Functions of other packages are left out. Of each way the page shows the functions in the
order in which they first run; the wake is shown call by call.

    python docs/print_walks.py            # write the section of docs/architecture.md
    python docs/print_walks.py --print    # print it
"""

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import grimp

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- walks: written by docs/print_walks.py -->", "<!-- end of walks -->"
PACKAGES = ("actors", "clocks", "mechanisms", "scenarios", "hush")
EMIT, RESUMED = "Log.emit", "resumed"

WORLD: dict[str, Any] = {
    "schema": 1,
    "name": "one-wake",
    "run": {"seed": 1, "horizon": 30.0, "sample_every": 30.0},
    "data": {"source": "separators", "dimension": 3, "points": 20, "test_points": 0},
    "network": {"topology": "ring", "latency": "10ms"},
    "nodes": [{"count": 4, "budget": {"epsilon": 8.0, "delta": 1e-5}}],
    "mechanism": {"kind": "cd", "noise": "norm-gamma", "releases": 20},
    "fault": [{"at": 12.0, "for": 3.0, "crash": [1]}],
}
TYPO = 'schema = 1\nname = "typo"\n[network]\nlos = 0.1\n'


class Call(NamedTuple):
    """One call: the file and function, those that called it, and whether a coroutine went on in it."""

    file: str
    function: str
    caller: str
    calling: str
    resumed: bool
    depth: int


class Recorder:
    """Records the calls of functions in hush, as `sys.setprofile` reports them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._files: dict[CodeType, str] = {}
        self._stack: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record until the block ends."""
        sys.setprofile(self._hook)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _file(self, code: CodeType) -> str:
        found = self._files.get(code)
        if found is None:
            path = Path(code.co_filename)
            inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            found = self._files[code] = path.relative_to(ROOT).as_posix() if inside else ""
        return found

    def _hook(self, frame: FrameType, what: str, _: object) -> None:
        if what not in {"call", "return"}:
            return
        file, function = self._file(frame.f_code), frame.f_code.co_qualname
        if not file or frame.f_code.co_name in {"<listcomp>", "<genexpr>", "<dictcomp>", "<module>"}:
            return
        if what == "return":
            if self._stack:
                self._stack.pop()
            return
        caller, calling = self._stack[-1] if self._stack else ("", "")
        resumed = frame.f_lasti > 0 and frame.f_code.co_flags & 0x2A0 != 0  # generators, coroutines
        resumed = resumed and _has_run(frame)
        self.calls.append(Call(file, function, caller, calling, resumed, len(self._stack)))
        self._stack.append((file, function))


def _has_run(frame: FrameType) -> bool:
    """Whether a coroutine went on: a new one stands before its first line."""
    return frame.f_lineno != frame.f_code.co_firstlineno


def files(calls: list[Call]) -> list[str]:
    """Return the files that calls visit, in the order in which they are first visited."""
    return list(dict.fromkeys(call.file for call in calls))


def upward(calls: list[Call]) -> list[Call]:
    """Return the calls against the direction of imports: what is called imports its caller.

    Events are told upward by `Log.emit`, and the clock resumes what waits for it: these are left out.
    """
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    found = list[Call]()
    for call in calls:
        if not call.caller or call.file == call.caller or call.resumed or call.calling == EMIT:
            continue
        one, other = _module(call.file), _module(call.caller)
        if graph.find_shortest_chain(importer=one, imported=other) is not None:
            found.append(call)
    return found


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def one_wake() -> list[Call]:
    """Record one wake that ends in a release: from the clock's entry until it is over.

    The wake needs no new block of random draws; every 32nd message and every 64th wake of an agent draws one.
    """
    for calls in _entries(_run(WORLD | {"fault": []})):
        functions = {call.function for call in calls}
        draws = {"clocks/durations.py", "scenarios/planning/seeds.py"} & set(files(calls))
        if {"Agent._release", "Agent.merge", "Outbox.broadcast"} <= functions and not draws:
            return calls
    raise LookupError("no wake released anything")


def one_crash() -> list[Call]:
    """Record a crash that a scenario declares: from the clock's entry until it is over."""
    for calls in _entries(_run(WORLD)):
        if any(call.function == "Membership.crash" for call in calls):
            return calls
    raise LookupError("no agent crashed")


def _entries(calls: list[Call]) -> Iterator[list[Call]]:
    """Cut a run into the entries that its clock serves."""
    entry: list[Call] = []
    for call in calls:
        if call.calling == "VirtualClock._slice":
            if entry:
                yield entry
            entry = []
        if entry or call.calling == "VirtualClock._slice":
            entry.append(call)
    if entry:
        yield entry


def _run(tree: dict[str, Any]) -> list[Call]:
    from scenarios.api import make_plan
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(make_plan(tree), Path(folder) / "run", RunGovernor(), 1.0)
        with recorder.recording():
            asyncio.run(run.perform())
    return recorder.calls


def one_error() -> list[Call]:
    """Record `hush check` of a file with one error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "typo.toml"
        path.write_text(TYPO, encoding="utf-8")
        return _command("check", str(path))


def one_audit() -> list[Call]:
    """Record `hush audit` with a few runs."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _command("audit", "quickstart", "--runs", "20")


def one_frame() -> list[Call]:
    """Record one frame of the console on a finished run."""
    from scenarios.api import run as run_world

    with tempfile.TemporaryDirectory() as folder:
        result = run_world(WORLD, folder=Path(folder) / "run")
        return _frame(result.path)


def _frame(folder: Path) -> list[Call]:
    raise NotImplementedError(folder)


def _command(*arguments: str) -> list[Call]:
    from scenarios.command.main import main

    recorder, said = Recorder(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        with recorder.recording(), contextlib.suppress(SystemExit):
            main(list(arguments))
    return recorder.calls
