"""Frames as pictures: text at fixed places, no font, no script and nothing else from elsewhere; one frame, or many that move."""

from collections.abc import Sequence
from html import escape

from scenarios.console.drawing.palette import ANSI_COLORS, Theme
from scenarios.console.drawing.styled_text import DOTS, PICK, Line
from scenarios.language.visible_text import visible

_WIDE, _HIGH, _SIZE, _EDGE, _HEAD = 8.43, 18.0, 14, 12, 34
_PITCH, _DOT = _WIDE / 2, 2.0
"""How far dots stand from each other across, and how wide they are."""
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"
_BLANK = "\u00a0"
"""A blank that no viewer folds."""
_HOLD_S = 3.0
"""The last frame stands for so long before the first comes again."""


def svg(lines: Sequence[Line], width: int, title: str, theme: Theme) -> str:
    """Return a frame as SVG: every span stands in its columns, whatever the font."""
    elements = [
        element for at, line in enumerate(lines) for _, element in _elements(line, at, theme)
    ]
    return "\n".join([*_head(width, len(lines), title, theme, ""), *elements, "</svg>", ""])


def animation(
    frames: Sequence[Sequence[Line]], per_s: float, width: int, title: str, theme: Theme
) -> str:
    """Return frames as one SVG that moves: `per_s` frames a second, over and over. Raises ValueError without a frame.

    What does not change is written once: an element stands in every frame that shows it. Where a reader asks for less
    motion, the last frame stands still.
    """
    if not frames:
        raise ValueError("an animation has a frame at least")
    shown: dict[str, list[int]] = {}
    for at, lines in enumerate(frames):
        for row, line in enumerate(lines):
            for _, element in _elements(line, row, theme):
                shown.setdefault(element, []).append(at)
    groups: dict[tuple[int, ...], list[str]] = {}
    for element, at_frames in shown.items():
        groups.setdefault(tuple(dict.fromkeys(at_frames)), []).append(element)
    count = len(frames)
    total = count + round(_HOLD_S * per_s)
    rules, body = list[str](), list[str]()
    for number, (when, elements) in enumerate(groups.items()):
        if len(when) == count:
            body += elements
            continue
        rules.append(_keyframes(f"k{number}", when, count, total))
        last = " z" if when[-1] == count - 1 else ""
        body += [f'<g class="m k{number}{last}">', *elements, "</g>"]
    seconds = total / per_s
    names = "".join(f".k{k}{{animation-name:k{k}}}" for k, a in enumerate(groups) if len(a) < count)
    moves = (
        f".m{{visibility:hidden;animation-duration:{seconds:.3f}s;animation-timing-function:step-end;"
        f"animation-iteration-count:infinite}}{names}{''.join(rules)}"
        "@media (prefers-reduced-motion:reduce){.m{animation:none}.z{visibility:visible}}"
    )
    height = max(len(lines) for lines in frames)
    return "\n".join([*_head(width, height, title, theme, moves), *body, "</svg>", ""])


def _keyframes(name: str, at_frames: Sequence[int], count: int, total: int) -> str:
    """Return when an element is visible: from its first frame of a row to the one after its last."""
    is_shown, former = set(at_frames), False
    changes: dict[bool, list[str]] = {True: [], False: []}
    for frame in range(count):
        if (frame in is_shown) != former:
            former = not former
            changes[former].append(_percent(frame, total))
    rules = [
        f"{','.join(changes[state])}{{visibility:{word}}}"
        for state, word in ((True, "visible"), (False, "hidden"))
        if changes[state]
    ]
    return f"@keyframes {name}{{{''.join(rules)}}}"


def _percent(frame: int, total: int) -> str:
    digits = 2 if total < 1000 else 4
    return f"{100 * frame / total:.{digits}f}".rstrip("0").rstrip(".") + "%"


def _head(width: int, height: int, title: str, theme: Theme, more: str) -> list[str]:
    """Return the beginning: size, title, styles, background."""
    title = visible(title)
    across, down = width * _WIDE + 2 * _EDGE, height * _HIGH + _HEAD + _EDGE
    rules = "".join(
        f".{name}{{fill:{_hex(ink.color)}{';font-weight:bold' if ink.bold else ''}}}"
        f"path.{name}{{stroke:{_hex(ink.color)}}}"
        for name, ink in theme.inks.items()
    )
    back = theme.background
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>text{{font-family:{_FONTS};font-size:{_SIZE}px}}path{{stroke-width:2;stroke-dasharray:{_DOT:g} {_PITCH - _DOT:.3f}}}{rules}{more}</style>",
        f'<rect width="{across:.0f}" height="{down:.0f}" rx="8" fill="{back}"/>',
        f'<text x="{across / 2:.0f}" y="22" text-anchor="middle" class="dim">{escape(title)}</text>',
    ]


def _hex(color: str) -> str:
    return ANSI_COLORS.get(color, color)


def _elements(line: Line, row: int, theme: Theme) -> list[tuple[int, str]]:
    """Return the elements of a line, each with its column."""
    y = _HEAD + (row + 0.75) * _HIGH
    elements, column = list[tuple[int, str]](), 0
    for text, style in line:
        x = _EDGE + column * _WIDE
        first, column = column, column + len(text)
        if style == PICK:
            back = _hex(theme.inks[PICK].back)
            box = f'x="{x:.1f}" y="{y - 0.75 * _HIGH:.1f}" width="{len(text) * _WIDE:.1f}" height="{_HIGH:.0f}"'
            elements.append((first, f'<rect {box} fill="{back}"/>'))
        for begin, part in _parts(text):
            shown = part.strip()
            if not shown:
                continue
            at = first + begin + len(part) - len(part.lstrip())
            x = _EDGE + at * _WIDE
            if "\u2800" <= shown[0] <= "\u28ff":
                drawn = f'<path class="{style}" d="{_dots(shown, x, y - 0.75 * _HIGH)}"/>'
            else:
                wide = f' textLength="{len(shown) * _WIDE:.1f}"' if len(shown) > 1 else ""
                place = f'x="{x:.1f}" y="{y:.1f}"{wide}'
                drawn = f'<text {place} class="{style}">{escape(visible(shown)).replace(" ", _BLANK)}</text>'
            elements.append((at, drawn))
    return elements


def _parts(text: str) -> list[tuple[int, str]]:
    """Split a text where dots begin and end: they are drawn, and other characters are written."""
    parts = list[tuple[int, str]]()
    begin = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or _is_dots(text[at]) != _is_dots(text[begin]):
            parts.append((begin, text[begin:at]))
            begin = at
    return parts


def _is_dots(c: str) -> bool:
    return "\u2800" <= c <= "\u28ff"


def _dots(text: str, x: float, y: float) -> str:
    """Draw dots as dashes of one line for each run of them: the fonts that have them are of another width."""
    runs = list[str]()
    for row, pair in enumerate(DOTS):
        shown = [bool((ord(c) - 0x2800) & bit) for c in text for bit in pair]
        down = f"{y + (row + 0.45) * _HIGH / 4:.1f}"
        at = 0
        while at < len(shown):
            length = next((k for k, dot in enumerate(shown[at:]) if not dot), len(shown) - at)
            if length:
                left = x + 0.2 * _WIDE + at * _PITCH
                runs.append(f"M{left:.1f} {down}h{(length - 1) * _PITCH + _DOT:.1f}")
            at += max(1, length)
    return "".join(runs)
