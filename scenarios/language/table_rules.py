"""Rules for what holds other values: arrays, tables, kinds with parameters; and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest, shown
from scenarios.language.value_rules import Rule
from scenarios.language.visible_text import is_visible

ABSENT: Any = object()
"""No default: the key may be left out, and then is not there."""

REQUIRED: Any = object()
"""No default: the key must be given."""


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
    read: dict[str, Any] = {}
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
            keys = ", ".join(self.fields)
            wanted = f"a table {{ {keys} }}" if len(keys) < 60 else "a table"
            report.value(path, f"must be {wanted}, got {shown(value)}")
            return None
        return read_fields(self.fields, value, path, report)

    def fill(self, value: Any) -> Any:
        return fill_fields(self.fields, value)


@dataclass(frozen=True, slots=True)
class Free:
    """A table whose keys the author names; `what` a key is called where it must be printable."""

    rule: Rule
    what: str = ""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return {}
        for key in value:
            if self.what and not is_visible(key):
                said = f"must be {self.what} of printable characters, got {shown(key)}"
                report.key((*path, key), said)
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
    own: bool = False  # whether code of the scenario's own may stand here

    def _table(self, value: Any) -> Any:
        if isinstance(value, str) and (value in self.kinds or self.bare is None):
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
            if value[:1] in "+-.0123456789" and value:
                return self.bare[2].read(value, path, report)  # meant as the short form
        table = {self.tag: value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            report.value(
                path,
                f"must be a {self.what}: a name or a table with '{self.tag}', got {shown(value)}",
            )
            return None
        kind = table.get(self.tag)
        if kind is None:
            report.value(
                path,
                f"needs '{self.tag}': which {self.what}; known: {', '.join(sorted(self.kinds))}",
            )
            return None
        at = (*path, self.tag) if isinstance(value, dict) else path
        if not isinstance(kind, str):
            report.value(at, f"must be the name of a {self.what}, got {shown(kind)}")
            return None
        if kind not in self.kinds:
            return self._code(kind, table, at, report)
        rest = {key: item for key, item in table.items() if key != self.tag}
        return {
            self.tag: kind,
            **read_fields(self.kinds[kind], rest, path, report, f"key of {self.what} '{kind}'"),
        }

    def _code(self, kind: str, table: dict[str, Any], at: Path, report: Report) -> Any:
        if ":" not in kind or not self.own:
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
