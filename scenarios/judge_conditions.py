"""What is wrong with a condition: it cannot be read, or names what nobody knows."""

from typing import Any

from actors.conditions import FIELDS, Condition, NoCondition, read_condition
from scenarios.kinds import Tree
from scenarios.locate import Path
from scenarios.metric_names import METRICS_OF_MODELS, is_known, known_names, split_metric
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


def reads_models(names: Any) -> bool:
    """Whether one of some metrics reads data or models: what no agent may decide by."""
    bases = {split_metric(name)[0] for name in names}
    return any(base.startswith(METRICS_OF_MODELS) for base in bases)
