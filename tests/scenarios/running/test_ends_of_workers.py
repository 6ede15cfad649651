"""A command ends whatever its workers do, and leaves none of them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.language.writer import to_toml
from tests.support.builders import private
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]
ENV = os.environ | {"PYTHONPATH": str(ROOT)}
SAID = {"normally": "", "by an error": "ValueError\n", "SIGINT": "KeyboardInterrupt\n"}
POOL = (
    "wait",
    "are stopped",
    "are stopped before a full queue",
    "work for ever",
    "cannot be listed",
    "are out of sight",
)


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has begun."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers_of(pid: int) -> list[int]:
    """Return its children that are workers of a pool."""
    found = []
    for child in children_of(pid):
        words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if b"--process-name" in words:
            found.append(child)
    return found


LOKY = re.compile(
    r"Exception in thread ExecutorManagerThread:\nTraceback.*?\n(?=\w+Error)[^\n]*\n"
    r"|[^\n]*resource_tracker[^\n]*\n(?:  warnings\.warn\([^\n]*\n)?",
    re.DOTALL,
)
"""What loky's own thread and its tracker of semaphores may write where its workers are killed on a busy machine."""


def without_loky(text: str) -> str:
    return LOKY.sub("", text)


def test_nothing_but_the_words_of_loky_is_left_out() -> None:
    thread = (
        'Exception in thread ExecutorManagerThread:\nTraceback (most recent call last):\n  File "a", line 1, in run\n'
        "    self.add()\nKeyError: 12\n"
    )
    tracker = (
        "/x/resource_tracker.py:444: UserWarning: resource_tracker: There appear to be 1 leaked semlock objects\n"
        "  warnings.warn(\n/x/resource_tracker.py:468: UserWarning: resource_tracker: /loky-1: FileNotFoundError(2)\n"
        "  warnings.warn('resource_tracker: %s: %r' % (name, e))\n"
    )
    own = "Traceback (most recent call last):\nKeyError: 12\nKeyboardInterrupt\n"
    assert without_loky(thread + own + tracker) == own


@pytest.mark.parametrize("how", SAID)
@pytest.mark.parametrize(
    ("shares", "what"),
    [*(("Processes", what) for what in POOL), *(("shared_out", what) for what in POOL[:2])],
)
def test_a_program_ends_whatever_its_workers_do(shares: str, what: str, how: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.support.ending", shares, what, how],
        cwd=ROOT,
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    workers = [int(word) for word in program.stdout.readline().split()]
    try:
        _, said = program.communicate(timeout=20)
        assert without_loky(said) == SAID[how]
        assert program.returncode == (how != "normally")
        assert len(workers) == 2
        assert not any(map(lives, workers))
    finally:
        program.kill()
        for worker in filter(lives, workers):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "line", ["sweep w.toml --seeds 0..3 -j 2 -q -o out", "test w.toml --seeds 0..3 -j 2"]
)
def test_a_command_that_is_interrupted_ends_though_a_worker_is_stopped(
    line: str, number: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "w.toml").write_text(
        to_toml(private(run={"horizon": 100_000.0, "sample_every": 20.0}))
    )
    command = subprocess.Popen(
        [sys.executable, "-m", "scenarios", *line.split()],
        cwd=tmp_path,
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    workers = list[int]()
    try:
        deadline = time.monotonic() + 30
        while len(workers) < 2:
            assert time.monotonic() < deadline
            assert command.poll() is None
            time.sleep(0.05)
            workers = workers_of(command.pid)
        time.sleep(1.0)
        os.kill(workers[0], signal.SIGSTOP)
        command.send_signal(number)
        _, said = command.communicate(timeout=20)
        assert command.returncode == 130
        own = without_loky(said)
        assert own == "" or own.startswith("hush: interrupted: 0 of 4 cells are done")
        assert own.count("\n") <= 1
        assert not any(map(lives, workers))
    finally:
        command.kill()
        for worker in filter(lives, workers):
            os.kill(worker, signal.SIGKILL)
