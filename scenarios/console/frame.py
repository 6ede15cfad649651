"""A whole frame: (model, width, height) → lines. What does not fit is left out in a stated order, never wrapped.

Left out first are links (or the losses, or throughput), then faults, then events, then the identities.
"""

from collections.abc import Callable

from scenarios.console.agents import grid, rows_in, table
from scenarios.console.crowd import histogram, outliers, quantiles
from scenarios.console.happenings import feed, timeline
from scenarios.console.head import identities, last_line, terms, title
from scenarios.console.ink import DIM, HEAD, PICK, PLAIN, Line, as_ascii, beside, box, fit, words
from scenarios.console.model import Menu, Model
from scenarios.console.opened import opened
from scenarios.console.pulse import links, losses, throughput

SCALES = ("table", "grid", "crowd")
FEW, MANY = 24, 400
_WIDE, _TALL = 80, 24
Panel = Callable[[Model, int, int], list[Line]]


def scale_for(count: int) -> str:
    """Choose how to show so many agents."""
    return "table" if count <= FEW else "grid" if count <= MANY else "crowd"


def frame(model: Model, width: int, height: int) -> list[Line]:
    """Draw a frame: exactly `height` lines, each exactly `width` long."""
    lines = [title(model.header, width), terms(model.header, width)]
    sums = identities(model.messages, width) if height >= 12 else []
    room = height - len(lines) - len(sums) - 1
    body = overlay(model, width, room) or _body(model, width, room)
    lines = [
        *lines[:height],
        *body[:room],
        *[words("")] * (room - len(body)),
        *sums,
        last_line(model, width),
    ]
    found = [fit(line, width) for line in lines[:height]]
    return [as_ascii(line) for line in found] if model.ascii else found


def layout(scale: str, room: int, count: int, faults: int) -> tuple[int, int, int]:
    """Share out the lines: agents, middle, faults. A panel that would be too low is left out."""
    if scale == "grid":
        rows = min(count, 10) + 3
        low = _or_none(min(3 + min(faults, 4), room - rows - 6), 4) if faults else 0
        middle = _or_none(min(10, room - rows - low), 4)
        return room - middle - low, middle, low
    if scale == "crowd":
        agents = min(room, 14)
        middle = _or_none(min(9, room - agents), 5)
        low = _or_none(min(3 + min(faults, 4), room - agents - middle), 4) if faults else 0
        return room - middle - low, middle, low
    spare = room - 4 - min(count, 4)
    middle = _or_none(min(10, spare), 4)
    low = _or_none(min(3 + min(faults, 4), spare - middle), 4) if faults else 0
    agents = room - middle - low
    if middle and agents > count + 4:
        middle, agents = middle + agents - count - 4, count + 4
    return agents, middle, low


def _or_none(height: int, least: int) -> int:
    """A panel that would be too low is left out."""
    return height if height >= least else 0


def page(scale: str, height: int, count: int, faults: int, sums: int = 1) -> int:
    """How many rows of agents a screen shows."""
    room = height - 3 - (sums if height >= 12 else 0)
    agents, _, _ = layout(scale, room, count, faults)
    return max(1, rows_in(agents))


def _body(model: Model, width: int, room: int) -> list[Line]:
    agents, middle, low = layout(model.scale, room, model.nodes.count, len(model.windows))
    if room < 4:
        return []
    lines = _agents(model, width, agents)
    if middle:
        side = _side(model)
        both = width >= _WIDE and room + 4 >= _TALL and model.scale != "crowd"
        if model.scale == "crowd":
            lines += _below_crowd(model, width, middle)
        elif both:
            left = width * 42 // 100
            lines += beside(side(model, left, middle), feed(model, width - left, middle))
        else:
            lines += feed(model, width, middle)
    return lines + (timeline(model, width, low) if low else [])


def _agents(model: Model, width: int, height: int) -> list[Line]:
    if model.scale == "grid" and width >= _WIDE:
        left = min(max(44, width * 42 // 100), width - 48)
        return beside(grid(model, left, height), table(model, width - left, height, sums=True))
    if model.scale == "crowd":
        if width >= _WIDE:
            left = width * 42 // 100
            return beside(histogram(model, left, height), quantiles(model, width - left, height))
        return histogram(model, width, height)
    return table(model, width, height)


def _below_crowd(model: Model, width: int, height: int) -> list[Line]:
    if height < 9:
        return outliers(model, width, height)
    found = [*outliers(model, width, 5), *throughput(model, width, 4)]
    rest = height - len(found)
    return found + (feed(model, width, rest) if rest >= 3 else [words("")] * rest)


def _side(model: Model) -> Panel:
    return links if model.scale == "table" and model.pulse.links else losses


def overlay(model: Model, width: int, room: int) -> list[Line]:
    """Help, a menu or an opened agent stand in place of the rest."""
    if model.help:
        split = [[(f"  {key:<14}", HEAD), (said, PLAIN)] for key, said in model.help]
        half = (len(split) + 1) // 2
        if width >= 120 or len(split) > room - 2:
            left = width // 2
            return beside(
                box([("keys", HEAD)], split[:half], left, room),
                box([("", HEAD)], split[half:], width - left, room),
            )
        return box([("keys", HEAD)], split, width, room)
    if model.menu is not None:
        return _menu(model.menu, width, room)
    if model.opened is not None:
        return opened(model.opened, width, room)
    return []


def _menu(menu: Menu, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(menu.at - room // 2, len(menu.entries) - room))
    lines: list[Line] = []
    for at, (name, said) in enumerate(menu.entries[first : first + room], first):
        lines.append([(f" {name:<14} ", PICK if at == menu.at else PLAIN), (said, DIM)])
    return box([(f"{menu.title} ", HEAD), (" ↑↓ ⏎  esc: back", DIM)], lines, width, height)
