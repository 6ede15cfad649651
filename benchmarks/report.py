"""What was measured: rows, as JSON and as a table for people."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.targets import GOALS

_MOST_BYTES = 4_000_000
"""A report takes a tenth of that."""


class Row(msgspec.Struct, frozen=True):
    """One figure: a value with the range of its repetitions, or the reason why there is none."""

    name: str
    what: str
    unit: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    skipped: str = ""
    detail: dict[str, float] = {}


class Machine(msgspec.Struct, frozen=True):
    """Where it was measured."""

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    libraries: dict[str, str]
    load: float
    """Processes that wanted to run when the measurement began, over the last minute."""


class Measured(msgspec.Struct, frozen=True):
    """What one comparison found, in one process of its own."""

    name: str
    world: str
    version: str
    commit: str
    quick: bool
    repeat: int
    cpu_s: float
    peak_mb: float
    machine: Machine
    rows: tuple[Row, ...]


class Report(msgspec.Struct, frozen=True):
    """All comparisons that a file holds, each as it was last measured."""

    suite: int
    comparisons: dict[str, Measured] = {}

    def rows(self) -> Iterator[tuple[Measured, Row]]:
        """Yield every row with the comparison that it belongs to."""
        for measured in self.comparisons.values():
            for row in measured.rows:
                yield measured, row

    def value(self, name: str) -> float | None:
        """Return the value of a row; None where there is none."""
        return next((row.value for _, row in self.rows() if row.name == name), None)


SUITE = 1


class ReportError(Exception):
    """A file that is no report, in words."""


def read(path: Path) -> Report:
    """Return the report of a file; raise `ReportError` where it cannot be read or is none."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    if len(text) > _MOST_BYTES:
        raise ReportError(f"{path}: a report has at most {_MOST_BYTES:,} bytes")
    try:
        report = msgspec.json.decode(text, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportError(f"{path} is no report of python -m benchmarks: {error}") from None
    if report.suite != SUITE:
        raise ReportError(f"{path} is of suite {report.suite}, this is suite {SUITE}")
    return report


def write(path: Path, report: Report) -> None:
    """Write a report, whole or not at all; raise `ReportError` where the disk refuses."""
    text = msgspec.json.format(msgspec.json.encode(report), indent=1)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(text + b"\n")
        beside.replace(path)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


_PATHS = ("auto", "events", "columns")


def former(name: str, baseline: Report) -> float | None:
    """Return what the baseline says of a row.

    Version 0.8.0 has no paths: where the baseline lacks a path, its detailed one stands for it, but only among ratios to the
    same loop, whose names differ in the path alone.
    """
    value = baseline.value(name)
    if value is not None or ":" in name.rpartition("/")[2]:
        return value
    head, _, last = name.rpartition("/")
    return baseline.value(f"{head}/detailed") if last in _PATHS else None


class Verdict(NamedTuple):
    """What a row says of its goal: its bound in words, and whether it was met."""

    target: str
    said: str


def verdict(row: Row, *, quick: bool) -> Verdict:
    """Return the goal of a row in words; empty where it has none, or was measured at other sizes."""
    goal = GOALS.get(row.name)
    if goal is None:
        return Verdict("", "")
    if row.value is None or quick:
        return Verdict(goal.words, "")
    if goal.met(row.value):
        return Verdict(goal.words, "met")
    return Verdict(goal.words, f"missed by {goal.missed_by(row.value):.0%}")


def figure(value: float | None) -> str:
    """Return a number in three digits."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def lines(measured: Measured, baseline: Report | None) -> Iterable[str]:
    """Yield the lines of one comparison for a terminal."""
    for row in measured.rows:
        if row.value is None:
            yield f"  {row.name:<28} skipped: {row.skipped}"
            continue
        target, said = verdict(row, quick=measured.quick)
        spread = "" if row.low is None else f" [{figure(row.low)} … {figure(row.high)}]"
        before = None if baseline is None or measured.quick else former(row.name, baseline)
        against = "" if before is None else f"  was {figure(before)}"
        told = f"  target {target}" if target else ""
        told += f": {said}" if said else ""
        yield f"  {row.name:<28} {figure(row.value):>8} {row.unit}{spread}{told}{against}"
        if row.detail:
            parts = ", ".join(f"{key} {figure(value)}" for key, value in row.detail.items())
            yield f"  {'':<28} {'':>8} {parts}"
