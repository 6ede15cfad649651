"""What a scenario expects and aims at: metrics that exist, bounds that fit, comparisons that can be made."""

from typing import Any

from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest
from scenarios.planning.check_budget import field
from scenarios.planning.check_conditions import judge_condition
from scenarios.planning.check_faults import latest
from scenarios.planning.mechanism_tables import Tree
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import (
    is_known,
    known_names,
    metric_of,
    split_metric,
)
from scenarios.planning.scenario_tables import BOUNDS


def judge_expectations(read: Tree, groups: set[str], size: int, report: Report) -> None:
    """Report what is wrong with expectations and targets."""
    goals = read.get("targets") or {}
    for i, expect in enumerate(read.get("expect") or []):
        if expect is not None:
            _claim(expect, ("expect", i), goals, report)
            _place(expect, ("expect", i), groups, size, report)
            if _is_found_again(expect.get("metric")) and expect.get("when") != "end":
                said = f'{expect["metric"]} is found once, at the "end"'
                report.value(("expect", i, "when"), said)
            horizon = latest(read.get("run") or {})
            if horizon is not None and (expect.get("after") or 0) > horizon:
                said = f"is after the end of the run at {horizon:g} s"
                report.value(("expect", i, "after"), said)
    for name, goal in goals.items():
        if goal is not None:
            _claim(goal, ("targets", name), {}, report)
            if _is_found_again(goal.get("metric")):
                said = f"{goal['metric']} is found once, at the end: it is no target"
                report.value(("targets", name, "metric"), said)
            _place(goal, ("targets", name), groups, size, report)
    claims: list[tuple[Path, Tree]] = [
        (("expect", i), expect) for i, expect in enumerate(read.get("expect") or [])
    ]
    claims += [(("targets", name), goal) for name, goal in goals.items()]
    for path, claim in claims:
        _refused(read, claim, path, report)


def _is_found_again(name: Any) -> bool:
    """Whether a metric is found by running the plan again."""
    metric = metric_of(name) if isinstance(name, str) else None
    return metric is not None and metric.taken is Taken.AGAIN


def _refused(read: Tree, claim: Tree | None, path: Path, report: Report) -> None:
    """Report why this scenario cannot have a metric, where that is so."""
    name = field(claim, "metric")
    metric = metric_of(name) if isinstance(name, str) else None
    why = "" if metric is None else metric.refuse(read, name)
    if why:
        report.value((*path, "metric"), why)


def _claim(claim: Tree, path: Path, goals: Tree, report: Report) -> None:
    if claim.get("sometimes") is not None:
        judge_condition(claim["sometimes"], (*path, "sometimes"), {}, report)
        if "metric" not in claim:
            for stray in sorted(set(claim) - {"sometimes", "name", "when", "up"}):
                report.key((*path, stray), "belongs to a metric: name one")
            return
    if "metric" not in claim:
        report.key(path, "needs 'metric', or sometimes = a condition")
        return
    _over(claim, path, report)
    bounds = [bound for bound in BOUNDS if bound in claim]
    if "compared_to" in claim:
        _comparison(claim, bounds, path, report)
    elif {"ratio_below", "difference_below"} & set(claim):
        stray = "ratio_below" if "ratio_below" in claim else "difference_below"
        report.key((*path, stray), "belongs to compared_to")
    elif len(bounds) != 1:
        report.key(
            path, f"needs exactly one of {', '.join(BOUNDS)}; got {' and '.join(bounds) or 'none'}"
        )
    metric = claim.get("metric")
    if metric is not None and not is_known(metric, goals):
        report.value(
            (*path, "metric"), f"unknown metric '{metric}'; {nearest(metric, known_names(goals))}"
        )
    _when(claim, path, report)


def _when(claim: Tree, path: Path, report: Report) -> None:
    """Keys of time and of tolerance belong to what they bound."""
    if "within" in claim and claim.get("when") != "eventually":
        report.key((*path, "within"), 'belongs to when = "eventually"')
    after, within = claim.get("after") or 0.0, claim.get("within")
    if within is not None and within < after:
        report.value((*path, "within"), f"is before after: both count from t = 0, {after:g} s")
    if "tolerance" in claim and "equals" not in claim:
        report.key((*path, "tolerance"), "belongs to equals")


def _over(claim: Tree, path: Path, report: Report) -> None:
    """What is judged over seeds is judged at the end of each run."""
    if "confidence" in claim and "over" not in claim:
        report.key((*path, "confidence"), 'belongs to over = "seeds"')
    if "over" in claim and claim.get("when") != "end":
        report.key((*path, "over"), 'what is judged over seeds is judged at the "end" of each run')


def _comparison(claim: Tree, bounds: list[str], path: Path, report: Report) -> None:
    """What compares with another scenario says how: by a ratio or a difference, at the end."""
    ways = [way for way in ("ratio_below", "difference_below") if way in claim]
    if len(ways) != 1 or bounds:
        got = " and ".join([*ways, *bounds]) or "none"
        report.key(
            path, f"compared_to needs exactly one of ratio_below, difference_below; got {got}"
        )
    if claim.get("when") != "end":
        report.key((*path, "when"), 'what is compared with another scenario is judged at the "end"')


def _place(expect: Tree, path: Path, groups: set[str], size: int, report: Report) -> None:
    node, group, metric = expect.get("node"), expect.get("group"), expect.get("metric")
    if node is not None and node >= size:
        report.value((*path, "node"), f"no agent {node}: ids run from 0 to {size - 1}")
    if group is not None and group not in groups:
        report.value((*path, "group"), f"no group '{group}'; {nearest(group, groups)}")
    if node is not None and group is not None:
        report.key((*path, "group"), "give node or group, not both")
    known = metric_of(metric) if isinstance(metric, str) else None
    if known is None or not isinstance(metric, str):
        return
    if known.share is not None:
        if node is not None:
            said = f"{known.name} is a share of agents: give a group, or leave node out"
            report.key(path, said)
    elif not known.per_agent and (node is not None or group is not None):
        report.key(path, f"{known.name} is a metric of the whole network: it has no node or group")
    if known.per_agent and split_metric(metric)[1] is None and node is None:
        report.value(
            (*path, "metric"),
            f"{known.name} is per node: give an aggregate such as {known.name}.mean, or node = …",
        )
