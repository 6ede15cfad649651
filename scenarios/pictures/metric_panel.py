"""Draws one metric of runs against an axis, with what it must be seen beside: caps, faults, exhaustion, other optima."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.language.json_numbers import number
from scenarios.pictures.curves import (
    CONFIDENCE,
    Curve,
    curve_of_run,
    over_seeds,
)
from scenarios.pictures.picture import Drawn, Material, Options
from scenarios.pictures.sampled_run import SampledRun, Window
from scenarios.pictures.settings import Member, Setting
from scenarios.pictures.styles import (
    CHARGE,
    CLAIM,
    COLOURS,
    DASHES,
    FEW,
    INK,
    MARKERS,
)
from scenarios.pictures.words import (
    COUNTS,
    X_LABELS,
    agents_in_words,
    ended,
    is_epsilon,
    metric_label,
    oracle,
    privacy_of,
    seeds_of,
    unit_of,
    written,
)
from scenarios.planning.metric_names import split_metric
from scenarios.records.file_guard import FolderError, guarded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

_LINES = 12
"""So many settings are drawn as lines at most: more could not be told apart."""
_BANDS, _BARS = 3, 8
"""Up to so many settings are drawn with bands."""
_FAULTS, _WINDOWS = 4, 40
HATCHES = ("", "///", "...", "xxx")


def draw_metric(what: str, axes: "Axes", material: Material, options: Options) -> Drawn:
    """Draw a metric of one run or of several settings, and say what was drawn."""
    settings = material.settings
    if len(settings) > _LINES:
        raise FolderError(
            f"{len(settings)} settings make no legible lines, at most {_LINES} do: narrow them down by --only KEY=VALUE, "
            "or compare their ends by final or heatmap"
        )
    members = [member for setting in settings for member in setting.members]
    if len(members) == 1:
        said = _draw_run(what, axes, members[0], options)
    elif any(len(setting.members) > 1 for setting in settings):
        said = _draw_seeds(what, axes, settings, options.x)
    else:
        said = _draw_each(what, axes, settings, options.x)
    _label(axes, what, options.x)
    return _told(what, settings, members, said, options)


def _told(
    what: str,
    settings: Sequence[Setting],
    members: Sequence[Member],
    said: list[str],
    options: Options,
) -> Drawn:
    """Add to what was said of the lines what holds of every picture of a metric."""
    privacy = privacy_of(members, shown=is_epsilon(what) or options.x == "epsilon")
    unit = unit_of(what)
    against = {"epsilon": "ε"}.get(options.x) or X_LABELS[options.x]
    first = f"{what}{f' ({unit})' if unit else ''} against {against}."
    view = [f"{what} is an oracle's view: no agent sees it."] if oracle(what) else []
    agents, how = agents_in_words(members), ended(members)
    many = [f"{agents[0].upper()}{agents[1:]}; {seeds_of(settings)}."] if agents else []
    unfinished = [f"Not every run came to its end: {how}."] if how else []
    foot = [seeds_of(settings), agents, *privacy.foot, oracle(what)]
    caption = (first, *said, *many, *view, *privacy.caption, *unfinished)
    return Drawn(caption, tuple(filter(None, foot)))


def _label(axes: "Axes", what: str, x: str) -> None:
    axes.set_xlabel(X_LABELS.get(x, "ε of each agent"))
    if x in COUNTS:
        axes.locator_params(axis="x", integer=True)
    axes.set_ylabel(metric_label(what))


# one run


def _draw_run(what: str, axes: "Axes", member: Member, options: Options) -> list[str]:
    """Draw one run: the median and mean of its agents, the band of 80 %, and marks."""
    run, x = member.run, options.x
    with guarded(member.record.path):
        curve = curve_of_run(run, what, x)
        said = _draw_band(axes, curve, what)
        if what.startswith("gap") and (curve.middle > 0).all():
            axes.set_yscale("log")
        elif x != "epsilon":
            said += _draw_faults(axes, run, x, float(curve.at[-1]))
        said += _draw_levels(axes, [member], what)
        if split_metric(what)[0] == "epsilon":
            said += _draw_caps(axes, member)
        if x != "epsilon":
            said += _draw_exhaustion(axes, run, x)
    return said


def _draw_band(axes: "Axes", curve: Curve, what: str) -> list[str]:
    """Draw the agents of one run; return what was drawn."""
    mark = "o" if len(curve.at) <= FEW else None
    said = []
    if curve.per_node:
        axes.fill_between(
            curve.at,
            curve.low,
            curve.high,
            color=INK,
            alpha=0.2,
            linewidth=0,
            label="80 % of agents",
        )
        axes.plot(curve.at, curve.mean, ":", color=CLAIM, label="mean", zorder=3)
        said.append(
            "Line: median over agents; dots: mean; band: from the 10th to the 90th percentile, 80 % of the agents."
        )
        if what.startswith("epsilon"):
            axes.plot(curve.at, curve.largest, "--", color=CHARGE, label="largest", zorder=3)
            said.append("Dashes: the largest of any agent.")
    label = "median" if curve.per_node else written(what)
    axes.plot(curve.at, curve.middle, color=INK, label=label, marker=mark)
    if curve.left_out:
        said.append(
            f"Up to {curve.left_out} agents have no finite value and are left out of every figure."
        )
    return said


def _draw_faults(axes: "Axes", run: SampledRun, x: str, end: float) -> list[str]:
    """Shade the windows of faults with their names."""
    by_fault: dict[int, list[Window]] = {}
    for window in run.windows:
        by_fault.setdefault(window.fault, []).append(window)
    said = []
    for at, (fault, windows) in enumerate(by_fault.items()):
        name = fault_name(run, fault, windows[0].action)
        if at >= _FAULTS or len(windows) > _WINDOWS:
            many = f"{len(windows)} windows" if len(windows) > 1 else "window"
            said.append(f"The {many} of the fault {name} are not shaded.")
            continue
        label: str | None = f"fault: {written(name, 30)}"
        for window in windows:
            stop = end if window.ends is None else run.place(window.ends, x)
            axes.axvspan(
                run.place(window.begins, x),
                max(stop, run.place(window.begins, x)),
                facecolor="0.86" if at % 2 == 0 else "0.93",
                edgecolor="0.6",
                hatch=HATCHES[at],
                linewidth=0,
                zorder=0,
                label=label,
            )
            label = None
        said.append(f"Shaded: while the fault {name} lasted.")
    return said


def fault_name(run: SampledRun, fault: int, action: str) -> str:
    """Return the name of a fault as the scenario has it; its action where the folder does not tell."""
    try:
        name = run.record.facts.faults[fault].name
    except (FolderError, IndexError):
        return action
    return name or action


def _draw_exhaustion(axes: "Axes", run: SampledRun, x: str) -> list[str]:
    """Mark when the first and the last agent were exhausted."""
    marks = sorted(run.exhausted, key=lambda mark: mark.time)
    if not marks:
        return []
    first, last = run.place(marks[0], x), run.place(marks[-1], x)
    axes.axvline(first, color="0.25", linestyle=(0, (1, 1.5)), label="first exhausted")
    if last > first:
        axes.axvline(last, color="0.25", linestyle=(0, (1, 4)), label="last exhausted")
    many = f"{len(marks)} agent{'s' if len(marks) > 1 else ''}"
    return [
        f"Vertical dots: the first of {many} made its last release or was refused one"
        + (", and the last did." if last > first else ".")
    ]


def caps_of(member: Member) -> dict[float, str]:
    """Return the finite caps of a run and the groups that have each."""
    caps: dict[float, dict[str, None]] = {}
    for group in member.record.summary.get("groups", []):
        caps.setdefault(number(group.get("cap")), {})[str(group.get("name"))] = None
    if not caps:
        try:
            facts = member.record.facts
        except FolderError:
            return {}
        each = facts.caps
        for name, ids in facts.members.items():
            for i in ids:
                cap = each[i]
                if cap is not None:
                    caps.setdefault(cap, {})[name] = None
    return {cap: ", ".join(names) for cap, names in caps.items() if math.isfinite(cap)}


def _draw_caps(axes: "Axes", member: Member) -> list[str]:
    caps = sorted(caps_of(member).items())
    for at, (cap, groups) in enumerate(caps[:_FAULTS]):
        label = f"cap {cap:g} of {written(groups, 24)}"
        axes.axhline(cap, color="0.35", linestyle=DASHES[at + 1], linewidth=0.8, label=label)
    return [f"Horizontal line: the cap {cap:g} of {groups}." for cap, groups in caps[:_FAULTS]]


# levels to compare with


@dataclass(frozen=True, slots=True)
class Level:
    """A value that a metric is compared with."""

    name: str
    value: float
    words: str


def levels_of(members: Sequence[Member], what: str) -> list[Level]:
    """Return what purely local learning and the central optimum have of a metric, as means over runs.

    Nothing is returned of a comparison that some run lacks.
    """
    base, aggregate = split_metric(what)
    if aggregate not in {None, "mean"}:
        return []
    found = []
    sources = (
        ("purely local", "local", "the mean of purely local learning on the same data"),
        ("central optimum", "central", "the mean at the exact minimum of what the kind minimises"),
    )
    key = {"loss": "loss", "accuracy.test": "accuracy", "rmse.test": "rmse"}.get(base)
    for name, place, words in sources:
        values = [_known(m, place, key) for m in members] if key else []
        if values and all(map(math.isfinite, values)):
            found.append(Level(name, math.fsum(values) / len(values), words))
    if base == "objective":
        values = [number(m.record.summary.get("optimum")) for m in members]
        if all(map(math.isfinite, values)):
            mean = math.fsum(values) / len(values)
            found.append(Level("optimum", mean, "the exact minimum over all declared agents"))
    return found


def _known(member: Member, place: str, key: str) -> float:
    table = member.record.summary.get(place)
    return number(table.get(key)) if isinstance(table, dict) else math.nan


def _draw_levels(axes: "Axes", members: Sequence[Member], what: str) -> list[str]:
    said = []
    for level, dash in zip(levels_of(members, what), ((0, (4, 2)), (0, (1, 1))), strict=False):
        axes.axhline(level.value, color="0.2", linestyle=dash, linewidth=0.9, label=level.name)
        said.append(
            f"{level.name[0].upper()}{level.name[1:]} (horizontal line): {level.words}, {level.value:.4g}."
        )
    return said


# several settings


def look(at: int) -> dict[str, Any]:
    """Return colour and dashes of the line of one setting among several."""
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": DASHES[(at + at // len(COLOURS)) % len(DASHES)],
    }


ASIDE = (
    "Points of different lines are moved aside by two points of print, so that none covers another."
)


def move_aside(axes: "Axes", drawn: "ErrorbarContainer", at: int, lines: int) -> None:
    """Move the points of one of several lines a little aside, so that bars do not cover each other.

    The points count for the limits of the axes as they are: they are moved after they were added.
    """
    from matplotlib.transforms import ScaledTranslation

    inches = 2.2 * (at - (lines - 1) / 2) / 72
    line, caps, bars = drawn.lines
    for artist in (line, *caps, *bars):
        shift = ScaledTranslation(inches, 0, axes.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]
        artist.set_transform(axes.transData + shift)


def marker(at: int) -> str:
    """Return the marker of one setting among several."""
    return MARKERS[at % len(MARKERS)]


def _draw_each(what: str, axes: "Axes", settings: Sequence[Setting], x: str) -> list[str]:
    """Draw one run of each setting: the median over agents, with the band where there are few."""
    banded = len(settings) <= _BANDS
    per_node = False
    left_out = 0
    for at, setting in enumerate(settings):
        member = setting.members[0]
        with guarded(member.record.path):
            curve = curve_of_run(member.run, what, x)
        shown = look(at)
        mark = marker(at) if len(curve.at) <= FEW else None
        axes.plot(curve.at, curve.middle, label=written(setting.name), marker=mark, **shown)
        per_node |= curve.per_node
        left_out = max(left_out, curve.left_out)
        if curve.per_node and banded:
            axes.fill_between(
                curve.at, curve.low, curve.high, color=shown["color"], alpha=0.13, linewidth=0
            )
    said = ["A line for each run."]
    if per_node:
        band = (
            " band: 80 % of the agents."
            if banded
            else " Bands over agents are left out for clarity."
        )
        said = [
            "A line for each run: the median over its agents;" + band
            if banded
            else "A line for each run: the median over its agents." + band
        ]
    if left_out:
        said.append(f"Up to {left_out} agents of a run have no finite value and are left out.")
    return said + _common_levels(axes, settings, what)


def _draw_seeds(what: str, axes: "Axes", settings: Sequence[Setting], x: str) -> list[str]:
    """Draw each setting as the mean over its seeds, with the interval of that mean."""
    single = []
    for at, setting in enumerate(settings):
        curves = []
        for member in setting.members:
            with guarded(member.record.path):
                curves.append(curve_of_run(member.run, what, x))
        curve = over_seeds(curves)
        shown = look(at)
        mark = marker(at) if len(curve.at) <= FEW else None
        name = setting.name if len(settings) > 1 else "mean over seeds"
        axes.plot(curve.at, curve.mean, label=written(name), marker=mark, **shown)
        if curve.seeds > 1 and len(settings) > _BANDS:
            step = max(1, len(curve.at) // _BARS)
            half = (curve.mean - curve.low, curve.high - curve.mean)
            every = (at * step // len(settings), step)
            bars: dict[str, Any] = {
                "fmt": "none",
                "ecolor": shown["color"],
                "capsize": 2,
                "elinewidth": 0.8,
            }
            axes.errorbar(curve.at, curve.mean, yerr=half, errorevery=every, **bars)
        elif curve.seeds > 1:
            label = f"{100 * CONFIDENCE:g} % interval" if len(settings) == 1 else None
            axes.fill_between(
                curve.at,
                curve.low,
                curve.high,
                color=shown["color"],
                alpha=0.18,
                linewidth=0,
                label=label,
            )
        else:
            single.append(setting.name)
    said = [
        f"Line: mean over seeds of the mean over agents; {'band' if len(settings) <= _BANDS else 'bars'}: {100 * CONFIDENCE:g} % t-interval of that mean over seeds, "
        "not the spread of agents."
    ]
    if single:
        said.append(f"One seed only, so no interval: {'; '.join(single)}.")
    return said + _common_levels(axes, settings, what)


def _common_levels(axes: "Axes", settings: Sequence[Setting], what: str) -> list[str]:
    """Draw levels where every setting has the same ones."""
    each = [[level.value for level in levels_of(setting.members, what)] for setting in settings]
    if not each[0] or any(len(values) != len(each[0]) for values in each):
        return []
    if not np.allclose(each, each[0], rtol=1e-9):
        return [
            "Purely local learning and the optimum differ between settings, so that no line shows them."
        ]
    return _draw_levels(axes, settings[0].members, what)
