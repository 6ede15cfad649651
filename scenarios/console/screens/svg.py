"""A frame as a picture: text at fixed places, no font and nothing else from elsewhere."""

from collections.abc import Sequence
from html import escape

from scenarios.console.drawing.styled_text import DOTS, Line
from scenarios.language.visible_text import visible

_WIDE, _HIGH, _SIZE, _EDGE, _HEAD = 8.43, 18.0, 14, 12, 34
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"
_BLANK = "\u00a0"
"""A blank that no viewer folds."""
_STYLES = {
    "plain": "fill:#d6d6d6",
    "good": "fill:#56b4e9",
    "warn": "fill:#f0e442",
    "bad": "fill:#e8743b;font-weight:bold",
    "dim": "fill:#8a8a8a",
    "head": "fill:#ffffff;font-weight:bold",
    "pick": "fill:#101010",
}


def svg(lines: Sequence[Line], width: int, title: str) -> str:
    """Return a frame as SVG: every span stands in its columns, whatever the font."""
    title = visible(title)
    across, down = width * _WIDE + 2 * _EDGE, len(lines) * _HIGH + _HEAD + _EDGE
    rules = "".join(f".{name}{{{rule}}}" for name, rule in _STYLES.items())
    elements = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>text{{font-family:{_FONTS};font-size:{_SIZE}px}}{rules}</style>",
        f'<rect width="{across:.0f}" height="{down:.0f}" rx="8" fill="#161616"/>',
        f'<text x="{across / 2:.0f}" y="22" text-anchor="middle" class="dim">{escape(title)}</text>',
    ]
    for at, line in enumerate(lines):
        elements += _line(line, _HEAD + (at + 0.75) * _HIGH)
    return "\n".join([*elements, "</svg>", ""])


def _line(line: Line, y: float) -> list[str]:
    elements, column = list[str](), 0
    for text, style in line:
        x = _EDGE + column * _WIDE
        column += len(text)
        if style == "pick":
            box = f'x="{x:.1f}" y="{y - 0.75 * _HIGH:.1f}" width="{len(text) * _WIDE:.1f}" height="{_HIGH:.0f}"'
            elements.append(f'<rect {box} fill="#d6d6d6"/>')
        shown = text.strip()
        if shown:
            x += (len(text) - len(text.lstrip())) * _WIDE
            if "\u2800" <= max(shown) <= "\u28ff":
                dots = _dots(shown, x, y - 0.75 * _HIGH)
                elements.append(f'<path class="{style}" d="{dots}"/>')
                continue
            place = f'x="{x:.1f}" y="{y:.1f}" textLength="{len(shown) * _WIDE:.1f}"'
            elements.append(
                f'<text {place} class="{style}">{escape(visible(shown)).replace(" ", _BLANK)}</text>'
            )
    return elements


def _dots(text: str, x: float, y: float) -> str:
    """Draw dots as dots: the fonts that have them are of another width."""
    elements = []
    for at, c in enumerate(text):
        bits = ord(c) - 0x2800 if c >= "\u2800" else 0
        for row, pair in enumerate(DOTS):
            for column, bit in enumerate(pair):
                if bits & bit:
                    left = x + (at + 0.2 + 0.5 * column) * _WIDE
                    elements.append(f"M{left:.1f} {y + (row + 0.3) * _HIGH / 4:.1f}h2v2h-2z")
    return "".join(elements)
