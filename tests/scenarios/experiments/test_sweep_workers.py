"""Workers end with their sweep; what was cut off is run again; Ctrl-C is no traceback."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scenarios import open_run
from scenarios.command.main import main
from scenarios.language.writer import to_toml
from tests.support.builders import private
from tests.support.paths import ROOT

LONG = private(run={"horizon": 4000.0, "sample_every": 20.0})
"""Some seconds of work: one worker may begin a second after the other."""


def sweep(folder: Path, *more: str) -> subprocess.Popen[str]:
    (folder / "long.toml").write_text(to_toml(LONG))
    words = ["sweep", "./long.toml", "--seeds", "0..1", "--jobs", "2", "--out", "out"]
    return subprocess.Popen(
        [sys.executable, "-m", "scenarios", *words, *more],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait(what: Callable[[], bool], most: float = 30.0) -> None:
    begun = time.monotonic()
    while not what():
        assert time.monotonic() - begun < most
        time.sleep(0.02)


def runs(folder: Path) -> list[Path]:
    """Return the folders of the runs that have begun."""
    return [path.parent for path in (folder / "out" / "cells").glob("*/record-00000.hush")]


def written(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "out").glob("cells/*/record-*.hush"))


@pytest.mark.slow
def test_workers_of_a_killed_sweep_end_and_its_cells_are_run_again(tmp_path: Path) -> None:
    process = sweep(tmp_path)
    wait(lambda: len(runs(tmp_path)) == 2)
    process.kill()
    process.communicate(timeout=3)  # its pipes are closed when its workers are gone, too
    before = written(tmp_path)
    time.sleep(0.7)
    assert written(tmp_path) == before
    assert [open_run(path).status for path in runs(tmp_path)] == ["running"] * 2
    again = sweep(tmp_path)
    told, said = again.communicate(timeout=60)
    assert again.returncode == 0, said
    assert told.count("  finished ") == 2
    assert [open_run(path).status for path in runs(tmp_path)] == ["finished"] * 2
    assert len((tmp_path / "out" / "sweep.csv").read_text().splitlines()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.0, 0.1, 0.3, 0.6])
def test_ctrl_c_ends_a_sweep_with_130_and_no_traceback(tmp_path: Path, later: float) -> None:
    """It goes to the whole group; a worker that is still importing has no handler of its own."""
    process = sweep(tmp_path, "--set", "run.horizon=100000")
    wait((tmp_path / "out").exists)
    time.sleep(later)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130, said
    assert said == "" or said.startswith("hush: interrupted: 0 of 2 cells are done")


@pytest.mark.slow
def test_one_process_stops_at_the_cell_that_was_interrupted(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(to_toml(LONG))
    words = ["sweep", "./long.toml", "--seeds", "0..9", "--jobs", "1", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scenarios", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait(lambda: written(tmp_path) > 0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.startswith("hush: interrupted: 0 of 10 cells are done")
    assert len(runs(tmp_path)) == 1


def test_a_cut_off_cell_with_foreign_files_stays_and_another_plan_is_another_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(to_toml(private(run={"horizon": 5.0})))
    words = ["sweep", "./small.toml", "--seeds", "0", "--jobs", "1", "--out", "out"]
    assert main(words) == 0
    (cell,) = (tmp_path / "out" / "cells").iterdir()
    manifest = cell / "manifest.json"
    (cell / "summary.json").unlink()
    manifest.write_text(manifest.read_text().replace('"finished"', '"running"'))
    (cell / "notes.txt").write_text("mine")
    assert main(words) == 2
    assert "notes.txt" in capsys.readouterr().out
    assert (cell / "notes.txt").read_text() == "mine"
    assert main([*words, "--set", "network.loss=0.5"]) == 0
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 2
    assert (cell / "notes.txt").read_text() == "mine"
    (cell / "notes.txt").unlink()
    assert main(words) == 0
    assert open_run(cell).status == "finished"
    shutil.rmtree(cell)
    cell.mkdir()
    (cell / "data.csv").write_text("1,2")
    assert main(words) == 2
    assert (cell / "data.csv").read_text() == "1,2"


def test_a_folder_that_is_no_sweep_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.csv").write_text("1,2")
    assert main(["sweep", "quickstart", "--seeds", "0", "--out", "mine"]) == 2
    assert "mine is not empty, and is no sweep" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["data.csv"]


@pytest.mark.slow
def test_two_sweeps_do_not_share_a_folder(tmp_path: Path) -> None:
    first = sweep(tmp_path, "--set", "run.horizon=100000")
    wait(lambda: bool(runs(tmp_path)))
    second = sweep(tmp_path)
    _, said = second.communicate(timeout=30)
    first.kill()
    first.communicate(timeout=5)
    assert second.returncode == 2
    assert "out is in use" in said
