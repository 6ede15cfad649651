"""The samples of all runs of a sweep, in one long table."""

import csv
from collections.abc import Iterable
from pathlib import Path

from scenarios.records.reader import RunRecord
from scenarios.records.sample_values import value_in
from scenarios.records.sweep_record import CURVES, Row, SweepManifest, in_table
from scenarios.records.whole_file import writing


def write_curves(sweep: Path, manifest: SweepManifest, rows: Iterable[Row]) -> None:
    """Write `curves.csv`: a row for each sample and metric of each run that finished; t in seconds of simulated time.

    A metric that a sample does not hold has no row. Raises `FolderError` where a run cannot be read.
    """
    several = len(manifest.scenarios) > 1
    axes = [column for axis in manifest.axes for column in axis.columns]
    fresh = sweep / f"{CURVES}.new"
    with writing(fresh), fresh.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        before = ["cell", "scenario"] if several else ["cell"]
        writer.writerow([*before, *axes, "seed", "t", "metric", "value"])
        for row in rows:
            if not row.is_finished:
                continue
            first = [row.cell, row.scenario] if several else [row.cell]
            place = [*first, *(in_table(row.settings[name]) for name in axes), row.seed]
            for t, values in RunRecord(sweep / row.run).curves():
                for name in manifest.metrics:
                    text = in_table(value_in(name, values, {}))
                    if text:
                        writer.writerow([*place, t, name, text])
    fresh.replace(sweep / CURVES)
