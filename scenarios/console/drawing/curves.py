"""Curves over time in cells of two by four dots: lines, stairs, dotted lines, and values to compare with."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from scenarios.console.drawing.styled_text import DIM, DOTS, Line, Spot, Target


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: instants (s) with values, in their order. Beside what is no finite number there is a gap."""

    points: tuple[tuple[float, float], ...]
    style: str
    is_step: bool = False
    """Whether a value holds until the next one; else a line joins two."""
    is_faint: bool = False
    """Whether only every second dot is drawn, and only within the bounds."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What a drawing of curves covers: time from 0 to `end_s`, of which `now_s` is reached; values between two bounds."""

    end_s: float
    now_s: float
    low: float
    high: float


def bounds(curves: Sequence[Curve], values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the most of all curves that are not faint and of some values, and a little more."""
    known = [v for curve in curves if not curve.is_faint for _, v in curve.points]
    known = [v for v in [*known, *values] if math.isfinite(v)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    more = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - more, high + more


def row_of(value: float, axis: Axis, rows: int) -> int:
    """Return the row of dots, from above, in which a value lies among `rows` lines of cells."""
    share = (axis.high - value) / (axis.high - axis.low)
    return max(0, min(4 * rows - 1, round(share * (4 * rows - 1))))


def draw_curves(
    curves: Sequence[Curve],
    references: Sequence[tuple[float, str]],
    axis: Axis,
    rows: int,
    size: int,
) -> list[Line]:
    """Draw curves, the last over the others, and dashed lines of a value and a style below all but the faint ones.

    Returns `rows` lines of `size` columns. A click on a cell means its instant. What was drawn last is remembered: from
    frame to frame little changes but the instant, which counts here by the column that it has reached.
    """
    columns = int(2 * size * min(1.0, axis.now_s / axis.end_s) + 0.5)
    reached = replace(axis, now_s=axis.end_s * columns / (2 * size))
    return list(_drawn(tuple(curves), tuple(references), reached, rows, size))


@lru_cache(maxsize=16)
def _drawn(
    curves: tuple[Curve, ...],
    references: tuple[tuple[float, str], ...],
    axis: Axis,
    rows: int,
    size: int,
) -> list[Line]:
    faint = [curve for curve in curves if curve.is_faint]
    clear = [curve for curve in curves if not curve.is_faint]
    layers = [(_layer(curve, axis, rows, size), curve.style) for curve in faint]
    for value, style in references:
        layers.append((_dashes(value, axis, rows, size), style))
    layers += [(_layer(curve, axis, rows, size), curve.style) for curve in clear]
    return [
        _cells([(layer[at], style) for layer, style in layers], size, axis) for at in range(rows)
    ]


def _dashes(value: float, axis: Axis, rows: int, size: int) -> list[list[int]]:
    layer = [[0] * size for _ in range(rows)]
    if math.isfinite(value):
        y = row_of(value, axis, rows)
        for x in range(2 * size):
            if x % 4 < 2:
                layer[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    return layer


def _layer(curve: Curve, axis: Axis, rows: int, size: int) -> list[list[int]]:
    layer = [[0] * size for _ in range(rows)]
    points = curve.points
    first = next(((t, v) for t, v in points if math.isfinite(v)), None)
    if first is None:
        return layer
    times = [t for t, _ in points]
    former: int | None = None
    is_drawn = False
    for x in range(2 * size):
        t = axis.end_s * (x + 0.5) / (2 * size)
        if t > axis.now_s or t < times[0]:
            continue
        value = _value(times, points, t, is_step=curve.is_step)
        if not math.isfinite(value):  # a gap, not a line across it
            former = None
            continue
        y = row_of(value, axis, rows)
        if curve.is_faint:
            if x % 2 and axis.low <= value <= axis.high:
                layer[y // 4][x // 2] |= DOTS[y % 4][x % 2]
            continue
        start = y if former is None else former
        for step in range(min(y, start), max(y, start) + 1):  # without gaps
            layer[step // 4][x // 2] |= DOTS[step % 4][x % 2]
        former, is_drawn = y, True
    if not is_drawn and not curve.is_faint and first[0] <= axis.now_s:
        at = min(size - 1, int(size * first[0] / axis.end_s))
        y = row_of(first[1], axis, rows)  # the first sample lies behind the first dot
        layer[y // 4][at] |= DOTS[y % 4][0]
    return layer


def _value(
    times: Sequence[float], points: Sequence[tuple[float, float]], t: float, *, is_step: bool
) -> float:
    """Return a value at an instant: that of the sample before, or on the line that joins two samples.

    It is no finite number where a sample that it is made of is none.
    """
    at = bisect_right(times, t)
    if at == len(times) or (is_step and at):
        return points[at - 1][1]
    (before_t, before), (after_t, after) = points[at - 1], points[at]
    if not (math.isfinite(before) and math.isfinite(after)):
        return math.nan
    return before + (t - before_t) / ((after_t - before_t) or 1.0) * (after - before)


def _cells(layers: Sequence[tuple[list[int], str]], size: int, axis: Axis) -> Line:
    """Return a line: of each cell the topmost layer that has dots there."""
    line: Line = []
    target = Target("time", (0.0, axis.end_s), size)
    for at in range(size):
        bits, ink = next(((row[at], s) for row, s in reversed(layers) if row[at]), (0, DIM))
        text = chr(0x2800 + bits) if bits else " "
        if line and line[-1][1] == ink:
            line[-1] = line[-1][0] + text, line[-1][1]
        else:
            line.append((text, Spot(ink, target, at)))
    return line


def labels(
    wanted: Sequence[tuple[float, str, str]], axis: Axis, rows: int
) -> dict[int, tuple[str, str]]:
    """Return texts with styles by line, each at its value, or as near below the one above it as there is room.

    `wanted` are values, texts and styles; what is no number has no label.
    """
    ranked = sorted((w for w in wanted if math.isfinite(w[0])), key=lambda w: -w[0])
    placed: dict[int, tuple[str, str]] = {}
    for left, (value, text, style) in enumerate(ranked, 1 - len(ranked)):
        row = max(row_of(value, axis, rows) // 4, max(placed, default=-1) + 1)
        row = min(row, rows - 1 + left)  # the labels below need lines, too
        if row >= 0 and row not in placed:
            placed[row] = text, style
    return placed
