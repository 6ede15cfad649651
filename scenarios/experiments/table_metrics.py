"""Which metrics the table of a sweep has."""

from collections.abc import Iterable

from scenarios.language.problems import ScenarioError
from scenarios.planning.check_scenario import CheckedScenario
from scenarios.planning.losses import LossTable
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import (
    FIGURES,
    is_known,
    known_names,
    metric_of,
    metrics_of,
    nearest_metric,
    per_agent,
    split_metric,
)

_SCORES = ("accuracy", "rmse")


def goals_of(scenarios: Iterable[CheckedScenario]) -> list[str]:
    """Return the names of the targets of some scenarios."""
    return list(dict.fromkeys(name for scenario in scenarios for name in scenario.read.targets))


def usual(scenarios: Iterable[CheckedScenario]) -> tuple[str, ...]:
    """Return the metrics of a table for which none were asked: what every summary says, and the figures of targets.

    The score is accuracy or rmse, as the losses have it; both for code of a scenario's own, which does not say.
    """
    several = list(scenarios)
    names = ["loss.mean"]
    for score in _SCORES:
        judged = [s for s in several if _score(s) in {score, None}]
        names += [f"{score}.test.mean"] if judged else []
        if any(getattr(scenario.read.data, "validation", 0) for scenario in judged):
            names.append(f"{score}.validation.mean")
    names += ["gain.mean", "gap", "epsilon.max", "releases.sum"]
    names += [f"{figure}.{goal}" for goal in goals_of(several) for figure in FIGURES]
    return tuple(names)


def _score(scenario: CheckedScenario) -> str | None:
    loss = scenario.read.task.loss
    return loss.score if isinstance(loss, LossTable) else None


def asked(
    names: Iterable[str], scenarios: Iterable[CheckedScenario], option: str
) -> tuple[str, ...]:
    """Return metrics as the table calls them, one of agents with its aggregate.

    Raises `ScenarioError` for a name that no scenario knows, and for a metric that none of them can have.
    """
    several = list(scenarios)
    goals, columns = goals_of(several), dict[str, None]()
    for name in names:
        if not is_known(name, goals):
            hint = nearest_metric(name, known_names(goals))
            raise ScenarioError.of(option, f"unknown metric '{name}'; {hint}")
        metric = metric_of(name)
        refusals = [metric.refuse(scenario.read, name) for scenario in several] if metric else [""]
        if all(refusals):
            raise ScenarioError.of(option, refusals[0])
        columns[column_of(name)] = None
    return tuple(columns)


def column_of(name: str) -> str:
    """Return what the table calls a metric: one of agents is their mean where its name does not say how it is folded."""
    return f"{name}.mean" if per_agent(name) and split_metric(name)[1] is None else name


def held(names: Iterable[str], *, last: bool) -> frozenset[str]:
    """Return the metrics that a sample must hold so that columns can be had; figures of targets need none.

    Metrics that run the plan again are in the last sample only.
    """
    metrics = metrics_of(names).values()
    return frozenset(m.name for m in metrics if last or m.taken is not Taken.AGAIN)
