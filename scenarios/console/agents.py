"""Agents as rows of a table, and as cells of a grid."""

import math
from collections import Counter

from scenarios.console.head import totals
from scenarios.console.ink import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    PICK,
    PLAIN,
    STATES,
    WARN,
    Line,
    amount,
    bar,
    box,
    plain,
    span,
    sparkline,
    step,
    words,
)
from scenarios.console.model import Model, Row

TREND, TAIL = 72, 52
"""From so many columns on, trends are drawn; and releases, inbox and staleness."""

_LATE = 3
"""What is so many times as stale as the median of those shown is late."""


def table(model: Model, width: int, height: int, *, sums: bool = True) -> list[Line]:
    """Draw agents as rows."""
    nodes, inner = model.nodes, width - 4
    room = max(2, len(str(nodes.count - 1)))
    chosen = nodes.rows[: rows_in(height, sums=sums)]
    late = _LATE * _median([row.stale_s for row in chosen])
    rows = [_row(row, inner, room, late, chosen=row.id == nodes.cursor) for row in chosen]
    lines: list[Line] = [words(_columns(inner, room), HEAD), *rows]
    if sums:
        lines += [words("")] * max(0, height - 3 - len(lines))
        lines.append(totals(model, inner))
    shown = (
        f"{nodes.first + 1}–{nodes.first + len(rows)} of {nodes.listed}"
        if rows
        else f"none of {nodes.count}"
    )
    sort = f"  sort:{nodes.sort}" if inner >= TAIL or nodes.sort != "id" else ""
    title: Line = [("nodes", HEAD), (f"{sort}  {shown}  * an oracle's", DIM)]
    if nodes.filter:
        title.append((f"  /{plain(nodes.filter)}", WARN))
    return box(title, lines, width, height)


def _median(values: list[float]) -> float:
    """Return the median of what is known; infinite where nothing is."""
    known = sorted(v for v in values if not math.isnan(v))
    return known[len(known) // 2] if known else math.inf


def rows_in(height: int, *, sums: bool = True) -> int:
    """How many agents a table of this height shows."""
    return max(0, height - 3 - sums)


def _meter(inner: int, room: int) -> int:
    return max(4, min(16, inner - room - 49 - (10 if inner >= TREND else 0)))


def _columns(inner: int, room: int) -> str:
    text = f"{'id':>{room}} {'state':<10} {'ε spent / cap':<{_meter(inner, room) + 10}}{'loss*':>7}"
    if inner >= TREND:
        text += "  trend   "
    if inner >= TAIL:
        text += "  rel inbox stale"
    return text


def _row(row: Row, inner: int, room: int, late: float, *, chosen: bool) -> Line:
    glyph, _, style = STATES[row.state]
    used = row.epsilon / row.cap if row.cap else math.nan
    cap = "—" if row.cap is None else f"{row.cap:g}"
    size = _meter(inner, room)
    meter = bar(used, size) if row.cap else " " * size
    line: Line = [
        (f"{row.id:>{room}} ", PICK if chosen else PLAIN),
        (f"{glyph} {row.state:<8}", style),
        (f" {meter}", BAD if used > 0.999 else WARN if used > 0.8 else GOOD),
        (f" {amount(row.epsilon):>5}/{cap:<3}", PLAIN),
        (f"{amount(row.loss, '.4f'):>7}", PLAIN),
    ]
    if inner >= TREND:
        line.append((f"  {sparkline(row.trend, 8)}", GOOD))
    if inner >= TAIL:
        line.append((f" {row.releases:>4} {row.inbox:>5}", PLAIN))
        line.append((f" {span(row.stale_s):>5}", WARN if row.stale_s > late else PLAIN))
    return line


def grid(model: Model, width: int, height: int) -> list[Line]:
    """Draw everybody as a cell: how much of the budget is spent, or what is wrong."""
    nodes, inner = model.nodes, width - 4
    beside = 15 if inner >= 40 else 0
    across = max(1, (inner - beside - 5) // 2)
    across = max(a for a in (1, 2, 5, 10, 20, 25, 40, 50, 100) if a <= across or a == 1)
    legend = _legend(model) if beside else []
    lines: list[Line] = [
        [
            ("     ", PLAIN),
            *words(" ".join(str(c % 10) for c in range(across)).ljust(2 * across), DIM),
        ]
    ]
    total = len(nodes.states)
    rows = height - 3
    first = 0
    if nodes.cursor is not None and total > across * rows:
        first = min(max(0, nodes.cursor // across - rows // 2), math.ceil(total / across) - rows)
    for start in range(first * across, min(total, (first + rows) * across), across):
        line: Line = [(f"{start:>4} ", DIM)]
        for i in range(start, min(total, start + across)):
            line.append(_cell(nodes.states[i], nodes.shares[i], chosen=i == nodes.cursor))
            line.append((" ", PLAIN))
        line += [("  " * (across - min(across, total - start)), PLAIN)]
        lines.append(line)
    if beside:
        for at, said in enumerate(legend[: height - 2]):
            while at >= len(lines):
                lines.append(words(" " * (5 + 2 * across)))
            lines[at] = [*lines[at], ("  ", PLAIN), *said]
    return box([("grid ε ", HEAD), (" g:view", DIM)], lines, width, height)


def _cell(state: str, share: float, *, chosen: bool) -> tuple[str, str]:
    glyph, _, style = STATES[state]
    if state == "up":
        full = not math.isnan(share)
        glyph = step(share) if full else glyph
        style = WARN if full and share > 0.8 else GOOD
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
        cap = "—" if chosen.cap is None else f"{chosen.cap:g}"
        lines += [
            words(""),
            words(f"cursor [{chosen.id}]", HEAD),
            words(f"ε {amount(chosen.epsilon)}/{cap}"),
            words(f"loss* {amount(chosen.loss, '.3f')}"),
        ]
    return lines
