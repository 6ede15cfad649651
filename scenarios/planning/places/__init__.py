"""Presets of places: parameters that were measured, each with its source, its range of validity and what it leaves out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import positive
from scenarios.planning.durations import DurationTable
from scenarios.planning.kinds import Family

Part = Literal["session", "latency", "compute", "drop-out"]
"""What of a scenario a preset sets."""


class Parameter(NamedTuple):
    """A number of a preset, with its unit; empty where it has none."""

    name: str
    value: float | str
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One preset."""

    name: str
    sets: Part
    says: str
    """What it is, in a few words."""
    parameters: tuple[Parameter, ...]
    source: str
    """Who published the numbers, when, and where in the work they stand."""
    valid: str
    """The range for which they hold."""
    leaves_out: str
    """What of the phenomenon it does not show."""
    usage: tuple[str, ...]
    """What an author writes, in lines of TOML."""
    example: Mapping[str, Any]
    """A piece of a small scenario that uses it."""
    table: type[KindTable] | None = None
    """What reads it where a kind may stand; None where no kind but numbers are the preset, as its example shows."""


PRESETS: Family[Preset] = Family("scenarios.planning.places", Preset, several=True)
"""Every preset by its name."""


def tables_of(part: Part) -> dict[str, type[KindTable]]:
    """Return the tables of the presets that set a part of a scenario, by their names."""
    return {
        name: preset.table
        for name, preset in PRESETS.items()
        if preset.sets == part and preset.table is not None
    }


class ScaledTable(DurationTable):
    """A measured distribution, its times multiplied by `scaled`."""

    scaled: float = key(positive(), 1.0, words="By what the measured values are multiplied.")
