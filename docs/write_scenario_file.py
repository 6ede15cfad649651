"""Write docs/reference/scenario-file.md from the tables that read a scenario file.

python docs/write_scenario_file.py
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios.command.word_card import describe
from scenarios.language.table_rules import (
    ABSENT,
    REQUIRED,
    Field,
    Free,
    Kinds,
    Many,
    SubTable,
    Table,
    keys_of,
)
from scenarios.language.value_rules import Choice, Either, Number
from scenarios.planning.fault_kinds import FaultRule, FaultTable, action_keys, fault_kinds
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.places import PRESETS
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.sweep_table import SweepRule, SweepTable

PAGE = Path(__file__).parent / "reference/scenario-file.md"

HEAD = """# The scenario file

Every table and every key of a scenario file: what it may be, its default, and what it says. Written by
`docs/write_scenario_file.py` from the tables that read the file; a test holds the two together.
[reference.md, 2](../reference.md#2-a-scenario-file) has an example, the limits, and the order of one instant; [mechanisms.md](../mechanisms.md) and
[faults.md](../faults.md) say more of each mechanism and fault.

**How to read it.** A default stands as an author would write it. *required*: the key must be given. An empty default: the key may be left out, and
the last column says what holds then. Durations are seconds or texts such as `"250ms"`; rates are per second or `"2/h"`; sizes are bytes or `"250kB"`.
A kind with parameters is a table, `{ kind = "poisson", rate = 2.0 }`, or its bare name, `"poisson"`. Unknown keys are refused. Scales, weights and budgets lie
between 1e-12 and 1e12, whatever the second column says.
"""


@dataclass
class Page:
    """The sections of the page, in the order in which they were first named."""

    titles: dict[Any, str] = field(default_factory=dict)
    waiting: list[tuple[str, Any]] = field(default_factory=list)
    described: set[type[Table]] = field(default_factory=set)
    places: dict[Any, str] = field(default_factory=dict)
    """The key at which each family was first named."""

    def link(self, what: Any, title: str) -> str:
        """Return a link to the section of a table or a family, and see to it that there is one."""
        if what not in self.titles:
            self.titles[what] = title
            self.waiting.append((title, what))
        title = self.titles[what]
        return f"[{title.strip('[]')}](#{_anchor(title)})"

    def sections(self) -> Iterator[str]:
        """Yield every section; writing one may name others."""
        while self.waiting:
            title, what = self.waiting.pop(0)
            yield f"## {title}\n\n{self._section(what, title)}\n"

    def _section(self, what: Any, title: str) -> str:
        if isinstance(what, _Family):
            return self._family(what)
        if what is FaultTable:
            return self._faults(title)
        text = _doc(what)
        if what is SweepTable:
            text += " Every other key of it is a key of the scenario that varies, in quotes where it has dots, with an array of its values."
        rows = [self._row(key, known, title) for key, known in keys_of(what).items()]
        return _join(text, "", _HEAD, *rows)

    def _family(self, family: "_Family") -> str:
        """Describe the kinds of a family: first the keys that several of them have, then each with its own."""
        place = self.places[family]
        new = {name: t for name, t in family.kinds.items() if t not in self.described}
        self.described |= set(new.values())
        lines = [f"`{family.tag} = ` one of these names; the keys of the kind stand beside it."]
        shared = _shared(new)
        if shared:
            lines += ["", "| key of several kinds | may be | default | what it says |", _LINES[4]]
            for key, known, names in shared:
                row = self._row(key, known, place).removesuffix(" |")
                lines.append(f"{row} {_of(names, family)} |")
        if new:
            lines += ["", "| kind | key | may be | default | what it says |", _LINES[5]]
        for name, table in new.items():
            own, others = keys_of(table), [k for k, _, names in shared if name in names]
            also = f" Also {_listed(others)}, as above." if others else ""
            lines.append(f"| `{name}` | | | | {_kind_words(name, table)}{also} |")
            lines += [self._kind_row(k, f, place) for k, f in own.items() if k not in others]
        again = [name for name in family.kinds if name not in new]
        if again:
            lines += ["", f"{'Also' if new else 'They are'} {_listed(again)}, as described before."]
        if family.bare:
            lines += ["", family.bare]
        if family.own:
            lines += ["", _OWN_CODE]
        return "\n".join(lines)

    def _faults(self, title: str) -> str:
        """Describe when a fault happens, and every action with its keys."""
        timing = [self._row(key, known, title) for key, known in keys_of(FaultTable).items()]
        for name, more in action_keys().items():
            owners = [kind.name for kind in fault_kinds() if more in kind.beside]
            shown = f"| `{name}` | {_cell(describe(more.rule))} | {_shown(more.default)} | {more.words} Of {_listed(owners)}. |"
            timing.append(shown)
        head = ["| action | key | may be | default | what it says |", _LINES[5]]
        actions = []
        for kind in fault_kinds():
            target = "" if kind.table is not None else _cell(describe(kind.rule))
            actions.append(f"| `{kind.name}` | | {target} | | {_cell(kind.says)} |")
            if kind.table is not None:
                keys = keys_of(kind.table).items()
                actions += [self._kind_row(key, known, title) for key, known in keys]
        said = "One of `at`, `every` and `when` says when it happens, one action says what happens ([faults.md](../faults.md))."
        return _join(_doc(FaultTable), said, "", _HEAD, *timing, "", *head, *actions)

    def _row(self, key: str, known: Field, place: str) -> str:
        return f"| `{key}` | {self._rule(known.rule, key, place)} | {_default(known)} | {_cell(known.words)} |"

    def _kind_row(self, key: str, known: Field, place: str) -> str:
        return f"| {self._row(key, known, place)}"

    def _rule(self, rule: Any, key: str, place: str) -> str:  # noqa: PLR0911 # a case for each rule
        """Say what a key may be, with links to what has a section."""
        at = key if place == _TOP else f"{place.strip('[]')}.{key}"
        match rule:
            case SubTable():
                return f"a table: {self.link(rule.table, f'[{at}]' if place == _TOP else at)}"
            case FaultRule():
                return f"tables: {self.link(FaultTable, f'[[{at}]]')}"
            case SweepRule():
                return f"a table: {self.link(SweepTable, f'[{at}]')}"
            case Many(rule=SubTable() | FaultRule()):
                inner = rule.rule
                table = FaultTable if isinstance(inner, FaultRule) else inner.table
                return f"tables: {self.link(table, f'[[{at}]]')}"
            case Free(rule=SubTable()):
                return f"tables by name: {self.link(rule.rule.table, f'[{at}]')}"
            case Kinds():
                family = _Family.of(rule)
                self.places.setdefault(family, at)
                return f"a kind: {self.link(family, self._family_title(rule, key))}"
            case Choice():
                return _listed_choices(rule.names)
            case Number(low=float() | int(), high=float() | int()) if rule.low == rule.high:
                return f"{rule.low:g}"
            case Either():
                return _cell(rule.what) + self._below(rule)
            case _:
                return _cell(describe(rule))

    def _below(self, rule: Either) -> str:
        """Return links to the tables that a value may be."""
        tables = [one.table for one in rule.rules if isinstance(one, SubTable)]
        names = {table: _NAMED.get(table.__name__) for table in tables}
        links = [self.link(table, name) for table, name in names.items() if name is not None]
        return f" ({', '.join(links)})" if links else ""

    def _family_title(self, rule: Kinds, key: str) -> str:
        """Return the title of a family's section: what it is called, unless another has that name."""
        title = f"Kinds of {rule.what}"
        several = "distribution" in rule.what or title in self.titles.values()
        return f"{title}: `{key}`" if several else title


@dataclass(frozen=True)
class _Family:
    """The kinds that a key may name; equal where they are the same, wherever they stand."""

    names: tuple[str, ...]
    tables: tuple[type[Table], ...]
    tag: str
    bare: str
    own: bool

    @property
    def kinds(self) -> Mapping[str, type[Table]]:
        return dict(zip(self.names, self.tables, strict=True))

    @classmethod
    def of(cls, rule: Kinds) -> "_Family":
        bare = ""
        if rule.bare is not None:
            short = rule.bare
            bare = (
                f"A bare value ({describe(short.rule)}) is `{short.parameter}` of `{short.kind}`."
            )
        return cls(
            tuple(rule.kinds), tuple(rule.kinds.values()), rule.tag, bare, rule.own is not None
        )


_TOP = "The top of the file"
_LINES = {columns: "|" + " --- |" * columns for columns in (4, 5)}
_HEAD = f"| key | may be | default | what it says |\n{_LINES[4]}"
_OWN_CODE = (
    '`"package.module:Thing"` is code of your own, with `--allow-code` ([reference.md, 2.5](../reference.md#25-code-of-ones-own)): '
    "it is called with the other keys."
)
_NAMED = {
    "ChoiceTable": "a choice of agents",
    "GrowingTable": "start and growth",
    "SpreadTable": "min and max",
}
"""The titles of tables that may stand in place of another value."""


def _shared(tables: Mapping[str, type[Table]]) -> list[tuple[str, Field, list[str]]]:
    """Return the keys that three kinds or more have with one rule and default, with the names of those kinds."""
    found: list[tuple[str, Field, list[str]]] = []
    for name, table in tables.items():
        for key, known in keys_of(table).items():
            same = next((names for k, f, names in found if k == key and _alike(f, known)), None)
            if same is None:
                found.append((key, known, [name]))
            else:
                same.append(name)
    return [(key, known, names) for key, known, names in found if len(names) > 2]


def _alike(one: Field, other: Field) -> bool:
    """Whether two keys say the same; rules of choices are equal by their words."""
    return (describe(one.rule), one.default, one.words) == (
        describe(other.rule),
        other.default,
        other.words,
    )


def _of(names: list[str], family: "_Family") -> str:
    """Say which kinds have a key."""
    return "Of every kind." if len(names) == len(family.kinds) else f"Of {_listed(names)}."


def _kind_words(name: str, table: type[Table]) -> str:
    """Say what a kind is: by its card, its preset, or the docstring of its table."""
    kinds = [kind for kind in MECHANISMS.values() if table in {kind.table, kind.inner}]
    named = next((kind for kind in kinds if kind.name == name), None)
    if named is not None:
        return f"{_cell(named.card.title)}."
    preset = PRESETS.get(name)
    if preset is not None and preset.table is table:
        return _cell(f"{preset.says[0].upper()}{preset.says[1:]}.")
    return _doc(table)


def _doc(table: type[Table]) -> str:
    """Return the first paragraph of a table's docstring, without the name of the table that begins it."""
    text = (inspect.getdoc(table) or "").partition("\n\n")[0]
    text = re.sub(r"^(?:\[+[a-z]+\]+|[a-z]+\.[a-z]+): ", "", " ".join(text.split()))
    return _cell(text[:1].upper() + text[1:] if text[:1].isascii() else text)


def _default(known: Field) -> str:
    if known.default is REQUIRED:
        return "*required*"
    return "" if known.default is ABSENT or known.default in ({}, []) else _shown(known.default)


def _shown(value: Any) -> str:
    """Return a default as TOML has it."""
    return f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            escaped = value.replace("\t", "\\t")
            return f'"{escaped}"'
        case float() if value >= 1e6 and value.is_integer():
            return f"{value:g}"
        case dict():
            return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case int() | float():
            return str(value)
        case _:
            raise TypeError(f"no TOML is written for {value!r}")


def _cell(text: str) -> str:
    """Return a text that may stand in a table of Markdown."""
    return " ".join(text.split()).replace("|", "\\|")


def _listed_choices(names: Iterable[str]) -> str:
    return " or ".join(f"`{_toml(name)}`".replace("|", "\\|") for name in names)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _join(*lines: str) -> str:
    return "\n".join(lines)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page() -> str:
    """Return the whole page."""
    made = Page()
    made.link(ScenarioTable, _TOP)
    return f"{HEAD}\n" + "\n".join(made.sections())


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
