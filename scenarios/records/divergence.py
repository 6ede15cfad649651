"""Where two runs diverge, and how their metrics differ afterwards."""

import math
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from scenarios.language.json_numbers import figure, folded, show, without_dust

Event = dict[str, Any]
Pair = tuple[Event | None, Event | None]
EQUAL = "equal"
BITS = 1e-12
"""So much of the larger one two metrics may differ."""


def _compared(event: Event | None) -> Event | None:
    """Return an event without what may differ between equal runs: lateness, names of scenarios, and ends to come."""
    if event is None:
        return None
    more = {"started": "scenario", "fault_began": "until"}.get(event["kind"], "")
    return {k: v for k, v in event.items() if k not in {"late_ns", more}}


def parts(one: Iterable[Event], other: Iterable[Event]) -> Pair | None:
    """Return the first events that differ; None where the runs are the same."""
    for mine, theirs in zip_longest(one, other):
        if _compared(mine) != _compared(theirs):
            return mine, theirs
    return None


def compare_digests(one: dict[str, Any], other: dict[str, Any]) -> dict[str, str]:
    """Compare the digests of two manifests: "equal", "different", or why they are not compared.

    Value digests of runs whose BLAS had different numbers of threads (or where one manifest names none)
    are not compared: sums in another order round differently, so that neither verdict says anything.
    """
    verdicts: dict[str, str] = {}
    mine, theirs = one["digests"], other["digests"]
    threads = [manifest["environment"].get("blas_threads") for manifest in (one, other)]
    for name in ("schedule", "value"):
        if name not in mine or name not in theirs:
            verdicts[name] = "not compared: a run has none, for it did not end"
        elif mine.get("version") != theirs.get("version"):
            verdicts[name] = "not compared: they are digests of two versions"
        elif name == "value" and threads[0] != threads[1]:
            counts = " and ".join("unknown" if n is None else str(n) for n in threads)
            verdicts[name] = f"not compared: BLAS threads are {counts}"
        elif mine[name] == theirs[name]:
            verdicts[name] = EQUAL
        elif name == "schedule" and ("conditional" in mine or "conditional" in theirs):
            verdicts[name] = "different, and conditional on divergence: float bits decided when"
        else:
            verdicts[name] = "different"
    return verdicts


def samples(events: Iterator[Event]) -> dict[int, dict[str, float]]:
    """Return the metrics of every sample, per-node ones as their mean, by instant."""
    by_instant = {}
    for event in events:
        if event["kind"] == "sampled":
            by_instant[event["t"]] = {k: folded(v) for k, v in event["values"].items()}
    return by_instant


def differences(
    one: dict[int, dict[str, float]],
    other: dict[int, dict[str, float]],
    since: int,
    *,
    least: float = BITS,
) -> list[dict[str, Any]]:
    """Return, for each metric that differs from some instant on: when first, and both last values.

    Two values differ where more than `least` of the larger one is between them, or of 1 where both are smaller.
    """
    shared = sorted(t for t in one.keys() & other.keys() if t >= since)
    first: dict[str, int] = {}
    for t in shared:
        for name in one[t].keys() & other[t].keys():
            if name not in first and _differ(one[t][name], other[t][name], least):
                first[name] = t
    ends = one[max(one)] if one else {}, other[max(other)] if other else {}
    rows = [
        {"metric": name, "first": t, "one": ends[0].get(name), "other": ends[1].get(name)}
        for name, t in first.items()
    ]
    return sorted(rows, key=lambda row: (row["first"], row["metric"]))


def plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a difference as JSON holds it."""
    return row | {key: figure(row[key]) for key in ("one", "other")}


def _differ(one: float, other: float, least: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) != math.isnan(other)
    return (
        abs(one - other) > least * max(1.0, abs(one), abs(other))
        if math.isfinite(one - other)
        else one != other
    )


def in_words(rows: list[dict[str, Any]], names: tuple[str, str]) -> list[str]:
    """Return the differences as lines for a person; `names` are those of the two runs."""
    if not rows:
        return ["  no metric of a common sample differs"]
    left, right = (max(18, len(name)) for name in names)
    lines = [f"  {'metric':<22} {'differs from':>13} {names[0]:>{left}} {names[1]:>{right}}"]
    for row in rows:
        one, other = (
            "—" if v is None else show(without_dust(v, row["metric"]))
            for v in (row["one"], row["other"])
        )
        lines.append(
            f"  {row['metric']:<22} {show(row['first'] / 1e9) + ' s':>13} {one:>{left}} {other:>{right}}"
        )
    return lines
