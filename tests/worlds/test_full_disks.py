"""Wherever a disk becomes full, the command ends with 74, and what it began says that it failed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios import open_run
from scenarios.command.main import main
from scenarios.records.run_folder import MANIFEST, RunFolder
from scenarios.records.sweep_record import SWEEP, SweepRecord
from tests.support.full_disk import Disk
from tests.support.paths import ROOT

RUN = ("run", "ring5-dropout", "--quiet", "--out")
SWEPT = ("sweep", "ring5-dropout", "--seeds", "0..1", "-q", "-j", "1", "--out")
FIRST = 8192
"""The first manifest of a run, padded."""


def on(disk: Disk, words: tuple[str, ...], out: Path) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["hush"])  # it stands in the manifest of a sweep
        disk.mount(patch)
        return main([*words, str(out)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many bytes a run writes."""
    disk = Disk(1 << 40)
    assert on(disk, RUN, tmp_path_factory.mktemp("whole") / "run") == 0
    return disk.written


@pytest.mark.parametrize(
    "room", [0, 1, FIRST - 1, FIRST, FIRST + 1, FIRST + 24, FIRST + 30, 0.4, 0.6, 0.8, 0.95, 0.98]
)
def test_a_run_says_failed_wherever_the_disk_is_full(
    room: float, whole: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part of all bytes, or so many of them: before the manifest, right behind it, in the record, at the end."""
    room = room if isinstance(room, int) else int(room * whole)
    assert on(Disk(room), RUN, tmp_path / "run") == 74
    assert "No space left on device" in capsys.readouterr().err
    if room < FIRST:
        assert not (tmp_path / "run").exists()
        return
    assert json.loads((tmp_path / "run" / MANIFEST).read_text())["status"] == "failed"
    assert open_run(tmp_path / "run").status == "failed"
    assert not list((tmp_path / "run").glob("*.new"))


@pytest.mark.parametrize("room", [0, 1, 700, 1300, 6000, FIRST + 7000, 30_000])
def test_a_sweep_says_failed_wherever_the_disk_is_full(
    room: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert on(Disk(room), SWEPT, tmp_path / "sweep") == 74
    assert "No space left on device" in capsys.readouterr().err
    if not (tmp_path / "sweep" / SWEEP).exists():
        assert room < 1300
        return
    assert SweepRecord(tmp_path / "sweep").manifest.status == "failed"
    assert "running" not in {
        json.loads(file.read_text())["status"] for file in tmp_path.glob("sweep/cells/*/*t.json")
    }
    assert main([*SWEPT, str(tmp_path / "sweep")]) == 0, "with room again, it goes on"
    assert {row.status for row in SweepRecord(tmp_path / "sweep").rows} == {"finished"}


def test_where_not_even_the_manifest_can_be_written_it_is_said(
    whole: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is then one of a run that was killed."""
    assert on(Disk(whole // 2, in_place=False), RUN, tmp_path / "run") == 74
    assert "not even manifest.json could be written: the folder reads as running" in (
        capsys.readouterr().err
    )
    assert open_run(tmp_path / "run").status == "running"
    assert open_run(tmp_path / "run").summary["status"] == "cut off"


def test_of_two_runs_both_say_failed_where_the_second_cannot_begin(tmp_path: Path) -> None:
    words = ("run", "ring5-dropout", "quickstart", "--quiet", "--out")
    assert on(Disk(2 * FIRST + 50), words, tmp_path / "runs") == 74
    assert [open_run(path).status for path in (tmp_path / "runs").iterdir()] == ["failed"] * 2


@pytest.mark.parametrize("segments", [1, 80, 90, 500])
def test_a_manifest_with_many_checksums_says_failed_in_the_room_that_it_has(
    segments: int, tmp_path: Path
) -> None:
    """Each checksum takes a line of 93 bytes: those of 90 files are more than the first manifest has room for."""
    folder = RunFolder(tmp_path / "run", {"status": "running"})
    hashes = {f"record-{n:05d}.hush": "0" * 64 for n in range(segments)}
    with pytest.MonkeyPatch.context() as patch:
        Disk(0).mount(patch)
        folder.finish("failed", {}, hashes, message="the disk took no more")
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert (tmp_path / "run" / MANIFEST).stat().st_size == FIRST
    assert (manifest["status"], manifest["message"]) == ("failed", "the disk took no more")
    assert manifest.get("sha256", {}) == (hashes if segments <= 80 else {})


def has_namespaces() -> bool:
    """Whether a file system can be mounted in a namespace of one's own, which needs no root on most systems."""
    words = ("unshare", "--user", "--map-root-user", "--mount", "true")
    return shutil.which("unshare") is not None and not subprocess.run(words, check=False).returncode


@pytest.mark.slow
@pytest.mark.skipif(not has_namespaces(), reason="no file system can be mounted here")
@pytest.mark.parametrize("kilobytes", range(4, 68, 8))
def test_so_it_is_on_a_real_disk_that_is_small(kilobytes: int, tmp_path: Path) -> None:
    """It is a tmpfs of so many kilobytes; what it holds in the end is copied before it goes."""
    disk, left = tmp_path / "disk", tmp_path / "left"
    disk.mkdir()
    words = " ".join([sys.executable, "-m", "scenarios", *RUN])
    script = (
        f"mount -t tmpfs -o size={kilobytes}k none {disk} || exit 99\n"
        f"{words} {disk}/run\ncode=$?\ncp -r {disk} {left}\nexit $code\n"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 99:
        pytest.skip("no tmpfs can be mounted here")
    assert done.returncode == 74, done.stderr
    if (left / "run").exists():
        assert open_run(left / "run").status == "failed"
