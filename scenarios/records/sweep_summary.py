"""What a sweep found: for each setting of what varied, how its runs ended and the mean of each metric over seeds."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scenarios.records.epsilon_terms import EpsilonTerms, terms_of_sweep
from scenarios.records.file_guard import FolderError
from scenarios.records.gate import TABLE
from scenarios.records.intervals import interval
from scenarios.records.sweep_record import Chosen, Label, Row, SweepRecord

SCENARIO = "scenario"
"""The column of a sweep over several scenarios."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Mean:
    """A metric over the seeds of one setting: its mean, and half of its t-interval.

    `mean` is NaN where no run has a value, and infinite where a value is; `half` is NaN where fewer than two finite values
    give no interval.
    """

    mean: float
    half: float
    values: int
    """How many runs have a finite value."""


@dataclass(frozen=True)
class Setting:
    """The rows of one setting of everything that varies but the seed."""

    labels: Mapping[str, Label]
    rows: tuple[Row, ...]
    metrics: tuple[str, ...]

    @property
    def finished(self) -> tuple[Row, ...]:
        """The rows whose runs came to their end."""
        return tuple(row for row in self.rows if row.is_finished)

    @property
    def is_chosen(self) -> bool:
        """Whether it is one of the settings that were chosen; true of all where nothing was to choose."""
        return any(row.chosen for row in self.finished)

    @cached_property
    def means(self) -> Mapping[str, Mean]:
        """Each metric over the finished runs."""
        return {
            name: mean_of([row.metrics[name] for row in self.finished]) for name in self.metrics
        }


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of some values and half of its t-interval; NaN is no value."""
    known = [value for value in values if not math.isnan(value)]
    finite = [value for value in known if math.isfinite(value)]
    if len(finite) < len(known):
        return Mean(math.fsum(set(known) - set(finite)), math.nan, len(finite))
    if len(finite) < 2:
        return Mean(finite[0] if finite else math.nan, math.nan, len(finite))
    _, mean, high = interval(finite, CONFIDENCE)
    return Mean(mean, high - mean, len(finite))


@dataclass(frozen=True)
class SweepSummary:
    """A sweep, setting by setting, in the order of its table."""

    record: SweepRecord
    columns: tuple[str, ...]
    """The names of what varies, as the table has them."""
    settings: tuple[Setting, ...]
    terms: Mapping[EpsilonTerms, int]
    """The terms of ε, each with the number of finished runs that have them."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row of the table."""
        return tuple(row for setting in self.settings for row in setting.rows)

    @property
    def planned(self) -> int:
        """How many runs the grid has."""
        manifest = self.record.manifest
        cells = math.prod(len(axis.labels) for axis in manifest.axes)
        return cells * len(manifest.scenarios) * len(manifest.seeds)

    @cached_property
    def statuses(self) -> Mapping[str, int]:
        """How many rows have each status."""
        return Counter(row.status for row in self.rows)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """Why ε does not cover some run."""
        return tuple(dict.fromkeys(reason for term in self.terms for reason in term.not_covered))

    @property
    def is_cut_off(self) -> bool:
        """Whether the sweep was killed, or still goes on."""
        return self.record.manifest.status == "running"


def summarised(record: SweepRecord) -> SweepSummary:
    """Return what a sweep found. One that was killed before it wrote its table has no rows yet."""
    manifest = record.manifest
    rows = (
        () if manifest.status == "running" and not (record.path / TABLE).exists() else record.rows
    )
    several = (SCENARIO,) if len(manifest.scenarios) > 1 else ()
    axes = rows[0].settings if rows else [axis.name for axis in manifest.axes]
    groups: dict[tuple[Label, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.scenario, *row.settings.values()), []).append(row)
    columns = (*several, *axes)
    settings = tuple(
        Setting(
            dict(zip(columns, key if several else key[1:], strict=True)),
            tuple(those),
            tuple(manifest.metrics),
        )
        for key, those in groups.items()
    )
    try:
        terms = terms_of_sweep(record) if rows else {}
    except FolderError:
        terms = {}
    return SweepSummary(record, columns, settings, terms)


def choice_in_words(choice: Chosen) -> str:
    """Return how settings were chosen, and whether a budget pays for that."""
    least = "highest" if choice.higher else "lowest"
    paid = (
        "no ε covers the choice, for it reads held-out records"
        if choice.epsilon is None
        else f"the choice costs a validation record ε = {choice.epsilon:g}"
    )
    return f"of {', '.join(choice.over)} the {least} mean of {choice.by}; {paid}"


def seeds_in_words(seeds: Sequence[int]) -> str:
    """Return all seeds as a person writes them: three and more in a row as `0..9`, others one by one."""
    rows: list[list[int]] = []
    for seed in sorted(seeds):
        if rows and seed == rows[-1][-1] + 1:
            rows[-1].append(seed)
        else:
            rows.append([seed])
    return ", ".join(
        f"{row[0]}..{row[-1]}" if len(row) > 2 else ", ".join(map(str, row)) for row in rows
    )


def label_in_words(label: Label) -> str:
    """Return a value of an axis as the table has it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def place_in_words(labels: Mapping[str, Label]) -> str:
    """Return a setting in words: `epsilon = 1, mechanism.kind = cd`."""
    return ", ".join(f"{name} = {label_in_words(label)}" for name, label in labels.items())
