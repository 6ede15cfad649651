"""What is known of the presets of places, in words and as JSON."""

import textwrap
from typing import Any, get_args

from scenarios.planning.places import PRESETS, Parameter, Part, Preset

_WIDTH = 80
_HEADS: dict[Part, str] = {
    "session": "sessions: of churn, and of availability",
    "latency": "latency: of [network]",
    "compute": "computing time: of [[nodes]]",
    "drop-out": "drop-outs: numbers for [[fault]]",
}


def cards() -> list[dict[str, Any]]:
    """Return every preset, ready for JSON."""
    return [
        {
            "name": preset.name,
            "sets": preset.sets,
            "says": preset.says,
            "parameters": [parameter._asdict() for parameter in preset.parameters],
            "write": "\n".join(preset.usage),
            "source": preset.source,
            "valid": preset.valid,
            "leaves_out": preset.leaves_out,
        }
        for preset in _ordered()
    ]


def in_words() -> list[str]:
    """Return what is known of every preset, in lines of at most 80 columns."""
    lines = list[str]()
    for part in get_args(Part):
        lines += [_HEADS[part], ""]
        for preset in _ordered():
            if preset.sets == part:
                lines += [*_card(preset), ""]
    return lines[:-1]


def _ordered() -> list[Preset]:
    return [preset for part in get_args(Part) for preset in PRESETS.values() if preset.sets == part]


def _card(preset: Preset) -> list[str]:
    lines = textwrap.wrap(
        f"{preset.name}: {preset.says}", _WIDTH, initial_indent="  ", subsequent_indent="    "
    )
    lines += _wrapped("numbers", "; ".join(map(_number, preset.parameters)))
    first, *rest = preset.usage
    lines += [f"    {'write':<12}{first}", *(f"{'':16}{line}" for line in rest)]
    lines += _wrapped("source", preset.source)
    lines += _wrapped("valid for", preset.valid)
    return lines + _wrapped("leaves out", preset.leaves_out)


def _number(parameter: Parameter) -> str:
    value = parameter.value if isinstance(parameter.value, str) else f"{parameter.value:g}"
    return " ".join(word for word in (parameter.name, value, parameter.unit) if word)


def _wrapped(key: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"    {key:<12}",
        subsequent_indent=" " * 16,
        break_on_hyphens=False,
    )
