"""What a scenario may not ask for without `--allow-large`, told before it is done."""

import io
import resource
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning.array_files import size_of
from scenarios.planning.datasets import Demands
from scenarios.planning.files import BadData, Folders
from tests.support.builders import scenario
from tests.support.kinds import load

BILLION = 10**9


@pytest.mark.parametrize(
    ("mechanism", "key"),
    [
        ({"kind": "fedavg", "epochs": BILLION}, "mechanism.epochs"),
        ({"kind": "collaborative-admm", "local_steps": BILLION}, "mechanism.local_steps"),
        (
            {
                "kind": "local-dp",
                "epsilon_features": 1.0,
                "epsilon_label": 1.0,
                "inner": {"kind": "fedavg", "epochs": BILLION},
            },
            "mechanism.inner.epochs",
        ),
        ({"kind": "wddp", "local_rounds": BILLION, "noise": "none"}, "mechanism.local_rounds"),
    ],
)
def test_a_billion_steps_at_one_instant(mechanism: dict[str, Any], key: str) -> None:
    tree = scenario(mechanism=mechanism, run={"seed": 1, "rounds": 2})
    if mechanism["kind"] == "collaborative-admm":
        tree["run"] = {"seed": 1, "horizon": 5.0}
    said = f"{key}: 1,000,000,000 steps at one instant; above 100,000 needs --allow-large"
    with pytest.raises(ScenarioError, match=said):
        make_plan(tree)
    assert make_plan(tree, allow_large=True).size == 6


@pytest.mark.parametrize(
    ("sections", "path"),
    [
        ({"fault": [{"at": 1.0, "clock": {"on": [0], "jump": 2**31}}]}, "fault.0.clock"),
        ({"nodes": [{"count": 3, "compute": "100d", "clock": "poisson"}]}, None),
        (
            {"nodes": [{"count": 3, "compute": "100d", "clock": {"kind": "poisson", "rate": 2.0}}]},
            "nodes.0.compute",
        ),
    ],
)
def test_wakes_that_are_missed_at_one_instant(sections: dict[str, Any], path: str | None) -> None:
    """They are skipped one by one: 8.64 million seconds are as many wakes of one a second, and pass."""
    tree = scenario(**sections)
    if path is None:
        assert make_plan(tree).size == 3
        return
    with pytest.raises(ScenarioError, match=rf"{path}: skips about .* wakes at one instant; above"):
        make_plan(tree)


def bomb(path: Path, rows: int) -> None:
    """Write a small file whose array x has so many rows of one zero byte each."""
    np.savez_compressed(path, x=np.zeros((rows, 1), dtype=np.int8), y=np.ones(1))


@pytest.mark.slow
def test_a_small_archive_of_large_arrays(tmp_path: Path) -> None:
    """Its headers tell: 200 million bytes, each of which becomes a number of 8 bytes."""
    bomb(tmp_path / "000.npz", 200_000_000)
    assert (tmp_path / "000.npz").stat().st_size < 1_000_000
    assert size_of(tmp_path / "000.npz", "x", "y") == 1_600_000_008
    tree = scenario(data={"source": "files", "path": "."}, nodes=[{"count": 1}])
    tree["name"] = "bomb"
    tree["mechanism"] = {"kind": "local"}
    file = tmp_path / "bomb.toml"
    file.write_text(to_toml(tree))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ScenarioError) as error:
        make_plan(str(file))
    said = "data: 000.npz would take 1.6 GB; above 1.07 GB for all files together needs"
    assert said in str(error.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def promise(path: Path, member: str, numbers: int) -> None:
    """Add the header of an array of so many numbers to an archive; the numbers themselves are left out."""
    header = io.BytesIO()
    shape = {"descr": "<i8", "fortran_order": False, "shape": (numbers,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, header.getvalue())


def test_every_array_of_an_archive_is_judged(tmp_path: Path) -> None:
    """Numbers of rows too; and the array that is judged is the one that is read, whatever else has its name."""
    x, y = np.full((4, 2), 0.1), np.array([1.0, -1.0, 1.0, -1.0])
    np.savez(tmp_path / "000.npz", x=x, y=y)
    data = {"source": "files", "path": ".", "scale": "refuse"}
    folders, demands = Folders(tmp_path, most=1e6), Demands(labelled=True)
    promise(tmp_path / "000.npz", "x", BILLION)
    assert load(data, 1, 1, folders, demands).train[0][0].tolist() == x.tolist()
    promise(tmp_path / "000.npz", "rows.npy", BILLION)
    with pytest.raises(BadData, match=r"000\.npz would take 8 GB"):
        load(data, 1, 1, folders, demands)


def test_numbers_of_rows_are_as_many_as_points(tmp_path: Path) -> None:
    for rows in (np.arange(5), np.arange(4.0), np.arange(4).reshape(2, 2)):
        np.savez(tmp_path / "000.npz", x=np.full((4, 2), 0.1), y=np.ones(4), rows=rows)
        with pytest.raises(BadData, match=r"000\.npz: rows must be 4 whole numbers"):
            load({"source": "files", "path": "."}, 1, 1, Folders(tmp_path), Demands(labelled=True))


def test_archives_are_counted_together(tmp_path: Path) -> None:
    for i in range(3):
        np.savez(tmp_path / f"{i:03d}.npz", x=np.full((4, 2), 0.1), y=np.ones(4))
    data = {"source": "files", "path": ".", "scale": "refuse"}
    each = 4 * 2 * 8 + 4 * 8
    assert load(data, 3, 1, Folders(tmp_path, most=3 * each), Demands(labelled=True)).sizes == (
        4,
        4,
        4,
    )
    with pytest.raises(BadData, match=r"002\.npz would take"):
        load(data, 3, 1, Folders(tmp_path, most=3 * each - 1), Demands(labelled=True))


@pytest.mark.slow
def test_a_start_is_judged_by_its_header(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "start.npz", theta=np.zeros((200_000_000, 1), dtype=np.int8))
    tree = scenario(task={"l2": 0.1, "start": {"kind": "file", "path": "start.npz"}})
    file = tmp_path / "far.toml"
    file.write_text(to_toml(tree))
    with pytest.raises(ScenarioError, match=r"task\.start: start\.npz would take 1\.6 GB"):
        make_plan(str(file))
