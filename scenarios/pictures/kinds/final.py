"""The picture of ends: a metric at the end against what was varied, with intervals over seeds."""

import math
from typing import TYPE_CHECKING

import numpy as np

from scenarios.pictures.curves import CONFIDENCE
from scenarios.pictures.ends import end_of, lines_of, main_axis, metric_of
from scenarios.pictures.metric_panel import ASIDE, look, marker, move_aside
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.setting_names import Label
from scenarios.pictures.settings import names_of
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

_LINES, _WORDS = 12, 12
INTERVAL = f"Bars: {100 * CONFIDENCE:g} % t-interval of the mean over seeds; a point without a bar has one seed."


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw a line for each combination of the other axes."""
    settings = material.settings
    main, others = main_axis(settings)
    if main is None:
        raise FolderError(
            "ends are compared between settings, and there is one: nothing was varied but the seed"
        )
    what = metric_of(material, options)
    lines = lines_of(settings, others)
    if len(lines) > _LINES:
        raise FolderError(
            f"{len(lines)} lines are too many to tell apart, at most {_LINES}: narrow them down by --only KEY=VALUE"
        )
    calls = names_of([main, *others])
    keys = [axis.name for axis in others]
    places: dict[Label, float] = (
        {v: float(v) for v in main.labels}
        if main.is_numeric
        else {v: float(k) for k, v in enumerate(main.labels)}
    )
    left = 0
    for at, (values, group) in enumerate(lines.items()):
        ends = [
            (places[s.values[main.name]], end_of(s, what)) for s in group if main.name in s.values
        ]
        shown = sorted(((x, e) for x, e in ends if math.isfinite(e.mean)), key=lambda pair: pair[0])
        left += len(ends) - len(shown)
        if not shown:
            continue
        x, mean = [p for p, _ in shown], [e.mean for _, e in shown]
        half = [0.0 if math.isnan(e.high) else e.high - e.mean for _, e in shown]
        name = calls.of(dict(zip(keys, values, strict=True))) or what
        drawn = axes.errorbar(
            x,
            mean,
            yerr=half,
            capsize=2.5,
            marker=marker(at),
            label=written(name),
            **look(at),
        )
        move_aside(axes, drawn, at, len(lines))
    if not axes.has_data():
        raise FolderError(f"no setting has a finite {what} at its end")
    _scale(axes, list(places.values()) if main.is_numeric else [])
    if not main.is_numeric:
        cut = _WORDS if len(main.labels) > 3 or options.narrow else 24
        axes.set_xticks(list(places.values()), [written(calls.value(v), cut) for v in main.labels])
        if len(main.labels) > 3:
            axes.tick_params(axis="x", rotation=30)
    axes.set_xlabel(written(main.name))
    axes.set_ylabel(metric_label(what))
    privacy = privacy_of((s.members[0] for s in settings), shown=is_epsilon(what))
    rest = [f"{left} settings have no finite value and are left out."] if left else []
    view = [f"{what} is an oracle's view: no agent sees it."] if oracle(what) else []
    caption = (
        f"{what} at the end, the mean over agents, against {main.name}. Points: mean over seeds. {INTERVAL}",
        *([ASIDE] if len(lines) > 1 else []),
        *calls.explained,
        *rest,
        *view,
        *privacy.caption,
    )
    foot = (
        seeds_of(settings),
        f"{100 * CONFIDENCE:g} % intervals over seeds",
        *privacy.foot,
        oracle(what),
    )
    return Drawn(caption, tuple(filter(None, foot)))


def _scale(axes: "Axes", places: list[float]) -> None:
    """Use a logarithmic axis where values grow by factors: all above 0, and the steps of their logarithms are more even."""
    values = np.array(sorted(set(places)))
    if len(values) < 3 or values[0] <= 0:
        return
    steps, factors = np.diff(values), np.diff(np.log(values))
    if factors.max() / factors.min() < steps.max() / steps.min():
        logarithmic(axes, values.tolist())


def logarithmic(axes: "Axes", values: list[float]) -> None:
    """Let the x axis be logarithmic, with ticks at the values themselves where they are few."""
    axes.set_xscale("log")
    if 1 < len(values) <= 8 and values[-1] / values[0] < 1e4:
        axes.set_xticks(values, [f"{v:.3g}" for v in values])
        axes.set_xticks([], minor=True)


KIND = PictureKind(
    "final",
    "a metric at the end against what was varied, with intervals over seeds",
    "sweep",
    _draw,
    frozenset({"metric"}),
)
