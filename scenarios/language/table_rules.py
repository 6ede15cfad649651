"""Rules for what holds other values: arrays, tables, kinds with parameters; and defaults.

A table of a scenario file is a frozen dataclass below `Table`. Each of its fields carries the rule and the default of one
key (`key`); the reader returns an instance, which knows its place in the file and which keys the author wrote.
"""

from collections.abc import Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, NamedTuple, Self, TypeVar, dataclass_transform

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest, shown
from scenarios.language.value_rules import Rule
from scenarios.language.visible_text import is_visible

ABSENT: Any = object()
"""No default: the key may be left out, and its field is then None."""

REQUIRED: Any = object()
"""No default: the key must be given."""


class Field(NamedTuple):
    """A key of a table: its rule, its default as an author would write it, and a sentence on what it says."""

    rule: Rule
    default: Any = ABSENT
    words: str = ""


def key(rule: Rule, default: Any = ABSENT, *, words: str = "", name: str = "") -> Any:
    """Declare a key of a table as a dataclass field.

    `words` say what the key is, with its unit, and what holds where it is left out and has no default: the page of the
    scenario file is made of them. `name` is the key where Python reserves the word.
    """
    return field(default=None, metadata={"key": Field(rule, default, words), "name": name})


@dataclass_transform(
    frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(key,)
)
class _Declared:
    """Makes a frozen dataclass of each class below it, when it is first used: a table needs no decorator.

    There are a hundred tables, and a file uses twenty of them. The methods that dataclasses would generate for each are
    written once, here: generating them took a third of the time in which a file with an error is told.
    """

    def __new__(cls, **_: Any) -> Self:
        _complete(cls)
        return super().__new__(cls)

    def __init__(self, **values: Any) -> None:
        for part in fields(self):  # type: ignore[arg-type] # it is a dataclass since __new__
            default = part.default if part.default_factory is MISSING else part.default_factory()
            object.__setattr__(self, part.name, values.pop(part.name, default))
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _complete(table: type) -> None:
    """Make a dataclass of a class below `_Declared`, and of the classes that it inherits from."""
    for part in reversed(table.__mro__):
        if part not in {object, _Declared} and "__dataclass_fields__" not in vars(part):
            dataclass(init=False, eq=False, repr=False, match_args=False)(part)


class Table(_Declared):
    """A table of a scenario file, read.

    A key that was left out has its default, or None without one. A key that did not read has None, and is in the
    report: a plan is only made of tables whose keys all read.
    """

    place: Path = ()
    """Where the table stands in its file."""
    given: frozenset[str] = frozenset()
    """The keys that the author wrote, also those that did not read."""

    unread: bool = False
    """Whether the author wrote something that is no table: then every key has its default."""

    def check(self, report: Report) -> None:
        """Report keys of this table that contradict each other.

        It is called once, unless a required key is missing or does not read. Another key that does not read has its
        default here, or None without one.
        """

    def path_to(self, *keys: str | int) -> Path:
        """Return the place of a key of this table, or of what stands below it."""
        return (*self.place, *keys)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same values, wherever they stand."""
        return type(self) is type(other) and all(
            getattr(self, part.name) == getattr(other, part.name)
            for part in fields(self)
            if part.name not in {"place", "given", "unread"}
        )

    __hash__ = None  # type: ignore[assignment] # values may be lists


class KindTable(Table):
    """The parameters of one kind of a family; `kind` is its name."""

    kind: str = ""


class OwnCode(KindTable):
    """Code of the scenario's own (`package.module:Thing`) in place of a kind, and what it is called with."""

    parameters: Mapping[str, Any] = field(default_factory=dict)


T = TypeVar("T", bound=Table)


class _Key(NamedTuple):
    attribute: str
    rule: Rule
    default: Any
    words: str


def keys_of(table: type[Table]) -> Mapping[str, Field]:
    """Return the keys of a table with their rules, defaults and words, in the order of its fields."""
    known = _keys(table).items()
    return {name: Field(each.rule, each.default, each.words) for name, each in known}


_known: dict[type[Table], dict[str, _Key]] = {}


def _keys(table: type[Table]) -> dict[str, _Key]:
    """Return key → attribute, rule and default; found once for each table."""
    if table not in _known:
        _complete(table)
        _known[table] = {
            part.metadata["name"] or part.name: _Key(part.name, *part.metadata["key"])
            for part in fields(table)
            if "key" in part.metadata
        }
    return _known[table]


def read_table(
    table: type[T],
    value: dict[str, Any],
    path: Path,
    report: Report,
    what: str = "key",
    **more: Any,
) -> T:
    """Read the keys of a table: unknown ones are refused, missing ones take their default.

    `what` names a key in errors; `more` are attributes that are not keys.
    """
    keys = _keys(table)
    for name in value:
        if name not in keys:
            report.key((*path, name), f"unknown {what} '{name}'; {nearest(name, keys)}")
    read: dict[str, Any] = {}
    instead: dict[str, Any] = {}
    can_check = True
    for name, known in keys.items():
        given, before = value.get(name, known.default), len(report.problems)
        if given is REQUIRED:
            report.key(path, f"needs '{name}'")
        elif given is not ABSENT:
            part = known.rule.read(given, (*path, name), report)
            optional = isinstance(part, Table) and part.unread and known.default is ABSENT
            read[known.attribute] = None if optional else part
        if len(report.problems) > before:
            can_check = can_check and known.default is not REQUIRED
            has_default = known.default not in (ABSENT, REQUIRED)
            default = known.rule.read(known.default, path, Report({}, {})) if has_default else None
            instead[known.attribute] = default
    written = frozenset(value) & keys.keys()
    result = table(place=path, given=written, **read, **more)
    if can_check:  # every error at once: what did not read is checked as what it is by default
        checked = table(place=path, given=written, **read | instead, **more) if instead else result
        checked.check(report)
    return result


