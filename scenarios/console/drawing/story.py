"""The story of a run on one axis of time: a metric, what it is compared with, budgets, and the faults below them."""

import math
from bisect import bisect_right
from collections.abc import Sequence

from scenarios.console.drawing.curves import Axis, Curve, bounds, draw_curves, labels
from scenarios.console.drawing.happenings import (
    active_count,
    end_of_axis,
    fault_row,
    faults_in_words,
    shown_windows,
)
from scenarios.console.drawing.model import Model, Point, Story
from scenarios.console.drawing.styled_text import (
    CUT,
    DIM,
    GOOD,
    HEAD,
    HEATS,
    PLAIN,
    STEPS,
    WARN,
    Line,
    Spot,
    Target,
    box,
    brief,
    heat,
    plain,
    span,
    words,
)

LEAST = 6
"""Fewer lines have room for a line of words alone: borders, two lines of chart, the axis, one more."""
CHART = 3
"""A chart has so many lines before budgets and faults have theirs."""
_LEFT, _RIGHT = (14, 34), 15


def story(model: Model, width: int, height: int) -> list[Line]:
    """Draw the story; where there is no room for it, faults in a line of words."""
    if height < LEAST:
        return [faults_in_words(model)] * min(1, height)
    inner = width - 4
    left = min(_LEFT[1], max(_LEFT[0], inner * 3 // 10))
    size = max(8, inner - left - _RIGHT)
    end = end_of_axis(model)
    room = height - 3
    has_budget = bool(model.story.spent) and room > CHART
    low = min(len(model.windows), max(0, room - CHART - has_budget))
    rows = room - has_budget - low
    first = shown_windows(model, low)
    lines = _chart(model, rows, left, size, end)
    if has_budget:
        lines.append(_budget(model, left, size, end))
    lines.append(_axis(model, left, size, end))
    lines += [fault_row(window, model, end, left, size) for window in first]
    return box(_title(model, len(model.windows) - len(first)), lines, width, height)


def _title(model: Model, more: int) -> Line:
    told = model.story
    over = "  mean of the agents" if told.of_agents else ""
    title: Line = [(plain(told.metric), HEAD)]
    if told.headline:
        title.append((f"  {told.headline}", GOOD if told.gains else WARN))
    title.append((f"{over}  m:metric", DIM))
    if model.windows:
        active = active_count(model)
        title.append((f"  faults: {active} active, {len(model.windows)} known", DIM))
        if more:
            title.append((f", {more} not shown (Tab ↑↓)", DIM))
    return title


# the chart


def _chart(model: Model, rows: int, left: int, size: int, end: float) -> list[Line]:
    told = model.story
    points = [p for p in told.points if math.isfinite(p.mean)]
    if not points:
        return [words(f"{'no sample yet':<{left}}", DIM), *([] for _ in range(rows - 1))]
    mean = Curve(tuple((p.t_s, p.mean) for p in points), GOOD)
    band = [
        Curve(tuple((p.t_s, p.low) for p in points), DIM, is_faint=True),
        Curve(tuple((p.t_s, p.high) for p in points), DIM, is_faint=True),
    ]
    values = [value for _, value in told.references]
    axis = Axis(end, min(model.header.now_s, end), *bounds([mean], values))
    drawn = draw_curves([*band, mean], [(v, CUT) for v in values], axis, rows, size)
    wanted = [(value, f"{word} {brief(value)}", CUT) for word, value in told.references]
    last = points[-1].mean
    beside = labels([(last, f"now {brief(last)}", GOOD), *wanted], axis, rows)
    notes = _notes(told, points, left - 1)
    lines = []
    for at, cells in enumerate(drawn):
        note, style = notes[at] if at < len(notes) else ("", DIM)
        label, ink = beside.get(at, ("", DIM))
        beside_it = _longest(_RIGHT - 1, label, label.rpartition(" ")[2])
        lines.append([(f"{note:<{left}}", style), *cells, (f" {beside_it}", ink)])
    return lines


def _notes(told: Story, points: Sequence[Point], room: int) -> list[tuple[str, str]]:
    """Return what stands to the left of the chart, line by line: of each the longest wording for which there is room.

    A figure that has no room is left out: its beginning would be another figure.
    """
    last = points[-1]
    mean = brief(last.mean)
    notes = [(_longest(room, f"━ {'mean ' if told.of_agents else ''}{mean}", f"━ {mean}"), GOOD)]
    if math.isfinite(last.low):
        low, high = brief(last.low), brief(last.high)
        wordings = (f"∙ 80 % of them {low} to {high}", f"∙ 80 % {low} to {high}", "∙ 80 % of them")
        notes.append((_longest(room, *wordings, "∙ 80 %"), DIM))
    for word, value in told.references:
        notes.append((_longest(room, f"╌ {word} {brief(value)}", f"╌ {word}"), CUT))
    return notes


def _longest(room: int, *wordings: str) -> str:
    """Return the first wording for which there is room, or as much of the last as there is room for."""
    return next((one for one in wordings if len(one) <= room), wordings[-1][:room])


# budgets and the axis


def _budget(model: Model, left: int, size: int, end: float) -> Line:
    """Draw the mean share of the budgets that is spent, as one line of steps."""
    spent, now = model.story.spent, model.header.now_s
    times = [t for t, _ in spent]
    percent = f"ε spent {math.floor(100 * spent[-1][1] + 1e-6)} %"
    line: Line = [(f"{_longest(left - 1, f'{percent} of cap', percent):<{left}}", PLAIN)]
    axis = Target("time", (0.0, end), size)
    for at in range(size):
        t = end * (at + 0.5) / size
        k = bisect_right(times, t) - 1
        known = t <= now and k >= 0
        share = spent[k][1] if known else math.nan
        text = STEPS[min(7, int(share * 8))] if known else " "
        ink = heat(share) if known else DIM
        if line[1:] and line[-1][1] == ink:
            line[-1] = line[-1][0] + text, line[-1][1]
        else:
            line.append((text, Spot(ink, axis, at)))
    return [*line, (" mean ε / cap", HEATS[-1])]


def _axis(model: Model, left: int, size: int, end: float) -> Line:
    """Draw the axis with its instants, and where now is."""
    cells = ["─"] * size
    ticks = 4 if size >= 48 else 2
    for k in range(1, ticks):
        name = f" {end * k / ticks:g}s " if end < 1000 else f" {span(end * k / ticks)} "
        first = round(size * k / ticks) - len(name) // 2
        cells[first : first + len(name)] = list(name)
    cells[min(size - 1, int(size * model.header.now_s / end))] = "▲"
    axis = Spot(DIM, Target("time", (0.0, end), size))
    return [(f"{'0':>{left - 1}} ", DIM), ("".join(cells[:size]), axis), (f" {span(end)}", DIM)]
