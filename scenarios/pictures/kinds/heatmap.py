"""The picture of a two-dimensional grid: a cell for each pair of values, its mean written in it."""

import math
from typing import TYPE_CHECKING

import numpy as np

from scenarios.language.json_numbers import show
from scenarios.pictures.ends import end_of, metric_of
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.setting_names import Label, SettingNames
from scenarios.pictures.settings import Setting, axes_of, names_of
from scenarios.pictures.styles import CELL, MAP
from scenarios.pictures.words import (
    is_epsilon,
    metric_label,
    oracle,
    privacy_of,
    seeds_of,
    written,
)
from scenarios.records.file_guard import FolderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechanisms.vectors import Matrix

_MOST = 40
_WRITTEN = {True: 6, False: 12}
"""Up to so many columns the values are written into cells, by whether the picture is one column wide."""


def grid_of(
    settings: list[Setting], what: str
) -> tuple[list[Label], list[Label], "Matrix", tuple[str, str]]:
    """Return the values of both axes, from left to right and upwards, the means, and the axes' names.

    NaN stands in cells without a run. Raises `FolderError` where not exactly two axes differ.
    """
    axes = axes_of(settings)
    if len(axes) != 2:
        names = ", ".join(axis.name for axis in axes) or "nothing"
        more = "; narrow it down by --only KEY=VALUE" if len(axes) > 2 else ""
        raise FolderError(f"a heat map is of two axes, and what differs here is: {names}{more}")
    across, up = sorted(axes, key=lambda axis: -len(axis.labels))
    columns = sorted(across.labels) if across.is_numeric else list(across.labels)
    rows = sorted(up.labels) if up.is_numeric else list(up.labels)
    means = np.full((len(rows), len(columns)), np.nan)
    for setting in settings:
        place = rows.index(setting.values[up.name]), columns.index(setting.values[across.name])
        means[place] = end_of(setting, what).mean
    return columns, rows, means, (across.name, up.name)


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw the grid, its colours even in lightness, with a bar that explains them."""
    settings = material.settings
    what = metric_of(material, options)
    columns, rows, means, (across, up) = grid_of(settings, what)
    if max(means.shape) > _MOST:
        raise FolderError(
            f"a heat map of {len(rows)} × {len(columns)} cells is not legible, at most {_MOST} × {_MOST} are"
        )
    calls = names_of(axes_of(settings))
    known = means[np.isfinite(means)]
    if not known.size:
        raise FolderError(f"no cell has a finite {what} at its end")
    shown = np.where(np.isfinite(means), means, np.nan)
    drawn = axes.imshow(shown, cmap=MAP, origin="lower", aspect="auto")
    middle = (known.min() + known.max()) / 2
    if len(columns) <= _WRITTEN[options.narrow]:
        for (row, column), value in np.ndenumerate(means):
            text = (
                "–" if math.isnan(value) else show(value) if math.isinf(value) else f"{value:.3g}"
            )
            colour = "white" if math.isfinite(value) and value < middle else "black"
            size = _size(axes)
            axes.text(
                column, row, text, ha="center", va="center", color=colour, fontsize=size, gid=CELL
            )
    axes.set_xticks(range(len(columns)), [_name(calls, v, narrow=options.narrow) for v in columns])
    if any(len(_name(calls, v, narrow=options.narrow)) > 5 for v in columns) and len(columns) > 3:
        axes.tick_params(axis="x", rotation=35)
    axes.set_yticks(range(len(rows)), [_name(calls, v, narrow=options.narrow) for v in rows])
    axes.tick_params(length=0)
    axes.set_xlabel(written(across))
    axes.set_ylabel(written(up))
    axes.figure.colorbar(drawn, ax=axes, label=metric_label(what), pad=0.02)
    privacy = privacy_of((s.members[0] for s in settings), shown=is_epsilon(what))
    missing = int(np.isnan(means).sum())
    caption = (
        f"{what} at the end, the mean over agents and then over seeds, for each pair of {across} and {up}.",
        *calls.explained,
        *([f"{missing} cells have no value (–)."] if missing else []),
        *([f"{what} is an oracle's view: no agent sees it."] if oracle(what) else []),
        *privacy.caption,
    )
    foot = (
        seeds_of(settings),
        "means over seeds",
        *privacy.foot,
        oracle(what),
    )
    return Drawn(caption, tuple(filter(None, foot)))


def _size(axes: "Axes") -> float:
    """Return the size of ticks' labels, for the values in cells."""
    label = axes.xaxis.get_major_ticks()[0].label1
    return float(label.get_fontsize())


def _name(calls: SettingNames, value: Label, *, narrow: bool) -> str:
    return written(calls.value(value), 16 if narrow else 24)


KIND = PictureKind(
    "heatmap",
    "a grid of two axes, the mean over seeds in each cell",
    "sweep",
    _draw,
    frozenset({"metric"}),
    height=0.7,
)
