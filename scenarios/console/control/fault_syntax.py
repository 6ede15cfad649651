"""Faults as a person writes them: `crash 2 for=10s`, `loss 1-2 p=0.3`, `partition 0..4|5..9`."""

import tomllib
from typing import Any

from scenarios.console.sources.view_state import CommandError, read_ids
from scenarios.language.problems import nearest
from scenarios.language.table_rules import keys_of
from scenarios.planning.fault_kinds import FAULTS, FaultKind, action_keys
from scenarios.planning.fault_tables import TARGET, TARGET_WORDS
from scenarios.records.world_facts import Facts

Table = dict[str, Any]


def keys_beside(kind: FaultKind[Any]) -> tuple[str, ...]:
    """Return the keys beside an action that fit it."""
    lasts = ("for",) if kind.lasts else ()
    return (*lasts, *(more.name for more in kind.beside), "probability")


def read_fault(action: str, text: str, facts: Facts) -> Table:
    """Read what follows an action: a target, and keys with values; raise `CommandError`."""
    if action not in FAULTS:
        raise CommandError(f"no fault '{action}'; {nearest(action, FAULTS)}")
    kind = FAULTS[action]
    words = pieces(text)
    keys = {} if kind.table is None else keys_of(kind.table)
    target: Any = None
    if words and "=" not in words[0].partition("{")[0]:
        grouped = kind.on == "network"
        target = _groups(words[0], facts) if grouped else _target(kind, words[0], facts)
        words = words[1:]
    beside, inner = _pairs(words)
    for key in inner:
        if key in keys and keys[key].rule is TARGET:
            inner[key] = _target(kind, _written(words, key), facts)
    if kind.on == "network":
        groups = {} if target is None else {next(iter(keys)): target}
        return {action: groups | inner, **beside}
    if target is None:
        raise CommandError(
            f"{action} needs a target: an id, ids such as 3,4 or 3..7, a group"
            + (", a link such as 1-2" if kind.on == "links" else "")
        )
    if kind.table is None:
        if inner:
            raise CommandError(
                f"{action} has no {next(iter(inner))}; it takes {', '.join(_keys_of_fault())}"
            )
        return {action: target, **beside}
    return {action: {"on": target, **inner}, **beside}


def _pairs(words: list[str]) -> tuple[Table, Table]:
    """Read KEY=VALUE: keys beside the action, and keys in its table."""
    beside, inner, fits = Table(), Table(), _keys_of_fault()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise CommandError(f"'{word}' must be KEY=VALUE, such as for=10s")
        if key in beside or key in inner:
            raise CommandError(f"{key} is given twice")
        (beside if key in fits else inner)[key] = _value(value)
    return beside, inner


def _keys_of_fault() -> tuple[str, ...]:
    """Return every key that may stand beside an action."""
    return ("for", *action_keys(), "probability")


def _written(words: list[str], key: str) -> str:
    return next(word.partition("=")[2] for word in words if word.startswith(f"{key}="))


def pieces(text: str) -> list[str]:
    """Split at blanks that stand in no brackets and no quotes."""
    words, current, depth, quote = list[str](), "", 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "[{":
            depth += 1
        elif c in "]}":
            depth -= 1
        if c == " " and depth <= 0 and not quote:
            if current:
                words.append(current)
            current = ""
        else:
            current += c
    return [*words, current] if current else words


def _value(text: str) -> Any:
    try:
        read = tomllib.loads(f"v = {text}")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text
    return read["v"] if set(read) == {"v"} else text


def _target(kind: FaultKind[Any], word: str, facts: Facts) -> Any:
    """Read the agents or the links that a fault is for."""
    if word[:1] in "[{\"'":
        return _value(word)
    if word in facts.members or word in TARGET_WORDS:
        return word
    parts = word.split(",")
    if kind.on == "links" and all("-" in part for part in parts):
        return [_pair(part, facts) for part in parts]
    known = (*facts.members, *(w for w in TARGET_WORDS if w != "event"))
    return [i for part in parts for i in _ids(part, facts, known)]


def _pair(word: str, facts: Facts) -> list[int]:
    one, _, other = word.partition("-")
    return [*_ids(one, facts), *_ids(other, facts)]


def _ids(word: str, facts: Facts, known: tuple[str, ...] = ()) -> list[int]:
    """Read ids; the server, where there is one, has the seat behind the agents."""
    if word == "server" and facts.seats > facts.size:
        return [facts.size]
    return read_ids(word, facts.seats, known)


def _groups(word: str, facts: Facts) -> Any:
    """Read groups that are cut off from each other."""
    if word[:1] in "[{":
        return _value(word)
    return [
        [i for part in group.split(",") for i in _ids(part, facts)] for group in word.split("|")
    ]
