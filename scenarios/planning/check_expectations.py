"""What is wrong with expectations and targets beyond their own tables: metrics, agents and groups that are not there."""

from scenarios.language.problems import Report, nearest
from scenarios.planning.check_conditions import check_condition
from scenarios.planning.check_faults import latest
from scenarios.planning.expectations import ExpectTable, GoalTable
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import (
    is_known,
    known_names,
    metric_of,
    nearest_metric,
    split_metric,
)
from scenarios.planning.scenario_tables import ScenarioTable


def check_expectations(read: ScenarioTable, groups: set[str], size: int, report: Report) -> None:
    """Report what is wrong with expectations and targets."""
    horizon = latest(read.run)
    for expect in read.expect:
        if expect.sometimes is not None:
            check_condition(expect.sometimes, expect.path_to("sometimes"), {}, report)
        _metric(read, expect, report)
        _place(expect, groups, size, report)
        if horizon is not None and (expect.after or 0) > horizon:
            message = f"is after the end of the run at {horizon:g} s"
            report.value(expect.path_to("after"), message)
    for goal in read.targets.values():
        _metric(read, goal, report)


def _metric(read: ScenarioTable, table: ExpectTable | GoalTable, report: Report) -> None:
    """Report a metric that does not exist, or that this scenario cannot have there."""
    name, place = table.metric, table.path_to("metric")
    if name is None:
        return
    goals = tuple(read.targets) if isinstance(table, ExpectTable) else ()
    if not is_known(name, goals):
        report.value(place, f"unknown metric '{name}'; {nearest_metric(name, known_names(goals))}")
    metric = metric_of(name)
    if metric is None:
        return
    if metric.taken is Taken.AGAIN and isinstance(table, GoalTable):
        report.value(place, f"{name} is found once, at the end: it is no target")
    elif isinstance(table, ExpectTable) and metric.taken is Taken.AGAIN and table.when != "end":
        report.value(table.path_to("when"), f'{name} is found once, at the "end"')
    if refusal := metric.refuse(read, name):
        report.value(place, refusal)
    node = table.node if isinstance(table, ExpectTable) else None
    if metric.per_agent and split_metric(name)[1] is None and node is None:
        message = f"{name} is per node: give an aggregate such as {name}.mean, or node = …"
        report.value(place, message)


def _place(expect: ExpectTable, groups: set[str], size: int, report: Report) -> None:
    """Report an agent or a group that does not exist, or that the metric has no values of."""
    node, group = expect.node, expect.group
    if node is not None and node >= size:
        report.value(expect.path_to("node"), f"no agent {node}: ids run from 0 to {size - 1}")
    if group is not None and group not in groups:
        report.value(expect.path_to("group"), f"no group '{group}'; {nearest(group, groups)}")
    metric = metric_of(expect.metric or "")
    if metric is None or metric.per_agent:
        return
    if metric.share is None and (node is not None or group is not None):
        message = f"{metric.name} is a metric of the whole network: it has no node or group"
        report.key(expect.place, message)
    elif metric.share is not None and node is not None:
        message = f"{metric.name} is a share of agents: give a group, or leave node out"
        report.key(expect.place, message)
