"""What happened: the feed of events, and faults on a line of time."""

from collections.abc import Sequence

from scenarios.console.drawing.model import Model, Window
from scenarios.console.drawing.styled_text import (
    BAD,
    DIM,
    HEAD,
    PLAIN,
    WARN,
    Line,
    box,
    plain,
    seat,
    span,
    words,
)


def feed(model: Model, width: int, height: int) -> list[Line]:
    """Draw the last events that pass the filter."""
    shown = model.feed
    stops: list[Line] = [words(f"break {plain(text)}", WARN) for text in model.breaks[-2:]]
    if shown.upcoming:
        stops.insert(0, words(shown.upcoming, DIM))
    room = max(0, height - 2 - len(stops))
    lines: list[Line] = [words(text, style) for text, style in shown.lines[-room:]] if room else []
    lines = [*lines, *[words("")] * (room - len(lines)), *stops]
    title: Line = [("events", HEAD), (f"  l:{plain(shown.filter)} ", DIM)]
    return box(title, lines, width, height)


def faults(model: Model, width: int, height: int) -> list[Line]:
    """Draw faults under the axis of time; where there is no room for it, in a line of words."""
    if height < 4:
        return [_in_words(model)] * min(1, height)
    header, inner = model.header, width - 4
    left = min(26, max(14, inner // 4))
    size = max(8, inner - left - 12)
    known = [w.ended_s or w.until_s or w.begun_s for w in model.windows]
    soon = header.now_s if header.goes in {"ends", "over"} else max([header.now_s * 1.25, *known])
    end = header.end_s or max(soon, 1e-9)
    shown = _shown(model.windows, header.now_s, height - 3)
    active = sum(1 for w in model.windows if _is_active(w, header.now_s))
    now = min(size - 1, int(size * header.now_s / end))
    axis = list("─" * size)
    axis[now] = "▲"
    lines: list[Line] = [
        [(f"{'0':<{left - 1}} ", DIM), ("".join(axis), DIM), (f" {span(end)}", DIM)]
    ]
    lines += [_window(window, model, end, left, size) for window in shown]
    more = len(model.windows) - len(shown)
    told = f"  {active} active, {len(model.windows)} known{f', {more} not shown' if more else ''} "
    title: Line = [("faults", HEAD), (told, DIM)]
    return box(title, lines, width, height)


def _in_words(model: Model) -> Line:
    """What is active, what comes next, what was last."""
    now = model.header.now_s
    active = [w for w in model.windows if _is_active(w, now)]
    coming = sorted((w for w in model.windows if w.begun_s > now), key=lambda w: w.begun_s)
    line: Line = [(" faults ", HEAD)]
    for window in active[-3:]:
        until = "" if window.until_s is None else f" to {span(window.until_s)}"
        line.append((f" {_name(window, model)}{until} ", BAD if window.by_hand else WARN))
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
    """Return number, name, and the agents that it hit, briefly."""
    hit = ",".join(seat(i, model.nodes.count) for i in window.targets[:4]) + (
        "…" if len(window.targets) > 4 else ""
    )
    return f"#{window.number} {plain(window.name)} {hit}".rstrip()


def _shown(windows: Sequence[Window], now: float, room: int) -> list[Window]:
    """Choose what matters most: what is active, what comes next, what was last; of each a third at least."""
    active = [w for w in windows if _is_active(w, now)][::-1]
    coming = sorted((w for w in windows if w.begun_s > now), key=lambda w: w.begun_s)
    past = [w for w in windows if w.begun_s <= now and not _is_active(w, now)][::-1]
    third = max(1, room // 3)
    first = [*active[: room - (third if coming else 0)], *coming[:third]]
    chosen = [*first, *coming[third:], *past, *(w for w in active if w not in first)][:room]
    return sorted(chosen, key=lambda w: (w.begun_s, w.number))


def _window(window: Window, model: Model, end: float, left: int, size: int) -> Line:
    now = model.header.now_s

    def cell(t: float) -> int:
        return max(0, min(size, int(size * t / end)))

    stops = window.ended_s if window.ended_s is not None else window.until_s
    first = min(size - 1, cell(window.begun_s))
    last = max(first + 1, cell(end if stops is None else stops))
    done = max(first, min(last, cell(now) + 1)) if window.begun_s <= now else first
    text = " " * first + "█" * (done - first) + "░" * (last - done)
    style = WARN if _is_active(window, now) else DIM
    told = (
        "hit nobody"
        if not window.struck
        else ""
        if window.ended_s is not None
        else "lasts"
        if stops is None
        else f"to {span(stops)}"
    )
    mark = BAD if window.by_hand else style
    return [
        (f"{_name(window, model)[: left - 1]:<{left}}", mark),
        (text.ljust(size), style),
        (f" {told}", PLAIN),
    ]
