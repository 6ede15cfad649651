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
_INFINITE = ("inf", "-inf")
"""How a sample writes what JSON has no number for."""


class Histories:
    """Keeps the values of samples, thinned so that a long run takes no more memory than a short one."""

    def __init__(self, size: int) -> None:
        """Keep the samples of so many agents."""
        self._size = size
        self._samples: list[tuple[int, Mapping[str, Any]]] = []
        self._folded: dict[tuple[int, str], Point] = {}
        self._stride, self._count = 1, 0
        self._latest: tuple[int, Mapping[str, Any]] | None = None
        """The last sample, where its turn to be kept had not come; None where it is kept."""
        self._passing: dict[tuple[int, str], Point] = {}
        """What the last sample folds to, where it is not kept."""

    def add(self, t: int, values: Mapping[str, Any]) -> None:
        """Keep a sample that was taken at `t` (ns), where its turn has come; else until the next one."""
        self._count += 1
        self._latest, self._passing = None, {}
        if self._count % self._stride:
            self._latest = t, values
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
        if not self._count:
            return []
        _, last = self._latest or self._samples[-1]
        return [name for name, value in last.items() if _is_number(value)]

    def _known(self) -> list[tuple[int, Mapping[str, Any], dict[tuple[int, str], Point]]]:
        """Return the kept samples and the last one, each with where its folds are remembered."""
        known = [(t, values, self._folded) for t, values in self._samples]
        if self._latest is not None:
            known.append((*self._latest, self._passing))
        return known

    def series(self, name: str) -> list[Point]:
        """Return a metric at every kept sample, and at the last, where it has a value there; ∞ is one."""
        points = []
        for t, values, folded in self._known():
            point = folded.get((t, name))
            if point is None and name in values:
                point = _fold(t, values[name])
                if point is not None:
                    folded[t, name] = point
            if point is not None and not math.isnan(point.mean):
                points.append(point)
        return points

    def shares(self, name: str, of: Vector) -> list[tuple[float, float]]:
        """Return the mean over agents of a metric over a number of each, at every sample of `series`: instant (s) and share.

        Of thousands, the values of single agents are kept no longer: there it is known where all numbers are equal.
        """
        equal = bool((of == of[0]).all())
        if not equal and self._size > _WHOLE:
            return []
        if equal:
            return [(p.t_s, min(1.0, p.mean / float(of[0]))) for p in self.series(name)]
        found = []
        for t, values, folded in self._known():
            point = folded.get((t, _SHARE))
            if point is None and name in values:
                point = _fold(t, list(_numbers(values[name]) / of))
                if point is not None:
                    folded[t, _SHARE] = point
            if point is not None and not math.isnan(point.mean):
                found.append((point.t_s, min(1.0, point.mean)))
        return found

    def of_agents(self, name: str, ids: Sequence[int]) -> list[tuple[float, list[float]]]:
        """Return a metric of some agents at every kept sample, and at the last: the instant (s), and a value each; NaN for none."""
        rows: list[tuple[float, list[float]]] = []
        if self._size > _WHOLE:
            return rows
        for t, values, _ in self._known():
            each = values.get(name)
            if isinstance(each, (list, np.ndarray)) and len(each) == self._size:
                rows.append((t / 1e9, [number(each[i]) for i in ids]))
        return rows


def _is_number(value: Any) -> bool:
    if isinstance(value, (list, np.ndarray)):
        return True
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in _INFINITE


def _numbers(value: Any) -> Vector:
    return np.array([number(v) for v in value], dtype=np.float64)


def _fold(t: int, value: Any) -> Point | None:
    """Return a value of a sample as a point; None for what is no number. Agents without a value have no part in a mean, ∞ has."""
    if isinstance(value, (list, np.ndarray)):
        known = _numbers(value)
        known = known[~np.isnan(known)]
        if not known.size:
            return Point(t / 1e9, math.nan, math.nan, math.nan)
        method: Any = "linear" if np.isfinite(known).all() else "inverted_cdf"
        low, high = np.percentile(known, (10, 90), method=method)
        with np.errstate(invalid="ignore"):  # ∞ and −∞ have no mean
            mean = float(known.mean())
        return Point(t / 1e9, mean, float(low), float(high))
    if not _is_number(value):
        return None
    return Point(t / 1e9, number(value), math.nan, math.nan)
