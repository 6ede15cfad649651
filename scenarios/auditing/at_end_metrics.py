"""Metrics that are computed once, at the end of a run, by running its plan again."""

import math

from scenarios.language.problems import ScenarioError
from scenarios.planning.plan import Plan
from scenarios.running.snapshot import Rerun

_FEWEST, _MOST, _RELEASES = 600, 2000, 6000


def _audited(plan: Plan) -> float:
    """Return a lower bound on ε at 95 %, from 600 to 2,000 runs each way of this plan, on the worst data known.

    The number of runs gives about 6,000 releases: it depends on the plan alone, not on the machine.
    NaN means that this plan cannot be audited.
    """
    from scenarios.auditing.audit import Order, audit

    try:
        planned = sum(node.mechanism.planned or 1 for node in plan.nodes)
        runs = min(_MOST, max(_FEWEST, _RELEASES // max(1, planned)))
        return audit(Order(plan, runs)).lower
    except ScenarioError:
        return math.nan


def _recovered(plan: Plan, knowing: int) -> float:
    """Return the distance of the KKT attacker's guess from the first record of agent 0.

    `knowing` is 0 where the attacker knows η, and 1 where η is secret. NaN means that the plan cannot be attacked.
    """
    from scenarios.auditing.kkt_attack import kkt

    try:
        return kkt(plan).recovered[knowing].error
    except ScenarioError:
        return math.nan


AT_END_METRICS: Rerun = {
    "epsilon.audited": _audited,
    "attack.kkt": lambda plan: _recovered(plan, 0),
    "attack.kkt.secret": lambda plan: _recovered(plan, 1),
}
