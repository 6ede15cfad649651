"""Styles, widths and colours of pictures, as plain data."""

from dataclasses import dataclass

FORMATS = ("png", "svg", "pdf")
WIDTHS = {"column": 3.3, "page": 6.9}
"""In inches: one column of a journal, and a whole page."""
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#000000",
    "#56b4e9",
    "#e69f00",
    "#8c6d31",
)
"""Colours that readers with any common colour vision tell apart; lines differ in dashes, too, for print in grey."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, CLAIM, CHARGE, FAINT = COLOURS[0], COLOURS[1], COLOURS[2], "0.55"
MAP = "cividis"
"""The map of values to colours: even in lightness, so that it prints in grey."""
CELL = "cell"
"""The mark of texts that must fit into a cell of a grid, one unit wide and high."""
FEW = 12
"""Up to so many points are drawn with markers."""


@dataclass(frozen=True, slots=True)
class Style:
    """How large and how bold a picture is drawn; sizes in points."""

    name: str
    text: float
    small: float
    line: float
    dpi: int


STYLES = {
    "paper": Style("paper", 8, 7, 1.0, 300),
    "slides": Style("slides", 10, 9, 1.9, 200),
    "screen": Style("screen", 9, 8, 1.3, 150),
}
