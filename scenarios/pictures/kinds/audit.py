"""The picture of an audit: the audited lower bound beside what is claimed and charged."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scenarios.language.json_numbers import show
from scenarios.pictures.picture import Drawn, Material, Options, PictureKind
from scenarios.pictures.styles import CHARGE, CLAIM, INK
from scenarios.pictures.words import written
from scenarios.records.audit_record import Audit, AuditRecord
from scenarios.records.file_guard import FolderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INTERVALS = 3
"""Up to so many points are drawn as intervals: so few make no line."""
Points = Sequence[tuple[int, float, float, float]]


def _draw(axes: "Axes", material: Material, _options: Options) -> Drawn:
    """Draw the lower and the upper bounds against the number of releases."""
    if len(material.audits) != 1:
        raise FolderError(f"this picture is of one audit, and there are {len(material.audits)}")
    return draw_record(axes, material.audits[0])


def draw_record(axes: "Axes", record: AuditRecord) -> Drawn:
    """Draw one audit."""
    audit, points = record.audit, record.points
    if not points:
        raise FolderError(f"{record.path} holds no curve to draw")
    few = len(points) <= _INTERVALS
    (_intervals if few else _bounds)(axes, audit, points)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("releases of the audited agent")
    axes.set_ylabel("ε")
    of = f"{audit.epsilon.view} view, δ = {audit.epsilon.delta:g}"
    caption = (
        "Bounds on the privacy loss ε of one record, replaced, against the number of releases of the audited agent.",
        f"Audited: a lower bound that holds with {100 * audit.confidence:g} % at each point, from {audit.runs:,} runs on each "
        "of two data sets that differ in that record.",
        f"Charged: the upper bound of the ledger, by {audit.epsilon.accountant}. Claimed: what the calibration promises.",
        f"All are of the {of}. Verdict: {audit.verdict}. An audit of one record bounds ε from below only.",
    )
    return Drawn(
        caption,
        (
            f"ε: {of}",
            f"seed {audit.seed}",
            f"{audit.runs:,} runs on each data set",
            f"verdict: {audit.verdict}",
        ),
    )


def _names(audit: Audit) -> tuple[str, str, str]:
    """Return what the bounds are called: charged, claimed, audited."""
    return (
        f"charged: at most ({written(audit.epsilon.accountant, 12)})",
        "claimed by the calibration",
        f"audited: at least ({100 * audit.confidence:g} % each)",
    )


def _bounds(axes: "Axes", audit: Audit, points: Points) -> None:
    """Draw the bounds as lines, and what lies between as a band."""
    at, audited, claimed, charged = zip(*points, strict=True)
    lines = zip((charged, claimed, audited), (CHARGE, CLAIM, INK), ("-.", "--", "-"), strict=True)
    for (values, colour, style), label in zip(lines, _names(audit), strict=True):
        shown = [v if math.isfinite(v) else math.nan for v in values]
        axes.plot(at, shown, style, color=colour, label=label)
    high = [v if math.isfinite(v) else a for v, a in zip(charged, audited, strict=True)]
    axes.fill_between(at, audited, high, color=CHARGE, alpha=0.08, linewidth=0)
    axes.set_xlim(0, max(at) * 1.05 + 0.2)
    axes.locator_params(axis="x", integer=True)


def _intervals(axes: "Axes", audit: Audit, points: Points) -> None:
    """Draw a few points as intervals: the loss lies between what was audited and what was charged.

    Where the charge is infinite the interval has an arrow and no upper end.
    """
    at, audited, claimed, charged = zip(*points, strict=True)
    finite = [v for v in (*audited, *claimed, *charged) if math.isfinite(v)]
    top = 1.3 * max(finite, default=1.0) or 1.0
    low, high = np.array(audited), np.array([v if math.isfinite(v) else top for v in charged])
    axes.vlines(at, low, high, color=CHARGE, alpha=0.25, linewidth=6)
    every = zip((charged, claimed, audited), (CHARGE, CLAIM, INK), ("v", "_", "^"), strict=True)
    for ((values, colour, mark), label), nudge in zip(
        zip(every, _names(audit), strict=True), _apart(points, top), strict=True
    ):
        shown = [v if math.isfinite(v) else math.nan for v in values]
        size = 14 if mark == "_" else 6
        axes.plot(
            at,
            shown,
            mark,
            color=colour,
            label=label,
            markersize=size,
            markeredgewidth=1.5,
            zorder=3,
        )
        for k, v, dy in zip(at, values, nudge, strict=True):
            place = (k, v if math.isfinite(v) else top)
            text = show(v) if math.isfinite(v) else "↑ no bound"
            axes.annotate(
                text, place, (10, dy), textcoords="offset points", va="center", color=colour
            )
    axes.set_xlim(min(at) - 0.5, max(at) + 0.5)
    axes.set_xticks(at)
    axes.set_ylim(top=top * 1.05)


def _apart(points: Points, top: float) -> list[list[float]]:
    """Return by how many points to shift the labels of charged, claimed and audited, so that none covers another."""
    shifts: list[list[float]] = [[], [], []]
    for _, *values in points:
        heights = [130.0 * min(v, top) / top for v in reversed(values)]
        free = -math.inf
        for which in sorted(range(3), key=lambda i: (heights[i], -i)):
            free = max(free + 12.0, heights[which])
            shifts[which].append(free - heights[which])
    return shifts


KIND = PictureKind(
    "audit",
    "an audit's lower bound on ε beside what is claimed and charged",
    "audit",
    _draw,
)
