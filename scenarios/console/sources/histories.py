"""What samples said of each metric: over all agents for a chart, and of one agent for its page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechanisms.vectors import Vector
from scenarios.console.drawing.layout import MANY
from scenarios.console.drawing.model import Point
from scenarios.language.json_numbers import number

_KEPT = 400
"""So many samples are kept: of more, every second one, then every fourth."""
_WHOLE = 4000
"""Of more agents no value of a single agent is kept."""
_SHARE = "share of a cap"
_OWN = ("epsilon", "loss")
"""What is kept of each of thousands."""


class Histories:
    """Keeps the values of samples, thinned so that a long run takes no more memory than a short one."""

    def __init__(self, size: int) -> None:
        """Keep the samples of so many agents."""
        self._size = size
        self._samples: list[tuple[int, Mapping[str, Any]]] = []
        self._folded: dict[tuple[int, str], Point] = {}
        self._stride, self._count = 1, 0

    def add(self, t: int, values: Mapping[str, Any]) -> None:
        """Keep a sample that was taken at `t` (ns), where its turn has come."""
        self._count += 1
        if self._count % self._stride:
            return
        if self._size > MANY:
            values = self._shortened(t, values)
        self._samples.append((t, values))
        if len(self._samples) > _KEPT:
            self._samples, self._stride = self._samples[::2], 2 * self._stride
            kept = {t for t, _ in self._samples}
            self._folded = {key: point for key, point in self._folded.items() if key[0] in kept}

    def _shortened(self, t: int, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fold every metric of a sample at once, and keep what an agent's page shows."""
        kept: dict[str, Any] = {}
        for name, value in values.items():
            point = _fold(t, value)
            if point is None:
                continue
            self._folded[t, name] = point
            keeps = name in _OWN and self._size <= _WHOLE
            kept[name] = _numbers(value).astype(np.float32) if keeps else math.nan
        return kept

    @property
    def names(self) -> list[str]:
        """The metrics of the last sample that are numbers."""
        if not self._samples:
            return []
        return [name for name, value in self._samples[-1][1].items() if _is_number(value)]

    def series(self, name: str) -> list[Point]:
        """Return a metric at every kept sample that has a value of it."""
        points = []
        for t, values in self._samples:
            point = self._folded.get((t, name))
            if point is None and name in values:
                point = _fold(t, values[name])
                if point is not None:
                    self._folded[t, name] = point
            if point is not None and not math.isnan(point.mean):
                points.append(point)
        return points

    def shares(self, name: str, of: Vector) -> list[tuple[float, float]]:
        """Return the mean over agents of a metric over a number of each, at every kept sample: instant (s) and share.

        Of thousands, the values of single agents are kept no longer: there it is known where all numbers are equal.
        """
        equal = bool((of == of[0]).all())
        if not equal and self._size > MANY:
            return []
        found = []
        for point in self.series(name):
            t = round(point.t_s * 1e9)
            if not equal and (t, _SHARE) not in self._folded:
                values = next(v for at, v in self._samples if at == t)
                self._folded[t, _SHARE] = _fold(t, list(_numbers(values[name]) / of)) or point
            share = point.mean / float(of[0]) if equal else self._folded[t, _SHARE].mean
            found.append((point.t_s, min(1.0, share)))
        return found

    def of_agents(self, name: str, ids: Sequence[int]) -> list[tuple[float, list[float]]]:
        """Return a metric of some agents at every kept sample: the instant (s), and a value each; NaN for none."""
        rows = []
        for t, values in self._samples:
            each = values.get(name)
            if isinstance(each, (list, np.ndarray)) and len(each) == self._size:
                rows.append((t / 1e9, [number(each[i]) for i in ids]))
        return rows


def _is_number(value: Any) -> bool:
    if isinstance(value, (list, np.ndarray)):
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(value: Any) -> Vector:
    return np.array([number(v) for v in value], dtype=np.float64)


def _fold(t: int, value: Any) -> Point | None:
    """Return a value of a sample as a point; None for what is no number."""
    if isinstance(value, (list, np.ndarray)):
        known = _numbers(value)
        known = known[np.isfinite(known)]
        if not known.size:
            return Point(t / 1e9, math.nan, math.nan, math.nan)
        low, high = np.percentile(known, (10, 90))
        return Point(t / 1e9, float(known.mean()), float(low), float(high))
    if value is None or isinstance(value, (bool, str)) or not isinstance(value, (int, float)):
        return None
    return Point(t / 1e9, float(value), math.nan, math.nan)
