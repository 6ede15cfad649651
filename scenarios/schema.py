"""Rules of which a grammar is made: each reads one value, says what is wrong, fills in defaults."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scenarios.locate import Path
from scenarios.problem import Report, nearest, shown

ABSENT: Any = object()
"""No default: the key may be left out, and then is not there."""

REQUIRED: Any = object()
"""No default: the key must be given."""

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
_DURATION = re.compile(_NUMBER + r"\s*(ns|us|ms|s|m|h|d)")
_SIZE = re.compile(_NUMBER + r"\s*(B|kB|MB|GB)")
_RATE = re.compile(_NUMBER + r"\s*/\s*(s|m|h|d)")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LONGEST_S = 9e9  # 285 years: what 63 bits of nanoseconds hold


class Rule(Protocol):
    """Reads one value of a scenario."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        """Return the value as the plan wants it; report what is wrong with it."""
        ...

    def fill(self, value: Any) -> Any:
        """Return the value as an author would have written it in full."""
        ...


class Scalar:
    """A rule whose values need no filling."""

    __slots__ = ()

    def fill(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Number(Scalar):
    """A finite number within bounds; `above` and `below` exclude the bound itself."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = False

    def _rule(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if self.low is not None and self.high is not None:
            return f"{kind} from {self.low:g} to {self.high:g}"
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in ((">=", self.low), (">", self.above), ("<=", self.high), ("<", self.below))
            if bound is not None
        ]
        return f"{kind} {' and '.join(bounds)}".strip()

    def read(self, value: Any, path: Path, report: Report) -> Any:
        wanted = int if self.whole else (int, float)
        fine = isinstance(value, wanted) and not isinstance(value, bool)
        fine = fine and (abs(value) < 2**63 if self.whole else math.isfinite(float(value)))
        if not fine or not self._within(value):
            report.value(path, f"must be {self._rule()}, got {shown(value)}")
            return None
        return value if self.whole else float(value)

    def _within(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True, slots=True)
class Quantity(Scalar):
    """A number of base units, or a text with a unit."""

    what: str
    pattern: re.Pattern[str]
    units: Mapping[str, float]
    example: str
    zero: bool = True
    inverse: bool = False

    def read(self, value: Any, path: Path, report: Report) -> Any:
        amount = self._amount(value)
        if amount is None:
            report.value(path, f"must be {self.what}, {self.example}, got {shown(value)}")
            return None
        if not 0 <= amount <= LONGEST_S or (amount == 0 and not self.zero):
            report.value(path, f"must be {'>=' if self.zero else '>'} 0 and finite, got {shown(value)}")
            return None
        return amount

    def _amount(self, value: Any) -> float | None:
        if isinstance(value, str):
            match = self.pattern.fullmatch(value.strip())
            if not match:
                return None
            unit = self.units[match[2]]
            return float(match[1]) / unit if self.inverse else float(match[1]) * unit
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            return None
        return float(value)


def duration(*, zero: bool = True) -> Quantity:
    """Seconds, or "250ms"."""
    example = 'seconds or a text such as "250ms", "1.5s", "2m", "1h", "3d"'
    return Quantity("a duration", _DURATION, SECONDS, example, zero)


def rate() -> Quantity:
    """Per second, or "2/h"."""
    return Quantity("a rate", _RATE, SECONDS, 'per second or a text such as "2/h"', False, True)


def number_of_seconds(value: float | str) -> float:
    """Read a duration outside of a file, where it has been checked or is a person's word."""
    amount = duration()._amount(value)  # noqa: SLF001 # the same rule, without a report
    if amount is None:
        raise ValueError(f'must be a duration such as 20 or "250ms", got {shown(value)}')
    return amount


@dataclass(frozen=True, slots=True)
class Text(Scalar):
    """A text."""

    what: str = "a text"

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, str) or "\0" in value:
            report.value(path, f"must be {self.what}, got {shown(value)}")
            return None
        return value


@dataclass(frozen=True, slots=True)
class Flag(Scalar):
    """True or false."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, bool):
            report.value(path, f"must be true or false, got {shown(value)}")
            return None
        return value


class Choice(Scalar):
    """One of some words."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, str) or value not in self.names:
            hint = nearest(value, self.names) if isinstance(value, str) else "known: " + ", ".join(self.names)
            report.value(path, f"must be one of its names, got {shown(value)}; {hint}")
            return None
        return value


class Either(Scalar):
    """One of several rules; the message names them all."""

    def __init__(self, what: str, *rules: Rule) -> None:
        self.what = what
        self.rules = rules

    def read(self, value: Any, path: Path, report: Report) -> Any:
        for rule in self.rules:
            trial = Report({}, {})
            read = rule.read(value, path, trial)
            if not trial.problems:
                return read
        report.value(path, f"must be {self.what}, got {shown(value)}")
        return None


