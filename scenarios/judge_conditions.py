"""What is wrong with a condition: it cannot be read, or names what nobody knows."""

from actors.conditions import FIELDS, Condition, NoCondition, read_condition
from scenarios.kinds import Tree
from scenarios.locate import Path
from scenarios.metric_names import is_known, known_names
from scenarios.problem import Report, nearest


def judge_condition(text: str, path: Path, goals: Tree, report: Report) -> Condition | None:
    """Read a condition, and look up the metrics that it names."""
    try:
        found = read_condition(text)
    except NoCondition as error:
        report.value(path, f"not a condition: {error}")
        return None
    for name in sorted(found.metrics):
        if not is_known(name, goals):
            hint = nearest(name, [*FIELDS, *known_names(goals)])
            report.value(path, f"no field of events and no metric: '{name}'; {hint}")
    return found
