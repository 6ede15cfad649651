"""The one place that loads matplotlib: styles, widths, colours and files. Import it where a picture is drawn, not before."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import findfont, get_font
from matplotlib.gridspec import GridSpec
from matplotlib.text import Text

from scenarios.pictures.styles import CELL, FORMATS, STYLES, WIDTHS, Style
from scenarios.records.file_guard import FolderError
from scenarios.records.whole_file import write_whole

_Place = Literal["outside lower center", "upper center"]
_LETTERS = re.compile(r"\\\$|.")
"""A dollar that is no formula is two characters, which stay together."""
_TICKS, _ROW, _LINE = 4.2, 1.5, 4.3
"""In heights of text: labels and ticks below axes, a row of a legend, and the line and gaps beside an entry of a legend."""


class Picture(Figure):
    """A figure that displays itself in notebooks, and belongs to no window and no global list of figures."""

    style: Style
    grid: GridSpec

    def _repr_png_(self) -> bytes:
        return image(self, "png")


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a picture: its axes, the part of the figure that holds them, and its height over its width."""

    axes: Axes
    host: SubFigure
    height: float


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries of a legend, and over how many columns they go."""

    handles: list[Any]
    labels: list[str]
    columns: int

    @property
    def rows(self) -> int:
        """How many rows the entries take."""
        return math.ceil(len(self.labels) / self.columns) if self.labels else 0

    def place(self, host: SubFigure, style: Style, where: _Place) -> None:
        """Put the entries on a host."""
        if self.labels:
            host.legend(
                self.handles,
                self.labels,
                loc=where,
                ncols=self.columns,
                frameon=False,
                fontsize=style.small,
                handlelength=2.2,
                columnspacing=1.1,
                borderpad=0.1,
                labelspacing=0.3,
            )


class _Ruler:
    """Measures words in the font of pictures, and makes them fit. Widths are in points."""

    def __init__(self) -> None:
        self._font = get_font(findfont("DejaVu Sans"))

    def width(self, text: str, size: float) -> float:
        """Return how wide a line is."""
        self._font.set_size(size, 72)
        self._font.set_text(text)
        return self._font.get_width_height()[0] / 64  # it counts in parts of a point

    def wrapped(self, text: str, most: float, size: float) -> str:
        """Break a text into lines of at most `most`: at spaces, and within a word where it is wider than a line."""
        lines = [""]
        for word in spelled(text).split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if self.width(longer, size) <= most:
                lines[-1] = longer
                continue
            if lines[-1]:
                lines.append("")
            for letter in _LETTERS.findall(word):
                if lines[-1] and self.width(lines[-1] + letter, size) > most:
                    lines.append("")
                lines[-1] += letter
        return "\n".join(lines)

    def cut(self, text: str, most: float, size: float) -> str:
        """Leave out the end of a text where it is wider than `most`."""
        text = spelled(text)
        if self.width(text, size) <= most:
            return text
        while text and self.width(f"{text}…", size) > most:
            text = text[:-1]
        return f"{text}…"


def _legend(entries: dict[str, Any], points: float, style: Style, ruler: _Ruler) -> Legend:
    """Return a legend with as many columns as fit into a width; entries that are wider than that are cut."""
    line = _LINE * style.small
    labels = [ruler.cut(label, points - line, style.small) for label in entries]
    widths = np.array([ruler.width(label, style.small) + line for label in labels])

    def fits(columns: int) -> bool:  # entries run down the columns, each as wide as its widest
        return sum(float(part.max()) for part in np.array_split(widths, columns)) <= points

    columns = next((n for n in range(len(labels), 1, -1) if fits(n)), 1)
    return Legend(list(entries.values()), labels, columns)


@contextmanager
def styled(name: str) -> Iterator[Style]:
    """Use a style until the block ends; what the program set before holds again after it."""
    style = STYLES[name]
    settings: dict[str, Any] = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": style.text,
        "axes.titlesize": style.text,
        "axes.labelsize": style.text,
        "xtick.labelsize": style.small,
        "ytick.labelsize": style.small,
        "legend.fontsize": style.small,
        "lines.linewidth": style.line,
        "lines.markersize": 3.2 * style.line,
        "axes.linewidth": 0.6 * style.line,
        "axes.formatter.useoffset": False,
        "text.usetex": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "hush",
        "pdf.fonttype": 42,
        "figure.autolayout": False,
        "figure.constrained_layout.use": False,
        "agg.path.chunksize": 10_000,
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        cast(Any, mpl.rcParams).update(settings)
        yield style


def picture(heights: Sequence[float], style: Style, width: str) -> tuple[Picture, list[Panel]]:
    """Return a new figure with a panel for each height (over its width): one below the other on a column, in pairs on a page.

    `compose` gives it its size when everything is drawn.
    """
    inches = WIDTHS[width]
    across = 1 if len(heights) == 1 or width == "column" else 2
    figure = Picture(figsize=(inches, inches), dpi=style.dpi, layout="constrained")
    FigureCanvasAgg(figure)
    figure.style = style
    figure.grid = figure.add_gridspec(math.ceil(len(heights) / across) + 1, across)
    panels = []
    for at, height in enumerate(heights):
        host = figure.add_subfigure(figure.grid[at // across, at % across])
        panels.append(Panel(host.add_subplot(), host, height))
    return figure, panels


def compose(figure: Picture, panels: Sequence[Panel], title: str, foot: Sequence[str]) -> None:
    """Give a picture its title, its legends outside of what is drawn, the words at its foot, and its height.

    Entries that several panels have stand once, below all. The words at the foot are those that must not get lost when the
    picture is copied.
    """
    style, inches = figure.style, figure.get_figwidth()
    across = figure.grid.ncols
    ruler, points = _Ruler(), inches * 72 - 8
    entries = []
    for panel in panels:
        dress(panel.axes, style)
        handles, labels = panel.axes.get_legend_handles_labels()
        entries.append(dict(zip(labels, handles, strict=True)))
        sides = (
            (panel.axes.xaxis, points / across * 0.8),
            (panel.axes.yaxis, points / across * panel.height),
        )
        for axis, most in sides:
            parts = axis.label.get_text().split("\n")
            axis.label.set_text("\n".join(ruler.wrapped(one, most, style.text) for one in parts))
    often = Counter(label for of in entries for label in of)
    shared = {label: handle for of in entries for label, handle in of.items() if often[label] > 1}
    heights = []
    for panel, of in zip(panels, entries, strict=True):
        own = {label: handle for label, handle in of.items() if label not in shared}
        legend = _legend(own, points / across, style, ruler)
        legend.place(panel.host, style, "outside lower center")
        below = _TICKS * style.text + _ROW * style.small * legend.rows
        heights.append(inches / across * panel.height + below / 72)
    common = _legend(shared, points, style, ruler)
    rows = [max(heights[k : k + across]) for k in range(0, len(heights), across)]
    head = ruler.wrapped(title, points, style.text)
    words = ruler.wrapped(" · ".join(foot), points, style.small)
    lines = common.rows + words.count("\n") + 1
    rows.append((_ROW * lines + 0.6) * style.small / 72)
    figure.grid.set_height_ratios(rows)
    bottom = figure.add_subfigure(figure.grid[-1, :])
    common.place(bottom, style, "upper center")
    look: dict[str, Any] = {"color": "0.25", "ha": "center", "va": "bottom", "linespacing": 1.15}
    bottom.text(0.5, 0.0, words, fontsize=style.small, **look)
    figure.suptitle(head, fontsize=style.text)
    figure.set_figheight(sum(rows) + _ROW * style.text * (head.count("\n") + 1) / 72)
    for panel in panels:
        _fit_cells(figure, panel.axes)


def _fit_cells(figure: Picture, axes: Axes) -> None:
    """Turn the texts in cells of a grid upright where the widest is wider than a cell, and leave them out where that does not help."""
    cells = [text for text in axes.texts if text.get_gid() == CELL]
    if not cells:
        return
    figure.draw_without_rendering()
    (left, bottom), (right, top) = axes.transData.transform([(0, 0), (1, 1)])
    extents = [text.get_window_extent() for text in cells]
    wide, high = max(e.width for e in extents) * 1.1, max(e.height for e in extents) * 1.1
    if wide <= right - left and high <= top - bottom:
        return
    for text in cells:
        if high <= right - left and wide <= top - bottom:
            text.set_rotation(90)
        else:
            text.remove()


def dress(axes: Axes, style: Style) -> None:
    """Let axes have a light grid and no frame on the right and above."""
    if axes.axison and not axes.images:
        axes.grid(alpha=0.25, linewidth=0.4 * style.line)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)


def spelled(text: str) -> str:
    """Write characters that the font lacks by their numbers: a box would say nothing."""
    if text.isascii():
        return text
    known = get_font(findfont("DejaVu Sans")).get_charmap()
    return "".join(c if c == "\n" or ord(c) in known else f"\\u{ord(c):04x}" for c in text)


def spell_out(figure: Figure | SubFigure | Axes) -> None:
    """Spell out characters that the font lacks in every text of a figure."""
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_text(spelled(text.get_text()))


def image(figure: Figure, ending: str) -> bytes:
    """Return a figure as the content of a file; nothing in it depends on the day or the machine's settings."""
    sink = BytesIO()
    meta: dict[str, Any] = {
        "png": {"Software": None},
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
    }
    spell_out(figure)
    style = figure.style if isinstance(figure, Picture) else STYLES["screen"]
    with styled(style.name):
        figure.savefig(sink, format=ending, dpi=style.dpi, metadata=meta[ending])
    return sink.getvalue()


def save(figure: Picture, out: Path) -> None:
    """Write a picture to a file whose ending is one of `FORMATS`."""
    ending = out.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise FolderError(f"{out}: a picture ends in {', '.join('.' + f for f in FORMATS)}")
    write_whole(out, image(figure, ending))
