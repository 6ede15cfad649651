"""Figures of the ends of runs: the mean of each setting over its seeds, with an interval; data only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.pictures.curves import CONFIDENCE
from scenarios.pictures.picture import Material, Options
from scenarios.pictures.setting_names import Label
from scenarios.pictures.settings import Axis, Setting, axes_of
from scenarios.planning.metric_names import nearest_metric
from scenarios.records.file_guard import FolderError
from scenarios.records.intervals import interval

SCORES = ("accuracy.test", "rmse.test", "accuracy.train", "rmse.train", "loss")
"""What ends are compared by unless a metric is named: the first that there is."""


@dataclass(frozen=True, slots=True)
class End:
    """The mean of a metric over the seeds of one setting, with its interval."""

    setting: Setting
    mean: float
    """NaN where no seed has a value, ∞ where one has ∞."""
    low: float
    """NaN where there are less than two finite values."""
    high: float
    seeds: int
    """How many seeds have a value."""


def end_of(setting: Setting, what: str) -> End:
    """Return the mean of a metric at the end over the seeds of a setting; seeds without a value are left out."""
    values = [v for member in setting.members if not math.isnan(v := member.final(what))]
    if not values:
        return End(setting, math.nan, math.nan, math.nan, 0)
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return End(setting, math.fsum(values) / len(values), math.nan, math.nan, len(values))
    low, mean, high = interval(values, CONFIDENCE)
    return End(setting, mean, low, high, len(values))


def metric_of(material: Material, options: Options) -> str:
    """Return the metric by which ends are compared; raise `FolderError` where no run has it."""
    members = [setting.members[0] for setting in material.settings]
    wanted = (options.metric,) if options.metric else SCORES
    for what in wanted:
        if any(not math.isnan(member.final(what)) for member in members):
            return what
    if options.metric is None:
        raise FolderError("no run has a score or a loss at its end")
    known = members[0].run.last
    raise FolderError(
        f"--metric {options.metric}: no run has it at its end; {nearest_metric(options.metric, known)}"
    )


def main_axis(settings: Sequence[Setting]) -> tuple[Axis | None, list[Axis]]:
    """Return the axis that is drawn from left to right, and the others.

    It is the numeric axis with the most values, the first of equal ones; without numeric axes the one with the most values.
    """
    axes = axes_of(settings)
    if not axes:
        return None, []
    best = max(axes, key=lambda axis: (axis.is_numeric, len(axis.labels)))
    return best, [axis for axis in axes if axis is not best]


def lines_of(
    settings: Sequence[Setting], others: Sequence[Axis]
) -> dict[tuple[Label | None, ...], list[Setting]]:
    """Group settings into lines: those that have the same values on the other axes."""
    lines: dict[tuple[Label | None, ...], list[Setting]] = {}
    for setting in settings:
        lines.setdefault(tuple(setting.values.get(axis.name) for axis in others), []).append(
            setting
        )
    return lines


def is_budget(axis: Axis) -> bool:
    """Whether an axis is what ε is planned to be: a budget, or the ε of a release, by its name."""
    names = (axis.name, *axis.beside)
    return any("budget" in name or name.endswith(("epsilon", "alpha")) for name in names)
