"""A figure as plain data: lines with intervals, and levels that a paper states. It is kept beside the verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from scenarios.records.intervals import interval
from scenarios.reproduction.judgement import CONFIDENCE


class Line(msgspec.Struct, frozen=True):
    """One line: places on the x axis, means over seeds, and the ends of their intervals; None for no interval."""

    label: str
    x: list[float]
    mean: list[float]
    low: list[float | None]
    high: list[float | None]


class Level(msgspec.Struct, frozen=True):
    """A number that the paper states, at a place of the x axis; None: everywhere."""

    label: str
    y: float
    x: float | None = None


class Figure(msgspec.Struct, frozen=True):
    """What is drawn: `log` names the axes that are logarithmic, such as "x" or "xy"."""

    title: str
    x: str
    y: str
    lines: list[Line]
    levels: list[Level] = []
    log: str = ""
    ticks: list[str] = []
    """Words in place of the numbers 0, 1, … of the x axis; empty: numbers."""


@dataclass(frozen=True, slots=True)
class Points:
    """The values of several seeds at one place of the x axis."""

    x: float
    values: Sequence[float]


def line(label: str, points: Sequence[Points]) -> Line:
    """Return a line through the means of some points, with 95 % t-intervals where there are several seeds."""
    mean, low, high = [], list[float | None](), list[float | None]()
    for point in points:
        if len(point.values) > 1 and min(point.values) < max(point.values):
            least, middle, most = interval(point.values, CONFIDENCE)
            mean.append(middle)
            low.append(least)
            high.append(most)
        else:
            mean.append(point.values[0])
            low.append(None)
            high.append(None)
    return Line(label, [float(point.x) for point in points], mean, low, high)


def course(
    label: str, courses: Mapping[int, Sequence[tuple[float, float]]], most: int = 60
) -> Line:
    """Return a line through samples of several seeds at the same instants; at most `most` of them are kept."""
    first = next(iter(courses.values()))
    count = min(len(samples) for samples in courses.values())
    step = max(1, -(-count // most))
    kept = sorted({*range(0, count, step), count - 1})
    points = [Points(first[k][0], [samples[k][1] for samples in courses.values()]) for k in kept]
    return line(label, points)


def decoded(tree: Any) -> Figure:
    """Return a figure that was read from JSON."""
    return msgspec.convert(tree, Figure)
