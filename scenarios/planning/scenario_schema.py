"""The JSON Schema (2020-12) of the scenario file, made of the tables' records: what editors complete and check by.

It says what single values and tables may be: types, ranges, choices, kinds with their parameters, defaults. What several
keys say together, and what files and metrics make of them, `hush check` judges. So a file that hush reads fits the schema,
and a file that fits may still be refused.

A file that `extends` another need not repeat what that says. Therefore the properties of the top, from which editors
complete, ask for no key; a file without `extends` must fit the definition `whole`, too, which asks for those that are
needed. For the same reason the table of a kind has the keys of all kinds, and `if` and `then` say which are its own: language
servers of TOML complete from `properties`, and Taplo (0.9.3) checks by `if` and `then`, too.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from scenarios.language.reader import library_names
from scenarios.language.table_rules import (
    ABSENT,
    REQUIRED,
    Field,
    Free,
    Kinds,
    KindTable,
    Many,
    SubTable,
    Table,
    keys_of,
)
from scenarios.language.value_rules import (
    Choice,
    Either,
    Flag,
    Name,
    Number,
    Quantity,
    Rule,
    Signed,
    Tag,
    Text,
)
from scenarios.planning.fault_kinds import FaultRule, fault_kinds, keys_of_faults
from scenarios.planning.metric_names import FIGURES, METRICS, MetricName, known_names
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.sweep_table import SweepRule, SweepTable

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "A scenario of hush"
FILE = "hush.schema.json"
"""What the schema is called beside scenarios."""
_WHOLE, _AXIS = "whole", "axis"
_MOST_INTEGER = 2**63 - 1
_PRINTABLE = "^[^\\u0000-\\u001f\\u007f]*$"
_TAG = "^[^\\s_0-9]\\S*$"
_CODE = "^[^:]*:.*$"
_AGGREGATES = "(mean|min|max|sum|p[0-9][0-9])"


def schema() -> Schema:
    """Return the schema of a scenario file."""
    definitions: dict[str, Schema] = {_AXIS: _axis()}
    part = _Maker(definitions)
    top = part.table(ScenarioTable)
    definitions[_WHOLE] = _stricter({}, top, _Maker(definitions, part).table(ScenarioTable))
    extends = top["properties"]["extends"]
    extends["examples"] = [f"library:{name}" for name in library_names()]
    return {
        "$schema": DIALECT,
        "title": TITLE,
        **top,
        "description": "hush check judges what a schema cannot: what keys say together.",
        "if": {"not": {"required": ["extends"]}},
        "then": _reference(_WHOLE),
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """Return the schema as a file holds it: a definition a line, so that two versions can be compared."""
    made = schema()
    definitions = made.pop("$defs")
    lines = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in made.items()]
    below = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(part)}" for name, part in definitions.items()
    )
    lines.append(f'"$defs": {{\n{below}\n}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _axis() -> Schema:
    """Return what stands for a key that varies: its values, or a table of keys below it."""
    below = {"type": "object", "minProperties": 1, "additionalProperties": _reference(_AXIS)}
    return {"anyOf": [{"type": "array", "minItems": 1}, below]}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _stricter(reference: Schema, part: Schema, whole: Schema) -> Schema:
    """Return what a whole table must be beside what any part of one must be."""
    changed = {
        name: made for name, made in whole["properties"].items() if made != part["properties"][name]
    }
    asked = {name: whole[name] for name in ("required", "oneOf") if name in whole}
    return reference | asked | ({"properties": changed} if changed else {})


class _Maker:
    """Makes schemas of rules; tables become definitions.

    Without `part`, no key is asked for. With it, needed keys are: `part` made what a table must be in any case.
    """

    def __init__(self, definitions: dict[str, Schema], part: "_Maker | None" = None) -> None:
        self._definitions = definitions
        self._part = part
        self._asks = part is not None
        self._makers: dict[type, Callable[[Any], Schema]] = {
            Number: _number,
            Quantity: self._quantity,
            Signed: self._signed,
            MetricName: lambda _: self._named("metric", _metric()),
            Tag: lambda rule: {"type": "string", "pattern": _TAG, "description": rule.what},
            Name: lambda rule: {"type": "string", "pattern": _PRINTABLE, "description": rule.what},
            Text: lambda rule: {"type": "string", "description": rule.what},
            Flag: lambda _: {"type": "boolean"},
            Choice: lambda rule: {"type": "string", "enum": list(rule.names)},
            Either: self._either,
            Many: self._many,
            SubTable: lambda rule: self._defined(
                rule.table.__name__, lambda maker: maker.table(rule.table)
            ),
            Free: lambda rule: {"type": "object", "additionalProperties": self.of(rule.rule)},
            Kinds: self._kinds,
            FaultRule: lambda _: self._defined("FaultTable", _Maker.fault),
            SweepRule: lambda _: self._defined("SweepTable", _Maker.sweep),
        }

    def of(self, rule: Rule) -> Schema:
        """Return the schema of a rule. Raises `TypeError` for a rule that it does not know: no value is just anything."""
        make = self._makers.get(type(rule))
        if make is None:
            raise TypeError(f"no schema is known for the rule {type(rule).__name__}")
        return make(rule)

    def _defined(self, name: str, make: "Callable[[_Maker], Schema]") -> Schema:
        """Return a reference to the definition of a table, which is made where it is not there yet."""
        full = f"{name}.{_WHOLE}" if self._asks else name
        if full in self._definitions:
            return _reference(full)
        self._definitions[full] = {"type": "object"}  # a table may stand in itself
        made = make(self)
        if self._part is None:
            self._definitions[full] = made
            return _reference(full)
        reference = self._part._defined(name, make)  # noqa: SLF001 # its twin
        stricter = _stricter(reference, self._definitions[name], made)
        if stricter == reference:  # nothing in it is asked for
            del self._definitions[full]
            return reference
        self._definitions[full] = stricter
        return _reference(full)

    def _named(self, name: str, made: Schema) -> Schema:
        """Return a reference to the definition of what many keys have; where another has its name, it gets a number."""
        numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
        full = next(n for n in numbered if self._definitions.setdefault(n, made) == made)
        return _reference(full)

    def _quantity(self, rule: Quantity) -> Schema:
        return self._named(_hyphens(rule.what), _quantity(rule, sign=""))

    def _signed(self, rule: Signed) -> Schema:
        return self._named(f"{_hyphens(rule.rule.what)}-signed", _quantity(rule.rule, sign="-?"))

    def _either(self, rule: Either) -> Schema:
        return {"description": rule.what, "anyOf": [self.of(part) for part in rule.rules]}

    def _many(self, rule: Many) -> Schema:
        items = self.of(rule.rule)
        return {"type": "array", "items": items, "minItems": rule.least, "maxItems": rule.most}

    def table(self, table: type[Table]) -> Schema:
        """Return the schema of a table."""
        return self._object(keys_of(table), _first_sentence(table))

    def _object(self, keys: Mapping[str, Field], says: str) -> Schema:
        made: Schema = {
            "type": "object",
            "description": says,
            "properties": {name: self._key(field) for name, field in keys.items()},
            "additionalProperties": False,
        }
        needed = [name for name, field in keys.items() if field.default is REQUIRED]
        return made | ({"required": needed} if needed and self._asks else {})

    def _key(self, field: Field) -> Schema:
        """Return the schema of a key, with what it says and its default as an author would write it."""
        made = self.of(field.rule)
        if field.words:
            made = made | {"description": field.words}
        if field.default is ABSENT or field.default is REQUIRED:
            return made
        return made | {"default": field.default}

    def _kinds(self, rule: Kinds) -> Schema:
        """Return the schema of a kind: its bare name, its table, the shorter form of one kind, code of the scenario's own.

        The table has the keys of all kinds, from which editors complete; the kind that it names says which of them are its
        own. So an error is told at the key, and not at the whole table.
        """
        name = _hyphens(rule.what)
        tables = {kind: rule.kinds[kind] for kind in sorted(rule.kinds)}
        own = {
            kind: self._defined(f"{table.__name__}.{kind}", _of_kind(table, rule.tag, kind))
            for kind, table in tables.items()
        }
        if self._part is not None:
            reference = self._part._kinds(rule)  # noqa: SLF001 # its twin
            made = reference | {"required": [rule.tag], "anyOf": self._forms(rule)}
            stricter = {kind: ref for kind, ref in own.items() if ref["$ref"].endswith(_WHOLE)}
            if stricter:
                made["allOf"] = _by_kind(rule.tag, stricter)
            return self._named(f"{name}.{_WHOLE}", made)
        names: Schema = {"type": "string", "enum": list(tables)}
        several = [names, {"type": "string", "pattern": _CODE}]
        keys = {rule.tag: {"anyOf": several} if rule.own else names}
        for kind, table in tables.items():
            _merge(keys, self.kind(table, rule.tag, kind)["properties"], but=rule.tag)
        known: Schema = {"propertyNames": {"enum": list(keys)}}
        if rule.own is not None:
            _merge(keys, self.table(rule.own)["properties"])
            code = _names_kind(rule.tag, {"pattern": _CODE})
            known = {"if": {"not": code}, "then": {"propertyNames": {"enum": list(keys)}}}
        made = {
            "description": f"a {rule.what}",
            "anyOf": self._forms(rule),
            "properties": keys,
            "allOf": [known, *_by_kind(rule.tag, own)],
        }
        return self._named(name, made)

    def _forms(self, rule: Kinds) -> list[Schema]:
        """Return what a kind may be written as: a name, where that is enough, a value, or a table."""
        names = [
            kind for kind in sorted(rule.kinds) if not (self._asks and _needs(rule.kinds[kind]))
        ]
        forms: list[Schema] = [{"type": "string", "enum": names}] if names else []
        if rule.bare is not None:
            forms.append(self.of(rule.bare.rule))
        if rule.own is not None:
            forms.append({"type": "string", "pattern": _CODE})
        return [*forms, {"type": "object"}]

    def kind(self, table: type[KindTable], tag: str, kind: str) -> Schema:
        """Return the schema of the parameters of a kind; `tag` is the key that names it."""
        made = self._object(keys_of(table), _first_sentence(table))
        made["properties"] = {tag: {"type": "string", "enum": [kind]}, **made["properties"]}
        return made

    def fault(self) -> Schema:
        """Return the schema of [[fault]]."""
        made = self._object(keys_of_faults(), "One action, and when it happens.")
        for kind in fault_kinds():
            made["properties"][kind.name] = made["properties"][kind.name] | {
                "description": kind.says
            }
        if self._asks:
            made["oneOf"] = [{"required": [kind.name]} for kind in fault_kinds()]
        return made

    def sweep(self) -> Schema:
        """Return the schema of [sweep]: every key of a scenario may stand in it."""
        made = self._object(keys_of(SweepTable), _first_sentence(SweepTable))
        return made | {"additionalProperties": _reference(_AXIS)}


def _of_kind(table: type[KindTable], tag: str, kind: str) -> Callable[[_Maker], Schema]:
    return lambda maker: maker.kind(table, tag, kind)


def _by_kind(tag: str, tables: Mapping[str, Schema]) -> list[Schema]:
    """Return what each kind asks of a table that names it."""
    return [
        {"if": _names_kind(tag, {"enum": [kind]}), "then": table} for kind, table in tables.items()
    ]


def _names_kind(tag: str, name: Schema) -> Schema:
    """Return the schema of a table that names a kind: without the type, what is no table would fit."""
    return {"type": "object", "properties": {tag: name}, "required": [tag]}


def _merge(keys: dict[str, Schema], more: Mapping[str, Schema], *, but: str = "") -> None:
    """Add the keys of one kind to those of all; where two kinds have a key, it may be what either says, without a default."""
    for name, made in more.items():
        if name == but:
            continue
        former = keys.get(name)
        if former is None:
            keys[name] = made
            continue
        several = former["anyOf"] if set(former) == {"anyOf"} else [former]
        if made not in several:
            keys[name] = {"anyOf": [*several, made]}


def _hyphens(what: str) -> str:
    return what.removeprefix("a ").replace(" ", "-")


def _needs(table: type[Table]) -> bool:
    """Whether a kind has parameters that must be given, so that its bare name is not enough."""
    return any(field.default is REQUIRED for field in keys_of(table).values())


def _first_sentence(table: type[Table]) -> str:
    return (table.__doc__ or "").strip().split("\n")[0]


def _number(rule: Number) -> Schema:
    """Return the schema of a number. `least` bounds what is above 0; beside 0 itself no schema of one range can say it."""
    low, high = rule.low, rule.high
    if rule.above is not None and rule.above >= 0 and rule.least > rule.above:
        low = rule.least
    if rule.most != float("inf"):
        high = rule.most if high is None else min(high, rule.most)
        if low is None and rule.above is None:
            low = -rule.most
    if rule.whole:
        high = _MOST_INTEGER if high is None else high
        low = -_MOST_INTEGER if low is None and rule.above is None else low
    bounds = {
        "minimum": low,
        "exclusiveMinimum": rule.above if low is None else None,
        "maximum": high,
        "exclusiveMaximum": rule.below,
    }
    said: Schema = {"type": "integer" if rule.whole else "number", "description": rule.words()}
    return said | {name: _plain(bound) for name, bound in bounds.items() if bound is not None}


def _plain(bound: float) -> float | int:
    """Return a bound as an integer where it is one: 1e12 is easier to read as 1000000000000."""
    return int(bound) if bound == int(bound) else bound


def _quantity(rule: Quantity, *, sign: str) -> Schema:
    """Return the schema of a number of base units, or a text with a unit."""
    number: Schema = {"type": "number", "maximum": _plain(rule.most)}
    if sign:
        number["minimum"] = -_plain(rule.most)
    elif rule.zero:
        number["minimum"] = 0
    else:
        number["minimum"] = rule.least
    text = {"type": "string", "pattern": f"^\\s*{sign}\\s*{rule.pattern.pattern}\\s*$"}
    return {"description": f"{rule.what}: {rule.example}", "anyOf": [number, text]}


def _metric() -> Schema:
    """Return the schema of the name of a metric: those that are known, any aggregate of one, a figure of a target."""
    names = _alternatives(METRICS)
    figures = f"^{_alternatives(FIGURES)}\\..+$"
    return {
        "description": "the name of a metric, with an aggregate such as .mean or .p90 where each agent has a value",
        "anyOf": [
            {"type": "string", "enum": known_names(())},
            {"type": "string", "pattern": f"^{names}(\\.{_AGGREGATES})?$"},
            {"type": "string", "pattern": figures},
        ],
    }


def _alternatives(names: Iterable[str]) -> str:
    return f"({'|'.join(re.escape(name) for name in sorted(names))})"
