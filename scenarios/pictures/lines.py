"""Draws lines with intervals that were computed before: a figure as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.pictures.canvas import Picture, compose, picture
from scenarios.pictures.metric_panel import look, marker
from scenarios.pictures.styles import STYLES


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One line: places, values, and the ends of their bars; None for a value without a bar."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]

    @property
    def ends(self) -> tuple[list[float], list[float]]:
        """The ends of all bars; a value without a bar is its own."""
        return _or(self.low, self.y), _or(self.high, self.y)


@dataclass(frozen=True, slots=True)
class Mark:
    """A number that stands for itself: at a place, or everywhere (None)."""

    label: str
    y: float
    x: float | None


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes say: `log` names those that are logarithmic; `ticks` are words in place of the numbers from 0 on."""

    x: str
    y: str
    log: str = ""
    ticks: Sequence[str] = ()


_MANY = 15
"""From so many points on a line has no markers and its intervals are a band."""


def draw_lines(
    title: str, axes: Axes, lines: Sequence[DrawnLine], marks: Sequence[Mark], foot: Sequence[str]
) -> Picture:
    """Return a picture of one panel."""
    style = STYLES["screen"]
    figure, (panel,) = picture([0.55], style, "page")
    on = panel.axes
    for at, line in enumerate(lines):
        shown, (low, high) = look(at), line.ends
        if len(line.x) >= _MANY:
            on.plot(line.x, line.y, label=line.label, **shown)
            on.fill_between(line.x, low, high, color=shown["color"], alpha=0.18, linewidth=0)
        else:
            bars = [
                [max(0.0, y - end) for y, end in zip(line.y, low, strict=True)],
                [max(0.0, end - y) for y, end in zip(line.y, high, strict=True)],
            ]
            joined = {**shown, "linestyle": "none"} if axes.ticks else shown
            on.errorbar(
                line.x,
                line.y,
                yerr=bars,
                capsize=2.5,
                marker=marker(at),
                label=line.label,
                **joined,
            )
    seen = set[str]()
    for mark in marks:
        label = mark.label if mark.label not in seen else "_nolegend_"
        seen.add(mark.label)
        if mark.x is None:
            on.axhline(mark.y, color="0.2", linestyle=(0, (4, 2)), linewidth=0.9, label=label)
        else:
            on.plot(
                [mark.x],
                [mark.y],
                marker="_",
                markersize=18,
                color="0.1",
                linestyle="none",
                label=label,
            )
    if "x" in axes.log:
        on.set_xscale("log")
    if "y" in axes.log:
        on.set_yscale("log")
    if axes.ticks:
        on.set_xticks(range(len(axes.ticks)), [_folded(word) for word in axes.ticks])
    on.set_xlabel(axes.x)
    on.set_ylabel(axes.y)
    compose(figure, [panel], title, foot)
    return figure


def _or(ends: Sequence[float | None], values: Sequence[float]) -> list[float]:
    return [y if end is None else end for y, end in zip(values, ends, strict=True)]


def _folded(word: str) -> str:
    """Break a tick's words into lines at commas."""
    return word.replace(", ", ",\n")
