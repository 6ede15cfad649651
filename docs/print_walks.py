"""Print which functions run, file after file, on five ways through hush, and write them into architecture.md.

A profiler hook sees every call; functions of other packages are left out. The wake is shown hop by hop, the others file
by file, in the order in which functions first run.

    python docs/print_walks.py            # write the section of docs/architecture.md
    python docs/print_walks.py --print    # print it
"""

import argparse
import asyncio
import contextlib
import io
import math
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
EMIT = "Log.emit"

WORLD: dict[str, Any] = {
    "schema": 1,
    "name": "one-wake",
    "run": {"seed": 1, "horizon": 30.0, "sample_every": 30.0},
    "data": {"source": "separators", "dimension": 3, "points": 20, "test_points": 0},
    "network": {"topology": "ring", "latency": "10ms"},
    "nodes": [{"count": 4, "budget": {"epsilon": 8.0, "delta": 1e-5}}],
    "mechanism": {"kind": "cd", "noise": "norm-gamma", "releases": 20},
    "privacy": {"calibrate": "kov"},
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
        if not file or frame.f_code.co_name in {
            "<listcomp>",
            "<genexpr>",
            "<dictcomp>",
            "<module>",
        }:
            return
        if what == "return":
            if self._stack:
                self._stack.pop()
            return
        caller, calling = self._stack[-1] if self._stack else ("", "")
        # RESUME, where the hook is called, has the argument 0 at the start of a function
        resumed = frame.f_code.co_code[frame.f_lasti + 1] & 3 != 0
        self.calls.append(Call(file, function, caller, calling, resumed, len(self._stack)))
        self._stack.append((file, function))


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


STEPS = {"Mailbox._accept", "Agent._release", "Outbox.broadcast"}
"""What a wake does that reads messages and releases, event by event."""


def one_wake() -> list[Call]:
    """Record one wake that ends in a release, each event by itself: from the clock's entry until it is over.

    The wake needs no new block of random draws; every 32nd message and every 64th wake of an agent draws one.
    """
    for calls in _entries(_run(WORLD | {"fault": []})):
        functions = {call.function for call in calls}
        draws = {"clocks/durations.py", "scenarios/planning/seeds.py"} & set(files(calls))
        if functions >= STEPS and not draws:
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
        if call.calling == "VirtualClock._stride":
            if entry:
                yield entry
            entry = []
        if entry or call.calling == "VirtualClock._stride":
            entry.append(call)
    if entry:
        yield entry


def _run(tree: dict[str, Any]) -> list[Call]:
    from scenarios.api.runs import make_plan
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(make_plan(tree, path="events"), Path(folder) / "run", RunGovernor(), 1.0)
        run.log.demand_events(recorder)
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
    """Record one frame of the console: agents in the middle of a recorded run."""
    from scenarios.api.runs import make_plan
    from scenarios.console.screens.viewer import viewer_of_recording
    from scenarios.records.reader import RunRecord
    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(make_plan(WORLD), Path(folder) / "run", RunGovernor(), 1.0)
        asyncio.run(run.perform())
        viewer, control = viewer_of_recording(RunRecord(run.folder.path), math.inf)
        control.hold()
        control.source.seek(13 * 10**9)
        with recorder.recording():
            viewer.picture(100, 30)
    return recorder.calls


def _command(*arguments: str) -> list[Call]:
    from scenarios.command.main import main

    recorder, said = Recorder(), io.StringIO()
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        recorder.recording(),
        contextlib.suppress(SystemExit),
    ):
        main(list(arguments))
    return recorder.calls


OTHERS: tuple[tuple[str, str, Callable[[], list[Call]]], ...] = (
    ("A scenario with one error", "`hush check` of a file with `los = 0.1`.", one_error),
    ("One fault", "A crash at its instant.", one_crash),
    ("One frame", "The console draws agents in the middle of a recorded run.", one_frame),
    ("`hush audit`", "An audit of the quickstart with 20 runs.", one_audit),
)


def hops(calls: list[Call]) -> list[str]:
    """Return a line for each change of files: the file, and the functions that first run there before the next change."""
    stations = list[tuple[str, bool, list[str]]]()
    shown = set[tuple[str, str]]()
    for call in calls:
        if (call.file, call.function) in shown:
            continue
        shown.add((call.file, call.function))
        if not stations or stations[-1][0] != call.file:
            stations.append((call.file, call.resumed, []))
        stations[-1][2].append(call.function.replace(".<locals>", ""))
    return [
        f"{number}. `{file}`{' goes on with' if resumed else ':'} {', '.join(functions)}"
        for number, (file, resumed, functions) in enumerate(stations, 1)
    ]


def by_file(calls: list[Call]) -> list[str]:
    """Return a line for each file, in the order of the first visits: the file and its functions, in their order."""
    functions: dict[str, dict[str, None]] = {}
    for call in calls:
        functions.setdefault(call.file, {})[call.function.replace(".<locals>", "")] = None
    return [
        f"{number}. `{file}`: {', '.join(names)}"
        for number, (file, names) in enumerate(functions.items(), 1)
    ]


def section() -> str:
    """Return the section of the page."""
    wake = one_wake()
    parts = [
        BEGIN,
        "",
        "### One wake-up, from the clock's entry until the agent sleeps again",
        "",
        "Event by event. "
        f"{len(wake)} calls in {len(files(wake))} files; {len(upward(wake))} of them against the direction of imports, "
        "but for `Log.emit`, which tells observers, and the clock, which resumes the agent. Between slices of the clock "
        "the log hands the events over in batches: to `scenarios/running/observers/recorder.py` and `traffic.py` and to "
        "`scenarios/records/budget.py`.",
        "",
        *hops(wake),
        "",
    ]
    for title, words, record in OTHERS:
        calls = record()
        count = (
            f"{len({(c.file, c.function) for c in calls})} functions in {len(files(calls))} files"
        )
        parts += [f"### {title}", "", f"{words} {count}.", "", *by_file(calls), ""]
    return "\n".join([*parts, END])


def main() -> None:
    """Record the walks, and write or print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true", dest="only_print")
    text = section()
    if parser.parse_args().only_print:
        print(text)  # noqa: T201
        return
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + text + after, encoding="utf-8")


if __name__ == "__main__":
    main()
