"""The network: agents, or groups of them, as dots, edges as lines of small dots, messages on their way, lost ones, cuts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scenarios.console.drawing.model import Model
from scenarios.console.drawing.styled_text import (
    BAD,
    CUT,
    DIM,
    DOTS,
    GOOD,
    HEAD,
    HEATS,
    PICK,
    PLAIN,
    STATES,
    WARN,
    Line,
    Spot,
    Target,
    box,
    brief,
    heat,
    plain,
    step,
    words,
)

Cells = NDArray[np.int64]
Pair = tuple[int, int]
_MARKS = ("╱", "✕")
"""What begins an entry of the legend."""
_LABELLED = 30
"""Up to so many dots bear their ids, as long as there is room."""
_AWAY = 6
"""A dot moves by fewer cells than so many to have one of its own."""
_CALM = frozenset({"up", "slow", "done"})
"""States whose dot is coloured by the metric; any other state shows its own glyph."""


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Where dots stand, and which of them are joined. It is compared by identity, so that drawings of it are remembered."""

    places: Sequence[tuple[float, float]]
    """Across and down, each between 0 and 1."""
    edges: Sequence[Pair]


@dataclass(frozen=True, slots=True)
class Dot:
    """An agent, the server, or a group."""

    label: str
    state: str
    share: float
    """Where its metric lies between the least and the most that the colours stand for; NaN where it has no value."""
    agent: int | None = None
    """Its id; None for a group."""
    note: str = ""
    """What stands below the label of a group."""


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What the network shows at one instant."""

    geometry: Geometry
    dots: Sequence[Dot]
    flows: Mapping[Pair, str]
    """The style of edges on which something is going on: on its way, lost, held."""
    cut: frozenset[Pair]
    """Edges that a partition cuts now."""
    metric: str
    """What the colours stand for."""
    low: float
    high: float
    cursor: int | None
    lost: int
    """How many messages were lost on these edges a moment ago, or are held."""
    flying: int
    is_least: bool = False
    """Whether there may be more of both: what a sender sent before is no longer remembered."""


def network(model: Model, width: int, height: int) -> list[Line]:
    """Draw the network in a frame of its own, with a line that says what the colours stand for."""
    view = model.network
    if view is None:
        return box([("network", HEAD)], [words("no agent is shown", DIM)], width, height)
    inner, room = width - 4, max(1, height - 3)
    if inner < 1:  # a screen that is hardly wider than its frame
        return box([("network", HEAD)], [], width, height)
    glyphs, styles = _edges(view, inner, room)
    if model.ascii:  # an agent is told from an edge without colours, too
        glyphs = [["." if glyph != " " else glyph for glyph in row] for row in glyphs]
    _put_dots(view, glyphs, styles, ascii_only=model.ascii)
    lines = [_joined(row, inks) for row, inks in zip(glyphs, styles, strict=True)]
    cut = f"  {_edges_of(len(view.cut))} cut" if view.cut else ""
    at = view.cursor  # beside its dot there may be no room for its name
    chosen = "" if at is None else f"  cursor [{view.dots[at].label}]"
    title: Line = [
        ("network ", HEAD),
        (f" {len(view.dots)} {_what(view)}, {_edges_of(len(view.geometry.edges))}", DIM),
        (chosen, HEAD),
        ("  g:view  c:color", DIM),
        (cut, CUT),
    ]
    return box(title, [*lines[: height - 3], _legend(view, inner)], width, height)


def _edges_of(count: int) -> str:
    return f"{count} edge{'' if count == 1 else 's'}"


def _what(view: NetworkView) -> str:
    return "agents" if any(dot.agent is not None for dot in view.dots) else "groups"


def _legend(view: NetworkView, width: int) -> Line:
    scale: Line = [(f"{plain(view.metric)} {brief(view.low)} ", DIM)]
    scale += [("●", style) for style in HEATS]
    scale.append((f" {brief(view.high)}  ", DIM))
    more = "+" if view.is_least else ""
    messages: Line = [
        ("╱", GOOD),
        (f" {view.flying}{more} on their way  ", DIM),
        ("╱", WARN),
        (f" {view.lost}{more} lost or held  ", DIM),
    ]
    line: Line = [
        *scale,
        *(messages if _what(view) == "agents" else []),  # among groups no message is drawn
        ("╱", CUT),
        (" cut  ", DIM),
        ("✕", BAD),
        (" down", DIM),
    ]
    kept, used = list[tuple[str, str]](), 0
    for text, style in line:
        if used + len(text.rstrip()) > width:
            break
        kept.append((text, style))
        used += len(text)
    if kept and len(kept) < len(line) and kept[-1][0] in _MARKS:
        kept.pop()  # a mark without its words
    return kept


# edges


def _edges(view: NetworkView, width: int, height: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return a glyph and a style for every cell, with the edges alone."""
    strokes = _strokes(view.geometry, width, height)
    dots, styled = _canvas(view.geometry, view.cut, width, height)
    marks = styled.copy()
    names = (DIM, CUT, GOOD, WARN, HEAD)
    ranked = sorted((names.index(flow), pair) for pair, flow in view.flows.items())
    for rank, pair in ranked:
        if pair in strokes:
            marks[strokes[pair][0]] = rank
    rows = [[chr(0x2800 + bits) if bits else " " for bits in row] for row in dots.tolist()]
    flat = [names[mark] for mark in marks.tolist()]
    styles = [flat[at : at + width] for at in range(0, width * height, width)]
    return rows, styles


