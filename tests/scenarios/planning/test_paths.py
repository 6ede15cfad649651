"""Nothing outside of the allowed folders is opened, and no line of a file that the user did not name is quoted."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios import check, open_run, run_sync
from scenarios.language.writer import to_toml
from scenarios.records.file_guard import FolderError
from tests.support.builders import scenario
from tests.support.command import hush, start

UNSEEN = "root:x:0:0:the hidden line:/root"
Table = dict[str, Any]


def points(path: Path, seed: int = 0) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, x=0.1 * rng.standard_normal((8, 2)), y=np.where(rng.random(8) < 0.5, 1.0, -1.0))


def numbers(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text)

    return write


def theta(path: Path) -> None:
    np.savez(path, theta=np.zeros((2, 3)))


def other(path: Path) -> None:
    path.write_text(to_toml(scenario(nodes=[{"count": 2}], network={"topology": "path"})))


FILES = {"source": "files", "path": "nodes"}
TWO = {"nodes": [{"count": 2}], "network": {"topology": "path"}}
EVERY: dict[str, tuple[str, Callable[[Path], None], Table]] = {
    "shard": ("nodes/000.npz", points, {"data": FILES}),
    "test shard": ("nodes/test/001.npz", points, {"data": FILES}),
    "latency": (
        "delays.txt",
        numbers("0.1\n0.2\n"),
        {"network": {"topology": "path", "latency": {"kind": "trace", "path": "delays.txt"}}},
    ),
    "matrix": (
        "matrix.txt",
        numbers("0 1\n1 0\n"),
        {"network": {"topology": "path", "latency": {"kind": "matrix", "path": "matrix.txt"}}},
    ),
    "edges": (
        "edges.csv",
        numbers("0,1\n"),
        {"network": {"topology": {"kind": "file", "path": "edges.csv"}}},
    ),
    "wakes": (
        "wakes.txt",
        numbers("1 0\n2 1\n"),
        {"nodes": [{"count": 2, "clock": {"kind": "trace", "path": "wakes.txt"}}]},
    ),
    "sessions": (
        "away.txt",
        numbers("0 1 2\n"),
        {"fault": [{"at": 0.0, "churn": {"on": "all", "path": "away.txt"}}]},
    ),
    "start": ("start.npz", theta, {"task": {"start": {"kind": "file", "path": "start.npz"}}}),
    "compared": (
        "other.toml",
        other,
        {"expect": [{"metric": "loss.mean", "compared_to": "other.toml", "ratio_below": 9.0}]},
    ),
    "extended": ("base.toml", other, {"extends": "base.toml"}),
}
"""Every way in which a scenario names a file: the file, what writes a good one, and the scenario."""


def world(folder: Path, name: str) -> Path:
    """Write a scenario that opens one file of its folder."""
    file, write, more = EVERY[name]
    for shard in ("000", "001", "test/000", "test/001"):
        if more.get("data") is FILES and (name == "test shard" or "test" not in shard):
            points(folder / f"nodes/{shard}.npz")
    write(folder / file)
    path = folder / "x.toml"
    path.write_text(to_toml(scenario(**(TWO | more))))
    return path


@pytest.mark.parametrize("name", EVERY)
def test_a_link_that_leads_out_is_not_followed(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "mine", tmp_path / "theirs"
    folder.mkdir()
    outside.mkdir()
    path, file = world(folder, name), folder / EVERY[name][0]
    assert check(path).problems == ()
    moved = outside / file.name
    shutil.move(file, moved)
    file.symlink_to(moved)
    told = "\n".join(check(path).problems)
    assert told
    assert "x.toml" in told
    if name not in {"compared", "extended"}:  # --data is for data
        assert check(path, folders=(outside,)).problems == ()
    inside = folder / "real.bin"
    shutil.move(moved, inside)
    file.unlink()
    file.symlink_to(inside)
    if name != "compared":  # which is known by its ending
        assert check(path).problems == ()


@pytest.mark.parametrize("name", EVERY)
def test_a_link_to_itself_is_no_file(tmp_path: Path, name: str) -> None:
    path, file = world(tmp_path, name), tmp_path / EVERY[name][0]
    file.unlink()
    file.symlink_to(file.name)
    told = "\n".join(check(path).problems)
    assert "x.toml" in told
    if name != "test shard":  # of which one is said to be missing
        assert file.name in told


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    path, file = world(tmp_path, name), tmp_path / EVERY[name][0]
    file.unlink()
    os.mkfifo(file)
    reader = start("check", str(path), cwd=tmp_path)
    try:
        assert reader.wait(timeout=60) == 2
    finally:
        reader.kill()


def test_a_pipe_in_the_folder_of_a_run_is_not_waited_for(tmp_path: Path) -> None:
    run_sync(scenario(), out=tmp_path / "run")
    for name in ("record-00000.hush", "ledger.jsonl", "summary.json", "world.json"):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(tmp_path / "run", tmp_path / "copy")
        (tmp_path / "copy" / name).unlink()
        os.mkfifo(tmp_path / "copy" / name)
        with pytest.raises(FolderError, match=f"{name} is neither a file nor a folder"):
            open_run(tmp_path / "copy")


@pytest.mark.parametrize("name", EVERY)
def test_no_line_of_a_file_that_the_user_did_not_name_is_quoted(tmp_path: Path, name: str) -> None:
    path, file = world(tmp_path, name), tmp_path / EVERY[name][0]
    for text in (UNSEEN, f"1 2\n{UNSEEN}\n", f'schema = 1\n"{UNSEEN}" = 1 = 2\n'):
        file.write_text(text)
        told = "\n".join(check(path).problems)
        assert told
        assert "hidden line" not in told
        assert "root:x" not in told
        assert file.name in told


@pytest.mark.slow
def test_the_origin_of_any_other_file_is_not_believed(tmp_path: Path) -> None:
    """A scenario points at a folder that its author cannot read; the victim who runs it can."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    mine.mkdir()
    (theirs / "passwd").write_text(UNSEEN)
    expect = [{"metric": "loss.mean", "compared_to": "passwd", "ratio_below": 9.0}]
    origin = {"folder": str(theirs), "sha256": {}}
    for name in ("x.toml", "resolved.toml"):
        (mine / name).write_text(to_toml(scenario(expect=expect, origin=origin)))
        told = hush("check", f"./{name}", cwd=mine)
        assert told.returncode == 2
        assert "no such file" in told.stderr
        assert "hidden" not in told.stderr
    assert "no such file" in check(scenario(expect=expect, origin=origin)).problems[0]


def test_the_origin_of_a_runs_folder_is_believed(tmp_path: Path) -> None:
    """As long as it is there: a copy elsewhere reads what --data names, and says so."""
    folder = tmp_path / "mine"
    folder.mkdir()
    first = run_sync(world(folder, "edges"), out=tmp_path / "run")
    again = run_sync(tmp_path / "run" / "resolved.toml", out=tmp_path / "again")
    assert again.manifest["digests"] == first.manifest["digests"]
    (tmp_path / "copies").mkdir()
    copy = Path(shutil.copy(tmp_path / "run" / "resolved.toml", tmp_path / "copies"))
    told = "\n".join(check(copy).problems)
    assert "no such file: edges.csv" in told
    assert "origin.folder" in told
    named = run_sync(copy, folders=(folder,), out=tmp_path / "named")
    assert open_run(named.path).manifest["digests"] == first.manifest["digests"]
