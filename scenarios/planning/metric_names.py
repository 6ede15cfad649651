"""The names of the metrics: with aggregates, with figures of targets, and what may go by them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scenarios.language.problems import nearest
from scenarios.language.value_rules import Name
from scenarios.planning.kinds import Family
from scenarios.planning.metric import Metric

METRICS: Family[Metric] = Family("scenarios.planning.metrics", Metric, several=True)
"""Every metric by its name."""
FIGURES = ("time_to", "releases_to", "bytes_to", "epsilon_to")
"""The figures of a target: `time_to.NAME` and so on."""


@dataclass(frozen=True, slots=True)
class MetricName(Name):
    """The name of a metric; whether there is such a one is judged with the scenario, whose targets have figures."""

    what: str = "the name of a metric"


_AGGREGATE = re.compile(r"(mean|min|max|sum|p[0-9][0-9])")


_EARLY = """
loss loss.pooled epsilon epsilon.left releases releases.refused derived updates objective consensus
messages.sent messages.delivered messages.superseded messages.lost messages.rejected messages.duplicated messages.in_flight
bytes.sent nodes.up nodes.down nodes.left nodes.spent accuracy.train accuracy.test rmse.train rmse.test
gap optimum gap.relative gap.present bias distance gain harmed noise.ratio staleness lag
epsilon.claimed epsilon.basic epsilon.kov epsilon.zcdp epsilon.rdp epsilon.pld epsilon.gaussian
epsilon.unsent epsilon.unheard epsilon.unread availability releases.planned degree
rounds rounds.aborted rounds.survivors duals.sum duals.antisymmetry epsilon.audited attack.kkt attack.kkt.secret
"""
_PLACES: dict[str, float] = {name: place for place, name in enumerate(_EARLY.split())}
"""The place of each metric of version 0.5.0 in a sample: digests of values depend on it.

A metric that is not here comes after these, by its name: nothing need be added for a new one.
"""
_PLACES_IF_ASKED = {
    "optimum": _PLACES["gap"] - 0.5,
    "epsilon.claimed": _PLACES["epsilon.gaussian"] + 0.5,
    "releases.planned": _PLACES["availability"] - 0.5,
}
"""Other places of that version, where a metric is computed only because the scenario asks for it."""


def split_metric(name: str) -> tuple[str, str | None]:
    """Split `loss.mean` into the metric and its aggregate; a name without one has None."""
    base, _, last = name.rpartition(".")
    if base and _AGGREGATE.fullmatch(last) and last != "p00" and per_agent(base):
        return base, last
    return name, None


def metric_of(name: str) -> Metric | None:
    """Return the metric that a name with or without an aggregate stands for; None for figures of targets."""
    return METRICS.get(split_metric(name)[0])


def metrics_of(names: Iterable[str]) -> dict[str, Metric]:
    """Return the metrics that names stand for, by their own names; figures of targets are none."""
    metrics = (metric_of(name) for name in names)
    return {metric.name: metric for metric in metrics if metric is not None}


def reads_models(names: Iterable[str]) -> bool:
    """Whether one of some metrics reads models or data; true of every name that is unknown."""
    metrics = map(metric_of, names)
    return any(metric is None or metric.reads_models for metric in metrics)


def per_agent(name: str) -> bool:
    """Whether a name without an aggregate is a metric with a value for each agent."""
    metric = METRICS.get(name)
    return metric is not None and metric.per_agent


def ordered(*, asked: bool = False) -> list[Metric]:
    """Return every metric, in the order of samples; with `asked`, those of agents first, in the order of asked ones."""
    places = _PLACES | _PLACES_IF_ASKED if asked else _PLACES

    def place(metric: Metric) -> tuple[bool, float, str]:
        return asked and not metric.per_agent, places.get(metric.name, len(places)), metric.name

    return sorted(METRICS.values(), key=place)


def names_of_agents() -> list[str]:
    """Return the metrics with a value for each agent."""
    return [metric.name for metric in ordered() if metric.per_agent]


def names_of_network() -> list[str]:
    """Return the metrics with one value."""
    return [metric.name for metric in ordered() if not metric.per_agent]


def is_known(name: str, goals: Iterable[str]) -> bool:
    """Whether a metric exists, with an aggregate or without, or is a figure of a target."""
    return metric_of(name) is not None or name in _figures(goals)


def known_names(goals: Iterable[str]) -> list[str]:
    """Return every metric, those of agents as their mean, and the figures of targets."""
    each = (f"{name}.mean" for name in names_of_agents())
    return [*names_of_network(), *each, *_figures(goals)]


def nearest_metric(name: str, known: Iterable[str], *, any_fold: bool = True) -> str:
    """Return a hint: the nearest of some names, of which metrics may have an aggregate or none, and what there is.

    `losss` is near to `loss.mean`, and `losss.p90` to `loss.p90`, which is no known name where `any_fold` is false.
    """
    names = list(known)
    _, dot, last = name.rpartition(".")
    fold = f".{last}" if dot and _AGGREGATE.fullmatch(last) else ""
    spellings = dict[str, str]()
    for one in names:
        base, how = split_metric(one)
        if how:
            spellings.setdefault(base, one)
        if fold and any_fold and per_agent(base):
            spellings[base + fold] = base + fold
        elif fold:
            spellings.setdefault(base + fold, one)
    return nearest(name, names, {k: v for k, v in spellings.items() if k not in names})


def _figures(goals: Iterable[str]) -> list[str]:
    return [f"{figure}.{goal}" for goal in goals for figure in FIGURES]
