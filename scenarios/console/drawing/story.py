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
from scenarios.language.json_numbers import without_dust

LEAST = 6
"""Fewer lines have room for a line of words alone: borders, two lines of chart, the axis, one more."""
CHART = 3
"""A chart has so many lines before budgets and faults have theirs."""
_LEFT, _RIGHT = (14, 34), 15


def story(model: Model, width: int, height: int) -> list[Line]:
    """Draw the story; where there is no room for it, the headline and faults in a line of words."""
    if height < LEAST:
        told = model.story
        style = GOOD if told.gains else WARN
        gained: Line = [(f" {told.headline} ", style)] if told.headline else []
        return [[*gained, *faults_in_words(model)]] * min(1, height)
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
    points = told.points
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
    wanted = [
        (v, _fitting(_RIGHT - 1, f"{word} {_figure(v, told)}", _figure(v, told)), CUT)
        for word, v in told.references
    ]
    last = points[-1].mean
    beside = labels([(last, f"now {_figure(last, told)}", GOOD), *wanted], axis, rows)
    notes = _notes(told, points, left - 1)
    lines = []
    for at, cells in enumerate(drawn):
        note, style = notes[at] if at < len(notes) else ("", DIM)
        label, ink = beside.get(at, ("", DIM))
        lines.append([(f"{note:<{left}}", style), *cells, (f" {label}", ink)])
    return lines


def _notes(told: Story, points: Sequence[Point], room: int) -> list[tuple[str, str]]:
    """Return what stands to the left of the chart, line by line, in `room` columns."""
    last = points[-1]
    mean = _figure(last.mean, told)
    notes = [(_fitting(room, f"━ {'mean ' if told.of_agents else ''}{mean}", f"━ {mean}"), GOOD)]
    if not math.isnan(last.low):
        low, high = _figure(last.low, told), _figure(last.high, told)
        texts = f"80 % of them {low} to {high}", f"80 %: {low} to {high}", "80 % of them"
        notes.append((_fitting(room, *(f"∙ {text}" for text in texts)), DIM))
    for word, value in told.references:
        notes.append((_fitting(room, f"╌ {word} {_figure(value, told)}", f"╌ {word}"), CUT))
    return notes


def _figure(value: float, told: Story) -> str:
    return brief(without_dust(value, told.metric))


def _fitting(room: int, *texts: str) -> str:
    """Return the first of some texts that fits, else the last: no digit of a number is cut off."""
    return next((text for text in texts if len(text) <= room), texts[-1])


# budgets and the axis


def _budget(model: Model, left: int, size: int, end: float) -> Line:
    """Draw the mean share of the budgets that is spent, as one line of steps."""
    spent, now = model.story.spent, model.header.now_s
    times = [t for t, _ in spent]
    share = f"{math.floor(100 * spent[-1][1] + 1e-6)} % of cap"
    line: Line = [(f"{_fitting(left - 1, f'ε spent {share}', f'ε {share}'):<{left}}", PLAIN)]
    axis = Target("time", (0.0, end), size)
    for at in range(size):
        t = end * (at + 0.5) / size
        k = bisect_right(times, t) - 1
        known = t <= now and k >= 0
        spent_then = spent[k][1] if known else math.nan
        text = STEPS[min(7, int(spent_then * 8))] if known else " "
        ink = heat(spent_then) if known else DIM
        if line[1:] and line[-1][1] == ink:
            line[-1] = line[-1][0] + text, line[-1][1]
        else:
            line.append((text, Spot(ink, axis, at)))
    return [*line, (" mean ε / cap", HEATS[-1])]


def _axis(model: Model, left: int, size: int, end: float) -> Line:
    """Draw the axis with its instants, and where now is."""
    cells = ["─"] * size
    mark = min(size - 1, int(size * model.header.now_s / end))
    ticks = 4 if size >= 48 else 2
    for k in range(1, ticks):
        name = f" {end * k / ticks:.3g}s " if end < 1000 else f" {span(end * k / ticks)} "
        first = round(size * k / ticks) - len(name) // 2
        if not first <= mark < first + len(name):  # a name is whole, or absent
            cells[first : first + len(name)] = list(name)
    cells[mark] = "▲"
    axis = Spot(DIM, Target("time", (0.0, end), size))
    header = model.header
    goes_on = "" if header.end_s is not None or header.goes in {"ends", "over"} else " …"
    return [
        (f"{'0':>{left - 1}} ", DIM),
        ("".join(cells[:size]), axis),
        (f" {span(end)}{goes_on}", DIM),
    ]
