"""What stands in place of the rest: help, a menu, an opened agent."""

from textwrap import wrap

from scenarios.console.drawing.agent_details import details
from scenarios.console.drawing.model import Help, Menu, Model
from scenarios.console.drawing.styled_text import (
    DIM,
    HEAD,
    PICK,
    PLAIN,
    Line,
    beside,
    box,
    plain,
    words,
)

_KEY = 14
_TWO = 150
"""From so many columns on, help stands in two columns."""


def overlay(model: Model, width: int, room: int) -> list[Line]:
    """Draw what is open, the topmost; nothing where nothing is."""
    if model.help is not None:
        return _help(model.help, width, room)
    if model.menu is not None:
        return _menu(model.menu, width, room)
    if model.opened is not None:
        return details(model.opened, width, room)
    return []


def _columns(width: int) -> int:
    return 2 if width >= _TWO else 1


def _lines(guide: Help, width: int) -> list[Line]:
    across = width // _columns(width) - 4
    return [line for entry in guide.entries for line in _entry(entry, across)]


def furthest(guide: Help, width: int, room: int) -> int:
    """Return the last line that help may begin with: it never scrolls past its end."""
    return max(0, len(_lines(guide, width)) - _columns(width) * max(1, room - 2))


def _help(guide: Help, width: int, room: int) -> list[Line]:
    columns, page = _columns(width), max(1, room - 2)
    lines, across = _lines(guide, width), width // columns
    shown = lines[guide.first :]
    last = guide.first + columns * page
    more = f"  {guide.first + 1}–{min(len(lines), last)} of {len(lines)}  ↑↓ PgDn"
    title: Line = [
        ("keys and orders", HEAD),
        (f"{more if len(lines) > columns * page else ''}  esc: back", DIM),
    ]
    left = box(title, shown[:page], across, room)
    if columns == 1:
        return left
    return beside(left, box([("", HEAD)], shown[page:], width - across, room))


def _entry(entry: tuple[str, str], width: int) -> list[Line]:
    """One key and what it does; what is too long goes on below."""
    key, meaning = entry
    pieces = wrap(meaning, max(12, width - _KEY - 1)) or [""]
    lines: list[Line] = [[(f"{key:<{_KEY}} ", HEAD), (pieces[0], PLAIN)]]
    return lines + [words(" " * (_KEY + 1) + piece) for piece in pieces[1:]]


def _menu(menu: Menu, width: int, height: int) -> list[Line]:
    room = max(1, height - 2)
    first = max(0, min(menu.at - room // 2, len(menu.entries) - room))
    lines: list[Line] = []
    for at, (name, meaning) in enumerate(menu.entries[first : first + room], first):
        lines.append([(f" {name:<{_KEY}} ", PICK if at == menu.at else PLAIN), (meaning, DIM)])
    return box([(f"{plain(menu.title)} ", HEAD), (" ↑↓ ⏎  esc: back", DIM)], lines, width, height)
