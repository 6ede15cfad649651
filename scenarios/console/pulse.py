"""What changes with time: the losses of everybody, throughput, and the links of a few."""

import math
from bisect import bisect_right
from collections.abc import Sequence

from scenarios.console.ink import (
    BAD,
    DIM,
    DOTS,
    GOOD,
    HEAD,
    PLAIN,
    WARN,
    Line,
    box,
    brief,
    short,
    span,
    sparkline,
    words,
)
from scenarios.console.model import Model


def links(model: Model, width: int, height: int) -> list[Line]:
    """Draw what became of the last message of every link."""
    count = model.nodes.count
    room = max(3, min(6, (width - 4 - 4) // max(1, count)))
    fits = max(1, (width - 4 - 4) // room)
    lines: list[Line] = [
        words("    " + "".join(f"{f'→{j}':>{room}}" for j in range(min(count, fits))), DIM)
    ]
    for i in range(count):
        line: Line = [(f"{i:>3} ", DIM)]
        for j in range(min(count, fits)):
            text = "·" if i == j else model.pulse.links.get((i, j), "")
            style = BAD if text == "╳" else WARN if text == "‖" else PLAIN
            line.append((f"{text[: room - 1]:>{room}}", DIM if i == j else style))
        lines.append(line)
    return box([("links ", HEAD), (" one-way  ╳ lost  ‖ held", DIM)], lines, width, height)


def losses(model: Model, width: int, height: int) -> list[Line]:
    """Draw how the losses of the agents went: tenth, median, ninetieth."""
    history = [h for h in model.pulse.history if not any(map(math.isnan, h))]
    title: Line = [("loss* ", HEAD), (" p10 p50 p90, an oracle's ", DIM)]
    if not history:
        return box(title, [words("no sample yet", DIM)], width, height)
    rows, across = max(1, height - 3), max(4, width - 4 - 8)
    low = min(h[1] for h in history)
    high = max(h[3] for h in history)
    scale = (high - low) or 1.0
    first = history[0][0]
    length = (history[-1][0] - first) or 1.0
    cells = [[0] * across for _ in range(rows)]
    times = [h[0] for h in history]
    for series in (1, 2, 3):
        values = [h[series] for h in history]
        for x in range(2 * across):
            t = first + length * x / (2 * across - 1)
            value = _between(times, values, t)
            y = min(4 * rows - 1, int((high - value) / scale * (4 * rows - 1)))
            cells[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    lines: list[Line] = []
    for at, row in enumerate(cells):
        label = high if at == 0 else low if at == rows - 1 else math.nan
        name = "" if math.isnan(label) else brief(label)
        drawn = "".join(chr(0x2800 + dots) if dots else " " for dots in row)
        lines.append([(f"{name:>6} ", DIM), ("┤", DIM), (drawn, GOOD)])
    lines.append(words(f"{'':>6} └ {span(first)} … {span(history[-1][0])}", DIM))
    return box(title, lines, width, height)


def throughput(model: Model, width: int, height: int) -> list[Line]:
    """Draw what happened in each simulated second, and the share of messages that was lost, from sample to sample."""
    pulse, header = model.pulse, model.header
    size = max(8, width - 60)
    events, losses = ([pair[at] for pair in pulse.paces] for at in (0, 1))
    pace, lost = pulse.paces[-1] if pulse.paces else (0.0, 0.0)
    more = (
        f"   on the wall {short(header.events_per_s)}/s"
        if header.events_per_s and not header.paused
        else ""
    )
    if header.queue is not None:
        more += f"   queue {short(header.queue)}"
    lines: list[Line] = [
        [("events ", DIM), (sparkline(events, size), GOOD), (f"  {short(pace):>5}/s{more}", PLAIN)],
        [("lost   ", DIM), (sparkline(losses, size), WARN), (f"  {100 * lost:>4.1f}%", PLAIN)],
    ]  # fmt: skip
    title: Line = [("throughput", HEAD), ("  per simulated second, by samples", DIM)]
    return box(title, lines, width, height)


def _between(times: Sequence[float], values: Sequence[float], t: float) -> float:
    """Return a value between two samples, on the line that joins them."""
    at = bisect_right(times, t)
    if at == 0 or at == len(times):
        return values[min(at, len(times) - 1)]
    part = (t - times[at - 1]) / ((times[at] - times[at - 1]) or 1.0)
    return values[at - 1] + part * (values[at] - values[at - 1])
