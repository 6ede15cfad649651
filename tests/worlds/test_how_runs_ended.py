"""No reader shows a run as finished that did not finish, and each says what is missing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.result import Result
from scenarios.console.sources.recording import Recording
from scenarios.records.reader import RunRecord
from tests.support.builders import Ran, perform, private
from tests.support.command import hush
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return perform(private(run={"seed": 5, "horizon": 6.0}), tmp_path_factory.mktemp("runs"))


def changed(ran: Ran, folder: Path, without: tuple[str, ...] = (), **manifest: Any) -> Path:
    """Copy a run, leave files out, and say something else in its manifest."""
    shutil.copytree(ran.outcome.folder, folder)
    for name in without:
        (folder / name).unlink()
    found = json.loads((folder / "manifest.json").read_text()) | manifest
    (folder / "manifest.json").write_text(json.dumps(found))
    return folder


READERS: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "show": lambda run: ("show", str(run)),
    "show --json": lambda run: ("show", str(run), "--json"),
    "show --ledger": lambda run: ("show", str(run), "--ledger", "csv"),
    "replay": lambda run: ("replay", str(run)),
    "explain": lambda run: ("explain", str(run), "3"),
    "diff": lambda run: ("diff", str(run), str(run)),
    "plot": lambda run: ("plot", str(run), "loss", "--out", str(run.parent / "loss.png")),
}
ENDS = {
    "running": "the run was cut off, or still goes on",
    "interrupted": "the run was interrupted: it did not come to its end",
    "failed": "the run failed: the disk took no more",
}


@pytest.mark.slow
@pytest.mark.parametrize("status", ENDS)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_tells_how_a_run_ended(
    ran: Ran, tmp_path: Path, reader: str, status: str
) -> None:
    """Its summary was written before the disk was full: it says finished, and is not believed."""
    message = "the disk took no more" if status == "failed" else ""
    folder = changed(ran, tmp_path / "run", ("models.npz",), status=status, message=message)
    done = hush(*READERS[reader](folder))
    assert ENDS[status] in done.stderr
    for said in ("finished at", '"finished"', "hold"):
        assert said not in done.stdout
    assert "Traceback" not in done.stderr
    if reader == "replay":
        mode = {"running": "cut off"}.get(status, status)
        assert f"replay, {mode} t" in done.stdout.splitlines()[0]
        assert f"{mode}: nothing was judged" in done.stdout
    if status == "failed":
        assert "it left no models.npz" in done.stderr
    if status == "interrupted":
        assert "files are missing: models.npz" in done.stderr


@pytest.mark.filterwarnings("ignore::scenarios.api.opened_folder.DamagedRun")
@pytest.mark.parametrize("status", ENDS)
def test_python_and_the_screen_do_not_believe_it_either(
    ran: Ran, tmp_path: Path, status: str
) -> None:
    folder = changed(ran, tmp_path / "run", status=status)
    result = Result(folder)
    assert not result.is_judged
    assert result.summary["status"] == {"running": "cut off"}.get(status, status)
    assert result.verdicts == {}
    recording = Recording(RunRecord(folder))
    assert recording.held is None, "nobody judged it"
    assert "finished" not in recording.mode


@pytest.mark.slow
def test_no_checksums_are_no_match(ran: Ran, tmp_path: Path) -> None:
    nothing: tuple[Any, ...] = ({}, [], None, "all is well")
    for number, known in enumerate(nothing):
        folder = changed(ran, tmp_path / str(number), sha256=known)
        assert list(RunRecord(folder).flaws) == [
            "the manifest holds no checksums: the files may be anything"
        ]
    done = hush("show", str(folder))
    assert done.returncode == 2
    assert "the manifest holds no checksums" in done.stderr
    assert "files are what their checksums say" not in done.stdout


def test_what_is_missing_or_changed_is_named(ran: Ran, tmp_path: Path) -> None:
    folder = changed(ran, tmp_path / "run", ("verdicts.json",))
    (folder / "metrics.csv").write_text("t,node,metric,value\n")
    assert list(RunRecord(folder).flaws) == [
        "files are missing: verdicts.json",
        "checksums do not match: metrics.csv",
    ]
    assert list(RunRecord(ran.outcome.folder).flaws) == []
    known = {
        "record-00000.hush": json.loads((folder / "manifest.json").read_text())["sha256"][
            "record-00000.hush"
        ]
    }
    short = changed(ran, tmp_path / "short", ("models.npz",), sha256=known)
    missing, unlisted = RunRecord(short).flaws
    assert missing == "files are missing: models.npz", "also where no checksum names it"
    assert unlisted.startswith("the manifest holds no checksum of: data.json, ")
    outside = changed(ran, tmp_path / "outside", sha256={"../secret": "0"})
    (tmp_path / "secret").write_text("mine")
    missing, _ = RunRecord(outside).flaws
    assert missing == "files are missing: ../secret", "only files of the folder are read"


FULL = """
import errno, os, sys
from pathlib import Path
from scenarios.command.main import main
opened = Path.open
def full(path, *arguments, **options):
    if path.name == "models.npz.new":
        raise OSError(errno.ENOSPC, "No space left on device", str(path))
    return opened(path, *arguments, **options)
Path.open = full
sys.exit(main(["run", "ring5-dropout", "--quiet", "--until", "3s", "--out", sys.argv[1]]))
"""


@pytest.mark.slow
def test_a_disk_that_is_full_at_the_very_end(tmp_path: Path) -> None:
    """Everything is written but the models: the run ends with 74, and is not shown as finished afterwards."""
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 74, done.stderr
    assert json.loads((folder / "summary.json").read_text())["status"] == "finished"
    shown = hush("show", str(folder))
    assert "failed at 3 s; counted from its events" in shown.stdout
    assert "finished" not in shown.stdout
    assert "hold" not in shown.stdout
    assert "the run failed: the disk took no more" in shown.stderr
    assert "it left no models.npz" in shown.stderr


@pytest.mark.slow
def test_a_cell_that_failed_at_its_end_is_run_again(tmp_path: Path) -> None:
    """Its summary says finished, its manifest does not: a sweep goes by both."""
    sweep = ("sweep", "ring5-dropout", "--seeds", "3", "--out", str(tmp_path / "sweep"))
    assert hush(*sweep).returncode == 0
    (file,) = (tmp_path / "sweep" / "cells").glob("*/manifest.json")
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps(manifest | {"status": "failed"}))
    assert hush(*sweep).returncode == 0
    again = json.loads(file.read_text())
    assert again["status"] == "finished"
    assert again["digests"] == manifest["digests"]
