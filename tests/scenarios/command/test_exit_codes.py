"""The exit code is the contract's, whatever the streams take and whenever a signal comes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.command.main import main
from tests.support.paths import ROOT

FULL = Path("/dev/full")
WORDS = {
    "no scenario": (["run", "nosuch"], 2),
    "no verb": (["frobnicate"], 2),
    "not a run": (["replay", "."], 2),
    "no file": (["check", "./nosuch.toml"], 2),
    "fine": (["list"], 0),
    "fine, and said so on stderr": (
        ["run", "ring5-dropout", "--quiet", "--twice", "--out", "{}"],
        0,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("stream", ["full", "closed", "broken"])
def test_with_stderr_unwritable_the_exit_code_stays(tmp_path: Path, name: str, stream: str) -> None:
    words, code = WORDS[name]
    if stream == "full" and not FULL.exists():
        pytest.skip("there is no /dev/full here")
    command = [sys.executable, "-m", "scenarios", *(w.format(tmp_path / "run") for w in words)]
    if stream == "closed":
        command = ["sh", "-c", 'exec "$0" "$@" 2>&-', *command]
    read, write = os.pipe()
    os.close(read)
    with FULL.open("wb") if stream == "full" else os.fdopen(write, "wb") as nowhere:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=nowhere, check=False
        )
    assert done.returncode == code


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("library", ["/_struct.", "numpy"])
def test_a_signal_during_start_up_ends_with_130(
    tmp_path: Path, number: signal.Signals, library: str
) -> None:
    """While argparse or NumPy is being imported: long before a run has handlers of its own."""
    words = ["run", "quickstart", "--quiet", "--until", "1d", "--set", "run.sample_every=100"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scenarios", *words, "--out", str(tmp_path / "run")],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    maps = Path(f"/proc/{process.pid}/maps")
    begun = time.monotonic()
    while library not in maps.read_text():
        assert process.poll() is None
        assert time.monotonic() - begun < 30
    process.send_signal(number)
    try:
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()  # a run of a day must not outlive its test
    assert process.returncode == 130
    assert said == b""


_INTERRUPTED_WHILE_IT_LOADS = """
import sys


class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt


sys.meta_path.insert(0, Interrupted())
from hush.__main__ import main

sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["scenarios.command", "scenarios.command.main", "argparse"])
def test_an_interrupt_before_the_command_has_begun_ends_with_130(module: str) -> None:
    """Before there is a handler for signals: while the modules of the command are being loaded."""
    command = [sys.executable, "-c", _INTERRUPTED_WHILE_IT_LOADS, module]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.slow
def test_a_fault_of_our_own_ends_with_70_and_says_how_to_report_it() -> None:
    """A planted bug in a verb: the one case in which a user sees a traceback."""
    bug = (
        "import sys; import scenarios.command.check as verb; verb.perform = lambda _: 1 // 0; "
        "from scenarios.command.main import main; sys.exit(main(['check', 'quickstart']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", bug], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("hush: this is a fault of hush. Please report")


@pytest.mark.parametrize(
    "verb", ["run", "check", "show", "plot", "report", "compare", "sweep", "test", "new"]
)
def test_a_name_that_no_file_can_have_is_no_fault_of_the_disk(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "x" * 5000]) == 2
    assert "too long" in capsys.readouterr().err
