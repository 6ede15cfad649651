"""Settings: the runs that have everything in common but the seed, with the values in which settings differ."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scenarios.language.json_numbers import aggregate as aggregated
from scenarios.language.links import followed
from scenarios.language.problems import nearest
from scenarios.pictures.sampled_run import SampledRun, drawable, numbers
from scenarios.pictures.setting_names import Label, SettingNames, value_in_words
from scenarios.planning.metric_names import split_metric
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import Row, SweepRecord

_NOT_SETTINGS = ("seeds", "origin", "sweep", "summary", "tags", "expect")
"""Tables of a scenario in full that do not make a setting another one."""
SCENARIO = "scenario"
"""The key of the scenario's name."""
_NAMED = 3
"""A label names at most so many keys."""


class Member:
    """One run of a setting: of a folder of its own, or of a row of a sweep's table."""

    def __init__(
        self, record: RunRecord | None, sweep: SweepRecord | None = None, row: Row | None = None
    ) -> None:
        self._record, self._sweep, self._row = record, sweep, row

    @cached_property
    def record(self) -> RunRecord:
        """The record of the run. Raises `FolderError` where the row of a sweep has none."""
        if self._record is None:
            assert self._sweep is not None  # noqa: S101 # a member has a record or a row
            assert self._row is not None  # noqa: S101
            return self._sweep.run(self._row)
        return self._record

    @cached_property
    def run(self) -> SampledRun:
        """The samples of the run."""
        return SampledRun(self.record)

    @property
    def name(self) -> str:
        """What tells it from others where its settings do not: the name of its folder, or the number of its cell."""
        if self._row is not None:
            return f"cell {self._row.cell}"
        return self.record.path.name or str(self.record.path)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.record.manifest["seed"]) if self._row is None else self._row.seed

    def final(self, what: str) -> float:
        """Return a metric at the end: with its aggregate, else the mean over agents. NaN where it has no value.

        It is read from the table of the sweep, else from the last sample. ∞ stays ∞.
        """
        base, how = split_metric(what)
        if self._row is not None:
            for name in (what, f"{base}.mean" if how is None else base):
                if name in self._row.metrics:
                    return drawable(self._row.metrics[name])
            if not self._row.run:
                return math.nan
        values = self.run.last
        if base not in values:
            return math.nan
        return aggregated(numbers(values[base]), how or "mean")


@dataclass(frozen=True)
class Setting:
    """Runs that differ in their seeds only."""

    values: Mapping[str, Label]
    """In what it differs from other settings, by keys; empty where there is one setting."""
    members: tuple[Member, ...]
    name: str
    """What it is called in a legend."""

    @property
    def seeds(self) -> list[int]:
        """The seeds, in ascending order."""
        return sorted(member.seed for member in self.members)


@dataclass(frozen=True)
class Axis:
    """One key in which settings differ, with its values in the order in which they came."""

    name: str
    labels: tuple[Label, ...]
    beside: tuple[str, ...] = ()
    """Keys that vary together with it: those of which each value goes with one value of it."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a finite number."""
        return all(
            isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)
            for v in self.labels
        )


def settings_of_sweep(sweep: SweepRecord) -> list[Setting]:
    """Return the settings of a sweep, in the order of its table: finished runs only, and chosen ones where there was a choice.

    The axes over which they were chosen are none in which they differ: their values follow from the others.
    """
    several = len(sweep.manifest.scenarios) > 1
    choice = sweep.manifest.choice
    over = set() if choice is None else set(choice.over)
    free = [axis.name for axis in sweep.axes if not over & set(axis.columns)]
    cells: dict[int, list[Row]] = {}
    for row in sweep.chosen:
        if row.is_finished:
            cells.setdefault(row.cell, []).append(row)
    if not cells:
        raise FolderError(f"{sweep.path} holds no finished run to draw")
    settings = []
    for rows in cells.values():
        values: dict[str, Label] = {SCENARIO: rows[0].scenario} if several else {}
        values |= {name: rows[0].settings[name] for name in free}
        members = tuple(Member(None, sweep, row) for row in rows)
        settings.append(Setting(values, members, ""))
    return settings


