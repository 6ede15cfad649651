"""What observers ask of a plan, as a recording tells it."""

from mechanisms.accounting.filter import Cap
from mechanisms.accounting.spend import Spend
from scenarios.facts import Facts
from scenarios.plan import Privacy


class _Planned:
    """What an agent meant to release, as its mechanism said."""

    def __init__(self, planned: tuple[Spend, ...] | None) -> None:
        self._planned = planned

    def schedule(self, _: int) -> tuple[Spend, ...] | None:
        """Return all of it."""
        return self._planned


class _Node:
    """What a budget asks of an agent's plan."""

    __slots__ = ("cap", "delta", "id", "mechanism", "neighbours")

    def __init__(self, number: int, cap: Cap | None, delta: float, mechanism: _Planned) -> None:
        self.id, self.cap, self.delta, self.mechanism = number, cap, delta, mechanism
        self.neighbours = ()


class Remembered:
    """What observers ask of a plan, as the facts of a recording tell it."""

    def __init__(self, facts: Facts) -> None:
        self.size = facts.size
        self.groups = facts.members
        self.privacy = Privacy(
            (facts.view,), facts.accountant, facts.shows, adaptive=facts.adaptive
        )
        plans = {part.plan: _Planned(facts.planned(part.plan)) for part in facts.budgets}
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
