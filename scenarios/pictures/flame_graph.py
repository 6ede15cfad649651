"""A flame graph: each call is a box as wide as the processor time that it and the calls below it took.

It is one SVG without scripts: a title on each box (which viewers show where the pointer rests) says what it is and how long it
took. The boxes of one stack hang below each other: the whole, its rooms, the calls from the outermost to the innermost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scenarios.pictures.html import Html, tag

_WIDE, _ROW, _EDGE, _HEAD, _FONT = 1200.0, 17.0, 10.0, 46.0, 11.0
_LETTER = 6.7
"""The width of a letter of the font."""
_NARROWEST = 0.6
"""Boxes that would be narrower are not drawn: nobody could see them, and there may be many."""
_DEEPEST = 120
"""So many rows are drawn."""
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"
_PLAIN = "#e8e8e8"
_SVG = "http://www.w3.org/2000/svg"


@dataclass
class _Box:
    """A call, and those that it made."""

    name: str
    spent: int = 0
    inside: "dict[str, _Box]" = field(default_factory=dict)


def flame_graph(
    stacks: Mapping[tuple[str, ...], int], colors: Mapping[str, str], title: str
) -> str:
    """Return a flame graph of stacks, outermost call first, and what each took (µs), as SVG.

    The first word of a stack names its color.
    """
    whole = _Box("all")
    for stack, spent in stacks.items():
        whole.spent += spent
        box = whole
        for name in stack[:_DEEPEST]:
            box = box.inside.setdefault(name, _Box(name))
            box.spent += spent
    boxes: list[Html] = []
    rows = _draw(whole, _PLAIN, colors, whole.spent or 1, (0.0, 0), boxes)
    high = _HEAD + rows * _ROW + _EDGE
    hint = "widths are processor time; rest the pointer on a box to read it"
    picture = tag(
        "svg",
        tag("title", title),
        tag("rect", width="100%", height="100%", fill="#ffffff"),
        _text(_EDGE, 20.0, title, font_size="14"),
        _text(_EDGE, 37.0, hint, fill="#666666"),
        *boxes,
        xmlns=_SVG,
        viewBox=f"0 0 {_WIDE:.0f} {high:.0f}",
        font_family=_FONTS,
        font_size=f"{_FONT:.0f}",
        role="img",
    )
    return f"{picture}\n"


def _draw(
    box: _Box,
    color: str,
    colors: Mapping[str, str],
    whole: int,
    place: tuple[float, int],
    boxes: list[Html],
) -> int:
    """Draw a box and those inside of it; return the number of the first row that stays free."""
    left, row = place
    wide = (_WIDE - 2 * _EDGE) * box.spent / whole
    if box.spent and wide < _NARROWEST:
        return row
    x, y = _EDGE + left, _HEAD + row * _ROW
    said = f"{box.name}: {box.spent / 1e6:.3f} s, {100 * box.spent / whole:.1f} %"
    size = {"x": f"{x:.2f}", "y": f"{y:.1f}", "width": f"{max(wide - 0.5, 0.2):.2f}"}
    rect = tag("rect", height=f"{_ROW - 1:.0f}", rx="1", fill=color, **size)
    shown = _cut(box.name, int((wide - 4) / _LETTER))
    words = [_text(x + 2.0, y + 12.0, shown)] if shown else []
    boxes.append(tag("g", tag("title", said), rect, *words))
    free, at = row + 1, left
    for name in sorted(box.inside, key=lambda name: (-box.inside[name].spent, name)):
        below = box.inside[name]
        own = colors.get(name, color) if row == 0 else color
        free = max(free, _draw(below, own, colors, whole, (at, row + 1), boxes))
        at += (_WIDE - 2 * _EDGE) * below.spent / whole
    return free


def _cut(name: str, letters: int) -> str:
    """Return as much of a name as fits: its function rather than its module; nothing where it would say nothing."""
    short = name.rpartition(":")[2]
    if len(name) <= letters:
        return name
    if len(short) <= letters:
        return short
    return f"{short[: letters - 1]}…" if letters >= 4 else ""


def _text(x: float, y: float, words: str, **more: str) -> Html:
    return tag("text", words, x=f"{x:.2f}", y=f"{y:.1f}", **more)
