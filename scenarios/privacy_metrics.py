"""Metrics of what privacy costs: ledgers under every accountant, what was paid in vain, and what attackers get."""

import math
from collections.abc import Callable
from typing import Any

from mechanisms.vectors import Vector
from scenarios.observers.budget import Budget
from scenarios.observers.fates import Fates
from scenarios.plan import Plan
from scenarios.problem import ScenarioError

_FEWEST, _MOST, _RELEASES = 600, 2000, 6000
_NAMED = ("basic", "kov", "zcdp", "rdp", "pld", "gaussian")


def routes(plan: Plan, budget: Budget, fates: Fates | None) -> dict[str, Callable[[], Any]]:
    """Return how each metric is found."""

    def in_vain(which: Callable[[Fates], list[list[int]]]) -> Callable[[], Vector]:
        def found() -> Vector:
            assert fates is not None, "followed where it is asked for"  # noqa: S101
            return budget.without(which(fates))

        return found

    def under(accountant: str) -> Callable[[], Vector]:
        return lambda: budget.by(accountant)

    return {f"epsilon.{name}": under(name) for name in _NAMED} | {
        "epsilon": budget.headline,
        "epsilon.claimed": budget.claimed,
        "epsilon.left": budget.left,
        "epsilon.unsent": in_vain(Fates.unsent),
        "epsilon.unheard": in_vain(Fates.unheard),
        "epsilon.unread": in_vain(Fates.unread),
        "epsilon.audited": lambda: _audited(plan),
        "attack.kkt": lambda: _recovered(plan, 0),
        "attack.kkt.secret": lambda: _recovered(plan, 1),
    }


def _audited(plan: Plan) -> float:
    """A lower bound on ε at 95 %, from 600 to 2,000 runs each way of this plan, on the worst data known.

    As many as give 6,000 releases: the number depends on the plan alone, not on the machine.
    """
    from scenarios.auditor import Order, audit

    try:
        planned = sum(node.mechanism.planned or 1 for node in plan.nodes)
        runs = min(_MOST, max(_FEWEST, _RELEASES // max(1, planned)))
        return audit(Order(plan, runs)).lower
    except ScenarioError:
        return math.nan


def _recovered(plan: Plan, knowing: int) -> float:
    """How far the KKT attacker is from the first record of agent 0: η known, or secret."""
    from scenarios.attack_kkt import kkt

    try:
        return kkt(plan).recovered[knowing].error
    except ScenarioError:
        return math.nan
