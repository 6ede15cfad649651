"""A second signal ends a run at once, wherever it is: inside one long event, in a call that Python cannot interrupt, at the end."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scenarios.language.writer import to_toml
from scenarios.records.reader import RunRecord
from tests.support.builders import scenario
from tests.support.paths import ROOT
from tests.support.terminal import Terminal

LONG = {"kind": "fedavg", "epochs": 10**9}
"""Some hours of Python code inside one event."""
DEAF = """
import hashlib
import numpy as np
from mechanisms.objectives import Logistic


class Deaf(Logistic):
    '''A loss whose gradient takes minutes of one call of C code.'''

    def slope(self, t):
        if self.armed():
            print("inside", flush=True)
            hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2**31 - 1)
        return super().slope(t)

    def armed(self):
        import sys
        frame, names = sys._getframe(), set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
        return "_drive" in names
"""


def written(folder: Path, *, deaf: bool) -> Path:
    """Write a world whose first wake lasts for ever, and return its file."""
    more: dict[str, Any] = {"mechanism": {"kind": "cd"}} if deaf else {"mechanism": LONG}
    if deaf:
        (folder / "deaf.py").write_text(DEAF)
        more["task"] = {"l2": 0.1, "loss": "deaf:Deaf"}
    run = {"seed": 1, "horizon": 5.0} if deaf else {"seed": 1, "rounds": 3}
    file = folder / "long.toml"
    file.write_text(to_toml(scenario(run=run, **more)))
    return file


def inside(folder: Path) -> None:
    """Wait until the run has begun, and let it come to its first wake."""
    ends = time.monotonic() + 60
    while not (folder / "manifest.json").exists():
        assert time.monotonic() < ends
        time.sleep(0.02)
    time.sleep(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_a_long_event(tmp_path: Path, number: int, *, deaf: bool) -> None:
    file = written(tmp_path, deaf=deaf)
    words = ["run", str(file), "--quiet", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "scenarios", *words, "--allow-large", "--allow-code"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    inside(tmp_path / "run")
    process.send_signal(number)
    time.sleep(0.5)
    assert process.poll() is None, "the first signal waits for the event"
    process.send_signal(number)
    begun = time.monotonic()
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5.0
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert RunRecord(tmp_path / "run").manifest["status"] == "running"


@pytest.mark.slow
@pytest.mark.parametrize(("deaf", "runs"), [(False, 1), (True, 1), (False, 2)])
def test_the_second_signal_gives_the_terminal_back(
    tmp_path: Path, runs: int, *, deaf: bool
) -> None:
    files = [str(written(tmp_path, deaf=deaf))] * runs
    words = ("run", *files, "--live", "full", "--speed", "max", "--out", str(tmp_path / "run"))
    with Terminal(100, 30, *words, "--allow-large", "--allow-code") as terminal:
        inside(tmp_path / "run" if runs == 1 else tmp_path / "run" / "small")
        for _ in range(2):
            terminal.send(signal.SIGINT)
            terminal.read(0.3)
        assert terminal.ends(10) == 130
        assert terminal.is_as_before()
        assert b"Traceback" not in terminal.raw
