"""The names of the metrics that the present mechanisms have (reference.md, section 5), and their aggregates."""

import re
from collections.abc import Iterable

PER_NODE = (
    "loss", "loss.pooled", "accuracy.train", "accuracy.test", "rmse.train", "rmse.test", "gain",
    "noise.ratio", "staleness", "lag", "epsilon", "epsilon.basic", "epsilon.kov", "epsilon.zcdp",
    "epsilon.rdp", "epsilon.pld", "epsilon.gaussian", "epsilon.claimed", "epsilon.left",
    "epsilon.unsent", "epsilon.unheard", "epsilon.unread", "releases", "releases.refused",
    "releases.planned", "derived", "updates", "availability", "degree",
)  # fmt: skip
NETWORK = (
    "objective",
    "optimum",
    "gap",
    "gap.relative",
    "gap.present",
    "consensus",
    "bias",
    "distance",
    "harmed",
    "messages.sent",
    "messages.delivered",
    "messages.superseded",
    "messages.lost",
    "messages.rejected",
    "messages.duplicated",
    "messages.in_flight",
    "bytes.sent",
    "nodes.up",
    "nodes.down",
    "nodes.left",
    "nodes.spent",
    "rounds",
    "rounds.aborted",
    "rounds.survivors",
    "duals.sum",
    "duals.antisymmetry",
    "epsilon.audited",
    "attack.kkt",
    "attack.kkt.secret",
)
OF_GROUPS = ("harmed",)
"""Metrics of the network that are a share of its agents: a group has its own."""
AT_END = ("epsilon.audited", "attack.kkt", "attack.kkt.secret")
"""Found by running the plan again, many times: once, at the end, where an expectation asks for it."""  # fmt: skip
HARMLESS = frozenset(
    {
        "staleness", "lag", "epsilon", "epsilon.basic", "epsilon.kov", "epsilon.zcdp", "epsilon.rdp",
        "epsilon.pld", "epsilon.gaussian", "epsilon.claimed", "epsilon.left", "epsilon.unsent",
        "epsilon.unheard", "epsilon.unread", "releases", "releases.refused", "releases.planned",
        "derived", "updates", "availability", "degree", "messages.sent", "messages.delivered",
        "messages.superseded", "messages.lost", "messages.rejected", "messages.duplicated",
        "messages.in_flight", "bytes.sent", "nodes.up", "nodes.down", "nodes.left", "nodes.spent",
        "rounds", "rounds.aborted", "rounds.survivors",
    }
)  # fmt: skip
"""Metrics that read neither models nor data. Any other metric counts as reading them: participation may not depend on it."""


def needs_tests(name: str) -> bool:
    """Whether a metric is taken at test points: without them it has no value."""
    base = split_metric(name)[0]
    return base in {"gain", "harmed"} or base.endswith(".test")


_GOALS = ("time_to", "releases_to", "bytes_to", "epsilon_to")
_AGGREGATE = re.compile(r"(mean|min|max|sum|p[0-9][0-9])")


def split_metric(name: str) -> tuple[str, str | None]:
    """Split `loss.mean` into the metric and its aggregate; a name without one has None."""
    base, _, last = name.rpartition(".")
    if base and _AGGREGATE.fullmatch(last) and last != "p00" and base in PER_NODE:
        return base, last
    return name, None


def reads_models(names: Iterable[str]) -> bool:
    """Whether one of some metrics reads models or data; true of every metric that is not listed as harmless."""
    return any(split_metric(name)[0] not in HARMLESS for name in names)


def per_node(name: str) -> bool:
    """Whether a metric has a value for each node."""
    return name in PER_NODE


def is_known(name: str, goals: Iterable[str]) -> bool:
    """Whether a metric exists, with an aggregate or without, or is a figure of a target."""
    base, _ = split_metric(name)
    return base in PER_NODE or base in NETWORK or base in _goal_names(goals)


def known_names(goals: Iterable[str]) -> list[str]:
    """Return every metric, per-node ones as their mean."""
    return [*NETWORK, *(f"{name}.mean" for name in PER_NODE), *_goal_names(goals)]


def _goal_names(goals: Iterable[str]) -> list[str]:
    return [f"{figure}.{goal}" for goal in goals for figure in _GOALS]
