"""What a scenario expects, judged at samples; and when its targets were reached."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from actors.agent import UP, Agent
from actors.events import Sampled
from scenarios.metric_names import split_metric
from scenarios.plan import Plan
from scenarios.values import aggregate, number

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

    def as_json(self) -> dict[str, Any]:
        """As `verdicts.json` holds it."""
        return {
            "name": self.name,
            "wanted": self.wanted,
            "verdict": self.verdict,
            "got": _json(self.got),
            "first": self.first,
            "t": self.t,
        }


def _json(value: float | None) -> Any:
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "inf"


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
    )


class Claims:
    """Folds samples into verdicts and into figures of targets."""

    def __init__(self, plan: Plan, agents: list[Agent]) -> None:
        self._plan = plan
        self._agents = agents
        self.judgements = [Judgement(_title(e), _wanted(e)) for e in plan.expects]
        self._reached: dict[str, dict[str, float] | None] = dict.fromkeys(plan.targets)
        self._figures: dict[str, float] = {}

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
            if expect["when"] != "end" and judgement.verdict == "unknown":
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

    def finish(self, last: Sampled | None, *, complete: bool) -> list[Judgement]:
        """Judge the end; what an interrupted run cannot tell stays unknown."""
        self._figures = {
            f"{figure}.{name}": (math.inf if reached is None else reached[figure])
            for name, reached in self._reached.items()
            for figure in ("time_to", "releases_to", "bytes_to", "epsilon_to")
        }
        for expect, judgement in zip(self._plan.expects, self.judgements, strict=True):
            if judgement.verdict != "unknown" or not complete or last is None:
                continue
            if expect["when"] == "end":
                value = judgement.got = self._value(expect, last)
                if not math.isnan(value):
                    self._decide(judgement, "pass" if holds(expect, value) else "fail", last)
            elif judgement.got is not None and not math.isnan(judgement.got):
                self._decide(judgement, "pass" if expect["when"] == "always" else "fail", last)
        return self.judgements

    def targets(self) -> dict[str, Any]:
        """The figures of every target, null where it was not reached."""
        return {
            name: value if math.isfinite(value) else None for name, value in self._figures.items()
        }

    def _value(self, claim: dict[str, Any], event: Sampled) -> float:
        """Fold a sampled metric as the claim wants it."""
        base, how = split_metric(claim["metric"])
        if base in self._figures:
            return self._figures[base]
        found = event.values.get(base)
        if not isinstance(found, list):
            return math.nan if found is None else number(found)
        values = np.array([number(v) for v in found])
        if claim.get("node") is not None:
            return float(values[claim["node"]])
        chosen = self._chosen(claim)
        return aggregate(values[chosen], how or "mean")

    def _chosen(self, claim: dict[str, Any]) -> list[int]:
        nodes = self._plan.groups[claim["group"]] if claim.get("group") else range(self._plan.size)
        if claim.get("up"):
            return [i for i in nodes if self._agents[i].status == UP]
        return list(nodes)


def _title(expect: dict[str, Any]) -> str:
    return str(expect.get("name") or _wanted(expect))


def _wanted(expect: dict[str, Any]) -> str:
    where = ""
    if expect.get("node") is not None:
        where = f" of node {expect['node']}"
    elif expect.get("group"):
        where = f" of {expect['group']}"
    bound = next(b for b in _SIGNS if b in expect)
    when = expect["when"]
    if expect.get("within") is not None:
        when += f" within {expect['within']:g} s"
    if expect.get("after"):
        when += f" after {expect['after']:g} s"
    return f"{expect['metric']}{where} {_SIGNS[bound]} {expect[bound]:g} ({when})"
