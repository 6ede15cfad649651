"""In what two runs differ at one time: figures of both, and the agents that are furthest apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scenarios.console.drawing.styled_text import (
    DIM,
    HEAD,
    PLAIN,
    STATES,
    WARN,
    Line,
    box,
    brief,
    fit,
    watch,
    within,
)
from scenarios.console.sources.source import Source
from scenarios.console.sources.state import percentiles
from scenarios.language.json_numbers import folded

_SHOWN = (
    "loss",
    "accuracy.test",
    "accuracy.train",
    "rmse.test",
    "objective",
    "gap",
    "consensus",
    "epsilon.left",
    "updates",
    "derived",
    "releases.refused",
    "nodes.up",
    "nodes.spent",
)
_ORACLES = frozenset(_SHOWN[:7])

_ROUNDED = 1e-12

Far = tuple[int, str, str, float]
"""An agent that both runs have, what it is in each, and how far its losses are apart."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both runs."""

    name: str
    one: float
    other: float
    alike: bool = True
    """Whether both mean the same: an ε does only in one view, for one δ."""

    @property
    def apart(self) -> float:
        """By how much the second is above the first; what is within rounding is nothing."""
        if self.alike and math.isclose(self.one, self.other, rel_tol=_ROUNDED, abs_tol=_ROUNDED):
            return 0.0
        return self.other - self.one if self.alike else math.nan


def figures(one: Source, other: Source, *, at: int | None = None) -> list[Figure]:
    """Compare two runs as they stand: exact figures now or at an instant, sampled ones at the last sample of each."""
    mine, theirs = one.messages(), other.messages()
    compared = [
        Figure(
            "ε worst",
            float(one.epsilons().max(initial=0.0)),
            float(other.epsilons().max(initial=0.0)),
        ),
        Figure("ε median", float(np.median(one.epsilons())), float(np.median(other.epsilons()))),
        *(
            Figure(f"loss* {n}", a, b)
            for n, a, b in zip(
                ("p10", "p50", "p90"),
                percentiles(one.run_state.losses(), (10, 50, 90)),
                percentiles(other.run_state.losses(), (10, 50, 90)),
                strict=True,
            )
        ),
        Figure("stale s p50", _stale(one, at), _stale(other, at)),
        Figure("releases", mine.releases, theirs.releases),
        Figure("sent", mine.sent, theirs.sent),
        Figure("lost", mine.lost, theirs.lost),
        Figure("in flight", mine.flying, theirs.flying),
    ]
    for name in _SHOWN:
        a, b = one.run_state.sampled(name), other.run_state.sampled(name)
        if a is not None and b is not None:
            compared.append(Figure(f"{name}*" if name in _ORACLES else name, folded(a), folded(b)))
    if _terms(one) == _terms(other):
        return compared
    return [replace(f, alike=False) if f.name.startswith(("ε", "epsilon")) else f for f in compared]


def _terms(source: Source) -> str:
    """The view and the δ of a run, whichever accountant composes."""
    return source.terms().rpartition(",")[0]


def _stale(source: Source, at: int | None) -> float:
    instant = None if source.over else at  # a run that is over stands at its end
    (median,) = percentiles([source.stale(i, instant) for i in range(source.facts.size)], (50,))
    return float(median)


def apart(one: Source, other: Source, count: int) -> list[Far]:
    """Return the agents whose losses differ most: id, what each is, and by how much."""
    size = min(one.facts.size, other.facts.size)
    gaps = np.abs(
        np.array(other.run_state.losses()[:size]) - np.array(one.run_state.losses()[:size])
    )
    ranked = np.argsort(-np.nan_to_num(gaps, nan=-1.0), kind="stable")[:count]
    return [
        (int(i), one.run_state.state(int(i)), other.run_state.state(int(i)), float(gaps[i]))
        for i in ranked
        if gaps[i] > _ROUNDED
    ]


def columns(width: int) -> int:
    """In how many columns figures stand."""
    return 2 if width >= 100 else 1


def differences(
    compared: Sequence[Figure], far: Sequence[Far], now_s: float, width: int, height: int
) -> list[Line]:
    """Draw the figures, then the agents that are furthest apart."""
    across = (width - 4) // columns(width)
    name, number = _sizes(across)
    heads = f"{'':<{name}}" + "".join(f"{column:>{number}}" for column in ("A", "B", "B − A"))
    head: Line = [(f"{heads} ".ljust(across) * columns(width), DIM)]
    cells = [_figure(figure, across) for figure in compared]
    rows = min(math.ceil(len(cells) / columns(width)), max(1, height - 4))
    lines = [head]
    for at in range(rows):
        line: Line = []
        for cell in cells[at::rows][: columns(width)]:
            line += cell
        lines.append(line)
    far_line: Line = [("loss* apart  ", DIM)]
    for node, mine, theirs, gap in far:
        far_line += [
            (f"{node} ", PLAIN),
            *_glyph(mine),
            *_glyph(theirs),
            (f" {brief(gap)}   ", PLAIN),
        ]
    title: Line = [
        ("differences", HEAD),
        (f"  t {watch(now_s)}  * an oracle's, as of each last sample", DIM),
    ]
    if not all(figure.alike for figure in compared):
        title.insert(1, ("  ε IN OTHER TERMS", WARN))
    return box(title, [*lines, far_line], width, height)


def _glyph(state: str) -> Line:
    glyph, _, style = STATES[state]
    return [(glyph, style)]


def _sizes(across: int) -> tuple[int, int]:
    """How long names and numbers are, in a column of figures."""
    number = max(8, min(12, (across - 17) // 3))
    return max(8, min(16, across - 3 * number - 1)), number


def _figure(figure: Figure, across: int) -> Line:
    gap = figure.apart
    name, number = _sizes(across)
    style = PLAIN if math.isnan(gap) or gap == 0 else WARN
    gap_text = "" if math.isnan(gap) else f"{'+' if gap > 0 else ''}{within(gap, number - 2)}"
    cell: Line = [
        (f"{figure.name[:name]:<{name}}", PLAIN),
        (
            f"{within(figure.one, number - 1):>{number}}{within(figure.other, number - 1):>{number}}",
            PLAIN,
        ),
        (f"{gap_text:>{number}} ", style),
    ]
    return fit(cell, across)
