"""What is wrong with a condition: it cannot be read, or names what nobody knows."""

from actors.conditions import FIELDS, Condition, NoCondition, read_condition
from scenarios.language.positions import Path
from scenarios.language.problems import Report, nearest
from scenarios.planning.mechanism_tables import Tree
from scenarios.planning.metric_names import is_known, known_names


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
