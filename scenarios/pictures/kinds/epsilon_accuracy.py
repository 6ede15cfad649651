"""The picture of ε against accuracy: what privacy costs, with intervals over seeds."""

import math
from typing import TYPE_CHECKING

from scenarios.pictures.curves import CONFIDENCE
from scenarios.pictures.ends import End, end_of, is_budget, lines_of, metric_of
from scenarios.pictures.kinds.final import INTERVAL, logarithmic
from scenarios.pictures.metric_panel import ASIDE, levels_of, look, marker, move_aside
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.setting_names import SettingNames
from scenarios.pictures.settings import Setting, axes_of, names_of
from scenarios.pictures.words import (
    metric_label,
    oracle,
    privacy_of,
    seeds_of,
    written,
)
from scenarios.records.file_guard import FolderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES, _TICKS, _CLOSE = 12, 8, 1.25


def _draw(axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw the score at the end against the largest ε of any agent, a line for each combination of the other axes.

    Settings whose ε is infinite are horizontal lines: they have no place on the axis.
    """
    settings = material.settings
    what = metric_of(material, options)
    points = [
        (setting, end_of(setting, "epsilon.max"), end_of(setting, what)) for setting in settings
    ]
    scored = [p for p in points if math.isfinite(p[2].mean)]
    finite = [p for p in scored if math.isfinite(p[1].mean) and p[1].mean > 0]
    if not finite:
        raise FolderError("no setting has both a finite ε above 0 and a score at its end")
    others = [axis for axis in axes_of(settings) if not is_budget(axis)]
    lines = lines_of([setting for setting, _, _ in finite], others)
    if len(lines) > _LINES:
        raise FolderError(
            f"{len(lines)} lines are too many to tell apart, at most {_LINES}: narrow them down by --only KEY=VALUE"
        )
    place = {id(setting): (epsilon, score) for setting, epsilon, score in finite}
    calls, keys = names_of(others), [axis.name for axis in others]
    for at, (values, group) in enumerate(lines.items()):
        ends = sorted((place[id(s)] for s in group), key=lambda pair: pair[0].mean)
        x, y = [e.mean for e, _ in ends], [s.mean for _, s in ends]
        half = [0.0 if math.isnan(s.high) else s.high - s.mean for _, s in ends]
        name = calls.of(dict(zip(keys, values, strict=True))) or "private"
        drawn = axes.errorbar(
            x,
            y,
            yerr=half,
            capsize=2.5,
            marker=marker(at),
            label=written(name),
            **look(at),
        )
        move_aside(axes, drawn, at, len(lines))
    said = _draw_free(
        axes,
        [(s, score) for s, epsilon, score in scored if math.isinf(epsilon.mean)],
        keys,
        calls,
        len(lines),
    )
    said += _draw_local(axes, settings, what)
    at_epsilon = sorted({e.mean for _, e, _ in finite})
    logarithmic(axes, _apart(at_epsilon))
    axes.set_xlabel("largest ε of any agent, at the end")
    axes.set_ylabel(metric_label(what))
    left = len(points) - len(scored)
    privacy = privacy_of(setting.members[0] for setting, _, _ in finite)
    caption = (
        f"{what} at the end, the mean over agents, against the largest ε of any agent at the end, both means over seeds. {INTERVAL}",
        *([ASIDE] if len(lines) > 1 else []),
        *calls.explained,
        *said,
        *([f"{left} settings have no finite {what} and are left out."] if left else []),
        *([f"{what} is an oracle's view: no agent sees it."] if oracle(what) else []),
        *privacy.caption,
    )
    foot = (
        seeds_of(settings),
        f"{100 * CONFIDENCE:g} % intervals over seeds",
        *privacy.foot,
        oracle(what),
    )
    return Drawn(caption, tuple(filter(None, foot)))


def _apart(values: list[float]) -> list[float]:
    """Return values of which none is within a quarter of the one before; none where they are too many for ticks."""
    kept: list[float] = []
    for value in values:
        if not kept or value > _CLOSE * kept[-1]:
            kept.append(value)
    return kept if len(kept) <= _TICKS else []


def _draw_free(
    axes: "Axes",
    free: list[tuple[Setting, End]],
    keys: list[str],
    calls: SettingNames,
    used: int,
) -> list[str]:
    """Draw settings without a finite ε as horizontal lines."""
    said = []
    for at, (setting, score) in enumerate(free[:4]):
        name = calls.of({key: setting.values.get(key) for key in keys}) or "not private"
        axes.axhline(
            score.mean, label=f"{written(name, 30)} (ε = ∞)", linewidth=0.9, **look(used + at)
        )
        said.append(f"Horizontal line: {name}, whose ε is infinite.")
    if len(free) > 4:
        said.append(f"{len(free) - 4} more settings with infinite ε are not drawn.")
    return said


def _draw_local(axes: "Axes", settings: list[Setting], what: str) -> list[str]:
    """Draw purely local learning and the central optimum where the runs know them and agree on them."""
    said = []
    each = []
    for setting in settings:
        try:
            each.append({level.name: level for level in levels_of(setting.members, what)})
        except FolderError:
            return []
    for name, dash in (("purely local", (0, (4, 2))), ("central optimum", (0, (1, 1)))):
        found = [levels[name] for levels in each if name in levels]
        if len(found) < len(each) or not found:
            continue
        values = [level.value for level in found]
        if max(values) - min(values) > 1e-9 * max(1.0, abs(values[0])):
            said.append(f"No line for {name}: its score differs between settings.")
            continue
        axes.axhline(values[0], color="0.2", linestyle=dash, linewidth=0.9, label=name)
        said.append(f"Horizontal line: {name}, {found[0].words}, {values[0]:.4g}.")
    return said


KIND = PictureKind(
    "epsilon-accuracy",
    "ε against the score at the end, with intervals over seeds",
    "sweep",
    _draw,
    frozenset({"metric"}),
)
