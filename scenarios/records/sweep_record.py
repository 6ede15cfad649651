"""Reads and writes what a sweep leaves: one manifest, one tidy table, and a folder for each run.

```
sweep.json    status, axes, seeds, metrics, the command, versions
sweep.csv     a row for each cell and seed; sweep.parquet beside it where pyarrow is installed
curves.csv    with --curves: a row for each sample
cells/ID/     the runs; ID is the beginning of the hash by which a finished cell is found again
```

A *cell* is one setting of everything that varies but the seed. The table has the columns `cell`, `scenario` (only where
several are swept), one for each axis, `seed`, `status`, `code`, `verdict`, `chosen` (where settings were chosen), one for each metric, `wall_s`, `run` (the folder
of the run, relative to the sweep's; empty where there is none) and `message` (why a cell has no run).
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from scenarios.language.json_numbers import number
from scenarios.language.links import followed
from scenarios.records.file_guard import FolderError, decoded, guarded
from scenarios.records.gate import TABLE, flaws_of_sweep
from scenarios.records.reader import RunRecord
from scenarios.records.whole_file import write_over, write_whole

SWEEP, PARQUET, CURVES, CELLS = "sweep.json", "sweep.parquet", "curves.csv", "cells"
SWEEP_SCHEMA = 1
_ROOM = " " * 511 + "\n"
"""What stands behind `sweep.json`, so that another status has room in it."""
_BEFORE, _AFTER = ("cell", "scenario"), ("seed", "status", "code", "verdict")
_LAST = ("wall_s", "run", "message")
FIXED_COLUMNS = (*_BEFORE, *_AFTER, "chosen", *_LAST)
"""Columns that a table has whatever varies; nothing that varies may be called so."""
Label = str | float | int | bool
"""A value of an axis as the table has it."""


class Axis(msgspec.Struct, frozen=True):
    """One thing that a sweep varies: the column of the table, the keys of the scenario, and the values in words.

    `keys` are dotted keys of the scenario; those of a `zip` group are several. `labels` are the values as the table has
    them, in the order in which they were given: numbers stay numbers.
    """

    name: str
    keys: list[str]
    labels: list[Label]
    beside: dict[str, list[Label]] = {}
    """The other columns of a `zip` group: the label of each of its other keys, for each of `labels`."""

    @property
    def columns(self) -> list[str]:
        """The columns of the table that it has."""
        return [self.name, *self.beside]

    def columns_at(self, number: int) -> dict[str, Label]:
        """Return the values of its columns at one of its labels."""
        others = {name: labels[number] for name, labels in self.beside.items()}
        return {self.name: self.labels[number], **others}


class Chosen(msgspec.Struct, frozen=True):
    """How settings were chosen: of the values of `over`, for each setting of the other axes, the best mean of `by`."""

    by: str
    over: list[str]
    higher: bool
    epsilon: float | None = None
    """What the choice costs a validation record; None: no ε covers it."""


class SweepManifest(msgspec.Struct, frozen=True):
    """What `sweep.json` holds."""

    schema: int
    status: str
    """`running`, `finished`, `interrupted` or `failed` (some cell has no finished run)."""
    hush: str
    name: str
    scenarios: list[str]
    axes: list[Axis]
    seeds: list[int]
    metrics: list[str]
    command: str = ""
    """The command that repeats the sweep; empty where it was called from Python."""
    environment: dict[str, Any] = {}
    choice: Chosen | None = None
    """Where it is given, the table has a column `chosen`."""
    notes: list[str] = []
    """What must be known to read the table: how cells were chosen or stopped, what ε does not cover."""
    wall_s: float | None = None
    work_s: float | None = None
    """Σ of the time that cells took inside of their workers."""
    table_sha256: str = ""
    """Of `sweep.csv`; empty while it is being written."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    cell: int
    scenario: str
    settings: Mapping[str, Label]
    """The values of the axes, by their names, and of the columns beside them."""
    seed: int
    status: str
    """`finished`, `interrupted`, `failed`, `killed`, `stopped` (by racing), or `missing`."""
    code: int | None
    verdict: str
    metrics: Mapping[str, float]
    """NaN where the run has no value."""
    wall_s: float | None
    run: str
    message: str = ""
    chosen: bool = True
    """Whether its setting is one that was chosen; true of all where nothing was to choose."""

    @property
    def is_finished(self) -> bool:
        """Whether its run came to its end."""
        return self.status == "finished"


