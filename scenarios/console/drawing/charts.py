"""The links of few agents, and throughput from sample to sample."""

import math
from collections.abc import Mapping, Sequence

from scenarios.console.drawing.model import Model
from scenarios.console.drawing.styled_text import (
    DIM,
    GOOD,
    HEAD,
    PICK,
    PLAIN,
    WARN,
    Line,
    Spot,
    Target,
    box,
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
            style = WARN if text in {"╳", "‖"} else DIM if i == j else PLAIN
            style = PICK if model.link == (i, j) else style
            line.append(
                (f"{text:>{room}}", Spot(style, Target("link", (i, j))) if i != j else style)
            )
        lines.append(line)
    scale = " message" if in_words or math.isnan(longest) else f", █ = {span(longest)}"
    title: Line = [("links ", HEAD), (f" last{scale}  ╳ lost  ‖ held", DIM)]
    return box(title, lines, width, height)


def links_fit(known: Mapping[tuple[int, int], float], model: Model, height: int) -> bool:
    """Whether every link that is shown has a place."""
    seats = model.nodes.count + bool(model.header.server)
    return bool(known) and seats + _LINES <= height


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
