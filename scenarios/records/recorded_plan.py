"""The part of a plan that observers need, made from the facts of a recording."""

from dataclasses import dataclass

from mechanisms.accounting.filter import Cap
from mechanisms.accounting.loss import tally
from mechanisms.accounting.spend import Spend
from scenarios.planning.privacy_terms import Privacy
from scenarios.records.world_facts import Budgeted, Facts


@dataclass(frozen=True, slots=True)
class _Node:
    """The part of an agent's plan that a budget needs."""

    id: int
    cap: Cap | None
    delta: float
    planned: tuple[Spend, ...] | None


class Remembered:
    """The part of a plan that observers need, made from the facts of a recording."""

    def __init__(self, facts: Facts) -> None:
        self.size = facts.size
        self.groups = facts.members
        self.privacy = Privacy(
            (facts.view,), facts.accountant, facts.shows, adaptive=facts.adaptive
        )
        plans = {part.plan: facts.planned(part.plan) for part in facts.budgets}
        caps = {part: _cap(part, plans[part.plan]) for part in facts.budgets}
        parts = [part for part in facts.budgets for _ in range(part.count)]
        self.nodes = [
            _Node(i, caps[part], part.delta, plans[part.plan]) for i, part in enumerate(parts)
        ]


def _cap(part: Budgeted, planned: tuple[Spend, ...] | None) -> Cap | None:
    """Return the cap of agents with one budget, with the plan that was calibrated for it."""
    if part.cap is None:
        return None
    cap = Cap(part.cap, part.delta, part.filter)
    return cap if planned is None else cap.planning(tally(planned))
