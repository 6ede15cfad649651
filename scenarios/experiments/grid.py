"""The settings of a sweep: what varies, every combination of it, and a short name for each value. Reads no scenario."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from scenarios.language.problems import Problem, ScenarioError, nearest, shown
from scenarios.language.visible_text import visible
from scenarios.language.writer import inline
from scenarios.records.sweep_record import FIXED_COLUMNS, Axis, Label, in_table

MOST_CELLS = 100_000
"""So many cells, seeds counted, a sweep has at most."""
_LONGEST_LABEL = 60
_UNVARIED = ("schema", "name", "summary", "tags", "extends", "origin", "sweep")
"""Tables and keys that change no run."""


@dataclass(frozen=True, slots=True)
class Varied:
    """One axis with the values behind its labels: `values[i]` holds, for each of the axis's keys, the value of `labels[i]`."""

    axis: Axis
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One combination: the values of the scenario's keys, and how the table names them."""

    number: int
    scenario: int
    """Which of the scenarios of the sweep."""
    values: Mapping[str, Any]
    labels: Mapping[str, Label]

    def in_words(self) -> str:
        """Return the setting as a person would give it; empty where nothing varies."""
        return ", ".join(f"{key}={in_table(label)}" for key, label in self.labels.items())


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of some axes, under every seed, of every scenario."""

    axes: tuple[Varied, ...]
    seeds: tuple[int, ...]
    scenarios: int = 1

    @property
    def size(self) -> int:
        """The number of settings."""
        return self.scenarios * prod(len(varied.values) for varied in self.axes)

    def settings(self) -> Iterator[Setting]:
        """Yield the settings in the order of the table: the last axis changes fastest."""
        number = 0
        for scenario in range(self.scenarios):
            for at in product(*(range(len(varied.values)) for varied in self.axes)):
                values: dict[str, Any] = {}
                labels: dict[str, Label] = {}
                for varied, i in zip(self.axes, at, strict=True):
                    values |= zip(varied.axis.keys, varied.values[i], strict=True)
                    labels |= varied.axis.columns_at(i)
                yield Setting(number, scenario, values, labels)
                number += 1


def grid_of(
    values: Mapping[str, Sequence[Any]],
    zips: Sequence[Sequence[str]],
    seeds: Sequence[int],
    scenarios: int = 1,
) -> Grid:
    """Return the grid of some keys and their values; `zips` are groups of keys that vary together.

    Raises `ScenarioError` with everything that is wrong: groups of unequal lengths, unknown keys of groups, values that
    are given twice, columns of one name, more cells than `MOST_CELLS`.
    """
    problems = list[Problem]()
    for key, several in values.items():
        _check_key(key, several, problems)
    grouped = list[str]()
    for group in zips:
        _check_group(group, values, grouped, problems)
    if problems:
        raise ScenarioError(problems)
    axes = list[Varied]()
    for key in values:
        group = next((g for g in zips if key in g), [key])
        if key == min(group, key=list(values).index):
            axes.append(_varied(group, values))
    _check_values(axes, problems)
    made = Grid(tuple(axes), tuple(seeds), scenarios)
    cells = made.size * len(made.seeds)
    if cells > MOST_CELLS:
        problems.append(Problem("sweep", f"has {cells:,} cells, at most {MOST_CELLS:,} are run"))
    if problems:
        raise ScenarioError(problems)
    return made


def _check_key(key: str, several: Sequence[Any], problems: list[Problem]) -> None:
    first = key.partition(".")[0]
    if key in FIXED_COLUMNS:
        problems.append(
            Problem(key, "is a column of every table: vary a key below it, such as run.horizon")
        )
    elif key == "run.seed":
        problems.append(Problem(key, 'seeds are no axis: --seeds 0..9, or [sweep] seeds = "0..9"'))
    elif first in _UNVARIED:
        problems.append(Problem(key, "does not change a run"))
    if not several:
        problems.append(Problem(key, "needs at least one value"))


def _check_group(
    group: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    grouped: list[str],
    problems: list[Problem],
) -> None:
    """Report what is wrong with a group of keys that vary together."""
    for key in group:
        if key not in values:
            problems.append(Problem("zip", f"'{key}' does not vary; {nearest(key, values)}"))
        elif key in grouped:
            problems.append(Problem("zip", f"'{key}' is in two groups"))
        grouped.append(key)
    lengths = {key: len(values[key]) for key in group if key in values}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        problems.append(Problem("zip", f"keys that vary together need equally many values: {said}"))


def _check_values(axes: Sequence[Varied], problems: list[Problem]) -> None:
    """Report values that an axis has twice: their cells would be the same."""
    for varied in axes:
        seen = set[str]()
        for value in varied.values:
            written = ", ".join(map(inline, value))  # as it stands in a file: true is not 1
            if written in seen:
                said = " / ".join(shown(one) for one in value)
                problems.append(Problem(varied.axis.name, f"{said} is given twice"))
            seen.add(written)


def _varied(group: Sequence[str], values: Mapping[str, Sequence[Any]]) -> Varied:
    """Return the axis of one key, or of keys that vary together.

    The axis of a group is called like the first of its keys whose values are all different, and the others have columns
    beside it; where there is none, it is called by all of them.
    """
    columns = {key: labels_of(values[key], repeats=len(group) > 1) for key in group}
    rows = tuple(zip(*(values[key] for key in group), strict=True))
    telling = next((k for k in group if len(set(map(in_table, columns[k]))) == len(rows)), None)
    if telling is None:
        name = " & ".join(group)
        joint = [" & ".join(map(in_table, row)) for row in zip(*columns.values(), strict=True)]
        return Varied(Axis(name, list(group), list(joint), beside=columns), rows)
    beside = {key: column for key, column in columns.items() if key != telling}
    return Varied(Axis(telling, list(group), columns[telling], beside=beside), rows)


def labels_of(values: Sequence[Any], *, repeats: bool = False) -> list[Label]:
    """Return a short readable label for each value; numbers and truth values stay what they are.

    Different values have different labels; equal values too, unless `repeats`.
    """
    labels = list[Label]()
    taken: dict[str, str] = {}
    for value in values:
        label, exact = _label(value), inline(value)
        stem, number = label, 2
        while in_table(label) in taken and not (repeats and taken[in_table(label)] == exact):
            label = f"{in_table(stem)} ({number})"
            number += 1
        taken[in_table(label)] = exact
        labels.append(label)
    return labels


def _label(value: Any) -> Label:
    if hasattr(value, "item") and not isinstance(value, (list, dict, str)):
        value = value.item()  # a number of NumPy
    if isinstance(value, (bool, int, float)):
        return value
    text = visible(value if isinstance(value, str) else _compact(value)) or '""'
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _compact(value: Any) -> str:
    """Write a table as `kind(key=value)`, an array as `[value, value]`."""
    if isinstance(value, Mapping):
        tag = next((name for name in ("kind", "source") if isinstance(value.get(name), str)), None)
        inner = ", ".join(f"{k}={_compact(v)}" for k, v in value.items() if k != tag)
        if tag is None:
            return f"{{{inner}}}"
        return f"{value[tag]}({inner})" if inner else str(value[tag])
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_compact, value))}]"
    return value if isinstance(value, str) else inline(value)


def words_as_values(text: str) -> list[Any]:
    """Read `a,b,c` of the command line: TOML values, else texts; commas inside of brackets, braces and quotes stay."""
    return [_value(part) for part in _split(text)]


def _value(part: str) -> Any:
    try:
        read = tomllib.loads(f"v = {part}")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return part
    return read["v"] if set(read) == {"v"} else part


def _split(text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    skip = False
    for i, c in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = c == "\\" and quote == '"'
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "[{(":
            depth += 1
        elif c in "]})":
            depth -= 1
        elif c == "," and depth <= 0:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()
