"""What stands in place of the rest, or beside it: an opened agent, help, a menu."""

from dataclasses import replace
from textwrap import wrap

from scenarios.console.drawing.agent_details import details
from scenarios.console.drawing.agents import table
from scenarios.console.drawing.model import Help, Menu, Model
from scenarios.console.drawing.styled_text import (
    DIM,
    HEAD,
    PICK,
    PLAIN,
    Line,
    Spot,
    Target,
    box,
    plain,
    words,
)

HALVED = 90
"""From so many columns on, a menu takes half of them."""
_KEY = 14
_ABOVE, _ROOMY = 5, 14
"""Lines of the agent at the cursor above a menu on a narrow screen, which has at least so many."""


def is_popup(model: Model) -> bool:
    """Whether help or a menu is open."""
    return model.help is not None or model.menu is not None


def overlay(model: Model, width: int, room: int) -> list[Line]:
    """Draw an opened agent in place of the rest; nothing where none is open, or where help or a menu is."""
    if model.opened is None or is_popup(model):
        return []
    return details(model.opened, model.header, width, room)


def popup(model: Model, width: int, room: int) -> list[Line]:
    """Draw help or a menu; on a narrow screen below the agent at the cursor."""
    left = popup_room(model, width, room)
    if left == room:
        return _popup(model, width, room)
    rows = [row for row in model.nodes.rows if row.id == model.nodes.cursor]
    one = replace(model, nodes=replace(model.nodes, rows=rows))
    return [*table(one, width, _ABOVE), *_popup(model, width, left)]


def popup_room(model: Model, width: int, room: int) -> int:
    """Return how many of `room` lines help or a menu has: on a narrow screen the agent at the cursor stands above it."""
    known = any(row.id == model.nodes.cursor for row in model.nodes.rows)
    beside = width >= HALVED or width < HALVED // 2
    return room if beside or room < _ROOMY or not known else room - _ABOVE


def beside_popup(model: Model, width: int, room: int) -> list[Line]:
    """Draw help or a menu beside what it is about."""
    return _popup(model, width, room)


def _popup(model: Model, width: int, room: int) -> list[Line]:
    if model.help is not None:
        return _help(model.help, width, room)
    assert model.menu is not None, "help or a menu is open"  # noqa: S101
    return _menu(model.menu, width, room)


def _lines(guide: Help, width: int) -> list[Line]:
    return [line for entry in guide.entries for line in _entry(entry, width - 4)]


def furthest(guide: Help, width: int, room: int) -> int:
    """Return the last line that help may begin with: it never scrolls past its end."""
    return max(0, len(_lines(guide, width)) - max(1, room - 2))


def _help(guide: Help, width: int, room: int) -> list[Line]:
    page, lines = max(1, room - 2), _lines(guide, width)
    last = min(len(lines), guide.first + page)
    more = f"  {guide.first + 1}–{last} of {len(lines)}  ↑↓ PgDn" if len(lines) > page else ""
    title: Line = [("help", HEAD), (f"{more}  esc: back", DIM)]
    return box(title, lines[guide.first :][:page], width, room)


def _entry(entry: tuple[str, str, str], width: int) -> list[Line]:
    """One key or glyph and what it means; what is too long goes on below. Without a meaning it is a heading."""
    key, meaning, style = entry
    if not meaning:
        return [words(key, style)]
    pieces = wrap(meaning, max(12, width - _KEY - 1)) or [""]
    lines: list[Line] = [[(f"{key:<{_KEY}} ", style), (pieces[0], PLAIN)]]
    return lines + [words(" " * (_KEY + 1) + piece) for piece in pieces[1:]]


def _menu(menu: Menu, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(menu.at - room // 2, len(menu.entries) - room))
    lines: list[Line] = []
    for at, (name, meaning) in enumerate(menu.entries[first : first + room], first):
        spot = Spot(PICK if at == menu.at else PLAIN, Target("entry", at))
        lines.append([(f" {name:<{_KEY}} ", spot), (meaning, Spot(DIM, Target("entry", at)))])
    return box([(f"{plain(menu.title)} ", HEAD), (" ↑↓ ⏎  esc: back", DIM)], lines, width, height)
