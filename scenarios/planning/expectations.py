"""What a scenario expects and aims at: its tables, and the records that a plan has of them."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.problems import Report
from scenarios.language.table_rules import REQUIRED, Table, key
from scenarios.language.value_rules import (
    Choice,
    Flag,
    Name,
    Number,
    Text,
    count,
    duration,
    positive,
)
from scenarios.planning.metric_names import MetricName

if TYPE_CHECKING:
    from actors.conditions import Condition

BOUNDS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "above": (">", operator.gt),
    "below": ("<", operator.lt),
    "at_most": ("<=", operator.le),
    "at_least": (">=", operator.ge),
    "equals": ("=", operator.eq),
}
"""The keys that bound a metric: the sign of each, and when a value satisfies it."""
_OF_TWO = ("ratio_below", "difference_below")
"""The keys that bound a metric beside that of another scenario."""
_CONFIDENCE = 0.95
_LONG = duration(zero=False)


def _bounds(table: "ExpectTable | GoalTable") -> list[str]:
    return [bound for bound in BOUNDS if bound in table.given]


def _check_bounds(table: "ExpectTable | GoalTable", report: Report) -> None:
    bounds = _bounds(table)
    if len(bounds) != 1:
        got = " and ".join(bounds) or "none"
        report.key(table.place, f"needs exactly one of {', '.join(BOUNDS)}; got {got}")


class ExpectTable(Table):
    """[[expect]]: what a metric must be, or a condition that must come true."""

    name: str | None = key(Name(), words="The name of the expectation, for reports.")
    metric: str | None = key(
        MetricName(),
        words="What is judged; an aggregate such as `.mean` follows the name of a per-agent metric.",
    )
    above: float | None = key(Number(), words="The value must be greater.")
    below: float | None = key(Number(), words="The value must be less.")
    at_most: float | None = key(Number(), words="The value must not be greater.")
    at_least: float | None = key(Number(), words="The value must not be less.")
    equals: float | None = key(Number(), words="The value must be this, within the `tolerance`.")
    tolerance: float | None = key(Number(low=0), words="How far the value may be from `equals`.")
    when: str = key(
        Choice("end", "always", "eventually"),
        "end",
        words="Whether the last sample is judged, every sample, or whether one sample suffices.",
    )
    within: float | None = key(
        _LONG, words="The instant by which the value must have been reached, in seconds."
    )
    after: float | None = key(
        duration(), words="Samples before this instant are not judged, in seconds."
    )
    node: int | None = key(count(0), words="The id of the one agent that is judged.")
    group: str | None = key(
        Name("the name of a group"), words="The group over which an aggregate is taken."
    )
    up: bool = key(Flag(), False, words="Whether only agents that are present are judged.")
    compared_to: str | None = key(
        Text("a scenario"),
        words="A scenario of the library, or a file beside this one, whose value this one is compared with.",
    )
    ratio_below: float | None = key(
        positive(), words="The value over that of the other scenario must be less."
    )
    difference_below: float | None = key(
        Number(), words="The value less that of the other scenario must be less."
    )
    over: str | None = key(
        Choice("seeds"), words="Judges the mean over many seeds by its interval."
    )
    confidence: float | None = key(
        Number(low=0.5, below=1),
        words="The confidence of that interval; 0.95 where it is left out.",
    )
    sometimes: str | None = key(
        Text("a condition"), words="A condition on events that must have come true."
    )

    def check(self, report: Report) -> None:
        """Report keys that contradict each other."""
        given = self.given
        if "metric" in given:
            self._check_over(report)
            self._check_bounds(report)
            self._check_times(report)
        elif "sometimes" not in given:
            report.key(self.place, "needs 'metric', or sometimes = a condition")
        else:
            for stray in sorted(given - {"sometimes", "name", "when", "up"}):
                report.key(self.path_to(stray), "belongs to a metric: name one")
        if {"node", "group"} <= given:
            report.key(self.path_to("group"), "give node or group, not both")

    def _check_over(self, report: Report) -> None:
        """Report a judgement over seeds that is not one of the end of each run."""
        if "confidence" in self.given and "over" not in self.given:
            report.key(self.path_to("confidence"), 'belongs to over = "seeds"')
        if "over" in self.given and self.when != "end":
            message = 'what is judged over seeds is judged at the "end" of each run'
            report.key(self.path_to("over"), message)

    def _check_bounds(self, report: Report) -> None:
        """Report other than one bound, or a comparison that does not say how, or not at the end."""
        ways = [way for way in _OF_TWO if way in self.given]
        compares = "compared_to" in self.given
        if ways and not compares:
            report.key(self.path_to(ways[0]), "belongs to compared_to")
        elif not compares:
            _check_bounds(self, report)
        else:
            bounds = _bounds(self)
            if len(ways) != 1 or bounds:
                got = " and ".join([*ways, *bounds]) or "none"
                message = f"compared_to needs exactly one of {', '.join(_OF_TWO)}; got {got}"
                report.key(self.place, message)
            if self.when != "end":
                message = 'what is compared with another scenario is judged at the "end"'
                report.key(self.path_to("when"), message)

    def _check_times(self, report: Report) -> None:
        """Report keys of time and of tolerance without what they belong to."""
        if "within" in self.given and self.when != "eventually":
            report.key(self.path_to("within"), 'belongs to when = "eventually"')
        after = self.after or 0.0
        if self.within is not None and self.within < after:
            message = f"is before after: both count from t = 0, {after:g} s"
            report.value(self.path_to("within"), message)
        if "tolerance" in self.given and "equals" not in self.given:
            report.key(self.path_to("tolerance"), "belongs to equals")


class GoalTable(Table):
    """targets.NAME: a bound that a metric is to reach and to keep."""

    metric: str = key(MetricName(), REQUIRED, words="What must reach the bound.")
    above: float | None = key(Number(), words="The value must be greater.")
    below: float | None = key(Number(), words="The value must be less.")
    at_most: float | None = key(Number(), words="The value must not be greater.")
    at_least: float | None = key(Number(), words="The value must not be less.")

    def check(self, report: Report) -> None:
        """Report other than one bound."""
        _check_bounds(self, report)


@dataclass(frozen=True, slots=True)
class Selection:
    """A metric, and which of its values count: of one agent, of a group, or of all; with `up`, of agents that are up."""

    metric: str
    node: int | None = None
    group: str | None = None
    up: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound by one of `BOUNDS`; `tolerance` is that of `equals`."""

    key: str
    value: float
    tolerance: float = 0.0

    def holds(self, value: float) -> bool:
        """Whether a value satisfies it; NaN satisfies none."""
        if self.key == "equals":
            return abs(value - self.value) <= self.tolerance
        return not math.isnan(value) and BOUNDS[self.key][1](value, self.value)

    def __str__(self) -> str:
        return f"{BOUNDS[self.key][0]} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scenario that a metric is compared with, by a `ratio` or a `difference`."""

    scenario: str
    way: str

    def of(self, value: float, other: float | None) -> float:
        """Return a value set against that of the other scenario; NaN where one of them is none or infinite."""
        if other is None or not math.isfinite(value) or not math.isfinite(other):
            return math.nan
        if self.way == "difference":
            return value - other
        return value / other if other else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a metric must be, or an event that must happen, or both: then `selection` or `sometimes` is None."""

    name: str = ""
    selection: Selection | None = None
    bound: Bound | None = None
    when: str = "end"
    within: float | None = None
    """By when it must hold, in seconds from the start; None if any time will do."""
    after: float = 0.0
    """From when on it is judged, in seconds from the start."""
    compared: Comparison | None = None
    over: str = ""
    """What it is judged over, where one run cannot judge it: "seeds"."""
    confidence: float = _CONFIDENCE
    sometimes: "Condition | None" = None

    def in_words(self) -> str:
        """Return what it wants, in words."""
        selection, bound = self.selection, self.bound
        if selection is None or bound is None:
            return f"sometimes {'' if self.sometimes is None else self.sometimes.text}"
        where = "" if not selection.group else f" of {selection.group}"
        if selection.node is not None:
            where = f" of node {selection.node}"
        if self.compared is not None:
            way = f"{self.compared.way} to {self.compared.scenario}"
            return f"{selection.metric}{where}: {way} {bound} (end)"
        when = self.when
        if self.within is not None:
            when += f" within {self.within:g} s"
        if self.after:
            when += f" after {self.after:g} s"
        return f"{selection.metric}{where} {bound} ({when})"


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound that a metric is to reach and to keep."""

    selection: Selection
    bound: Bound


