"""A kind in words: its card, and every parameter with its rule and default."""

import json
import textwrap
from typing import Any

from mechanisms.cards import CARDS
from scenarios.kinds import MECHANISMS
from scenarios.schema import Choice, Either, Flag, Number
from scenarios.tables import ABSENT, REQUIRED, Field, Kind, Many, Table

_WIDTH = 100


def told(kind: str) -> dict[str, Any]:
    """Return a kind's card and parameters, as JSON holds them."""
    from dataclasses import asdict

    return {
        **asdict(CARDS[kind]),
        "parameters": {key: _parameter(field) for key, field in MECHANISMS[kind].items()},
    }


def _parameter(field: Field) -> dict[str, Any]:
    rule = describe(field.rule)
    if field.default is REQUIRED:
        return {"rule": rule, "required": True}
    return {"rule": rule} if field.default is ABSENT else {"rule": rule, "default": field.default}


def describe(rule: Any) -> str:
    """Say in a few words what a key may be."""
    match rule:
        case Choice():
            return " | ".join(rule.names)
        case Number():
            return rule.words()
        case Either():
            return rule.what
        case Flag():
            return "true | false"
        case Table():
            return "{ " + ", ".join(rule.fields) + " }"
        case Many():
            return f"an array: {describe(rule.rule)}"
        case Kind():
            return " | ".join(rule.kinds)
        case _:
            return "a value"


def in_words(kind: str) -> list[str]:
    """Tell a kind to a person."""
    card = told(kind)
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
        text, _WIDTH, initial_indent=f"  {key:<10} ", subsequent_indent=" " * 13,
        break_long_words=False,
    )  # fmt: skip
