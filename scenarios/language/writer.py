"""Plain data as TOML text."""

import math
import re
from typing import Any

from scenarios.language.visible_text import visible

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
}


def to_toml(table: dict[str, Any]) -> str:
    """Write a nested table: scalars first, then tables, then arrays of tables."""
    return "\n".join(_lines(table, ())).strip() + "\n"


def inline(value: Any) -> str:
    """Write one value as it stands in a file."""
    return _value(value)


def _lines(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = [k for k, v in table.items() if not _is_table(v, path) and not _is_tables(v)]
    lines = [f"{_key(k)} = {_value(table[k])}" for k in plain]
    for key, value in table.items():
        here = (*path, key)
        name = ".".join(map(_key, here))
        if _is_table(value, path):
            lines += ["", f"[{name}]", *_lines(value, here)]
        elif _is_tables(value):
            for item in value:
                lines += ["", f"[[{name}]]", *_lines(item, here)]
    return lines


def _is_table(value: Any, path: tuple[str, ...]) -> bool:
    """Sections at the top get a header; what is deeper is written inline, as people write it."""
    return isinstance(value, dict) and not path


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _key(key: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key must be a text, got {key!r}")
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return f'"{visible("".join(_ESCAPES.get(c, c) for c in text))}"'


def _value(value: Any) -> str:
    if hasattr(value, "item") and not isinstance(value, (list, dict, str)):
        value = value.item()  # a number of NumPy
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return "{ " + inner + " }" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{value!r} is no TOML value")