def values_of(table: Table) -> dict[str, Any]:
    """Return the values of a table by their keys, defaults included, and those of the tables in it."""
    kind = {"kind": table.kind} if isinstance(table, KindTable) else {}
    return kind | {
        name: plain(getattr(table, known.attribute))
        for name, known in _keys(type(table)).items()
        if name in table.given or known.default is not ABSENT
    }


def plain(value: Any) -> Any:
    """Return the values of a table by their keys, and any other value as it is."""
    return values_of(value) if isinstance(value, Table) else value


def fill_table(table: type[Table], value: dict[str, Any]) -> dict[str, Any]:
    """Write out every default, as an author would have written it."""
    filled = {}
    for name, known in keys_of(table).items():
        given = value.get(name, known.default)
        if given is not ABSENT and given is not REQUIRED:
            filled[name] = known.rule.fill(given)
    return filled


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
class SubTable:
    """A table with known keys."""

    table: type[Table]

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, dict):
            keys = ", ".join(keys_of(self.table))
            wanted = f"a table {{ {keys} }}" if len(keys) < 60 else "a table"
            report.value(path, f"must be {wanted}, got {shown(value)}")
            return read_table(self.table, {}, path, Report({}, {}), unread=True)
        return read_table(self.table, value, path, report)

    def fill(self, value: Any) -> Any:
        return fill_table(self.table, value)


@dataclass(frozen=True, slots=True)
class Free:
    """A table whose keys the author names; `what` a key is called where it must be printable."""

    rule: Rule
    what: str = ""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if not isinstance(value, dict):
            report.value(path, f"must be a table, got {shown(value)}")
            return {}
        for name in value:
            if self.what and not is_visible(name):
                wanted = f"must be {self.what} of printable characters, got {shown(name)}"
                report.key((*path, name), wanted)
        return {name: self.rule.read(item, (*path, name), report) for name, item in value.items()}

    def fill(self, value: Any) -> Any:
        return {name: self.rule.fill(item) for name, item in value.items()}


class ShortForm(NamedTuple):
    """A value in place of a table: it is one parameter of one kind."""

    kind: str
    parameter: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Kinds:
    """One kind of a family with its parameters, or its bare name; `bare` reads a shorter form of one kind."""

    what: str
    kinds: Mapping[str, type[KindTable]]
    bare: ShortForm | None = None
    tag: str = "kind"
    own: type[OwnCode] | None = None
    """What code of the scenario's own is read into where it may stand here: its keys are hush's, all others the code's."""

    def read(self, value: Any, path: Path, report: Report) -> Any:
        if self.bare is not None and not isinstance(value, (dict, str)):
            return self._short(self.bare.rule.read(value, path, report), path)
        if self.bare is not None and isinstance(value, str) and value not in self.kinds:
            trial = Report({}, {})
            amount = self.bare.rule.read(value, path, trial)
            if not trial.problems:
                return self._short(amount, path)
            if value[:1] in "+-.0123456789" and value:
                return self.bare.rule.read(value, path, report)  # meant as the short form
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
        rest = {name: item for name, item in table.items() if name != self.tag}
        if kind not in self.kinds:
            if ":" in kind and self.own is not None:
                ours, theirs = self._shared_out(self.own, rest)
                return read_table(self.own, ours, path, report, kind=kind, parameters=theirs)
            report.value(at, f"unknown {self.what} '{kind}'; {nearest(kind, self.kinds)}")
            return None
        what = f"key of {self.what} '{kind}'"
        return read_table(self.kinds[kind], rest, path, report, what, kind=kind)

    def _short(self, amount: Any, path: Path) -> KindTable:
        assert self.bare is not None, "only a short form is read so"  # noqa: S101
        table = self.kinds[self.bare.kind]
        attribute = _keys(table)[self.bare.parameter].attribute
        given = frozenset({self.bare.parameter})
        return table(place=path, given=given, kind=self.bare.kind, **{attribute: amount})

    def fill(self, value: Any) -> Any:
        if self.bare is not None and not isinstance(value, dict) and value not in self.kinds:
            value = {self.tag: self.bare.kind, self.bare.parameter: value}
        table = {self.tag: value} if isinstance(value, str) else value
        kind = table[self.tag]
        rest = {name: item for name, item in table.items() if name != self.tag}
        if kind in self.kinds:
            return {self.tag: kind, **fill_table(self.kinds[kind], rest)}
        if self.own is None:
            return table
        ours, theirs = self._shared_out(self.own, rest)
        return {self.tag: kind, **fill_table(self.own, ours), **theirs}

    @staticmethod
    def _shared_out(
        own: type[OwnCode], given: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the keys of a table that hush reads, and those that go to code of the scenario's own."""
        ours = keys_of(own)
        theirs = {name: item for name, item in given.items() if name not in ours}
        return {name: item for name, item in given.items() if name in ours}, theirs
