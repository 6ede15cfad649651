"""The score of each agent's model: accuracy where labels are ±1, else the root mean squared error."""

from typing import TYPE_CHECKING

from scenarios.planning.losses import LossTable
from scenarios.planning.metric import ALWAYS, Metric, Snapshot
from scenarios.planning.metric_needs import TEST_POINTS, VALIDATION_POINTS, judged_by

if TYPE_CHECKING:
    from mechanisms.vectors import Vector
    from scenarios.planning.metric import Need
    from scenarios.planning.scenario_tables import ScenarioTable
    from scenarios.planning.scores import On

_NEEDS: "dict[On, tuple[Need, ...]]" = {
    "train": (),
    "test": (TEST_POINTS,),
    "validation": (VALIDATION_POINTS,),
}


_UNITS = {
    "accuracy": "a share of points, from 0 to 1",
    "rmse": "an error, in the unit of the labels",
}


def _metric(score: str, points: "On", words: str) -> Metric:
    def compute(at: Snapshot) -> "Vector":
        return at.of_members(at.scores.score(at.theta, points))

    def refuse(read: "ScenarioTable", name: str) -> str:
        loss = read.task.loss
        if not isinstance(loss, LossTable) or loss.score == score:
            return ""
        hint = name.replace(score, loss.score)
        return f"{score} means nothing for {loss.kind} loss; did you mean '{hint}'?"

    return Metric(
        f"{score}.{points}",
        words,
        compute,
        ALWAYS,
        reads_models=True,
        unit=_UNITS[score],
        per_agent=True,
        needs=(*_NEEDS[points], judged_by(score)),
        refuse=refuse,
    )


_TESTED = "on its own test points, else the common ones"
_VALIDATED = "on its own points that `data.validation` holds out of training"
KINDS = (
    _metric("accuracy", "train", "share of the agent's own points that its model labels right"),
    _metric("accuracy", "test", f"share of points that the agent's model labels right, {_TESTED}"),
    _metric(
        "accuracy",
        "validation",
        f"share of points that the agent's model labels right, {_VALIDATED}",
    ),
    _metric("rmse", "train", "root mean squared error of the agent's model on its own points"),
    _metric("rmse", "test", f"root mean squared error of the agent's model {_TESTED}"),
    _metric("rmse", "validation", f"root mean squared error of the agent's model {_VALIDATED}"),
)
