"""Agents as rows of a table, and as cells of a grid."""

import math
from collections import Counter

from scenarios.console.drawing.head import totals
from scenarios.console.drawing.layout import across, label, rows_in
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
    amount,
    bar,
    box,
    fit,
    plain,
    span,
    sparkline,
    step,
    tally,
    words,
)

TREND, TAIL = 72, 52
"""From so many columns on, trends are drawn; and releases, inbox and staleness."""

_LATE = 3
"""What is so many times as stale as the median of those shown is late."""


def table(model: Model, width: int, height: int) -> list[Line]:
    """Draw agents as rows, and below them all of them."""
    nodes, inner = model.nodes, width - 4
    room = max(2, len(str(nodes.count - 1)))
    chosen = nodes.rows[: rows_in(height)]
    late = _LATE * _median([row.stale_s for row in chosen if row.state in HERE])
    caps = max((len(_cap(row)) for row in chosen), default=3)
    size = _meter(inner, room, caps)
    rows = [
        _row(row, inner, (room, size, caps), late, chosen=row.id == nodes.cursor) for row in chosen
    ]
    lines: list[Line] = [words(_columns(inner, room, size + caps), HEAD), *rows]
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


def _meter(inner: int, room: int, caps: int) -> int:
    """How long the bars are: what is left by ids and caps of these lengths."""
    others = room + caps + 26 + (17 if inner >= TAIL else 0) + (10 if inner >= TREND else 0)
    return max(3, min(16, inner - others))


def _columns(inner: int, room: int, size: int) -> str:
    text = f"{'id':>{room}} {'state':<10} {'ε spent / cap':<{size + 7}}{'loss*':>7}"
    if inner >= TREND:
        text += "  trend   "
    if inner >= TAIL:
        text += "  rel inbox stale"
    return text


def _row(row: Row, inner: int, sizes: tuple[int, int, int], late: float, *, chosen: bool) -> Line:
    glyph, _, style = STATES[row.state]
    room, size, caps = sizes
    used = row.epsilon / row.cap if row.cap else math.nan
    meter = bar(used, size) if row.cap else " " * size
    line: Line = [
        (f"{row.id:>{room}} ", PICK if chosen else PLAIN),
        (f"{glyph} {row.state:<8}", style),
        (f" {meter}", WARN if used > 0.8 else GOOD),
        (f" {amount(row.epsilon, room=5):>5}/{_cap(row):<{caps}}", PLAIN),
        (f"{amount(row.loss, 4, 6):>7}", PLAIN),
    ]
    if inner >= TREND:
        line.append((f"  {sparkline(row.trend, 8)}", GOOD))
    if inner >= TAIL:
        line.append((f" {tally(row.releases, 4):>4} {tally(row.inbox, 5):>5}", PLAIN))
        stale = row.state in HERE and row.stale_s > late
        line.append((f" {span(row.stale_s):>5}", WARN if stale else PLAIN))
    return line


def grid(model: Model, width: int, height: int) -> list[Line]:
    """Draw every agent as a cell: how much of its budget is spent, or what is wrong."""
    nodes, inner = model.nodes, width - 4
    total, rows = len(nodes.states), max(0, height - 3)
    row, room = across(width, total), label(total)
    legend = _legend(model) if inner >= 40 else []
    names = " ".join(str(c % 10) for c in range(row)).ljust(2 * row)
    lines: list[Line] = [words(" " * (room + 1) + names, DIM)]
    first = 0
    if nodes.cursor is not None and total > row * rows:
        first = min(max(0, nodes.cursor // row - rows // 2), math.ceil(total / row) - rows)
    for start in range(first * row, min(total, (first + rows) * row), row):
        line: Line = [(f"{start:>{room}} ", DIM)]
        for i in range(start, min(total, start + row)):
            line.append(_cell(nodes.states[i], nodes.shares[i], chosen=i == nodes.cursor))
            line.append((" ", PLAIN))
        lines.append(fit(line, room + 1 + 2 * row))
    for at, note in enumerate(legend[: height - 2]):
        if at == len(lines):
            lines.append(words(" " * (room + 1 + 2 * row)))
        lines[at] = [*lines[at], ("  ", PLAIN), *note]
    last = min(total, (first + rows) * row)
    shown = f"  {first * row}–{last - 1} of {total}" if last - first * row < total else ""
    return box([("grid ε ", HEAD), (f" g:view{shown}", DIM)], lines, width, height)


def _cell(state: str, share: float, *, chosen: bool) -> tuple[str, str]:
    glyph, _, style = STATES[state]
    if state == "up":
        glyph = glyph if math.isnan(share) else step(share)
    return glyph, PICK if chosen else style


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
