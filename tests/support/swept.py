"""Folders of sweeps with a table that a test chooses, and the same finished run in every row."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from scenarios.records.sweep_record import (
    Axis,
    Chosen,
    Row,
    SweepManifest,
    write_manifest,
    write_table,
)

Label = str | float | bool


def written_sweep(
    folder: Path,
    axes: Mapping[str, Sequence[Label]],
    seeds: Sequence[int],
    metrics: Callable[[Mapping[str, Label], int], Mapping[str, float]],
    *,
    run: Path | None = None,
    status: Callable[[Mapping[str, Label], int], str] = lambda _settings, _seed: "finished",
    choice: Chosen | None = None,
    chosen: Callable[[Mapping[str, Label]], bool] = lambda _settings: True,
) -> Path:
    """Write a sweep over every combination of the axes; `metrics` gives the figures of a cell and a seed."""
    folder.mkdir(parents=True)
    if run is not None:
        shutil.copytree(run, folder / "cells" / "one")
    rows, names = [], dict[str, None]()
    for cell, values in enumerate(product(*axes.values())):
        settings = dict(zip(axes, values, strict=True))
        for seed in seeds:
            figures = metrics(settings, seed)
            names |= dict.fromkeys(figures)
            place = "" if run is None else "cells/one"
            state = status(settings, seed)
            row = Row(cell, "world", settings, seed, state, 0, "pass", figures, 0.1, place)
            rows.append(replace(row, chosen=chosen(settings)))
    kinds = [Axis(name, [name], list(labels)) for name, labels in axes.items()]
    manifest = SweepManifest(
        1, "finished", "0.7", "swept", ["world"], kinds, list(seeds), list(names), choice=choice
    )
    write_manifest(folder, manifest)
    write_table(folder, manifest, rows)
    return folder
