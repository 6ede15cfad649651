"""Keeps, of the values of some keys, those that a metric calls the best: a choice, not a run. Theory: docs/experiments.md."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scenarios.experiments.grid import Grid, Setting
from scenarios.language.problems import ScenarioError, nearest
from scenarios.planning.metric_names import is_known, known_names, nearest_metric, split_metric

_LOWER = (
    *("loss", "rmse", "objective", "gap", "bias", "distance", "consensus", "harmed", "noise"),
    *("staleness", "lag", "epsilon", "time_to", "releases_to", "bytes_to", "epsilon_to", "bytes"),
)
_HIGHER = ("accuracy", "gain", "availability")


def is_higher_better(metric: str, better: str | None, option: str) -> bool:
    """Return the direction of a metric; raise `ScenarioError` where neither its name nor `better` tells."""
    if better is not None:
        return better == "higher"
    first = metric.partition(".")[0]
    if first in _HIGHER:
        return True
    if first in _LOWER:
        return False
    if not is_known(metric, ()):
        known = known_names(())
        raise ScenarioError.of(
            option, f"unknown metric '{metric}'; {nearest_metric(metric, known)}"
        )
    said = f"whether much or little of {metric} is good is not known: say better = higher or lower"
    raise ScenarioError.of(option, said)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is kept: for each setting of the other axes, the values of `over` with the best mean of `by` over seeds."""

    by: str
    over: tuple[str, ...]
    higher: bool
    epsilon: float | None = None
    """What the choice may cost a validation record; None: it is the best, and no ε covers it."""

    def groups(self, grid: Grid, settings: Sequence[Setting]) -> list[list[Setting]]:
        """Return the settings among which one is kept, for each setting of the other axes and each scenario."""
        varied = [v.axis for v in grid.axes if set(v.axis.keys) & set(self.over)]
        columns = {column for axis in varied for column in axis.columns}
        groups: dict[tuple[object, ...], list[Setting]] = {}
        for setting in settings:
            rest = [repr(v) for name, v in setting.labels.items() if name not in columns]
            groups.setdefault((setting.scenario, *rest), []).append(setting)
        return list(groups.values())


def choice_of(
    by: str, over: Sequence[str], better: str | None, epsilon: float | None, grid: Grid
) -> Choice:
    """Return a choice; raise `ScenarioError` where it is over keys that do not vary, or its direction is not known."""
    keys = [key for varied in grid.axes for key in varied.axis.keys]
    for key in over:
        if key not in keys:
            raise ScenarioError.of("choose.over", f"'{key}' does not vary; {nearest(key, keys)}")
    if not over:
        raise ScenarioError.of("choose.over", "needs at least one key that varies")
    if epsilon is not None and (split_metric(by)[0].partition(".")[0] != "accuracy"):
        said = f"is paid for accuracies only, whose range is bounded; got {by}"
        raise ScenarioError.of("choose.epsilon", said)
    if epsilon is not None and by != "accuracy.validation.mean":
        said = f"covers choices by accuracy.validation.mean only, got {by}"
        raise ScenarioError.of("choose.epsilon", said)
    return Choice(by, tuple(over), is_higher_better(by, better, "choose.by"), epsilon)


def best(scores: Mapping[int, float], *, higher: bool) -> int | None:
    """Return which candidate has the best score, the first of several; None where none has a number."""
    known = {number: score for number, score in scores.items() if not math.isnan(score)}
    if not known:
        return None
    fold = max if higher else min
    return fold(known, key=lambda number: known[number])


def drawn(
    scores: Mapping[int, float], epsilon: float, sensitivity: float, rng: np.random.Generator
) -> int:
    """Return a candidate drawn with a chance proportional to exp(ε·score/(2·sensitivity)).

    The exponential mechanism (McSherry, Talwar 2007, doi:10.1109/FOCS.2007.66), drawn as the largest of scores with
    Gumbel noise. It is ε-differentially private where replacing one record moves every score by at most `sensitivity`.
    """
    numbers = list(scores)
    weights = np.array([epsilon * scores[number] / (2 * sensitivity) for number in numbers])
    return numbers[int(np.argmax(weights + rng.gumbel(size=len(numbers))))]
