"""What a scenario expects, judged at samples; and when its targets were reached."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from actors.agent import UP, Agent
from actors.conditions import Condition, Metrics
from actors.events import Event, Sampled
from actors.log import Log
from scenarios.language.json_numbers import aggregate, number
from scenarios.planning.metric_names import METRICS, split_metric
from scenarios.planning.plan import Plan

_SIGNS = {"above": ">", "below": "<", "at_most": "<=", "at_least": ">=", "equals": "="}


@dataclass(slots=True)
class Judgement:
    """One expectation: wanted, got, and the event that decided it."""

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
        """As `verdicts.json` holds it."""
        over = {"over": self.over} if self.over else {}
        return over | {
            "name": self.name,
            "wanted": self.wanted,
            "verdict": self.verdict,
            "got": _json(self.got),
            "first": self.first,
            "t": self.t,
            "note": self.note,
        }


def _json(value: float | None) -> Any:
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def holds(claim: dict[str, Any], value: float) -> bool:
    """Whether a value satisfies the bound of a claim; NaN satisfies none."""
    if math.isnan(value):
        return False
    if "equals" in claim:
        return bool(abs(value - claim["equals"]) <= (claim.get("tolerance") or 0.0))
    return bool(
        ("above" in claim and value > claim["above"])
        or ("below" in claim and value < claim["below"])
        or ("at_most" in claim and value <= claim["at_most"])
        or ("at_least" in claim and value >= claim["at_least"])
        or ("ratio_below" in claim and value < claim["ratio_below"])
        or ("difference_below" in claim and value < claim["difference_below"])
    )


def compared(claim: dict[str, Any], value: float, other: float | None) -> float:
    """Set a value against that of another scenario, where the claim wants it."""
    if not claim.get("compared_to"):
        return value
    if other is None or not math.isfinite(value) or not math.isfinite(other):
        return math.nan
    if "difference_below" in claim:
        return value - other
    return value / other if other else math.nan


def value_of(
    plan: Plan, claim: dict[str, Any], values: dict[str, Any], up: Sequence[int] | None = None
) -> float:
    """Fold a metric of a sample as a claim wants it; `up` are those who are."""
    base, how = split_metric(claim["metric"])
    share = METRICS[base].share if claim.get("group") or claim.get("up") else None
    found = values.get(base if share is None else share.of)
    if not isinstance(found, list):
        return math.nan if found is None else number(found)
    each = np.array([number(v) for v in found])
    if claim.get("node") is not None:
        return float(each[claim["node"]])
    nodes = plan.groups[claim["group"]] if claim.get("group") else range(plan.size)
    chosen = [i for i in nodes if up is None or not claim.get("up") or i in up]
    return aggregate(each[chosen], how or "mean") if share is None else share.fold(each[chosen])


class Claims:
    """Folds samples into verdicts and into figures of targets."""

    def __init__(self, plan: Plan, agents: list[Agent]) -> None:
        self._plan = plan
        self._agents = agents
        self.judgements = [
            Judgement(_title(e), wanted(e), over=e.get("over") or "") for e in plan.expects
        ]
        self._met: dict[int, Event] = {}
        self._reached: dict[str, dict[str, float] | None] = dict.fromkeys(plan.targets)
        self._figures: dict[str, float] = {}

    def listen(self, log: Log, metrics: Metrics) -> None:
        """Look out for what is to happen at least once."""

        def look(at: int, condition: Condition, event: Event) -> None:
            if at not in self._met and condition.holds(event, metrics):
                self._met[at] = event

        for at, expect in enumerate(self._plan.expects):
            if expect.get("sometimes"):
                condition = expect["sometimes"]
                log.watch(partial(look, at, condition), condition.kinds)

    def __call__(self, event: Sampled) -> None:
        """Judge what is judged at every sample."""
        for name, goal in self._plan.targets.items():
            if not holds(goal, self._value(goal, event)):
                self._reached[name] = None
            elif self._reached[name] is None:
                self._reached[name] = {
                    "time_to": event.t / 1e9,
                    "releases_to": float(np.sum(event.values["releases"])),
                    "bytes_to": number(event.values["bytes.sent"]),
                    "epsilon_to": max(map(number, event.values["epsilon"])),
                }
        for expect, judgement in zip(self._plan.expects, self.judgements, strict=True):
            waits = expect["when"] != "end" and expect.get("metric")
            if waits and judgement.verdict == "unknown":
                self._judge(expect, judgement, event)

    def _judge(self, expect: dict[str, Any], judgement: Judgement, event: Sampled) -> None:
        t = event.t / 1e9
        if t < (expect.get("after") or 0.0):
            return
        value = self._value(expect, event)
        judgement.got = value
        if math.isnan(value):
            return
        good = holds(expect, value)
        if expect["when"] == "always" and not good:
            self._decide(judgement, "fail", event)
        if expect["when"] == "eventually":
            within = expect.get("within")
            if within is not None and t > within:
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
        """Judge the end; what an interrupted run cannot tell stays unknown.

        `others` are values to compare with; `why` says why a metric has no value.
        """
        self._figures = {
            f"{figure}.{name}": (math.inf if reached is None else reached[figure])
            for name, reached in self._reached.items()
            for figure in ("time_to", "releases_to", "bytes_to", "epsilon_to")
        }
        for at, expect in enumerate(self._plan.expects):
            judgement = self.judgements[at]
            if expect.get("sometimes") and not self._happened(at, judgement, complete=complete):
                continue
            if judgement.verdict != "unknown" or last is None:
                continue
            if not complete:
                if expect["when"] == "end" and not expect.get("compared_to"):
                    judgement.got = self._value(expect, last)  # so far
            elif expect["when"] == "end":
                self._judge_end(expect, judgement, last, None if others is None else others.get(at))
            elif judgement.got is not None and not math.isnan(judgement.got):
                self._decide(judgement, "pass" if expect["when"] == "always" else "fail", last)
        for expect, judgement in zip(self._plan.expects, self.judgements, strict=True):
            if judgement.verdict == "unknown" and not judgement.note:
                reason = why(expect["metric"]) if expect.get("metric") else ""
                judgement.note = reason if complete else "the run was cut off"
        return self.judgements

    def _judge_end(
        self, expect: dict[str, Any], judgement: Judgement, last: Sampled, other: float | None
    ) -> None:
        """Judge what is judged once, by the last sample; `other` is what it is compared with, where it is."""
        mine = self._value(expect, last)
        value = judgement.got = compared(expect, mine, other)
        if expect.get("compared_to") and other is not None:
            judgement.note = f"here {mine:.6g}, there {other:.6g}"
        if judgement.over:
            judgement.note = "one run cannot judge it: hush test --seeds 0..9"
        elif not math.isnan(value):
            self._decide(judgement, "pass" if holds(expect, value) else "fail", last)

    def _happened(self, at: int, judgement: Judgement, *, complete: bool) -> bool:
        """Judge what was to happen at least once; true where a metric is still to be judged."""
        expect, met = self._plan.expects[at], self._met.get(at)
        if met is None:
            judgement.note = f"never happened: {expect['sometimes'].text}"
            if complete:
                judgement.verdict = "fail"
        elif not expect.get("metric"):
            judgement.verdict, judgement.first, judgement.t = "pass", met.seq, met.t / 1e9
        return met is not None and bool(expect.get("metric"))

    def targets(self) -> dict[str, Any]:
        """The figures of every target, null where it was not reached."""
        return {
            name: value if math.isfinite(value) else None for name, value in self._figures.items()
        }

    def _value(self, claim: dict[str, Any], event: Sampled) -> float:
        """Fold a sampled metric as the claim wants it."""
        base, _ = split_metric(claim["metric"])
        if base in self._figures:
            return self._figures[base]
        up = [i for i, agent in enumerate(self._agents) if agent.status == UP]
        return value_of(self._plan, claim, event.values, up)


def _title(expect: dict[str, Any]) -> str:
    return str(expect.get("name") or wanted(expect))


def wanted(expect: dict[str, Any]) -> str:
    """Say what an expectation wants."""
    if not expect.get("metric"):
        return f"sometimes {expect['sometimes'].text}"
    where = ""
    if expect.get("node") is not None:
        where = f" of node {expect['node']}"
    elif expect.get("group"):
        where = f" of {expect['group']}"
    if expect.get("compared_to"):
        way = "ratio" if "ratio_below" in expect else "difference"
        bound, other = expect[f"{way}_below"], expect["compared_to"]
        return f"{expect['metric']}{where}: {way} to {other} < {bound:g} (end)"
    bound = next(b for b in _SIGNS if b in expect)
    when = expect["when"]
    if expect.get("within") is not None:
        when += f" within {expect['within']:g} s"
    if expect.get("after"):
        when += f" after {expect['after']:g} s"
    return f"{expect['metric']}{where} {_SIGNS[bound]} {expect[bound]:g} ({when})"
