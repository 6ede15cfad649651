"""A sweep rests on its cells: damaged ones are run again, and a table that says otherwise than they do is damage."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hush import DamagedRun, open_sweep, sweep
from scenarios.command.main import main
from scenarios.language.writer import to_toml
from tests.support.builders import private
from tests.support.damages import RECORD, frames

WORLD: dict[str, Any] = private(
    run={"horizon": 4.0, "sample_every": 1.0},
    data={"source": "blobs", "dimension": 2, "points": 8},
)
OPTIONS: dict[str, Any] = {"grid": {"network.loss": [0, 0.5]}, "seeds": "0..1", "jobs": 1}
WORDS = ["sweep", "world.toml", "--grid", "network.loss=0,0.5", "--seeds", "0..1", "-j", "1", "-q"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished sweep, with its scenario beside it."""
    where = tmp_path_factory.mktemp("sweep")
    (where / "world.toml").write_text(to_toml(WORLD))
    sweep(where / "world.toml", out=where / "s", **OPTIONS)
    return where


@pytest.fixture
def swept(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "s"


def figures(folder: Path) -> list[Any]:
    return [(row.settings, row.seed, row.status, row.metrics) for row in open_sweep(folder).rows]


def sealed(cell: Path, name: str) -> None:
    manifest = json.loads((cell / "manifest.json").read_text())
    manifest["sha256"][name] = hashlib.sha256((cell / name).read_bytes()).hexdigest()
    (cell / "manifest.json").write_text(json.dumps(manifest))


def cut_at_a_frame(cell: Path) -> None:
    data = (cell / RECORD).read_bytes()
    (cell / RECORD).write_bytes(data[: frames(data)[0]])


def cut_and_unlisted(cell: Path) -> None:
    cut_at_a_frame(cell)
    manifest = json.loads((cell / "manifest.json").read_text())
    del manifest["sha256"][RECORD]
    (cell / "manifest.json").write_text(json.dumps(manifest))


def cut_and_sealed(cell: Path) -> None:
    cut_at_a_frame(cell)
    sealed(cell, RECORD)


def other_verdict(cell: Path) -> None:
    text = (cell / "verdicts.json").read_text()
    (cell / "verdicts.json").write_text(text.replace('"pass"', '"fail"', 1))
    sealed(cell, "verdicts.json")


def other_status(cell: Path) -> None:
    text = (cell / "summary.json").read_text()
    (cell / "summary.json").write_text(text.replace('"finished"', '"interrupted"', 1))
    sealed(cell, "summary.json")


def without_a_record(cell: Path) -> None:
    (cell / RECORD).unlink()


CELLS: dict[str, tuple[Callable[[Path], None], str]] = {
    "cut at a frame": (cut_at_a_frame, "checksums do not match"),
    "cut and unlisted": (cut_and_unlisted, "the manifest holds no checksum of"),
    "cut and sealed again": (cut_and_sealed, "the record does not hold the end of the run"),
    "no record": (without_a_record, "files are missing"),
    "another verdict": (other_verdict, "are not of one end"),
    "a summary of another end": (other_status, "the summary says interrupted"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_damaged_cell_is_run_again_and_that_is_said(
    swept: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, why = CELLS[name]
    before = figures(swept)
    cell = min(path for path in (swept / "cells").iterdir())
    damage(cell)
    assert main(["verify", str(swept)]) == 2
    assert why in capsys.readouterr().err
    assert main([*WORDS, "--out", str(swept)]) == 0
    told = capsys.readouterr().err
    assert f"1 finished cell is damaged and run again; cells/{cell.name}: " in told
    assert why in told
    assert figures(swept) == before
    assert main(["verify", str(swept)]) == 0


def test_python_is_warned_of_cells_that_are_run_again(swept: Path) -> None:
    for cell in (swept / "cells").iterdir():
        cut_at_a_frame(cell)
    with pytest.warns(DamagedRun, match="4 finished cells are damaged and run again"):
        made = sweep(swept.parent / "world.toml", out=swept, **OPTIONS)
    assert made.manifest.status == "finished"


def edit_row(folder: Path) -> None:
    """Let the first row tell a tenth of its ε, and seal the table again."""
    lines = (folder / "sweep.csv").read_text().splitlines()
    names, cells = lines[0].split(","), lines[1].split(",")
    place = names.index("epsilon.max")
    cells[place] = str(float(cells[place]) / 10)
    lines[1] = ",".join(cells)
    (folder / "sweep.csv").write_text("\n".join(lines) + "\n")
    manifest = json.loads((folder / "sweep.json").read_text())
    manifest["table_sha256"] = hashlib.sha256((folder / "sweep.csv").read_bytes()).hexdigest()
    (folder / "sweep.json").write_text(json.dumps(manifest))


def without_a_row(folder: Path) -> None:
    edit_row(folder)
    lines = (folder / "sweep.csv").read_text().splitlines()
    del lines[1]
    (folder / "sweep.csv").write_text("\n".join(lines) + "\n")


def without_a_checksum(folder: Path) -> None:
    manifest = json.loads((folder / "sweep.json").read_text())
    manifest["table_sha256"] = ""
    (folder / "sweep.json").write_text(json.dumps(manifest))


def without_cells(folder: Path) -> None:
    shutil.rmtree(folder / "cells")


def called_running(folder: Path) -> None:
    edit_row(folder)
    text = (folder / "sweep.json").read_text()
    (folder / "sweep.json").write_text(text.replace('"finished"', '"running"'))


TABLES: dict[str, tuple[Callable[[Path], None], str]] = {
    "an edited row": (edit_row, "its row says epsilon.max"),
    "a row less": (without_a_row, "has not a row for each setting and seed"),
    "no checksum": (without_a_checksum, "no checksum of: sweep.csv"),
    "no cells": (without_cells, "is not the folder of a run"),
    "an edited row of a sweep that is called running": (called_running, "its row says epsilon.max"),
}
READERS = {
    "show": ("show", "{}"),
    "show --json": ("show", "{}", "--json"),
    "compare": ("compare", "{}", "--by", "network.loss"),
    "plot": ("plot", "{}", "epsilon", "--out", "{}.png"),
    "report": ("report", "{}"),
    "verify": ("verify", "{}"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_reader_misses_what_a_table_does_not_have_of_its_cells(
    swept: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, why = TABLES[name]
    damage(swept)
    for words in READERS.values():
        assert main([word.format(swept) for word in words]) == 2, words
        assert why in capsys.readouterr().err, words
    with pytest.warns(DamagedRun, match=why.replace(".", r"\.")):
        _ = open_sweep(swept).rows


def test_a_whole_sweep_has_no_flaw(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in READERS.values():
        assert main([word.format(swept) for word in words]) == 0, words
    assert not capsys.readouterr().err
