"""A metric against an axis, as numbers: over the agents of one run, or over the seeds of one setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms.vectors import Matrix, Vector
from scenarios.language.json_numbers import aggregate as aggregated
from scenarios.pictures.sampled_run import SampledRun, numbers
from scenarios.planning.metric_names import nearest_metric, split_metric
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.intervals import interval
from scenarios.records.reader import RunRecord

BAND = (10, 90)
"""The percentiles between which 80 % of the agents lie."""
CONFIDENCE = 0.95
"""The confidence of an interval over seeds."""
_POINTS = 400
"""So many points are enough for a line: more would be thinner than ink."""
_APART = 1e-4
"""Values of ε that are closer than this share of the largest are one point: a page is not as wide."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric against an axis: one point for each value of the axis, in its order.

    Of a metric of agents `middle` is the median, `low` and `high` hold 80 % of the agents; of a
    metric of the network all four are its value, as of an aggregate (`loss.max`).
    """

    at: Vector
    middle: Vector
    low: Vector
    high: Vector
    mean: Vector
    per_node: bool
    largest: Vector
    """The largest finite value of any agent."""
    left_out: int = 0
    """At most so many agents had no finite value at a point: they are in none of the figures."""


@dataclass(frozen=True, slots=True)
class SeedCurve:
    """The mean over seeds of what each run's agents have in the mean, with its t-interval.

    The points reach as far as every run does. With one run, `low` and `high` are its own values.
    """

    at: Vector
    mean: Vector
    low: Vector
    high: Vector
    seeds: int


def curve_of(record: RunRecord, what: str, x: str) -> Curve:
    """Return the points to draw of one run; raise `FolderError` where they make no line.

    `what` may have an aggregate, such as `loss.max`: then a point is that of the agents' finite values.
    Where several samples stand at one value of the axis, the last is drawn: what was reached there.
    Against `epsilon` a metric of agents is drawn against each agent's own ε: a point tells what every agent
    had reached while its own ε was at most that. A metric of the network stands against the largest ε.
    """
    with guarded(record.path):
        return curve_of_run(SampledRun(record), what, x)


def curve_of_run(run: SampledRun, what: str, x: str) -> Curve:
    """Do as `curve_of` for a run whose samples were read."""
    base, aggregate = _sampled_name(run, what)
    samples = [s for s in run.samples if base in s.values]
    kept = [at for at, s in enumerate(run.samples) if base in s.values]
    per_node = isinstance(samples[-1].values[base], list)
    if per_node and x == "epsilon":
        at, rows = _against_own_epsilon(samples, base)
        rows = (
            np.array([[aggregated(row[np.isfinite(row)], aggregate)] for row in rows])
            if aggregate
            else rows
        )
    else:
        at = run.axis(x)[kept]
        rows = _table([numbers(s.values[base]) for s in samples])
        if aggregate:
            rows = np.array([[aggregated(row[np.isfinite(row)], aggregate)] for row in rows])
    folds = np.array([_folds(row) for row in rows]).reshape(-1, 6)
    fine = np.isfinite(at) & np.isfinite(folds).all(axis=1)
    last = {float(f"{t:.12g}"): row for t, row in zip(at[fine], folds[fine], strict=True)}
    if len(last) < 2:
        points = "no point" if not last else "one point"
        raise FolderError(
            f"'{what}' against {x} has {points} in this run, and a line needs two; {run.hint(x, len(kept))}"
        )
    order = sorted(last)
    middle, low, high, mean, largest, missing = np.array([last[t] for t in order]).T
    return Curve(
        np.array(order),
        middle,
        low,
        high,
        mean,
        per_node and not aggregate,
        largest,
        int(missing.max()),
    )


def _sampled_name(run: SampledRun, what: str) -> tuple[str, str | None]:
    """Return the metric of the samples that a name stands for, and its aggregate; None where it has none."""
    known = run.last
    if what in known:
        return what, None
    base, aggregate = split_metric(what)
    if base not in known:
        raise FolderError(f"'{what}' was not sampled in this run; {nearest_metric(what, known)}")
    return base, aggregate if isinstance(known[base], list) else None


def _table(rows: list[Vector]) -> Matrix:
    """Put rows of agents into one table; NaN where a row is shorter."""
    width = max(map(len, rows))
    table = np.full((len(rows), width), np.nan)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table


def _against_own_epsilon(samples: Sequence[Any], what: str) -> tuple[Vector, Matrix]:
    """Return values of ε, and at each what every agent had reached while its own ε was at most that.

    An agent has no value (NaN) below the ε of its first sample, and none where its ε is infinite.
    """
    spent = _table([numbers(s.values["epsilon"]) for s in samples])
    held = _table([numbers(s.values[what]) for s in samples])
    finite = np.unique(spent[np.isfinite(spent)])
    if not finite.size:
        return np.zeros(0), np.zeros((0, 1))
    at = thinned(_told_apart(finite))
    table = np.full((len(at), held.shape[1]), np.nan)
    for agent in range(min(spent.shape[1], held.shape[1])):
        known = np.isfinite(spent[:, agent])
        own, values = spent[known, agent], held[known, agent]
        places = np.searchsorted(own, at, side="right") - 1  # ε never falls
        reached = places >= 0
        table[reached, agent] = values[places[reached]]
    return at, table


def _told_apart(values: Vector) -> Vector:
    """Return, of sorted values that no picture tells apart, the last: groups that spend alike differ by what arithmetic left."""
    if values[-1] <= 0.0:
        return values[-1:]
    steps = np.round(values / (values[-1] * _APART))
    last: Vector = values[np.append(np.diff(steps) > 0, True)]
    return last


def thinned(values: Vector) -> Vector:
    """Return at most 400 of sorted values, evenly by their order, the first and the last among them."""
    if len(values) <= _POINTS:
        return values
    kept: Vector = values[np.unique(np.linspace(0, len(values) - 1, _POINTS).round().astype(int))]
    return kept


def _folds(row: Vector) -> tuple[float, ...]:
    """Return median, tenth and ninetieth percentile, mean and largest of what is finite, and how many values are not."""
    known = row[np.isfinite(row)]
    missing = len(row) - known.size
    if not known.size:
        return (np.nan,) * 5 + (missing,)
    low, high = np.percentile(known, BAND).tolist()
    return float(np.median(known)), low, high, float(known.mean()), float(known.max()), missing


def over_seeds(curves: Sequence[Curve]) -> SeedCurve:
    """Return the mean over runs of the mean over agents, with its t-interval where there are two runs or more.

    A run holds its value until its next point. Points reach from the last of the first points to the first of the last
    ones, so that every point is a mean of all runs.
    """
    first, last = max(c.at[0] for c in curves), min(c.at[-1] for c in curves)
    at = np.unique(np.concatenate([c.at for c in curves]))
    at = thinned(at[(first <= at) & (at <= last)])
    if len(at) < 2:
        raise FolderError(
            "the runs of one setting have no two points of the axis in common, and a line needs two"
        )
    held = np.array([c.mean[np.searchsorted(c.at, at, side="right") - 1] for c in curves])
    if len(curves) < 2:
        return SeedCurve(at, held[0], held[0], held[0], 1)
    low, mean, high = np.array([interval(column.tolist(), CONFIDENCE) for column in held.T]).T
    return SeedCurve(at, mean, low, high, len(curves))