def settings_of_runs(records: Sequence[RunRecord]) -> list[Setting]:
    """Group runs by their scenarios in full: those that differ in seeds only are of one setting.

    The values of a setting are those keys of the scenario in which any two runs differ. A run whose scenario cannot be
    read is a setting of its own. A run that is named twice counts once.
    """
    unique = {followed(record.path): record for record in records}
    flat = {path: _flat_scenario(record) for path, record in unique.items()}
    groups: dict[Any, list[Path]] = {}
    for path, keys in flat.items():
        groups.setdefault(path if keys is None else tuple(sorted(keys.items())), []).append(path)
    known = [flat[paths[0]] or {} for paths in groups.values()]
    names = sorted({key for keys in known for key in keys}, key=lambda key: (key != SCENARIO, key))
    differing = [key for key in names if len({keys.get(key) for keys in known}) > 1]
    settings = []
    for paths, keys in zip(groups.values(), known, strict=True):
        values: dict[str, Label] = {key: _label(keys.get(key, "")) for key in differing}
        settings.append(Setting(values, tuple(Member(unique[p]) for p in paths), ""))
    return settings


def _label(text: str) -> Label:
    """Return a written value as a number or a truth where it is one."""
    if text in {"True", "False"}:
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text


def _flat_scenario(record: RunRecord) -> dict[str, str] | None:
    """Return the scenario in full as dotted keys and written values; None where it cannot be read."""
    try:
        tree = dict(record.resolved)
    except FolderError:
        return None
    for name in _NOT_SETTINGS:
        tree.pop(name, None)
    tree[SCENARIO] = tree.pop("name", "")
    tree["run"] = {k: v for k, v in tree.get("run", {}).items() if k != "seed"}
    return dict(_flat(tree, ""))


def _flat(value: Any, path: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        for at, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{inner.get('name', at)}")
    else:
        yield path.removesuffix(".kind"), str(value)


def named(settings: Sequence[Setting]) -> list[Setting]:
    """Return settings with names by which a legend tells them apart."""
    axes = axes_of(settings)
    scenarios = [str(setting.values.get(SCENARIO, "")) for setting in settings]
    if all(scenarios) and len(set(scenarios)) == len(scenarios):
        return [Setting(s.values, s.members, str(s.values[SCENARIO])) for s in settings]
    calls = names_of(axes)
    kept = [axis.name for axis in axes]
    names = [calls.of({k: s.values.get(k) for k in kept}, _NAMED) for s in settings]
    if len(set(names)) < len(names) or not all(names):
        names = [
            name if name and names.count(name) == 1 else setting.members[0].name
            for name, setting in zip(names, settings, strict=True)
        ]
    return [Setting(s.values, s.members, n) for s, n in zip(settings, names, strict=True)]


def names_of(axes: Sequence[Axis]) -> SettingNames:
    """Return what calls settings by these axes."""
    return SettingNames({axis.name: axis.labels for axis in axes})


def axes_of(settings: Sequence[Setting]) -> list[Axis]:
    """Return the keys in which settings differ, in their order; without settings or differences none."""
    names = dict.fromkeys(name for setting in settings for name in setting.values)
    axes = []
    for name in names:
        labels = tuple(dict.fromkeys(s.values[name] for s in settings if name in s.values))
        if len(labels) > 1:
            axes.append(Axis(name, labels))
    return _together(axes, settings)


def _together(axes: Sequence[Axis], settings: Sequence[Setting]) -> list[Axis]:
    """Keep one axis of several that vary together, a numeric one where there is one, else the first."""
    groups: dict[tuple[int, ...], list[Axis]] = {}
    for axis in axes:
        values = [setting.values.get(axis.name) for setting in settings]
        groups.setdefault(tuple(values.index(v) for v in values), []).append(axis)
    kept = []
    for group in groups.values():
        chosen = next((axis for axis in group if axis.is_numeric), group[0])
        beside = tuple(axis.name for axis in group if axis is not chosen)
        kept.append(Axis(chosen.name, chosen.labels, beside))
    return kept


def only(settings: Sequence[Setting], choices: Mapping[str, str]) -> list[Setting]:
    """Keep the settings that have the chosen values; `choices` maps keys, or their last parts, to written values.

    Raises `FolderError` where a key is none in which settings differ, or has no such value.
    """
    kept = list(settings)
    for key, wanted in choices.items():
        known = {name for setting in settings for name in setting.values}
        if not known:
            raise FolderError(f"--only {key}: nothing differs here but seeds")
        found = [n for n in known if n == key or n.endswith(f".{key}")]
        if len(found) != 1:
            raise FolderError(f"--only {key}: no axis has this name; {nearest(key, sorted(known))}")
        name = found[0]
        written = {
            value_in_words(s.values[name]): s.values[name] for s in settings if name in s.values
        }
        if value_in_words(_label(wanted)) not in written:
            raise FolderError(
                f"--only {key}={wanted}: there is no such value; {nearest(wanted, written)}"
            )
        kept = [
            s
            for s in kept
            if value_in_words(s.values.get(name, "")) == value_in_words(_label(wanted))
        ]
    return kept
