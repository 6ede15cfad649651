"""Metrics of what privacy costs: ledgers under every accountant, what was paid in vain, and what attackers get."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mechanisms.vectors import Vector
from scenarios.planning.plan import Plan
from scenarios.records.budget import Budget
from scenarios.records.release_fates import Fates

AtEnd = Mapping[str, Callable[[Plan], float]]
"""How each metric is computed that runs the plan again: by the room `auditing`, which the caller hands in."""

_NAMED = ("basic", "kov", "zcdp", "rdp", "pld", "gaussian")


def routes(
    plan: Plan, budget: Budget, fates: Fates | None, at_end: AtEnd
) -> dict[str, Callable[[], Any]]:
    """Return a function for each metric: it takes nothing and returns the metric's value or values."""

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
        **{name: partial(found, plan) for name, found in at_end.items()},
    }
