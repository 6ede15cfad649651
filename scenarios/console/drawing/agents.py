"""Agents as rows of a table, and as cells of a grid."""

import math
from collections import Counter
from dataclasses import dataclass

from scenarios.console.drawing.head import totals
from scenarios.console.drawing.layout import across, cell_width, label, rows_in
from scenarios.console.drawing.model import Model, Row
from scenarios.console.drawing.styled_text import (
    DIM,
    GOOD,
    HEAD,
    HERE,
    PICK,
    PLAIN,
    STATES,
    WARN,
    Line,
    Spot,
    Target,
    amount,
    bar,
    bounds_of,
    box,
    fit,
    heat,
    plain,
    span,
    sparkline,
    step,
    tally,
    words,
)

TREND, TAIL = 72, 52
"""From so many columns on, trends are drawn; and releases, inbox and staleness."""

_TREND_LEAST, _TREND_MOST, _METER_FIRST, _METER_MOST = 8, 40, 16, 40
_LATE = 3
"""What is so many times as stale as the median of those shown is late."""


def table(model: Model, width: int, height: int) -> list[Line]:
    """Draw agents as rows, and below them all of them."""
    nodes, inner = model.nodes, width - 4
    room = max(2, len(str(nodes.count - 1)))
    chosen = nodes.rows[: rows_in(height)]
    late = _LATE * _median([row.stale_s for row in chosen if row.state in HERE])
    caps = max((len(_cap(row)) for row in chosen), default=3)
    sizes = _sizes(inner, room, caps)
    limits = bounds_of([row.trend for row in chosen], sizes.trend)
    rows = [_row(row, inner, sizes, late, limits, chosen=row.id == nodes.cursor) for row in chosen]
    lines: list[Line] = [words(_columns(inner, sizes), HEAD), *rows]
    lines += [words("")] * max(0, height - 3 - len(lines))
    lines.append(totals(model, inner))
    shown = (
        f"{nodes.first + 1}–{nodes.first + len(rows)} of {nodes.listed}"
        if rows
        else f"none of {nodes.count}"
    )
    sort = f"  sort:{nodes.sort}" if inner >= TAIL or nodes.sort != "id" else ""
    title: Line = [("agents", HEAD), (f"{sort}  {shown}  * an oracle's", DIM)]
    if nodes.filter:
        title.append((f"  /{plain(nodes.filter)}", WARN))
    return box(title, lines, width, height)


