"""What is wrong with a condition: it cannot be read, or names neither a field of events nor a metric."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scenarios.language.positions import Path
from scenarios.language.problems import Report
from scenarios.planning.metric_names import is_known, known_names, nearest_metric

if TYPE_CHECKING:
    from actors.conditions import Condition


def check_condition(
    text: str, path: Path, goals: Iterable[str], report: Report
) -> "Condition | None":
    """Return a condition that reads, and report names that it uses for nothing; None where it does not read."""
    from actors.conditions import FIELDS, NoCondition, read_condition

    try:
        condition = read_condition(text)
    except NoCondition as error:
        report.value(path, f"not a condition: {error}")
        return None
    for name in sorted(condition.metrics):
        if not is_known(name, goals):
            hint = nearest_metric(name, [*FIELDS, *known_names(goals)])
            report.value(path, f"no field of events and no metric: '{name}'; {hint}")
    return condition
