"""Faults as a person writes them: `crash 2 for=10s`, `loss 1-2 p=0.3`, `partition 0..4|5..9`."""

import tomllib
from typing import Any

from scenarios.console.sources.view_state import CommandError, read_ids
from scenarios.language.problems import nearest
from scenarios.planning.fault_tables import ACTIONS, ON_LINKS, WORDS
from scenarios.records.world_facts import Facts

Table = dict[str, Any]
_BARE = ("crash", "restart", "leave", "join", "pause", "hold")
"""What is done to a target without saying more."""
_OF_FAULT = ("for", "lose", "edges", "direction", "probability")


def of_fault(action: str) -> tuple[str, ...]:
    """Return the keys beside an action that fit it."""
    more = {"crash": ("lose",), "join": ("edges",), "restart": ()}.get(action, ())
    links = ("direction",) if action in ON_LINKS and action != "partition" else ()
    return (*(() if action == "restart" else ("for",)), *more, *links, "probability")


TEMPLATES: dict[str, tuple[str, str]] = {
    "crash": ("crash {} for=10s", "stop without a word; heal or restart brings it back"),
    "restart": ("restart {}", "bring a crashed agent back"),
    "leave": ("leave {}", "say goodbye"),
    "join": ("join {}", "let in who is absent or has left"),
    "pause": ("pause {}", "stand still; what arrives waits"),
    "slow": ("slow {} factor=3", "computing takes so many times as long"),
    "churn": ("churn {} session=10s downtime=5s", "come and go, by chance"),
    "clock": ("clock {} drift=0.1", "its clock drifts; or offset=, jump=, freeze=true"),
    "storage": ("storage {} kind=torn", "its disk misbehaves: torn, unsynced, stale"),
    "privacy": ("privacy {} kind=crash-after-charge", "what endangers a ledger: twin, replay, counter-rollback …"),
    "loss": ("loss {} p=0.3", "messages are lost; or kind=gilbert-elliott enter=0.1 leave=0.3"),
    "delay": ("delay {} latency=500ms", "messages come later"),
    "duplicate": ("duplicate {} p=0.3", "messages come twice"),
    "reorder": ("reorder {} p=0.3", "messages overtake each other"),
    "corrupt": ("corrupt {} p=0.3", "messages arrive damaged, and are thrown away"),
    "rate": ("rate {} bytes=1kB", "so many bytes per second, no more"),
    "hold": ("hold {}", "messages wait until it is healed"),
    "partition": ("partition isolate={}", "cut the network; or 0..4|5..9, mode=jam"),
}  # fmt: skip
"""What a menu writes for each action of the vocabulary, and what it does."""


def read_fault(action: str, text: str, facts: Facts) -> Table:
    """Read what follows an action: a target, and keys with values; raise `CommandError`."""
    if action not in ACTIONS:
        raise CommandError(f"no fault '{action}'; {nearest(action, ACTIONS)}")
    words = pieces(text)
    target: Any = None
    if words and "=" not in words[0].partition("{")[0]:
        target = (
            _groups(words[0], facts) if action == "partition" else _target(action, words[0], facts)
        )
        words = words[1:]
    found, inner = _pairs(words)
    if action == "partition":
        for shape in ("isolate", "bridge"):
            if shape in inner:
                inner[shape] = _target(action, str(_written(words, shape)), facts)
        return {action: (inner | {"groups": target} if target is not None else inner), **found}
    if target is None:
        raise CommandError(
            f"{action} needs a target: an id, ids such as 3,4 or 3..7, a group"
            + (", a link such as 1-2" if action in ON_LINKS else "")
        )
    if action in _BARE:
        if inner:
            raise CommandError(
                f"{action} has no {next(iter(inner))}; it takes {', '.join(_OF_FAULT)}"
            )
        return {action: target, **found}
    return {action: {"on": target, **inner}, **found}


def _pairs(words: list[str]) -> tuple[Table, Table]:
    """Read KEY=VALUE: of the fault, and of what it does."""
    found, inner = Table(), Table()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise CommandError(f"'{word}' must be KEY=VALUE, such as for=10s")
        if key in found or key in inner:
            raise CommandError(f"{key} is given twice")
        (found if key in _OF_FAULT else inner)[key] = _value(value)
    return found, inner


def _written(words: list[str], key: str) -> str:
    return next(word.partition("=")[2] for word in words if word.startswith(f"{key}="))


def pieces(text: str) -> list[str]:
    """Split at blanks that stand in no brackets and no quotes."""
    found, current, depth, quote = list[str](), "", 0, ""
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
                found.append(current)
            current = ""
        else:
            current += c
    return [*found, current] if current else found


def _value(text: str) -> Any:
    try:
        read = tomllib.loads(f"v = {text}")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text
    return read["v"] if set(read) == {"v"} else text


def _target(action: str, word: str, facts: Facts) -> Any:
    """Read whom a fault is for."""
    if word[:1] in "[{\"'":
        return _value(word)
    if word in facts.members or word in WORDS:
        return word
    parts = word.split(",")
    if action in ON_LINKS and all("-" in part for part in parts):
        return [_pair(part, facts) for part in parts]
    known = (*facts.members, *(w for w in WORDS if w != "event"))
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
