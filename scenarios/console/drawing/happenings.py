"""What happened: the feed of events, and faults on a line of time."""

from collections.abc import Sequence

from scenarios.console.drawing.model import Model, Window
from scenarios.console.drawing.styled_text import (
    CUT,
    DIM,
    EVENT_HEAD,
    HAND,
    HEAD,
    PICK,
    PLAIN,
    WARN,
    Line,
    Spot,
    Target,
    box,
    plain,
    seat,
    span,
    words,
)

_HEADLESS = 2
"""So few lines show events alone."""


def feed(model: Model, width: int, height: int) -> list[Line]:
    """Draw the last events that pass the filter."""
    shown = model.feed
    stops: list[Line] = [words(f"break {plain(text)}", WARN) for text in model.breaks[-2:]]
    if shown.upcoming:
        stops.insert(0, words(shown.upcoming, DIM))
    room = max(0, height - 2 - len(stops))
    lines = [*below_head(shown.lines, room), *stops]
    title: Line = [("events", HEAD), (f"  L:{plain(shown.filter)} ", DIM)]
    return box(title, lines, width, height)


def below_head(events: Sequence[tuple[str, str]], room: int) -> list[Line]:
    """Return so many lines: the last of these events, below the head of their columns where that leaves two lines."""
    head: list[Line] = [words(EVENT_HEAD, DIM)] if room > _HEADLESS else []
    room -= len(head)
    lines: list[Line] = [words(text, style) for text, style in events[-room:]] if room else []
    return [*head, *lines, *[words("")] * (room - len(lines))]


def end_of_axis(model: Model) -> float:
    """Return the instant (s) at which the axis of time ends: the end of the run, or soon after now."""
    header = model.header
    known = [w.ended_s or w.until_s or w.begun_s for w in model.windows]
    soon = header.now_s if header.goes in {"ends", "over"} else max([header.now_s * 1.25, *known])
    return header.end_s or max(soon, 1e-9)


def active_count(model: Model) -> int:
    """Return how many faults are active now."""
    return sum(1 for w in model.windows if _is_active(w, model.header.now_s))


def faults_in_words(model: Model) -> Line:
    """What is active, what comes next, what was last."""
    now = model.header.now_s
    active = [w for w in model.windows if _is_active(w, now)]
    coming = sorted((w for w in model.windows if w.begun_s > now), key=lambda w: w.begun_s)
    line: Line = [(" faults ", HEAD)]
    for window in active[-3:]:
        until = "" if window.until_s is None else f" to {span(window.until_s)}"
        line.append((f" {_name(window, model)}{until} ", HAND if window.by_hand else WARN))
    if len(active) > 3:
        line.append((f" and {len(active) - 3} more ", WARN))
    if coming:
        line.append((f" next {_name(coming[0], model)} in {span(coming[0].begun_s - now)} ", DIM))
    past = [w for w in model.windows if w.begun_s <= now and not _is_active(w, now)]
    if past:
        line.append((f" over {_name(past[-1], model)} ", DIM))
    return line


def _is_active(window: Window, now: float) -> bool:
    ends = window.until_s if window.ended_s is None else window.ended_s
    going = window.ended_s is None and (ends is None or ends >= now)
    return bool(window.action) and window.struck and window.begun_s <= now and going


def _name(window: Window, model: Model) -> str:
    """Return number, action, and the agents that it hit, briefly."""
    return f"#{window.number} {plain(window.action or 'to come')} {ranges(window.targets, model.nodes.count)}".rstrip()


def ranges(ids: Sequence[int], size: int) -> str:
    """Write ids as ranges, such as `0–3,7`; more than four ranges are cut short."""
    parts = list[list[int]]()
    for i in ids:
        if parts and i == parts[-1][1] + 1:
            parts[-1][1] = i
        else:
            parts.append([i, i])
    names = [
        seat(one, size) if one == other else f"{seat(one, size)}–{seat(other, size)}"
        for one, other in parts[:4]
    ]
    return ",".join(names) + ("…" if len(parts) > 4 else "")


def shown_windows(model: Model, room: int) -> list[Window]:
    """Choose so many windows: around the one under the cursor, else what matters most.

    That is what is active, what comes next, and what was last; of each a third at least.
    """
    windows, now = model.windows, model.header.now_s
    if model.fault is not None:
        ordered = sorted(windows, key=lambda w: (w.begun_s, w.number))
        top = max(0, min(model.fault - room // 2, len(ordered) - room))
        return ordered[top : top + room]
    active = [w for w in windows if _is_active(w, now)][::-1]
    coming = sorted((w for w in windows if w.begun_s > now), key=lambda w: w.begun_s)
    past = [w for w in windows if w.begun_s <= now and not _is_active(w, now)][::-1]
    third = max(1, room // 3)
    first = [*active[: room - (third if coming else 0)], *coming[:third]]
    chosen = [*first, *coming[third:], *past, *(w for w in active if w not in first)][:room]
    return sorted(chosen, key=lambda w: (w.begun_s, w.number))


def fault_row(window: Window, model: Model, end: float, left: int, size: int) -> Line:
    """Draw one firing of a fault: what and where on the left, its time as a bar, its caption beside the bar."""
    now = model.header.now_s

    def cell(t: float) -> int:
        return max(0, min(size, int(size * t / end)))

    stops = window.ended_s if window.ended_s is not None else window.until_s
    first = min(size - 1, cell(window.begun_s))
    last = max(first + 1, cell(end if stops is None else stops))
    done = max(first, min(last, cell(now) + 1)) if window.begun_s <= now else first
    active = _is_active(window, now)
    style = HAND if window.by_hand else CUT if active else DIM
    bar = "█" * (done - first) + "░" * (last - done)
    is_reached = window.begun_s <= end  # a recording may end before
    if not is_reached:
        first = last = size
        bar = ""
    before, after = _caption(window, first, size - last)
    axis = Target("time", (0.0, end), size)
    told = (
        "not reached"
        if not is_reached
        else "hit no agent"
        if not window.struck
        else ""
        if window.ended_s is not None
        else "lasts"
        if stops is None
        else f"to {span(stops)}"
    )
    chosen = _is_chosen(window, model)
    name = Spot(PICK if chosen else style, Target("fault", window.number))
    called = _name(window, model)
    if len(called) > left - 1:  # no id, and no range, of which the end is missing
        called = f"{called.rpartition(' ')[0][: left - 2]}…"
    caption = WARN if active else DIM
    return [
        (f"{called:<{left}}", name),
        (before.rjust(first), Spot(caption, axis)),
        (bar, Spot(style, axis, first)),
        (after.ljust(size - last), Spot(caption, axis, last)),
        (f" {told}", PLAIN),
    ]


def _is_chosen(window: Window, model: Model) -> bool:
    if model.fault is None:
        return False
    ordered = sorted(model.windows, key=lambda w: (w.begun_s, w.number))
    return ordered[min(model.fault, len(ordered) - 1)] is window


def _caption(window: Window, before: int, after: int) -> tuple[str, str]:
    """Return what its author calls a fault, before or after its bar, where there is more room."""
    text = plain(window.name)
    if not window.action or text == window.action or window.by_hand:
        text = text if not window.action else ""
    if not text:
        return "", ""
    if len(text) + 2 <= after:
        return "", f" {text} "
    if len(text) + 2 <= before:
        return f" {text} ", ""
    return ("", _cut(text, after)) if after >= before else (_cut(text, before), "")


def _cut(text: str, room: int) -> str:
    """Return a text with a blank on each side, cut so that it takes `room` columns; empty where that tells nothing."""
    return f" {text[: room - 3]}… " if room > 6 else ""