class SweepRecord:
    """The record of one sweep. Raises `FolderError` where `path` holds none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        file = path / SWEEP
        try:
            data = file.read_bytes()
        except OSError:
            raise FolderError(
                f"{path} is not the folder of a sweep: it has no readable {SWEEP}"
            ) from None
        tree = decoded(data, file, SweepManifest)
        with guarded(file):
            self.manifest = msgspec.convert(tree, SweepManifest)
        if self.manifest.schema != SWEEP_SCHEMA:
            said = f"{path} is a sweep of schema {self.manifest.schema}"
            raise FolderError(f"{said}: this hush reads schema {SWEEP_SCHEMA}")

    @property
    def axes(self) -> Sequence[Axis]:
        """What varies beside the seed, in the order of the columns."""
        return self.manifest.axes

    @cached_property
    def flaws(self) -> tuple[str, ...]:
        """What in the folder is not as the sweep left it, a sentence each; empty where all is. See `gate`."""
        return flaws_of_sweep(self)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the table, in its order. Raises `FolderError` where the table is missing or damaged."""
        file = self.path / TABLE
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise FolderError(f"{file} cannot be read") from None
        try:
            return tuple(self._row(line) for line in csv.DictReader(io.StringIO(text), strict=True))
        except (csv.Error, IndexError, KeyError, TypeError, ValueError) as error:
            raise FolderError(f"{file} is damaged: {error}") from None

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        """The place of each label of each axis, by what the table calls it."""
        return [{in_table(label): i for i, label in enumerate(axis.labels)} for axis in self.axes]

    def _row(self, line: dict[str, Any]) -> Row:
        if None in line or None in line.values():
            raise ValueError("a row has not one value for each column")
        return Row(
            cell=int(line["cell"]),
            scenario=line.get("scenario") or self.manifest.scenarios[0],
            settings={
                column: label
                for axis, places in zip(self.axes, self._places, strict=True)
                for column, label in _columns(axis, places, line[axis.name]).items()
            },
            seed=int(line["seed"]),
            status=line["status"],
            code=int(line["code"]) if line["code"] else None,
            verdict=line["verdict"],
            metrics={name: number(line[name] or None) for name in self.manifest.metrics},
            wall_s=float(line["wall_s"]) if line["wall_s"] else None,
            run=line["run"],
            message=line["message"],
            chosen=self.manifest.choice is None or line["chosen"] == "true",
        )

    @property
    def chosen(self) -> tuple[Row, ...]:
        """The rows of the settings that were chosen; all where nothing was to choose."""
        return tuple(row for row in self.rows if row.chosen)

    def run(self, row: Row) -> RunRecord:
        """Open the run of a row. Raises `FolderError` where it has none, or it lies outside of the sweep."""
        return RunRecord(self.folder_of(row))

    def folder_of(self, row: Row) -> Path:
        """Return the folder of a row's run. Raises `FolderError` where it has none, or it lies outside of the sweep."""
        path = self.path / row.run
        if not row.run or not followed(path).is_relative_to(followed(self.path)):
            raise FolderError(f"{self.path}: cell {row.cell}, seed {row.seed} has no run")
        return path


def is_sweep(path: Path) -> bool:
    """Whether a folder is that of a sweep."""
    return (path / SWEEP).is_file()


def write_manifest(path: Path, manifest: SweepManifest) -> None:
    """Write `sweep.json` whole: a reader finds it as it was before or as it is now.

    Raises `OSError` where the disk is full; the status is then written all the same, in place, for the file has room for it.
    """
    text = json.dumps(msgspec.to_builtins(manifest), indent=2)
    try:
        write_whole(path / SWEEP, text + _ROOM)
    except OSError:
        if (path / SWEEP).is_file():
            write_over(path / SWEEP, text.encode())
        raise


def write_table(path: Path, manifest: SweepManifest, rows: Iterable[Row]) -> str:
    """Write `sweep.csv` whole, and `sweep.parquet` beside it where pyarrow is installed; return the sha256 of the first."""
    several = len(manifest.scenarios) > 1
    axes = [column for axis in manifest.axes for column in axis.columns]
    before = _BEFORE if several else _BEFORE[:1]
    after = (*_AFTER, *(("chosen",) if manifest.choice is not None else ()))
    names = [*before, *axes, *after, *manifest.metrics, *_LAST]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    for row in rows:
        first = [row.cell, row.scenario] if several else [row.cell]
        values = [in_table(row.metrics.get(name)) for name in manifest.metrics]
        settings = [in_table(row.settings[name]) for name in axes]
        ending = [row.seed, row.status, in_table(row.code), row.verdict]
        if manifest.choice is not None:
            ending.append(in_table(row.chosen))
        writer.writerow(
            [*first, *settings, *ending, *values, in_table(row.wall_s), row.run, row.message]
        )
    write_whole(path / TABLE, text.getvalue())
    digest = hashlib.sha256(text.getvalue().encode()).hexdigest()
    try:
        from pyarrow import csv as arrow_csv
        from pyarrow import parquet
    except ImportError:
        return digest
    sink = io.BytesIO()
    parquet.write_table(arrow_csv.read_csv(path / TABLE), sink)
    write_whole(path / PARQUET, sink.getvalue())
    return digest


def _columns(axis: Axis, places: Mapping[str, int], text: str) -> dict[str, Label]:
    """Return the values of an axis and of the columns beside it that a cell of the table stands for."""
    if text not in places:
        raise ValueError(f"{axis.name} has no value {text[:40]!r}")
    return axis.columns_at(places[text])


def in_table(value: Any) -> str:
    """Return a value as the table has it: empty where there is none."""
    if value is None or value != value:  # noqa: PLR0124 # NaN is not itself
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
