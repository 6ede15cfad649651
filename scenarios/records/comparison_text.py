"""A comparison in words, and as JSON."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from scenarios.language.json_numbers import figure, without_dust
from scenarios.language.null_reasons import with_reasons
from scenarios.records.comparison import Comparison, Difference, Settings, Side
from scenarios.records.sweep_record import Label

_REASONS = {
    "differences.*.low": "an interval needs two pairs",
    "differences.*.high": "an interval needs two pairs",
    "differences.*.p": "an interval needs two pairs",
    "differences.*.p_holm": "an interval needs two pairs",
    "differences.*.mean": "no pair has two finite values that can be compared: see notes",
    "differences.*.means.*": "no pair has two finite values that can be compared: see notes",
    "plans.*": "the scenario has no such key",
}


def in_words(comparison: Comparison) -> list[str]:
    """Return a comparison as lines for a person."""
    lines = list[str]()
    for names, those in groupby(comparison.differences, lambda d: d.names):
        left, right = names
        lines += [f"{right} minus {left}", *_what_differs(comparison, right), ""]
        for (shared, own), rows in groupby(those, lambda d: (d.shared, d.own)):
            lines += _rows(shared, own, list(rows))
    return [*lines, *_conclusion(comparison), *(f"  note  {note}" for note in comparison.notes)]


def _what_differs(comparison: Comparison, right: str) -> Iterator[str]:
    """Yield the keys in which the scenarios of two sides differ."""
    keys = comparison.plans.get(right)
    if keys is None:
        yield "  what differs in the plans is not known: a side has no readable scenario"
        return
    if not keys:
        yield "  the plans are equal"
    for key, (one, other) in keys.items():
        yield f"  {key}: {_value(one)} → {_value(other)}"


def _value(value: Any) -> str:
    """Return a value of a scenario as a line shows it."""
    if value is None:
        return "—"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value


def _rows(shared: Settings, own: tuple[Settings, Settings], rows: list[Difference]) -> list[str]:
    """Return the differences at one setting, and what is to be said of them."""
    place = _place(shared)
    if any(own):
        sides = f"{_place(own[1]) or 'the one'} against {_place(own[0]) or 'the other'}"
        place = f"{place}: {sides}" if place else sides
    lines = [f"  {place}"] if place else []
    room = max(20, *(len(row.metric) for row in rows))
    lines.append(f"    {'metric':<{room}} {'difference':>10}  {'interval':<21} pairs  means")
    notes = dict.fromkeys(note for row in rows for note in row.notes)
    lines += [f"    {_row(row, room)}" for row in rows]
    return [*lines, *(f"    {note}" for note in notes), ""]


def _place(settings: Mapping[str, Label]) -> str:
    shown = (
        f"{axis} = {str(label).lower() if isinstance(label, bool) else label}"
        for axis, label in settings.items()
    )
    return ", ".join(shown)


def _row(row: Difference, room: int) -> str:
    if math.isnan(row.mean):
        return f"{row.metric:<{room}} {'—':>10}  {'':<21} {row.pairs:>5}"
    has = not math.isnan(row.low)
    low, mean, high = (_signed(without_dust(v, row.metric)) for v in (row.low, row.mean, row.high))
    between = f"[{low}, {high}]" if has else "—"
    mark = " *" if row.excludes_zero else ""
    left, right = (_short(without_dust(v, row.metric)) for v in row.means)
    means = f"{left} → {right}{mark}"
    return f"{row.metric:<{room}} {mean:>10}  {between:<21} {row.pairs:>5}  {means}"


def _signed(value: float) -> str:
    if not value:
        return "0"
    return f"{value:+,.0f}" if value.is_integer() and abs(value) < 1e9 else f"{value:+.3g}"


def _short(value: float) -> str:
    """Return a figure; counts have all their digits."""
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e12 else f"{value:.4g}"


def _conclusion(comparison: Comparison) -> Iterator[str]:
    """Yield how the intervals are to be read."""
    if all(math.isnan(difference.low) for difference in comparison.differences):
        yield "  one pair of runs gives no interval: run both under several seeds (hush sweep --seeds 0..9)"
        return
    percent, tests = f"{100 * comparison.confidence:g} %", comparison.tests
    yield f"  Intervals hold the mean difference with {percent} (Student's t over pairs of one seed)."
    outside = sum(difference.excludes_zero for difference in tests)
    corrected = sum(difference.corrected <= 1 - comparison.confidence for difference in tests)
    if len(tests) == 1:
        yield f"  0 is {'outside' if outside else 'inside'} of the one interval that has a width"
    elif tests:
        yield (
            f"  * 0 is outside of {outside} of the {len(tests)} intervals that have a width; "
            f"after Holm's correction for {len(tests)} tests, of {corrected}"
        )


def as_tree(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON holds it; of every null the reason stands beside it."""
    return with_reasons(
        {
            "confidence": comparison.confidence,
            "sides": [_side(side) for side in comparison.sides],
            "differences": [_tree(difference) for difference in comparison.differences],
            "plans": {
                name: {key: list(values) for key, values in keys.items()}
                for name, keys in comparison.plans.items()
            },
            "notes": list(comparison.notes),
        },
        _REASONS,
    )


def _side(side: Side) -> dict[str, Any]:
    return {"name": side.name, "varies": list(side.axes), "runs": len(side.cases)}


def _tree(row: Difference) -> dict[str, Any]:
    return {
        "metric": row.metric,
        "left": {"name": row.names[0], "settings": dict(row.own[0])},
        "right": {"name": row.names[1], "settings": dict(row.own[1])},
        "settings": dict(row.shared),
        "pairs": row.pairs,
        "seeds": list(row.seeds),
        "means": [figure(mean) for mean in row.means],
        "mean": figure(row.mean),
        "low": figure(row.low),
        "high": figure(row.high),
        "p": figure(row.chance),
        "p_holm": figure(row.corrected),
        "excludes_zero": row.excludes_zero,
        "notes": list(row.notes),
    }
