"""Lists of durations: latencies, sessions or computing times in their order."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from scenarios.language.value_rules import LONGEST_S
from scenarios.planning.files import BadData
from scenarios.planning.traces import Hygiene, Imported
from scenarios.planning.traces.text_rows import Row, is_header, number, shown


def imported(rows: Sequence[Row], hygiene: Hygiene, unit_s: float, *, halve: bool) -> Imported:
    """Return durations in seconds, one a line; `halve` those of round trips."""
    body = rows[1:] if rows and is_header(rows[0]) else rows
    read = list[tuple[float, str]]()
    for row in body:
        for cell in row.cells:
            value = number(cell)
            if value is None:
                raise BadData(f"{row.place}: {shown(cell)} is no number")
            read.append((value, row.place))
    if not read:
        raise BadData("holds no durations")
    times = Counter(value for value, _ in read if value < 0)
    flaws: dict[str, list[str]] = {}
    kept = list[float]()
    for value, place in read:
        flaw = _flaw(value, times[value], unit_s)
        if flaw:
            flaws.setdefault(flaw, []).append(place)
        else:
            kept.append(value * (unit_s / 2 if halve else unit_s))
    for what, where in flaws.items():
        hygiene.mend(what, where, {"drop": "dropped"})
    if not kept:
        raise BadData("holds no duration that can be used")
    hygiene.facts |= {"durations": len(kept), "median_s": statistics.median(kept)}
    usage = 'latency = {{ kind = "trace", path = "{}" }}'
    lines = ("# durations in seconds", *(repr(value) for value in kept))
    return Imported("durations", lines, hygiene, usage)


def _flaw(value: float, times: int, unit_s: float) -> str:
    """Say why a value is no duration; a negative value that comes several `times` stands for a missing one. Empty where it is one."""
    if math.isnan(value):
        return "missing values"
    if value < 0:
        return f"missing values, written as {value:g}" if times > 1 else "negative values"
    return "" if value * unit_s < LONGEST_S else "values above 285 years"
