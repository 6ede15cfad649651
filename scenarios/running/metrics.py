"""Metrics of a running world, by the names of reference.md, section 5: which are taken, their values, and why one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.language.json_numbers import listed, plain
from scenarios.planning.metric import Metric, Taken, Value
from scenarios.planning.metric_names import METRICS, metric_of, metrics_of, ordered

if TYPE_CHECKING:
    from scenarios.running.snapshot import WorldSnapshot


class Measurements:
    """Computes metrics of a running world, all agents at once. No agent sees them: they are no releases."""

    def __init__(self, snapshot: WorldSnapshot) -> None:
        self.snapshot = snapshot
        plan = snapshot.plan
        asked = metrics_of(plan.wanted if plan.curves else plan.asked)
        self._asked = {*asked, *(m.share.of for m in asked.values() if m.share is not None)}
        self._wanted = {*self._asked, *metrics_of(plan.wanted)}
        """What is asked for at the last sample."""
        self._taken: dict[bool, list[Metric]] = {}

    def taken(self, *, last: bool) -> list[Metric]:
        """Return what is computed at a sample, in the order of columns: what is asked for comes after the rest.

        It is the same at every sample but the last.
        """
        if last not in self._taken:
            self._taken[last] = self._choose(last=last)
        return self._taken[last]

    def _choose(self, *, last: bool) -> list[Metric]:
        unasked = [metric for metric in ordered() if self._is_taken(metric, last=last)]
        wanted = self._wanted if last else self._asked
        asked = [
            metric
            for metric in ordered(asked=True)
            if metric.name in wanted
            and metric not in unasked
            and (last or metric.taken is not Taken.AGAIN)
        ]
        return unasked + asked

    def _is_taken(self, metric: Metric, *, last: bool) -> bool:
        """Whether a metric is computed at a sample although it is not asked for."""
        match metric.taken:
            case Taken.ALWAYS:
                due = True
            case Taken.AT_END:
                due = last
            case Taken.ASKED | Taken.AGAIN:
                due = False
        return due and metric.where(self.snapshot) and metric.is_possible(self.snapshot)

    def sample(self, *, last: bool = False) -> dict[str, Any]:
        """Return the value of each metric at this instant: a number, or a list with one for each agent.

        None stands for no value, "inf" and "-inf" for infinities, as in JSON.
        """
        self.snapshot.look()
        self.snapshot.budget.last = last
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # once: it costs as much as a small metric
            values = {metric.name: self._value(metric) for metric in self.taken(last=last)}
        return {
            name: listed(value) if isinstance(value, np.ndarray) else plain(value)
            for name, value in values.items()
        }

    def measure(self, name: str) -> list[float]:
        """Return one metric of every agent as of now, for faults that choose by it; NaN stands for no value."""
        self.snapshot.look()
        with np.errstate(invalid="ignore", over="ignore"):
            found = self._value(METRICS[name])
        return [float(value) for value in np.atleast_1d(found)]

    def _value(self, metric: Metric) -> Value:
        if not metric.is_possible(self.snapshot):
            return np.full(self.snapshot.plan.size, np.nan) if metric.per_agent else np.nan
        return metric.compute(self.snapshot)

    def why(self, name: str) -> str:
        """Return why a metric has no value at the last sample; empty where nothing stands in its way."""
        metric = metric_of(name)
        if metric is None:
            return self.snapshot.why_diverged()
        message = metric.why_missing(self.snapshot)
        return message or (self.snapshot.why_diverged() if metric.reads_models else "")