@lru_cache(maxsize=4)
def _strokes(geometry: Geometry, width: int, height: int) -> dict[Pair, tuple[Cells, Cells]]:
    """Return the cells that each edge crosses, and the dots in each."""
    strokes = {}
    points = [
        (x * (2 * width - 1), y * (4 * height - 1)) for x, y in _spread(geometry, width, height)
    ]
    bits = np.array(DOTS)
    for one, other in geometry.edges:
        (x0, y0), (x1, y1) = points[one], points[other]
        steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
        x = np.floor(np.linspace(x0, x1, steps + 1) + 0.25).astype(int)
        y = np.floor(np.linspace(y0, y1, steps + 1) + 0.25).astype(int)
        strokes[one, other] = ((y // 4) * width + x // 2, bits[y % 4, x % 2])
    return strokes


@lru_cache(maxsize=8)
def _canvas(
    geometry: Geometry, cut: frozenset[Pair], width: int, height: int
) -> tuple[Cells, Cells]:
    """Return the dots of each cell (rows, columns), and for each cell whether only a cut edge crosses it."""
    strokes = _strokes(geometry, width, height)
    whole, broken = (np.zeros(width * height, dtype=np.int64) for _ in range(2))
    for pair, (cells, dots) in strokes.items():
        if pair in cut:  # a cut edge is dotted, so that it is told apart without colours, too
            np.bitwise_or.at(broken, cells[::3], dots[::3])
        else:
            np.bitwise_or.at(whole, cells, dots)
    marks = np.where(broken > 0, 1, 0)
    both: Cells = np.bitwise_or(whole, broken)
    return both.reshape(height, width), marks


# dots


@lru_cache(maxsize=4)
def _spread(geometry: Geometry, width: int, height: int) -> tuple[tuple[float, float], ...]:
    """Return places such that each dot has a cell of its own, as long as there are cells enough."""
    taken: set[Pair] = set()
    spread = []
    for x, y in geometry.places:
        column, row = round(x * (width - 1)), round(y * (height - 1))
        column, row = _free(column, row, taken, width, height)
        taken.add((column, row))
        spread.append(((2 * column + 0.5) / (2 * width - 1), (4 * row + 1.5) / (4 * height - 1)))
    return tuple(spread)


@lru_cache(maxsize=4)
def _cells(geometry: Geometry, width: int, height: int) -> tuple[Pair, ...]:
    """Return the cell of each dot: its column and its row."""
    return tuple(
        (int(x * (2 * width - 1)) // 2, int(y * (4 * height - 1)) // 4)
        for x, y in _spread(geometry, width, height)
    )


@lru_cache(maxsize=8192)
def _spot(style: str, agent: int) -> Spot:
    """Return a style that a click finds an agent by; agents and styles are few, and frames are many."""
    return Spot(style, Target("agent", agent))


def _free(column: int, row: int, taken: set[Pair], width: int, height: int) -> Pair:
    """Return the cell itself, or the next free one around it; a crowded neighbourhood shares its cells."""
    for away in range(_AWAY):
        around = [
            (column + dx, row + dy)
            for dy in range(-away, away + 1)
            for dx in range(-away, away + 1)
            if max(abs(dx), abs(dy)) == away
        ]
        for x, y in around:
            if 0 <= x < width and 0 <= y < height and (x, y) not in taken:
                return x, y
    return column, row


def _put_dots(
    view: NetworkView, glyphs: list[list[str]], styles: list[list[str]], *, ascii_only: bool
) -> None:
    """Put every dot over the edges, then the labels where there is room for them."""
    height, width = len(glyphs), len(glyphs[0])
    cells = _cells(view.geometry, width, height)
    taken = set(cells)
    for at, ((column, row), dot) in enumerate(zip(cells, view.dots, strict=True)):
        glyph, style = _dot(dot, ascii_only=ascii_only)
        style = PICK if at == view.cursor else style
        if dot.agent is not None:
            style = _spot(style, dot.agent)
        glyphs[row][column], styles[row][column] = glyph, style
    few = len(view.dots) <= _LABELLED
    for at, ((column, row), dot) in enumerate(zip(cells, view.dots, strict=True)):
        if few or at == view.cursor or dot.agent is None:
            chosen = at == view.cursor
            _label(dot.label, column, row, glyphs, styles, taken, HEAD if chosen else PLAIN)
            if dot.note and height > 1:
                under = row + 1 if row + 1 < height else row - 1
                _label(dot.note, column - 2, under, glyphs, styles, taken, heat(dot.share))


def _dot(dot: Dot, *, ascii_only: bool) -> tuple[str, str]:
    glyph, _, style = STATES[dot.state]
    if dot.state not in _CALM:
        return glyph, style
    if math.isnan(dot.share):
        return glyph, PLAIN
    return (step(dot.share) if ascii_only else "●"), heat(dot.share)


def _label(
    text: str,
    column: int,
    row: int,
    glyphs: list[list[str]],
    styles: list[list[str]],
    taken: set[Pair],
    style: str,
) -> None:
    """Write a label to the right of a dot, else to its left; not over another dot."""
    width = len(glyphs[0])
    for first in (column + 2, column - 1 - len(text)):
        cells = [(at, row) for at in range(first, first + len(text))]
        if first >= 0 and first + len(text) <= width and not taken & set(cells):
            for (at, _), c in zip(cells, text, strict=True):
                glyphs[row][at], styles[row][at] = c, style
            taken |= set(cells)
            return


def _joined(glyphs: Sequence[str], styles: Sequence[str]) -> Line:
    """Return a row of cells as spans."""
    line: Line = []
    text, style = "", styles[0] if styles else PLAIN
    for glyph, ink in zip(glyphs, styles, strict=True):
        if ink is style or (
            ink == style and not isinstance(ink, Spot) and not isinstance(style, Spot)
        ):
            text += glyph
            continue
        line.append((text, style))
        text, style = glyph, ink
    line.append((text, style))
    return line
