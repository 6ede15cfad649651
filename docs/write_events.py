"""Write docs/reference/events.md from the events of actors/events.py.

python docs/write_events.py
"""

import ast
import inspect
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec

from actors import events

PAGE = Path(__file__).parent / "reference/events.md"

HEAD = """# Events

What happens in a run is told as events: frozen data in the past tense, numbered in the order in which they happened. Written by
`docs/write_events.py` from `actors/events.py`; a test holds the two together.

`hush show RUN --events jsonl` writes the events of a run, one JSON object a line; from Python they are `result.events()`. Conditions of faults, of
`sometimes` and of breakpoints speak of the same fields ([faults.md](../faults.md#conditions)). How they are stored is in [reference.md, 6](../reference.md#6-a-runs-folder).

Every event has these fields:

| field | type | what it is |
| --- | --- | --- |
| `kind` | text | One of the names below. |
| `seq` | whole number | The number of the event, from 1. |
| `t` | whole number | The instant, in nanoseconds of simulated time; on the wall engine, of time since the start. |
| `node` | whole number or null | The id of the agent; null where the event is of no single agent. |
| `cause` | whole number or null | The number of the event that led to it; null where none did. `hush explain RUN SEQ` follows it. |
| `late_ns` | whole number | By how many nanoseconds of wall time the event was served late. Only on the wall engine; left out where it is 0. |

JSON leaves out a field that has its default, has the text `"inf"` for ∞, and null for what is no number.

A wake of a private agent is told in this order: `delivered` for each message that arrived since it last looked, `woke`, `merged`, `proposed`, `charged` (or `refused`), `released`, `sent`, and `lost` for
each receiver that is not reached. So a release counts before its noise is drawn, and before its message leaves ([architecture.md](../architecture.md#one-wake-in-words)).
"""

COMMON = ("seq", "t", "node", "cause", "late_ns")
"""Fields that the head of the page describes."""
_NAMES = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    type(None): "null",
}


def field_words() -> dict[str, dict[str, str]]:
    """Return what the source says of each field: class → field → the text below it."""
    words: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(events)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        mine = words.setdefault(node.name, {})
        for line, below in zip(node.body, node.body[1:], strict=False):
            if not (isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                mine[line.target.id] = " ".join(str(below.value.value).split())
    return words


def recorded(kind: type[events.Event]) -> list[msgspec.structs.FieldInfo]:
    """Return the fields of an event's own that files of events hold, in their order."""
    in_memory = {"spend"}  # the ledger file has it: `Charged.as_recorded` leaves it out
    own = [f for f in msgspec.structs.fields(kind) if f.name not in COMMON]
    return [f for f in own if f.name not in in_memory]


def _type(hint: Any) -> str:
    """Return a type in words."""
    if hint in _NAMES:
        return _NAMES[hint]
    if isinstance(hint, UnionType):
        return " or ".join(_type(part) for part in get_args(hint))
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Sequence:
        return f"array of {_type(inner[0])}s"
    if origin is dict:
        return "object"
    raise NotImplementedError(f"no words for the type {hint!r}")


def _default(known: msgspec.structs.FieldInfo) -> str:
    if known.required:
        return ""
    value = known.default
    return (
        f" Default: `{msgspec.json.encode(value).decode()}`."
        if value != ""
        else " Default: an empty text."
    )


def section(kind: type[events.Event], words: dict[str, str]) -> str:
    """Return what is said of one kind."""
    tag = kind.__struct_config__.tag
    lines = [f"## `{tag}`", "", " ".join((inspect.getdoc(kind) or "").split()), ""]
    own = recorded(kind)
    if own:
        lines += ["| field | type | what it is |", "| --- | --- | --- |"]
        lines += [
            f"| `{f.name}` | {_type(f.type)} | {words[f.name]}{_default(f)} |".replace("\n", " ")
            for f in own
        ]
    else:
        lines.append("No fields of its own.")
    return "\n".join([*lines, ""])


def page() -> str:
    """Return the whole page."""
    words = field_words()
    sections = [section(kind, words[kind.__name__]) for kind in events.KINDS]
    names = ", ".join(
        f"[`{k.__struct_config__.tag}`](#{k.__struct_config__.tag})" for k in events.KINDS
    )
    return "\n".join([HEAD, f"The kinds: {names}.", "", *sections])


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
