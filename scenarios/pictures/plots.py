"""Draws pictures from the record of a run, or from the finding of an audit."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.vectors import Vector
from scenarios.language.json_numbers import number, show
from scenarios.language.problems import nearest
from scenarios.language.visible_text import visible
from scenarios.planning.metric_names import reads_models, split_metric
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scenarios.auditing.audit import Finding, Order

_INK, _CLAIM, _CHARGE = "#0072b2", "#d55e00", "#009e73"
_LABELS = {
    "time": "simulated time (s)",
    "rounds": "rounds",
    "updates": "updates, all agents",
    "releases": "releases, all agents",
    "bytes": "bytes sent",
}
_COUNTS = {"rounds", "updates", "releases"}
_FEW = 12
"""Up to so many points are drawn with markers."""
_INTERVALS = 3
"""Up to so many points of an audit are drawn as intervals: so few make no line."""
Samples = list[dict[str, Any]]


class NoMatplotlib(FolderError):
    """A picture was asked for, and the extra `plot` is not installed."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric against an axis: one point for each value of the axis, in its order.

    Of a metric of agents `middle` is the median, `low` and `high` hold 80 % of the agents; of a
    metric of the network all four are its value.
    """

    at: Vector
    middle: Vector
    low: Vector
    high: Vector
    mean: Vector
    per_node: bool


def draw(record: RunRecord, what: str, x: str, out: str | None) -> Path:
    """Draw a sampled metric: its median and mean over agents, and where 80 % of them lie."""
    what = split_metric(what)[0]
    with guarded(record.path):
        curve = curve_of(record, what, x)
        return _picture(record, curve, what, x, Path(out) if out else record.path / f"{what}.png")


def curve_of(record: RunRecord, what: str, x: str) -> Curve:
    """Return the points to draw; raise `FolderError` where they make no line.

    Where several samples stand at one value of the axis, the last is drawn: what was reached there.
    """
    samples = _samples(record)
    if not samples:
        raise FolderError(f"{record.path} holds no samples to draw")
    if what not in samples[-1]["values"]:
        known = nearest(what, samples[-1]["values"])
        raise FolderError(f"'{what}' was not sampled in this run; {known}")
    _settle(samples)
    samples = [s for s in samples if what in s["values"]]
    at = _axis(record, samples, x)
    folds = np.array([_folds(s["values"][what]) for s in samples])
    fine = np.isfinite(at) & np.isfinite(folds).all(axis=1)
    last = {float(f"{t:.12g}"): row for t, row in zip(at[fine], folds[fine], strict=True)}
    if len(last) < 2:
        points = "no point" if not last else "one point"
        raise FolderError(
            f"'{what}' against {x} has {points} in this run, and a line needs two; {_hint(record, samples, x)}"
        )
    order = sorted(last)
    middle, low, high, mean = np.array([last[t] for t in order]).T
    per_node = isinstance(samples[-1]["values"][what], list)
    return Curve(np.array(order), middle, low, high, mean, per_node)


def _hint(record: RunRecord, samples: Samples, x: str) -> str:
    """Return what could be tried instead, for a message."""
    if len(samples) < 2:
        return "it was sampled once, at the end"
    ways = ("rounds", "time", "updates") if _has_rounds(record, samples) else ("time", "updates")
    moving = [way for way in ways if way != x and len(set(_axis(record, samples, way))) > 1]
    return f"try --x {moving[0]}" if moving else "a smaller run.sample_every makes more"


def _has_rounds(record: RunRecord, samples: Samples) -> bool:
    served = bool(samples[-1]["served"])
    return served or (bool(record.clocks) and record.clocks <= {"synchronous", "barrier"})


def _samples(record: RunRecord) -> Samples:
    """Return the samples, each with what was counted before it; one after which nothing happened stands for two."""
    samples: Samples = []
    wakes: Counter[int | None] = Counter()
    rounds, former = 0, (-1, -1, -1)
    for event in record.events():
        kind = event["kind"]
        if kind == "woke":
            wakes[event["node"]] += 1
        elif kind in {"round_closed", "round_aborted"}:
            rounds += 1
        elif kind == "sampled":
            state = event["t"], wakes.total(), rounds
            if state == former:
                samples.pop()
            counted = {"time": event["t"] / 1e9, "updates": state[1], "served": rounds}
            woken = median_high(wakes.values()) if wakes else 0
            samples.append({"values": dict(event["values"]), "woken": woken, **counted})
            former = state
    return samples


def _settle(samples: Samples) -> None:
    """Let no ε fall from sample to sample: what a later sample proves of the releases so far holds for an earlier one, too.

    The last sample composes numerically what others bound in closed form, and may be smaller.
    """
    least: Vector | None = None
    for sample in reversed(samples):
        values = np.array([number(v) for v in sample["values"].get("epsilon", [])])
        least = values if least is None or least.shape != values.shape else np.fmin(values, least)
        sample["values"]["epsilon"] = [None if math.isnan(e) else e for e in least.tolist()]


def _folds(values: Any) -> tuple[float, float, float, float]:
    """Return median, tenth and ninetieth percentile, and mean of what is finite."""
    if not isinstance(values, list):
        return (number(values),) * 4
    known = np.array([number(v) for v in values])
    known = known[np.isfinite(known)]
    if not known.size:
        return (np.nan,) * 4
    low, middle, high = np.percentile(known, (10, 50, 90)).tolist()
    return middle, low, high, float(known.mean())


def _axis(record: RunRecord, samples: Samples, x: str) -> Vector:
    match x:
        case "time" | "updates":
            return np.array([s[x] for s in samples], dtype=float)
        case "rounds":
            return _rounds(record, samples)
        case "releases":
            return np.array([sum(s["values"]["releases"]) for s in samples], dtype=float)
        case "bytes":
            return np.array([number(s["values"]["bytes.sent"]) for s in samples])
        case "epsilon":
            return np.array([max(map(number, s["values"]["epsilon"])) for s in samples])
        case _:
            raise NotImplementedError(f"nothing is drawn against {x!r}")


def _rounds(record: RunRecord, samples: Samples) -> Vector:
    """Return how many rounds were over: those that a server ended, else the wakes of the median agent."""
    if samples[-1]["served"]:
        return np.array([s["served"] for s in samples], dtype=float)
    if not _has_rounds(record, samples):
        clocks = (
            f"s of the kind {', '.join(sorted(record.clocks))}"
            if record.clocks
            else "s that are not known"
        )
        raise FolderError(
            f"rounds are of synchronous and barrier clocks and of servers, and agents here have clock{clocks}; "
            "--x updates counts wakes"
        )
    return np.array([s["woken"] for s in samples], dtype=float)


def _matplotlib() -> tuple[Any, Any]:
    """Return pyplot and the class MaxNLocator; raise `NoMatplotlib` where the extra is not installed."""
    try:
        import matplotlib as mpl  # 120 ms, so only where a picture is drawn
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise NoMatplotlib(
            "pictures need matplotlib, which is not installed: pip install 'hush-sim[plot]'"
        ) from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    return plt, MaxNLocator


@contextmanager
def _drawn(out: Path, *, counts: bool) -> "Iterator[Axes]":
    """Yield the axes of a new picture, and save it when the block ends. With `counts`, x has whole numbers only."""
    plt, MaxNLocator = _matplotlib()
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    try:
        if counts:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        yield axes
        axes.grid(alpha=0.25)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        try:
            figure.savefig(out, dpi=150)
        except ValueError as error:  # no picture has this ending
            raise FolderError(f"{out}: {error}") from None
    finally:
        plt.close(figure)


def _picture(record: RunRecord, curve: Curve, what: str, x: str, out: Path) -> Path:
    with _drawn(out, counts=x in _COUNTS) as axes:
        mark = "o" if len(curve.at) <= _FEW else None
        if curve.per_node:
            band: dict[str, Any] = {"alpha": 0.2, "linewidth": 0, "label": "80 % of the agents"}
            axes.fill_between(curve.at, curve.low, curve.high, color=_INK, **band)
            axes.plot(curve.at, curve.mean, ":", color=_CLAIM, label="mean", zorder=3)
        label = "median" if curve.per_node else _written(what)
        axes.plot(curve.at, curve.middle, color=_INK, label=label, marker=mark, markersize=4)
        if what.startswith("gap") and (curve.middle > 0).all():
            axes.set_yscale("log")
        epsilon = record.summary.get("epsilon", {})
        terms = f"{epsilon.get('view', '?')} view, δ = {epsilon.get('delta', '?')}, {epsilon.get('accountant', '?')}"
        axes.set_xlabel(_LABELS.get(x, _written(f"largest ε ({terms})")))
        is_epsilon = what.startswith("epsilon")
        axes.set_ylabel(_written(f"ε ({terms})" if is_epsilon else what + _view(what)))
        title = f"{record.manifest['scenario']}, seed {record.manifest['seed']}: {record.status}"
        axes.set_title(_written(title))
        if curve.per_node:
            axes.legend(frameon=False)
    return out


def _written(text: str) -> str:
    """Return a text as a picture shows it: invisible characters spelled out, and a dollar no formula."""
    return visible(text).replace("$", r"\$")


def _view(what: str) -> str:
    """Return a note on a metric that no agent sees."""
    return " (an oracle's view)" if reads_models([what]) else ""


def draw_audit(order: "Order", finding: "Finding", out: Path) -> None:
    """Draw the audited lower bound and the accounted upper bound against the number of releases."""
    with _drawn(out, counts=True) as axes:
        few = len(finding.curve) <= _INTERVALS
        (_intervals if few else _bounds)(axes, order, finding)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("releases of the audited agent")
        axes.set_ylabel(f"ε ({order.eyes} view, δ = {finding.delta:g})")
        axes.set_title(_written(f"{order.plan.name}, {order.plan.kind}: {finding.verdict}"))
        beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axes.legend(frameon=False, **(beside | {"labelspacing": 1.2} if few else {}))


def _names(order: "Order", finding: "Finding") -> tuple[str, str, str]:
    """Return what the bounds are called: charged, claimed, audited."""
    return (
        f"charged: at most ({finding.accountant})",
        "claimed by the calibration",
        f"audited: at least ({100 * order.confidence:g} % at each point)",
    )


def _bounds(axes: "Axes", order: "Order", finding: "Finding") -> None:
    """Draw the bounds as lines, and what lies between as a band."""
    at, audited, claimed, charged = zip(*finding.curve, strict=True)
    lines = zip((charged, claimed, audited), (_CHARGE, _CLAIM, _INK), ("-", "--", "-"), strict=True)
    for (values, colour, style), label in zip(lines, _names(order, finding), strict=True):
        shown = [v if math.isfinite(v) else math.nan for v in values]
        axes.plot(at, shown, style, color=colour, label=label)
    high = [v if math.isfinite(v) else a for v, a in zip(charged, audited, strict=True)]
    axes.fill_between(at, audited, high, color=_CHARGE, alpha=0.08, linewidth=0)
    axes.set_xlim(0, max(at) * 1.05 + 0.2)


def _intervals(axes: "Axes", order: "Order", finding: "Finding") -> None:
    """Draw a few points as intervals: the loss lies between what was audited and what was charged.

    Where the charge is infinite the interval has an arrow and no upper end.
    """
    at, audited, claimed, charged = zip(*finding.curve, strict=True)
    finite = [v for v in (*audited, *claimed, *charged) if math.isfinite(v)]
    top = 1.3 * max(finite, default=1.0) or 1.0
    low, high = np.array(audited), np.array([v if math.isfinite(v) else top for v in charged])
    axes.vlines(at, low, high, color=_CHARGE, alpha=0.25, linewidth=8)
    every = zip((charged, claimed, audited), (_CHARGE, _CLAIM, _INK), ("v", "_", "^"), strict=True)
    for ((values, colour, mark), label), nudge in zip(
        zip(every, _names(order, finding), strict=True), _apart(finding.curve, top), strict=True
    ):
        shown = [v if math.isfinite(v) else math.nan for v in values]
        size = 24 if mark == "_" else 8
        axes.plot(
            at, shown, mark, color=colour, label=label, markersize=size, markeredgewidth=2, zorder=3
        )
        for k, v, dy in zip(at, values, nudge, strict=True):
            place = (k, v if math.isfinite(v) else top)
            text = show(v) if math.isfinite(v) else "↑ no bound"
            axes.annotate(
                text, place, (16, dy), textcoords="offset points", va="center", color=colour
            )
    axes.set_xlim(min(at) - 0.5, max(at) + 0.5)
    axes.set_xticks(at)
    axes.set_ylim(top=top * 1.05)


def _apart(curve: Sequence[tuple[int, float, float, float]], top: float) -> list[list[float]]:
    """Return by how many points to shift the labels of charged, claimed and audited, so that none covers another."""
    shifts: list[list[float]] = [[], [], []]
    for _, *values in curve:
        heights = [220.0 * min(v, top) / top for v in reversed(values)]
        free = -math.inf
        for which in sorted(range(3), key=lambda i: (heights[i], -i)):
            free = max(free + 12.0, heights[which])
            shifts[which].append(free - heights[which])
    return shifts
