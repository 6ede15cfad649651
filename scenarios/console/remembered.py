"""What observers ask of a plan, as a recording tells it."""

from dataclasses import dataclass

from mechanisms.accounting.filter import Cap
from mechanisms.accounting.spend import Spend
from scenarios.facts import Facts
from scenarios.plan import Privacy


@dataclass(frozen=True, slots=True)
class _Node:
    """What a budget asks of an agent's plan."""

    id: int
    cap: Cap | None
    delta: float
    planned: tuple[Spend, ...] | None


class Remembered:
    """What observers ask of a plan, as the facts of a recording tell it."""

    def __init__(self, facts: Facts) -> None:
        self.size = facts.size
        self.groups = facts.members
        self.privacy = Privacy(
            (facts.view,), facts.accountant, facts.shows, adaptive=facts.adaptive
        )
        plans = {part.plan: facts.planned(part.plan) for part in facts.budgets}
        parts = [part for part in facts.budgets for _ in range(part.count)]
        self.nodes = [
            _Node(
                i,
                None if part.cap is None else Cap(part.cap, part.delta, part.filter),
                part.delta,
                plans[part.plan],
            )
            for i, part in enumerate(parts)
        ]
