"""Presets of places: numbers that were measured, each with its source."""

from scenarios.language.table_rules import keys_of
from scenarios.planning.places import PRESETS, Parameter
from scenarios.planning.word_cards import WordCard, WordFamily


def _number(parameter: Parameter) -> str:
    value = parameter.value if isinstance(parameter.value, str) else f"{parameter.value:g}"
    return " ".join(word for word in (parameter.name, value, parameter.unit) if word)


def _card(name: str) -> WordCard:
    preset = PRESETS[name]
    return WordCard(
        name=name,
        says=preset.says,
        facts={
            "sets": preset.sets,
            "numbers": "; ".join(map(_number, preset.parameters)),
            "write": " · ".join(preset.usage),
            "valid for": preset.valid,
            "leaves out": preset.leaves_out,
            "source": preset.source,
        },
        keys={} if preset.table is None else keys_of(preset.table),
    )


KIND = WordFamily(name="preset", order=15, names=PRESETS.names, card=_card)
