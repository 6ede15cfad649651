"""[sweep]: the runs of a sweep: which keys vary, under which seeds, and what is made of the results."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report, ScenarioError, nearest, shown
from scenarios.language.table_rules import (
    REQUIRED,
    Many,
    SubTable,
    Table,
    fill_table,
    key,
    keys_of,
    read_table,
)
from scenarios.language.value_rules import Choice, Name, Text, positive

MOST_SEEDS = 100_000


def seeds_of(text: str, option: str = "--seeds") -> range:
    """Read `A..B`, both ends included, or one number; raise `ScenarioError` for anything else."""
    match = re.fullmatch(r"\s*(\d{1,18})\s*(?:\.\.\s*(\d{1,18})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not first <= last < first + MOST_SEEDS:
        said = f'must be such as "0..9", at most {MOST_SEEDS:,} seeds, got {text}'
        raise ScenarioError.of(option, said)
    return range(first, last + 1)


class ChooseTable(Table):
    """sweep.choose: keeps, of the values of some keys, those that a metric calls the best."""

    by: str = key(
        Name("the name of a metric"),
        REQUIRED,
        words="The metric by which the best value is chosen.",
    )
    over: list[str] = key(
        Many(Text("a key that varies"), 1),
        REQUIRED,
        words="The keys whose values are chosen among.",
    )
    better: str | None = key(
        Choice("higher", "lower"),
        words="Whether higher or lower is better; left out, as the metric has it.",
    )
    epsilon: float | None = key(
        positive(),
        words="The ε that the choice itself may cost, by the exponential mechanism; left out, the choice is free and not covered.",
    )


class SweepTable(Table):
    """[sweep]: the seeds, the keys that vary, and what is made of the results.

    `axes` holds the values of every key that varies, as they are written; they are judged with the scenario that they
    change.
    """

    seeds: str | None = key(
        Text('seeds such as "0..9"'),
        words="The seeds under which each setting runs, both ends included.",
    )
    zip: list[list[str]] = key(
        Many(Many(Text("a key that varies"), 2)),
        [],
        words="Keys whose values go together, first with first, in place of every combination.",
    )
    choose: ChooseTable | None = key(
        SubTable(ChooseTable),
        words="Keeps, of the values of some keys, those that a metric calls the best.",
    )
    metrics: list[str] = key(
        Many(Name("the name of a metric")), [], words="The metrics that the table of results has."
    )
    race: str | None = key(
        Name("the name of a metric"),
        words="The metric by which settings that are clearly worse are given up early.",
    )
    axes: Mapping[str, list[Any]] = field(default_factory=dict)

    def check(self, report: Report) -> None:
        """Report seeds that are none."""
        if self.seeds is not None:
            try:
                seeds_of(self.seeds)
            except ScenarioError as error:
                report.value(self.path_to("seeds"), error.problems[0].message)


class SweepRule:
    """Reads [sweep]: its own keys, and beside them every key of the scenario that is to vary."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        """Return a `SweepTable`, which is `unread` where the value is no table."""
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return read_table(SweepTable, {}, path, Report({}, {}), unread=True)
        known = keys_of(SweepTable)
        axes: dict[str, list[Any]] = {}
        for name, item in value.items():
            if name not in known:
                _collect(name, item, (*path, name), report, axes)
        own = {name: item for name, item in value.items() if name in known}
        return read_table(SweepTable, own, path, report, axes=axes)

    def fill(self, value: Any) -> Any:
        """Return the value as an author would have written it in full."""
        known = keys_of(SweepTable)
        own = {name: item for name, item in value.items() if name in known}
        rest = {name: item for name, item in value.items() if name not in known}
        return fill_table(SweepTable, own) | rest


def _collect(
    name: str, item: Any, path: Path, report: Report, axes: dict[str, list[Any]], depth: int = 1
) -> None:
    """Take the values of a key that varies; `network.loss = […]` without quotes is a table in TOML, and means the same."""
    if isinstance(item, dict) and item and depth < 8:
        for below, deeper in item.items():
            _collect(f"{name}.{below}", deeper, (*path, below), report, axes, depth + 1)
    elif not isinstance(item, list) or not item:
        hint = "" if depth > 1 else f"; {nearest(name, keys_of(SweepTable))}"
        said = f"must be an array of the values that '{name}' takes, got {shown(item)}{hint}"
        report.value(path, said)
    else:
        axes[name] = item
