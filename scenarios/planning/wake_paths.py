"""The paths by which wakes are computed: their names, and which one a plan takes.

It loads no NumPy: the command line names the paths in its help.
"""

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.language.problems import ScenarioError
    from scenarios.planning.plan import NodePlan, Plan

AUTO, EVENTS, COLUMNS = "auto", "events", "columns"
PATHS = (AUTO, EVENTS, COLUMNS)
"""By itself; event by event, the reference; settled in columns, many wakes at a time."""
FORMER = {"detailed": EVENTS, "plain": COLUMNS, "fast": COLUMNS}
"""Names that paths had up to version 0.11, and what takes their place."""


_FEW = 24
"""Samples, joins and leaves end stretches: with fewer wakes between them, settling these at once costs more than it saves."""


def checked_path(path: object) -> str:
    """Return a path that was asked for; raise `ScenarioError` where it is none."""
    from scenarios.language.problems import ScenarioError, nearest

    if not isinstance(path, str) or path not in PATHS:
        said = f"must be one of {', '.join(PATHS)}, got {path!r}"
        if isinstance(path, str) and path in FORMER:
            said += f"; {path} is {FORMER[path]} now"
        elif isinstance(path, str):
            said += f"; {nearest(path, PATHS)}"
        raise ScenarioError.of("path", said)
    return path


def path_taken(plan: "Plan") -> str:
    """Return which path the wakes of a plan take: `columns` where those of some agents can.

    Raises ScenarioError where that was asked for and cannot be.
    """
    if plan.path == EVENTS:
        return EVENTS
    obstacle = obstacle_to_columns(plan)
    if plan.path == COLUMNS and obstacle:
        raise refused(obstacle)
    return EVENTS if obstacle or (plan.path != COLUMNS and _has_few_wakes(plan)) else COLUMNS


def why_events(plan: "Plan") -> str:
    """Return why a run takes events by itself, in words; empty where it takes columns, or events were asked for."""
    few = "few wakes come between samples, joins and leaves" if _has_few_wakes(plan) else ""
    return "" if plan.path == EVENTS else obstacle_to_columns(plan) or few


def _has_few_wakes(plan: "Plan") -> bool:
    """Whether few wakes come between two entries of the engine, samples and agents that go or come, on average."""
    entries = 1e9 / plan.sample_every + sum(2.0 * f.action.comes_per_s for f in plan.faults)
    return sum(node.activation.rate for node in plan.nodes) < _FEW * entries


def refused(reason: str) -> "ScenarioError":
    """Return the error that says why columns cannot be taken."""
    from scenarios.language.problems import ScenarioError

    return ScenarioError.of("path", f"{COLUMNS} cannot be taken here: {reason}")


def obstacle_to_columns(plan: "Plan") -> str:
    """Return why no wake of a plan is computed in columns, in words; empty where some may be."""
    if plan.engine != "virtual":
        return f"the engine is {plan.engine}"
    if plan.server is not None:
        return "agents talk to a server"
    if plan.family == "pairs":
        return "agents talk in pairs"
    if plan.silence is not None:
        return "agents suspect neighbours that are silent (network.silence)"
    reasons = [_obstacle_of(node) for node in plan.nodes]
    return Counter(reasons).most_common(1)[0][0] if all(reasons) else ""


def _obstacle_of(node: "NodePlan") -> str:
    """Return why the wakes of an agent are not computed in columns, in words; empty where they may be."""
    from clocks.activation import Barrier
    from mechanisms.abilities import Participates, offers

    if offers(node.mechanism, Participates):
        return "releases follow participation"
    if isinstance(node.activation, Barrier):
        return "agents wake at barriers"
    return "agents take time to compute" if node.compute is not None else ""
