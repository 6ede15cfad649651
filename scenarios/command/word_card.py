"""The card of a word, for people and as JSON: its definition, its facts, and every parameter with its rule and default."""

import json
import textwrap
from collections.abc import Callable
from itertools import pairwise
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
from scenarios.planning.fault_kinds import FaultRule
from scenarios.planning.sweep_table import SweepRule
from scenarios.planning.word_cards import WordCard, WordFamily

_WIDTH, _LABEL = 100, 10


def as_tree(family: WordFamily, card: WordCard) -> dict[str, Any]:
    """Return a card as JSON holds it: its facts by their labels, its parameters with their rules."""
    return {
        "family": family.name,
        "kind": card.name,
        "title": card.says,
        **{label.replace(" ", "_"): text for label, text in card.facts.items()},
        "parameters": {key: _parameter(field) for key, field in card.keys.items()},
    }


def _parameter(field: Field) -> dict[str, Any]:
    said = {"says": field.words} if field.words else {}
    known = {"rule": describe(field.rule)} | said
    if field.default is REQUIRED:
        return known | {"required": True}
    return known if field.default is ABSENT else known | {"default": field.default}


def _kinds(rule: Kinds) -> str:
    return " | ".join(rule.kinds) + ("" if rule.own is None else " | code of your own")


_IN_WORDS: dict[type[Any], Callable[[Any], str]] = {
    Choice: lambda rule: " | ".join(rule.names),
    Number: lambda rule: rule.words(),
    Either: lambda rule: rule.what,
    Flag: lambda _: "true | false",
    Text: lambda rule: rule.what,
    Quantity: lambda rule: rule.what,
    Signed: lambda rule: f"{describe(rule.rule)}, which may be negative",
    SubTable: lambda rule: "{ " + ", ".join(keys_of(rule.table)) + " }",
    Free: lambda rule: f"a table of names: {describe(rule.rule)}",
    Many: lambda rule: f"an array: {describe(rule.rule)}",
    Kinds: _kinds,
    FaultRule: lambda _: "a fault: one action, and when it happens",
    SweepRule: lambda _: "keys that vary, each with its values",
}


def describe(rule: Any) -> str:
    """Say in a few words what a key may be."""
    for base in type(rule).__mro__:
        if base in _IN_WORDS:
            return _IN_WORDS[base](rule)
    raise NotImplementedError(f"nothing is written that says what {type(rule).__name__} takes")


def in_words(family: WordFamily, card: WordCard) -> list[str]:
    """Return what `hush show WORD` prints of one card, line by line."""
    lines = textwrap.wrap(f"{card.name}: {card.says}", _WIDTH, subsequent_indent="  ")
    lines += ["", *_wrapped("is", family.article)]
    for label, text in card.facts.items():
        lines += _wrapped(label, text)
    for key, parameter in as_tree(family, card)["parameters"].items():
        value = key
        if "default" in parameter:
            value += f" = {_value(parameter['default'])}"
        value += f"   ({parameter['rule']}{', required' if 'required' in parameter else ''})"
        value += f"   {parameter['says']}" if "says" in parameter else ""
        lines += _wrapped("parameter", value)
    return lines


def in_lines(family: WordFamily) -> list[str]:
    """Return every word of a family with the first sentence of its definition, a line each."""
    cards = [family.card(name) for name in family.names()]
    room = max(len(card.name) for card in cards)
    return [f"{card.name:<{room}}  {_sentence(card.says)}" for card in cards]


def _sentence(text: str) -> str:
    """Return the first sentence of a text; one ends with a point before a capital letter."""
    for end, (point, space) in enumerate(pairwise(text)):
        if point == "." and space == " " and text[end + 2 : end + 3].isupper():
            return text[: end + 1]
    return text


def _value(default: Any) -> str:
    if isinstance(default, dict):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in default.items()) + " }"
    return json.dumps(default, ensure_ascii=False)


def _wrapped(key: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {key:<{_LABEL}} ",
        subsequent_indent=" " * (_LABEL + 3),
        break_long_words=False,
        break_on_hyphens=False,
    )
