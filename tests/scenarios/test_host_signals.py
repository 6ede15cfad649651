"""A script that runs a scenario keeps its own signals, and is told of what was interrupted."""

import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenarios import InterruptedRun, open_run, run_sync
from scenarios.api.result import Result
from scenarios.records.file_guard import FolderError
from tests.support.builders import private
from tests.support.paths import ROOT
from tests.support.records import say_interrupted

SCRIPT = """
import asyncio, json, os, signal, sys, threading, time
from pathlib import Path
from scenarios import run, run_sync
out, way, number, own = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "own"
def send():
    while not any(p.stat().st_size > 50_000 for p in out.glob("record-*.hush")):
        time.sleep(0.02)
    os.kill(os.getpid(), number)
def status():
    return json.loads((out / "manifest.json").read_text())["status"]
heard = []
if own:
    signal.signal(number, lambda number, frame: heard.append((number, status())))
threading.Thread(target=send, daemon=True).start()
long = dict(scenario="quickstart", until=86400, set={"run.sample_every": 100}, out=out)
async def awaited():
    return await run(**long)
async def beside():
    return run_sync(**long)
try:
    result = run_sync(**long) if way == "sync" else asyncio.run({"await": awaited, "beside": beside}[way]())
except KeyboardInterrupt:
    print("KeyboardInterrupt", status())
    sys.exit(7)
assert result.interrupted and "interrupted" in repr(result)
print(json.dumps(heard))
"""


def script(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(out), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", ["sync", "await", "beside"])
def test_a_scripts_own_handler_hears_the_signal_after_the_folder_is_closed(
    tmp_path: Path, way: str
) -> None:
    done = script(tmp_path / "run", way, str(int(signal.SIGTERM)), "own")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f'[[{int(signal.SIGTERM)}, "interrupted"]]'


@pytest.mark.slow
@pytest.mark.parametrize("way", ["sync", "await", "beside"])
def test_sigterm_without_a_handler_ends_the_script(tmp_path: Path, way: str) -> None:
    done = script(tmp_path / "run", way, str(int(signal.SIGTERM)), "default")
    assert done.returncode == -signal.SIGTERM
    assert open_run(tmp_path / "run").interrupted


@pytest.mark.slow
@pytest.mark.parametrize("way", ["sync", "await", "beside"])
def test_sigint_without_a_handler_is_a_keyboard_interrupt(tmp_path: Path, way: str) -> None:
    done = script(tmp_path / "run", way, str(int(signal.SIGINT)), "default")
    assert done.returncode == 7, done.stderr
    assert done.stdout.strip() == "KeyboardInterrupt interrupted"


USES: dict[str, Callable[[Result], Any]] = {
    "summary": lambda result: result.summary,
    "models": lambda result: result.models,
    "ledger": lambda result: result.ledger,
    "verdicts": lambda result: result.verdicts,
    "metrics": lambda result: result.metrics(),
    "events": lambda result: list(result.events()),
}


def interrupted(folder: Path) -> Path:
    """Make a run that was interrupted."""
    return say_interrupted(run_sync(private(), out=folder).path)


@pytest.mark.parametrize("use", USES)
def test_the_figures_of_an_interrupted_run_warn_once(tmp_path: Path, use: str) -> None:
    result = Result(interrupted(tmp_path / "run"), warns=True)
    assert result.interrupted
    assert "interrupted" in repr(result)
    with pytest.warns(InterruptedRun, match="first part") as told:
        USES[use](result)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result.ledger
        assert result.summary


def test_a_temporary_folder_is_announced_and_can_be_kept(tmp_path: Path) -> None:
    result = run_sync(private())
    assert result.temporary
    assert "temporary" in repr(result)
    assert str(result.path) in repr(result)
    before = result.path
    assert result.keep(tmp_path / "later") == result.path == tmp_path / "later"
    assert not result.temporary
    assert repr(result) == f"<hush run small in {tmp_path / 'later'}: finished>"
    names = {p.name for p in before.iterdir()}
    assert {p.name for p in (tmp_path / "later").iterdir()} == names
    with pytest.raises(FolderError, match="not temporary"):
        result.keep(tmp_path / "again")


def test_keep_saves_the_run_and_overwrites_nothing(tmp_path: Path) -> None:
    result = run_sync(private(), keep=tmp_path / "kept")
    assert result.path == tmp_path / "kept"
    assert not result.temporary
    assert open_run(tmp_path / "kept").status == "finished"
    with pytest.raises(FolderError, match="not an empty folder"):
        run_sync(private(), keep=tmp_path / "kept")
    with pytest.raises(FolderError, match="out or keep"):
        run_sync(private(), keep=tmp_path / "one", out=tmp_path / "two")
    assert not run_sync(private(), out=tmp_path / "out").temporary
