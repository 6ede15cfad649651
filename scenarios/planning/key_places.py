"""Every key of a scenario file, with its rule and with the table in which it stands: folded from the tables themselves."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from scenarios.language.table_rules import Field, Free, Kinds, Many, SubTable, keys_of
from scenarios.language.value_rules import Choice, Either, Signed
from scenarios.planning.fault_kinds import FaultRule, keys_of_faults
from scenarios.planning.scenario_tables import ScenarioTable


class KeyPlace(NamedTuple):
    """One key."""

    name: str
    where: str
    """The table that it stands in, in words: `[network]`, `[[nodes]]`, `the topology knn`; empty at the top of a file."""
    field: Field
    family: str = ""
    """What the table is a kind of, where it is one: `data source`."""

    def __str__(self) -> str:
        return f"{self.name} of {self.where}" if self.where else self.name


@cache
def key_places() -> tuple[KeyPlace, ...]:
    """Return every key, those at the top of a file first; the keys of a kind stand once, wherever the kind may."""
    return tuple(_walk(keys_of(ScenarioTable), "", set()))


def standing_places(kinds: Mapping[str, Any]) -> list[str]:
    """Return the keys that take one of some kinds (tables by names); a key of many kinds of one family stands once."""
    tables = {id(table) for table in kinds.values()}
    places = [
        place
        for place in key_places()
        for rule in rules_of(place.field.rule)
        if isinstance(rule, Kinds) and tables & {id(table) for table in rule.kinds.values()}
    ]
    return in_words(places)


def in_words(places: Iterable[KeyPlace]) -> list[str]:
    """Return keys in words; a key that several kinds of one family have stands once."""
    together: dict[tuple[str, str], list[KeyPlace]] = {}
    for place in places:
        together.setdefault((place.name, place.family or place.where), []).append(place)
    return [
        str(some[0]) if len(some) == 1 else f"{name} of {_listed(some, family)}"
        for (name, family), some in together.items()
    ]


def _listed(places: list[KeyPlace], family: str) -> str:
    """Return the tables of one family that have a key."""
    kinds = [place.where.removeprefix(f"the {family} ") for place in places]
    return f"the {family} {', '.join(kinds)}"


def rules_of(rule: Any) -> Iterator[Any]:
    """Yield a rule, and all that it is made of without the keys of tables."""
    yield rule
    parts: tuple[Any, ...] = ()
    if isinstance(rule, (Many, Free, Signed)):
        parts = (rule.rule,)
    elif isinstance(rule, Either):
        parts = rule.rules
    for part in parts:
        yield from rules_of(part)


def _walk(
    keys: Mapping[str, Field], where: str, seen: set[int], family: str = ""
) -> Iterator[KeyPlace]:
    for name, field in keys.items():
        yield KeyPlace(name, where, field, family)
        for rule in rules_of(field.rule):
            yield from _below(rule, name, where, field, seen)


def _below(rule: Any, name: str, where: str, field: Field, seen: set[int]) -> Iterator[KeyPlace]:
    """Yield the keys of the tables that a rule reads."""
    if isinstance(rule, FaultRule):
        yield from _walk(keys_of_faults(), f"[[{name}]]", seen)
    elif isinstance(rule, SubTable) and id(rule.table) not in seen:
        many = isinstance(field.rule, Many)
        top = f"[[{name}]]" if many else f"[{name}]"
        seen.add(id(rule.table))
        yield from _walk(keys_of(rule.table), f"{name} of {where}" if where else top, seen)
    elif isinstance(rule, Kinds):
        for kind, table in rule.kinds.items():
            if id(table) not in seen:
                seen.add(id(table))
                inside = f" inside of {where}" if where.startswith(f"the {rule.what} ") else ""
                yield from _walk(keys_of(table), f"the {rule.what} {kind}{inside}", seen, rule.what)


def choices() -> dict[str, list[KeyPlace]]:
    """Return the words that keys choose from, each with the keys that may be it; separators of files are no words."""
    words: dict[str, list[KeyPlace]] = {}
    for place in key_places():
        for rule in rules_of(place.field.rule):
            if isinstance(rule, Choice):
                for word in (name for name in rule.names if name[:1].isalnum()):
                    words.setdefault(word, []).append(place)
    return words