@dataclass(frozen=True, slots=True)
class Many:
    """An array of one rule."""

    rule: Rule
    least: int = 0
    most: int = 1_000_000

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, list):
            report.value(path, f"must be an array, got {shown(value)}")
            return []
        if not self.least <= len(value) <= self.most:
            report.value(path, f"must have {self.least} to {self.most} entries, got {len(value)}")
            return []
        return [self.rule.read(item, (*path, i), report) for i, item in enumerate(value)]

    def fill(self, value: Any) -> Any:
        return [self.rule.fill(item) for item in value]


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a table: its rule, and what it is when nobody says."""

    rule: Rule
    default: Any = ABSENT


Fields = Mapping[str, Field]


def read_fields(
    fields: Fields, value: dict[str, Any], path: Path, report: Report, what: str = "key"
) -> dict[str, Any]:
    """Read the keys of a table: unknown ones are refused, missing ones take their default."""
    for key in value:
        if key not in fields:
            report.key((*path, key), f"unknown {what} '{key}'; {nearest(key, fields)}")
    read = {}
    for key, known in fields.items():
        given = value.get(key, known.default)
        if given is REQUIRED:
            report.key(path, f"needs '{key}'")
            read[key] = None
        elif given is not ABSENT:
            read[key] = known.rule.read(given, (*path, key), report)
    return read


def fill_fields(fields: Fields, value: dict[str, Any]) -> dict[str, Any]:
    """Write out every default."""
    filled = {}
    for key, known in fields.items():
        given = value.get(key, known.default)
        if given is not ABSENT and given is not REQUIRED:
            filled[key] = known.rule.fill(given)
    return filled


@dataclass(frozen=True, slots=True)
class Table:
    """A table with known keys."""

    fields: Fields

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return None
        return read_fields(self.fields, value, path, report)

    def fill(self, value: Any) -> Any:
        return fill_fields(self.fields, value)


@dataclass(frozen=True, slots=True)
class Free:
    """A table whose keys the author names."""

    rule: Rule

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return {}
        return {key: self.rule.read(item, (*path, key), report) for key, item in value.items()}

    def fill(self, value: Any) -> Any:
        return {key: self.rule.fill(item) for key, item in value.items()}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind with parameters, or its bare name; `bare` reads a shorter form of one kind."""

    what: str
    kinds: Mapping[str, Fields]
    bare: tuple[str, str, Rule] | None = None  # (kind, parameter, rule) of a value that is no table
    tag: str = "kind"

    def _table(self, value: Any) -> Any:
        if isinstance(value, str) and (value in self.kinds or ":" in value or self.bare is None):
            return {self.tag: value}
        if self.bare is not None and not isinstance(value, dict):
            return {self.tag: self.bare[0], self.bare[1]: value}
        return value

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if self.bare is not None and not isinstance(value, (dict, str)):
            read = self.bare[2].read(value, path, report)
            return {self.tag: self.bare[0], self.bare[1]: read}
        if self.bare is not None and isinstance(value, str) and value not in self.kinds:
            trial = Report({}, {})
            read = self.bare[2].read(value, path, trial)
            if not trial.problems:
                return {self.tag: self.bare[0], self.bare[1]: read}
        table = {self.tag: value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            report.value(path, f"must be a {self.what}: a name or a table with '{self.tag}', got {shown(value)}")
            return None
        kind = table.get(self.tag)
        if kind is None:
            report.value(path, f"needs '{self.tag}': which {self.what}; known: {', '.join(sorted(self.kinds))}")
            return None
        at = (*path, self.tag) if isinstance(value, dict) else path
        if not isinstance(kind, str):
            report.value(at, f"must be the name of a {self.what}, got {shown(kind)}")
            return None
        if kind not in self.kinds:
            return self._code(kind, table, at, report)
        rest = {key: item for key, item in table.items() if key != self.tag}
        return {self.tag: kind, **read_fields(self.kinds[kind], rest, path, report, f"key of {self.what} '{kind}'")}

    def _code(self, kind: str, table: dict[str, Any], at: Path, report: Report) -> Any:
        if ":" not in kind:
            report.value(at, f"unknown {self.what} '{kind}'; {nearest(kind, self.kinds)}")
            return None
        return {self.tag: kind, "parameters": {k: v for k, v in table.items() if k != self.tag}}

    def fill(self, value: Any) -> Any:
        table = self._table(value)
        kind = table[self.tag]
        if kind not in self.kinds:
            return table
        rest = {key: item for key, item in table.items() if key != self.tag}
        return {self.tag: kind, **fill_fields(self.kinds[kind], rest)}
