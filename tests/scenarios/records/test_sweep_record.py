"""What a sweep wrote is what is read; what it cannot have written is refused."""

import math
from pathlib import Path

import msgspec
import pytest

from scenarios.records.file_guard import FolderError
from scenarios.records.gate import TABLE
from scenarios.records.sweep_record import (
    SWEEP,
    Axis,
    Row,
    SweepManifest,
    SweepRecord,
    write_manifest,
    write_table,
)

AXES = [
    Axis("epsilon", ["nodes.all.budget.epsilon"], [0.5, 1, 8]),
    Axis("mechanism.kind", ["mechanism.kind"], ["cd", "dvp"]),
    Axis("private", ["x"], [True, False]),
]
MANIFEST = SweepManifest(
    1, "finished", "0.8.0", "adult", ["adult"], AXES, [0, 1], ["loss.mean", "gap"]
)
ROWS = (
    Row(
        cell=0,
        scenario="adult",
        settings={"epsilon": 0.5, "mechanism.kind": "cd", "private": True},
        seed=1,
        status="finished",
        code=0,
        verdict="pass",
        metrics={"loss.mean": 0.1 + 0.2, "gap": math.inf},
        wall_s=1.5,
        run="cells/1f",
    ),
    Row(
        cell=1,
        scenario="adult",
        settings={"epsilon": 1, "mechanism.kind": "dvp", "private": False},
        seed=0,
        status="failed",
        code=None,
        verdict="",
        metrics={"loss.mean": math.nan, "gap": -2.0},
        wall_s=None,
        run="",
        message='it said "no", twice\nand more',
    ),
)


def written(path: Path) -> Path:
    write_manifest(path, MANIFEST)
    write_table(path, MANIFEST, ROWS)
    return path


def test_reading_is_the_inverse_of_writing(tmp_path: Path) -> None:
    record = SweepRecord(written(tmp_path))
    assert record.manifest == MANIFEST
    first, second = record.rows
    assert first == ROWS[0]
    assert math.isnan(second.metrics["loss.mean"])
    assert second.metrics["gap"] == -2.0
    assert (second.message, second.settings) == (ROWS[1].message, ROWS[1].settings)
    assert [type(v) for v in second.settings.values()] == [int, str, bool]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (TABLE, "cell,", "sell,"),
        (TABLE, "0.5,cd", "0.7,cd"),
        (TABLE, "1.5,cells", "1.5.1,cells"),
        (TABLE, "pass", "pass,pass"),
        (SWEEP, '"schema": 1', '"schema": 2'),
        (SWEEP, '"seeds"', '"sees"'),
        (SWEEP, "{", ""),
    ],
)
def test_what_no_sweep_writes_is_refused(tmp_path: Path, file: str, old: str, new: str) -> None:
    path = written(tmp_path) / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(FolderError, match=r"sweep\.|schema 2"):
        assert SweepRecord(tmp_path).rows


@pytest.mark.parametrize("run", ["", "../elsewhere", "/etc"])
def test_no_run_outside_of_the_sweep_is_opened(tmp_path: Path, run: str) -> None:
    write_manifest(tmp_path, MANIFEST)
    write_table(
        tmp_path, MANIFEST, [Row(**{f: getattr(ROWS[0], f) for f in Row.__slots__} | {"run": run})]
    )
    record = SweepRecord(tmp_path)
    with pytest.raises(FolderError, match="has no run"):
        record.run(record.rows[0])


def test_a_link_to_itself_holds_no_run(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST)
    write_table(tmp_path, MANIFEST, [ROWS[0]])
    (tmp_path / "cells").symlink_to("cells")
    record = SweepRecord(tmp_path)
    with pytest.raises(FolderError):
        record.run(record.rows[0])


def test_a_table_that_was_edited_is_told(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST)
    digest = write_table(tmp_path, MANIFEST, ROWS)
    write_manifest(tmp_path, msgspec.structs.replace(MANIFEST, table_sha256=digest))
    rest = SweepRecord(tmp_path).flaws
    assert rest[0] == "sweep.csv has not a row for each setting and seed"
    assert "is not the folder of a run" in rest[1]
    table = tmp_path / TABLE
    table.write_text(table.read_text().replace("-2.0", "-2.1"))
    assert SweepRecord(tmp_path).flaws == ("sweep.csv is not what the sweep wrote", *rest)
    table.unlink()
    assert SweepRecord(tmp_path).flaws[0] == "files are missing: sweep.csv"
    running = msgspec.structs.replace(MANIFEST, table_sha256=digest, status="running")
    write_manifest(tmp_path, running)
    assert SweepRecord(tmp_path).flaws == ()  # it may be between two writes
