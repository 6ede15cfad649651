"""Where two runs diverge, and how their metrics differ afterwards."""

import math
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.noise import grid_below
from scenarios.language.json_numbers import figure, folded, show, without_dust
from scenarios.planning.wake_paths import FAST
from scenarios.records.reader import RunRecord

Models = NDArray[np.float64]
Event = dict[str, Any]
Pair = tuple[Event | None, Event | None]
EQUAL = "equal"
BITS, CLOSE = 1e-12, 1e-9
"""So much of the larger one two metrics may differ, and so much of its largest coordinate a model that was compiled."""


def _compared(event: Event | None, *, values: bool) -> Event | None:
    """Return an event without what may differ between equal runs: lateness, names of scenarios, and ends to come.

    Without `values`, what a sample found is left out, too.
    """
    if event is None:
        return None
    sampled = {} if values else {"sampled": "values"}
    more = ({"started": "scenario", "fault_began": "until"} | sampled).get(event["kind"], "")
    return {k: v for k, v in event.items() if k not in {"late_ns", more}}


def parts(one: Iterable[Event], other: Iterable[Event], *, values: bool = True) -> Pair | None:
    """Return the first events that differ; None where the runs are the same. Without `values`, metrics may differ."""
    for mine, theirs in zip_longest(one, other):
        if _compared(mine, values=values) != _compared(theirs, values=values):
            return mine, theirs
    return None


def is_rounded_otherwise(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the last bits of the models of two runs, by their manifests, may differ: compiled wakes add up in another order.

    So it is where one was compiled and the other was not; and where both were and a person steered one of them, because
    agents that a person's fault concerned were not compiled for a while.
    """
    paths = [manifest.get("path", "detailed") for manifest in (one, other)]
    steered = any(manifest.get("steered_by_hand") for manifest in (one, other))
    return paths.count(FAST) == 1 or (FAST in paths and steered)


def compare_runs(one: RunRecord, other: RunRecord) -> dict[str, str]:
    """Compare two runs by their schedules, and by their values or their models; verdicts as of `compare_digests`.

    Runs of the detailed and the plain path have equal values, bit for bit. Where one of two runs was compiled, or both were
    and a person steered one, their models are compared instead: each coordinate of each agent may differ by one step of the release grid, or by 1e-9 of the
    largest coordinate of that agent.
    """
    verdicts = compare_digests(one.manifest, other.manifest)
    if is_rounded_otherwise(one.manifest, other.manifest):
        del verdicts["value"]
        verdicts["model"] = _compare_models(one, other)
    return verdicts


def compared_things(name: str) -> str:
    """Return what a verdict of `compare_runs` is about, in words."""
    return "models" if name == "model" else f"{name} digests"


def _compare_models(one: RunRecord, other: RunRecord) -> str:
    if not (one.is_judged and other.is_judged):
        return "not compared: a run has none, for it did not end"
    step = max(map(_grid_step, (one, other)))
    for mine, theirs in ((one.models, other.models), (one.released, other.released)):
        if mine.shape != theirs.shape:
            return f"different: {mine.shape} and {theirs.shape} are the agents and coordinates"
        apart = _apart(mine, theirs, step)
        if apart is not None:
            agent, away, allowed = apart
            return (
                f"different: those of agent {agent} by {away:.3g}, where {allowed:.3g} is allowed"
            )
    return EQUAL


def _grid_step(record: RunRecord) -> float:
    """Return the step of the release grid; 0 where nothing was rounded to one."""
    grid = record.resolved.get("privacy", {}).get("grid")
    is_number = isinstance(grid, (int, float)) and not isinstance(grid, bool)
    if not is_number or not 0 < grid < math.inf or not record.proof.lines:
        return 0.0
    return grid_below(float(grid))


def _apart(one: Models, other: Models, step: float) -> tuple[int, float, float] | None:
    """Return the first agent whose models are further apart than is allowed: its id, how far, and what is allowed.

    What is no number in one model is none in the other.
    """
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        away = np.where(same, 0.0, np.abs(one - other))
        largest = np.nan_to_num(np.maximum(np.abs(one), np.abs(other)), posinf=0.0)
    allowed = np.maximum(step, CLOSE * largest.max(axis=1, initial=0.0))
    far = np.flatnonzero(~(away <= allowed[:, None]).all(axis=1))
    if not len(far):
        return None
    agent = int(far[0])
    return agent, float(away[agent].max()), float(allowed[agent])


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
