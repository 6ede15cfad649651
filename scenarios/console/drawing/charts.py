"""What changes with time: the losses of the agents, throughput, and the links of few agents."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from scenarios.console.drawing.model import Model
from scenarios.console.drawing.styled_text import (
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
    passage,
    short,
    span,
    sparkline,
    step,
    words,
)

_LINES = 3
"""The border of a panel, and its heads."""


def links(
    known: Mapping[tuple[int, int], float], model: Model, width: int, height: int
) -> list[Line]:
    """Draw what became of the last message of every link: in words, or as a share of the longest delay."""
    names = [str(i) for i in range(model.nodes.count)] + (["srv"] if model.header.server else [])
    in_words = 8 + 6 * len(names) <= width - 4 + 4
    longest = max((delay for delay in known.values() if delay > 0), default=math.nan)
    room = 6 if in_words else 2
    heads = "".join(f"{f'→{name}' if in_words else name[-1]:>{room}}" for name in names)
    lines: list[Line] = [words(f"    {heads}", DIM)]
    for i, name in enumerate(names):
        line: Line = [(f"{name:>3} ", DIM)]
        for j in range(len(names)):
            delay = known.get((i, j))
            text = "·" if i == j else "" if delay is None else passage(delay)
            if not in_words and delay is not None and delay >= 0:
                text = step(delay / longest if delay else 0.0)
            style = BAD if text == "╳" else WARN if text == "‖" else DIM if i == j else PLAIN
            line.append((f"{text:>{room}}", style))
        lines.append(line)
    scale = " message" if in_words or math.isnan(longest) else f", █ = {span(longest)}"
    title: Line = [("links ", HEAD), (f" last{scale}  ╳ lost  ‖ held", DIM)]
    return box(title, lines, width, height)


def links_fit(known: Mapping[tuple[int, int], float], model: Model, height: int) -> bool:
    """Whether every link that is shown has a place."""
    seats = model.nodes.count + bool(model.header.server)
    return bool(known) and seats + _LINES <= height


def losses(
    samples: Sequence[tuple[float, float, float, float]], model: Model, width: int, height: int
) -> list[Line]:
    """Draw how the losses of the agents went: of each sample its time (s), tenth, median, ninetieth."""
    history = [h for h in samples if not any(map(math.isnan, h))]
    title: Line = [("loss* ", HEAD), (" p10 p50 p90, oracle's ", DIM)]
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
    axis, struck = _axis(model, first, history[-1][0], across)
    lines.append(words(f"{'':>6} └{axis}", DIM))
    return box(
        [title[0], (f"{title[1][0]}{' ┴ fault' if struck else ''}", DIM)],
        lines,
        width,
        height,
    )


def _axis(model: Model, first: float, last: float, across: int) -> tuple[str, bool]:
    """The axis of time, with where faults began; and whether any did."""
    begun = [w.begun_s for w in model.windows if first <= w.begun_s <= last and w.action]
    cells = ["─"] * across
    for t in begun:
        cells[int((t - first) / ((last - first) or 1.0) * (across - 1))] = "┴"
    low, high = f"{span(first)} ", f" {span(last)}"
    return low + "".join(cells[len(low) : across - len(high)]) + high, bool(begun)


def throughput(
    paces: Sequence[tuple[float, float]], model: Model, width: int, height: int
) -> list[Line]:
    """Draw events in each simulated second and the share of messages that was lost, from sample to sample."""
    header = model.header
    size = max(8, width - 60)
    events, losses = ([pair[at] for pair in paces] for at in (0, 1))
    pace, lost = paces[-1] if paces else (0.0, 0.0)
    more = (
        f"   on the wall {short(header.events_per_s)}/s"
        if header.events_per_s and header.goes in {"plays", "hurries"}
        else ""
    )
    if header.queue is not None:
        more += f"   queue {short(header.queue)}"
    lines: list[Line] = [
        [("events ", DIM), (sparkline(events, size), GOOD), (f"  {short(pace):>5}/s{more}", PLAIN)],
        [("lost   ", DIM), (sparkline(losses, size), WARN), (f"  {100 * lost:>4.1f}%", PLAIN)],
    ]
    title: Line = [("throughput", HEAD), ("  per simulated second, by samples", DIM)]
    return box(title, lines, width, height)


def _between(times: Sequence[float], values: Sequence[float], t: float) -> float:
    """Return a value between two samples, on the line that joins them."""
    at = bisect_right(times, t)
    if at == 0 or at == len(times):
        return values[min(at, len(times) - 1)]
    part = (t - times[at - 1]) / ((times[at] - times[at - 1]) or 1.0)
    return values[at - 1] + part * (values[at] - values[at - 1])
