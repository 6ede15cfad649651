"""A kind in words: its card, and every parameter with its rule and default."""

import json
import textwrap
from collections.abc import Callable
from typing import Any

from scenarios.language.table_rules import (
    ABSENT,
    REQUIRED,
    Field,
    Free,
    Kinds,
    Many,
    SubTable,
    keys_of,
)
from scenarios.language.value_rules import Choice, Either, Flag, Number, Quantity, Signed, Text
from scenarios.planning.mechanism import MECHANISMS

_WIDTH = 100


def card_of(kind: str) -> dict[str, Any]:
    """Return a kind's card and parameters, as JSON holds them."""
    from dataclasses import asdict

    record = MECHANISMS[kind]
    keys = keys_of(record.table)
    return {
        "kind": kind,
        **asdict(record.card),
        "parameters": {key: _parameter(field) for key, field in keys.items()},
    }


def _parameter(field: Field) -> dict[str, Any]:
    rule = describe(field.rule)
    if field.default is REQUIRED:
        return {"rule": rule, "required": True}
    return {"rule": rule} if field.default is ABSENT else {"rule": rule, "default": field.default}


_IN_WORDS: dict[type[Any], Callable[[Any], str]] = {
    Choice: lambda rule: " | ".join(rule.names),
    Number: lambda rule: rule.words(),
    Either: lambda rule: rule.what,
    Flag: lambda _: "true | false",
    Text: lambda rule: rule.what,
    Quantity: lambda rule: rule.what,
    Signed: lambda rule: describe(rule.rule),
    SubTable: lambda rule: "{ " + ", ".join(keys_of(rule.table)) + " }",
    Free: lambda rule: f"a table of names: {describe(rule.rule)}",
    Many: lambda rule: f"an array: {describe(rule.rule)}",
    Kinds: lambda rule: " | ".join(rule.kinds),
}


def describe(rule: Any) -> str:
    """Say in a few words what a key may be."""
    return _IN_WORDS[type(rule)](rule)


def in_words(kind: str) -> list[str]:
    """Return what `hush show KIND` prints, line by line."""
    card = card_of(kind)
    parameters = card.pop("parameters")
    lines = [f"{card.pop('kind')}: {card.pop('title')}", ""]
    for key, value in card.items():
        lines += _wrapped(key, value)
    for key, parameter in parameters.items():
        value = key
        if "default" in parameter:
            value += f" = {_value(parameter['default'])}"
        value += f"   ({parameter['rule']}{', required' if 'required' in parameter else ''})"
        lines += _wrapped("parameter", value)
    return lines


def _value(default: Any) -> str:
    if isinstance(default, dict):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in default.items()) + " }"
    return json.dumps(default)


def _wrapped(key: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {key:<10} ",
        subsequent_indent=" " * 13,
        break_long_words=False,
    )
