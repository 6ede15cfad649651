"""A scenario whose points are handed over in Python: `[data]` says only what is made of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.language.reader import Source, read_source
from scenarios.language.table_rules import Table, keys_of
from scenarios.planning.data_sources import SOURCES, OwnSource
from scenarios.planning.data_sources.given import KIND, GivenTable
from scenarios.planning.scenario import Scenario, read_again

GIVEN = KIND.name


def load_for_points(
    scenario: str | Path | Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> Scenario:
    """Do as `load`, for points that are handed over, whatever source the scenario has for its own."""
    return read_again(for_points(read_source(scenario, settings), settings or {}))


def for_points(source: Source, settings: Mapping[str, Any]) -> Source:
    """Return a scenario as it was written, for points that are handed over; `settings` are those that it was read with."""
    tree = source.tree | {"data": _handed_over(source.tree.get("data", {}), settings)}
    return replace(source, draft=replace(source.draft, tree=tree))


def _handed_over(table: Any, settings: Mapping[str, Any]) -> Any:
    """Return `[data]` of a scenario whose points are handed over, whatever its own source is.

    What it says of that source alone is left out: a folder, how many points are drawn. Kept are the keys that both sources
    read by a rule of one type, as `split`, `scale` and `bias`, what `settings` (of `run(set=…)`) say, and what neither
    source knows: that is reported.
    """
    given = {"source": table} if isinstance(table, str) else table
    if not isinstance(given, dict):
        return table
    source, asked = given.get("source", GIVEN), _asked(settings)
    if not isinstance(source, str) or (source not in SOURCES and ":" not in source):
        return table
    kept = {
        name: value
        for name, value in given.items()
        if name != "source" and (name in asked or _means_the_same(name, source))
    }
    return {"source": GIVEN, **kept}


def _means_the_same(name: str, source: str) -> bool:
    """Whether a key means the same of a source as of points that are handed over, or nothing of either."""
    if source not in SOURCES:  # code of the scenario's own: its other keys are its own
        return name in keys_of(OwnSource)
    return _rules(SOURCES[source].table).get(name) is _rules(GivenTable).get(name)


def _rules(table: type[Table]) -> dict[str, type]:
    """Return the type of each key's rule."""
    return {name: type(known.rule) for name, known in keys_of(table).items()}


def _asked(settings: Mapping[str, Any]) -> set[str]:
    """Return the keys of `[data]` that settings change."""
    whole = settings.get("data")
    named = {key.split(".")[1] for key in settings if key.startswith("data.")}
    return named | (set(whole) if isinstance(whole, dict) else set())
