"""Expectations, judged at samples; and the figures of targets: when each was reached, and what had been spent by then."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actors.agent import UP, Agent
from actors.conditions import Condition, Metrics
from actors.events import Event, Sampled
from actors.log import Batch
from actors.turns import Turns, have_any
from scenarios.language.json_numbers import aggregate, figure, number
from scenarios.planning.expectations import Expectation, Selection
from scenarios.planning.metric_names import FIGURES, METRICS, split_metric
from scenarios.planning.plan import Plan


@dataclass(slots=True)
class Judgement:
    """One expectation and what became of it.

    `got` is the value that decided it, or the last one; None before any, NaN where the metric had none. `first` and `t`
    are the number of the event that decided it and its time in seconds; None where none did.
    """

    name: str
    wanted: str
    verdict: str = "unknown"
    got: float | None = None
    first: int | None = None
    t: float | None = None
    note: str = ""
    over: str = ""
    """What it is judged over, where one run cannot judge it: "seeds"."""

    def as_json(self) -> dict[str, Any]:
        """Return it as `verdicts.json` holds it."""
        over = {"over": self.over} if self.over else {}
        return over | {
            "name": self.name,
            "wanted": self.wanted,
            "verdict": self.verdict,
            "got": figure(self.got),
            "first": self.first,
            "t": self.t,
            "note": self.note,
        }


def value_of(
    plan: Plan, selection: Selection, values: dict[str, Any], up: Sequence[int] | None = None
) -> float:
    """Return a metric of a sample, folded over the agents that a selection counts; NaN where it has no value.

    `up` are the ids of agents that are up; None counts all as up.
    """
    base, how = split_metric(selection.metric)
    share = METRICS[base].share if selection.group or selection.up else None
    value = values.get(base if share is None else share.of)
    if not isinstance(value, list):
        return math.nan if value is None else number(value)
    each = np.array([number(v) for v in value])
    if selection.node is not None:
        return float(each[selection.node])
    ids = plan.groups[selection.group] if selection.group else range(plan.size)
    chosen = [i for i in ids if up is None or not selection.up or i in up]
    return aggregate(each[chosen], how or "mean") if share is None else share.fold(each[chosen])


class Expectations:
    """Folds samples into verdicts and into figures of targets."""

    def __init__(self, plan: Plan, agents: list[Agent]) -> None:
        self._plan = plan
        self._agents = agents
        self.judgements = [
            Judgement(e.name or e.in_words(), e.in_words(), over=e.over) for e in plan.expects
        ]
        self._met: dict[int, Event] = {}
        self._metrics: Metrics = lambda _name, _node: math.nan
        self._reached: dict[str, dict[str, float] | None] = dict.fromkeys(plan.targets)
        self._figures: dict[str, float] = {}

    def listen(self, metrics: Metrics) -> None:
        """Look metrics up here, as of the last sample, for events that are to happen at least once."""
        self._metrics = metrics

    def fold(self, batch: Batch) -> None:
        """Look for events that are to happen at least once; a batch has no sample but at its beginning."""
        for at, expect in enumerate(self._plan.expects):
            if expect.sometimes is not None and at not in self._met:
                found = _first_that_holds(batch, expect.sometimes, self._metrics)
                if found is not None:
                    self._met[at] = found

    @property
    def routes(self) -> Mapping[type[Event], Callable[[Any], None]]:
        """Samples are judged at once: a run is steered by what they show."""
        return {Sampled: self._judge_sample}

    def _judge_sample(self, event: Sampled) -> None:
        """Judge what is judged at every sample."""
        for name, goal in self._plan.targets.items():
            if not goal.bound.holds(self._value(goal.selection, event)):
                self._reached[name] = None
            elif self._reached[name] is None:
                self._reached[name] = {
                    "time_to": event.t / 1e9,
                    "releases_to": float(np.sum(event.values["releases"])),
                    "bytes_to": number(event.values["bytes.sent"]),
                    "epsilon_to": max(map(number, event.values["epsilon"])),
                }
        for expect, judgement in zip(self._plan.expects, self.judgements, strict=True):
            selection, bound = expect.selection, expect.bound
            if expect.when == "end" or selection is None or bound is None:
                continue
            if judgement.verdict == "unknown" and event.t / 1e9 >= expect.after:
                judgement.got = self._value(selection, event)
                if not math.isnan(judgement.got):
                    self._judge(expect, judgement, event, good=bound.holds(judgement.got))

    def _judge(
        self, expect: Expectation, judgement: Judgement, event: Sampled, *, good: bool
    ) -> None:
        """Decide what a sample decides: whether it satisfies the bound is `good`."""
        if expect.when == "always" and not good:
            self._decide(judgement, "fail", event)
        if expect.when == "eventually":
            if expect.within is not None and event.t / 1e9 > expect.within:
                self._decide(judgement, "fail", event)
            elif good:
                self._decide(judgement, "pass", event)

    @staticmethod
    def _decide(judgement: Judgement, verdict: str, event: Sampled | None) -> None:
        judgement.verdict = verdict
        if event is not None:
            judgement.first, judgement.t = event.seq, event.t / 1e9

    def finish(
        self,
        last: Sampled | None,
        *,
        complete: bool,
        others: dict[int, float] | None = None,
        why: Callable[[str], str] = lambda _: "",
    ) -> list[Judgement]:
        """Judge the end, and return all judgements; what an interrupted run cannot tell stays unknown.

        `others` holds, for the places of expectations that compare, the values to compare with; `why` takes the name
        of a metric and returns why it has no value.
        """
        self._figures = {
            f"{key}.{name}": (math.inf if reached is None else reached[key])
            for name, reached in self._reached.items()
            for key in FIGURES
        }
        for at, expect in enumerate(self._plan.expects):
            judgement = self.judgements[at]
            happens = expect.sometimes is not None
            if happens and not self._happened(at, judgement, complete=complete):
                continue
            if judgement.verdict != "unknown" or last is None or expect.selection is None:
                continue
            if not complete:
                if expect.when == "end" and expect.compared is None:
                    judgement.got = self._value(expect.selection, last)  # so far
            elif expect.when == "end":
                self._judge_end(expect, judgement, last, None if others is None else others.get(at))
            elif judgement.got is not None and not math.isnan(judgement.got):
                self._decide(judgement, "pass" if expect.when == "always" else "fail", last)
        for expect, judgement in zip(self._plan.expects, self.judgements, strict=True):
            if judgement.verdict == "unknown" and not judgement.note:
                reason = why(expect.selection.metric) if expect.selection is not None else ""
                judgement.note = reason if complete else "the run was cut off"
        return self.judgements

    def _judge_end(
        self, expect: Expectation, judgement: Judgement, last: Sampled, other: float | None
    ) -> None:
        """Judge what is judged once, by the last sample; `other` is the value that it is compared with, or None."""
        assert expect.selection is not None, "asked only where a metric is judged"  # noqa: S101
        assert expect.bound is not None, "a metric is judged by a bound"  # noqa: S101
        value = self._value(expect.selection, last)
        if expect.compared is not None:
            if other is not None:
                judgement.note = f"here {value:.6g}, there {other:.6g}"
            value = expect.compared.of(value, other)
        judgement.got = value
        if judgement.over:
            judgement.note = "one run cannot judge it: hush test --seeds 0..9"
        elif not math.isnan(value):
            self._decide(judgement, "pass" if expect.bound.holds(value) else "fail", last)

    def _happened(self, at: int, judgement: Judgement, *, complete: bool) -> bool:
        """Judge an event that must happen at least once; return whether a metric is still to be judged."""
        expect, met = self._plan.expects[at], self._met.get(at)
        if met is None:
            assert expect.sometimes is not None, "asked only where an event is to happen"  # noqa: S101
            judgement.note = f"never happened: {expect.sometimes.text}"
            if complete:
                judgement.verdict = "fail"
        elif expect.selection is None:
            judgement.verdict, judgement.first, judgement.t = "pass", met.seq, met.t / 1e9
        return met is not None and expect.selection is not None

    def targets(self) -> dict[str, Any]:
        """Return the figures of every target; None where it was not reached, or not held to the end."""
        return {
            name: value if math.isfinite(value) else None for name, value in self._figures.items()
        }

    def _value(self, selection: Selection, event: Sampled) -> float:
        """Return a sampled metric, or a figure of a target."""
        if selection.metric in self._figures:
            return self._figures[selection.metric]
        up = [i for i, agent in enumerate(self._agents) if agent.status == UP]
        return value_of(self._plan, selection, event.values, up)


def _first_that_holds(batch: Batch, condition: Condition, metrics: Metrics) -> Event | None:
    """Return the first event of a batch that satisfies a condition; None where none does."""
    for part in batch.parts_of(condition.kinds):
        if not isinstance(part, Turns):
            if type(part) in condition.kinds and condition.holds(part, metrics):
                return part
            continue
        for place in np.flatnonzero(have_any(part, condition.kinds)).tolist():
            for event in part.events_of(place, batch.spends):
                if type(event) in condition.kinds and condition.holds(event, metrics):
                    return event
    return None