def expectation_of(table: ExpectTable) -> Expectation:
    """Return the record of a table that reads."""
    from actors.conditions import read_condition

    selection = bound = compared = None
    if table.metric is not None:
        selection = Selection(table.metric, table.node, table.group, table.up)
    if table.compared_to is not None:
        way, _, _ = next(k for k in _OF_TWO if getattr(table, k) is not None).partition("_")
        bound = Bound("below", getattr(table, f"{way}_below"))
        compared = Comparison(table.compared_to, way)
    elif table.metric is not None:
        bound = _bound_of(table)
    return Expectation(
        name=table.name or "",
        selection=selection,
        bound=bound,
        when=table.when,
        within=table.within,
        after=table.after or 0.0,
        compared=compared,
        over=table.over or "",
        confidence=_CONFIDENCE if table.confidence is None else table.confidence,
        sometimes=None if table.sometimes is None else read_condition(table.sometimes),
    )


def goal_of(table: GoalTable) -> Goal:
    """Return the record of a table that reads."""
    return Goal(Selection(table.metric), _bound_of(table))


def _bound_of(table: ExpectTable | GoalTable) -> Bound:
    """Return the one bound of a table that reads."""
    (name,) = _bounds(table)
    return Bound(name, getattr(table, name), getattr(table, "tolerance", None) or 0.0)