def _median(values: list[float]) -> float:
    """Return the median of what is known; infinite where nothing is."""
    known = sorted(v for v in values if not math.isnan(v))
    return known[len(known) // 2] if known else math.inf


def _cap(row: Row) -> str:
    return "—" if row.cap is None else f"{row.cap:g}"


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Widths of columns that depend on what stands in them, and on the width that there is."""

    room: int
    meter: int
    caps: int
    trend: int


def _sizes(inner: int, room: int, caps: int) -> _Sizes:
    """Share the width that is left between bars and trends; 0 where there is no room for a trend."""
    fixed = room + caps + 26 + (17 if inner >= TAIL else 0)
    trend = _TREND_LEAST if inner >= TREND else 0
    left = inner - fixed - (trend + 2 if trend else 0)
    meter = max(3, min(_METER_FIRST, left))
    left -= meter
    if trend and left > 0:
        more = min(_TREND_MOST - trend, left // 2)
        trend, left = trend + more, left - more
        meter += max(0, min(_METER_MOST - meter, left))
    return _Sizes(room, meter, caps, trend)


def _columns(inner: int, sizes: _Sizes) -> str:
    text = f"{'id':>{sizes.room}} {'state':<10} {'ε spent / cap':<{sizes.meter + sizes.caps + 7}}{'loss*':>7}"
    if sizes.trend:
        text += f"  {'trend':<{sizes.trend}}"
    if inner >= TAIL:
        text += "  rel inbox stale"
    return text


def _row(
    row: Row,
    inner: int,
    sizes: _Sizes,
    late: float,
    limits: tuple[float, float] | None,
    *,
    chosen: bool,
) -> Line:
    glyph, _, style = STATES[row.state]
    room, size, caps = sizes.room, sizes.meter, sizes.caps
    used = row.epsilon / row.cap if row.cap else math.nan
    meter = bar(used, size) if row.cap else " " * size
    target = Target("agent", row.id)
    line: Line = [
        (f"{row.id:>{room}} ", Spot(PICK if chosen else PLAIN, target)),
        (f"{glyph} {row.state:<8}", Spot(style, target)),
        (f" {meter}", Spot(WARN if _is_scarce(row, used) else GOOD, target)),
        (f" {amount(row.epsilon, room=5):>5}/{_cap(row):<{caps}}", Spot(PLAIN, target)),
        (f"{amount(row.loss, 4, 6):>7}", Spot(PLAIN, target)),
    ]
    if sizes.trend:
        line.append((f"  {sparkline(row.trend, sizes.trend, limits)}", Spot(GOOD, target)))
    if inner >= TAIL:
        figures = f" {tally(row.releases, 4):>4} {tally(row.inbox, 5):>5}"
        line.append((figures, Spot(PLAIN, target)))
        stale = row.state in HERE and row.stale_s > late
        line.append((f" {span(row.stale_s):>5}", Spot(WARN if stale else PLAIN, target)))
    return line


def _is_scarce(row: Row, used: float) -> bool:
    """Whether an agent that still has releases to make is close to its cap."""
    return used > 0.8 and row.state != "done"


def grid(model: Model, width: int, height: int) -> list[Line]:
    """Draw every agent as a cell: how much of its budget is spent, or what is wrong."""
    nodes, inner = model.nodes, width - 4
    total, rows = len(nodes.states), max(0, height - 3)
    row, room = across(width, total), label(total)
    legend = _legend(model) if inner >= 40 else []
    wide = cell_width(width, total)
    names = "".join(f"{c % 10:<{wide}}" for c in range(row))
    lines: list[Line] = [words(" " * (room + 1) + names, DIM)]
    first = 0
    if nodes.cursor is not None and total > row * rows:
        first = min(max(0, nodes.cursor // row - rows // 2), math.ceil(total / row) - rows)
    for start in range(first * row, min(total, (first + rows) * row), row):
        line: Line = [(f"{start:>{room}} ", DIM)]
        for i in range(start, min(total, start + row)):
            chosen = i == nodes.cursor
            glyph, style = _cell(nodes.states[i], nodes.shares[i], wide - 1, chosen=chosen)
            spot = Spot(style, Target("agent", i))
            line += [(glyph, spot), (" ", PLAIN)] if chosen else [(f"{glyph} ", spot)]
        lines.append(fit(line, room + 1 + wide * row))
    for at, note in enumerate(legend[: height - 2]):
        if at == len(lines):
            lines.append(words(" " * (room + 1 + wide * row)))
        lines[at] = [*lines[at], ("  ", PLAIN), *note]
    last = min(total, (first + rows) * row)
    shown = f"  {first * row}–{last - 1} of {total}" if last - first * row < total else ""
    return box([("grid ε ", HEAD), (f" g:view{shown}", DIM)], lines, width, height)


def _cell(state: str, share: float, width: int, *, chosen: bool) -> tuple[str, str]:
    """Return what is drawn of an agent: its share as a step, as a bar where there is room, else its glyph."""
    glyph, _, style = STATES[state]
    if state in {"up", "done"} and not math.isnan(share):
        glyph, style = step(share) if width == 1 else bar(share, width), heat(share)
    return f"{glyph:<{width}}", PICK if chosen else style


def _legend(model: Model) -> list[Line]:
    nodes = model.nodes
    lines: list[Line] = [words("ε used / cap", HEAD), words("▁…█ = 0…cap", DIM), words("")]
    counts = Counter(nodes.states)
    for state, (glyph, _, style) in STATES.items():
        if counts[state]:
            lines.append([(f"{glyph} {state} {counts[state]}", style)])
    chosen = next((row for row in nodes.rows if row.id == nodes.cursor), None)
    if chosen is not None:
        lines += [
            words(""),
            words(f"cursor [{chosen.id}]", HEAD),
            words(f"ε {amount(chosen.epsilon, room=5)}/{_cap(chosen)}"),
            words(f"loss* {amount(chosen.loss, 3, 5)}"),
        ]
    return lines
