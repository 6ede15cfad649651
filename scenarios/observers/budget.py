"""Recomputes every ledger from the charges that were told, and turns it into ε."""

import math
from dataclasses import replace
from itertools import groupby

import numpy as np

from actors.events import Charged, Event
from mechanisms.accounting.compose import Sums, headline, totals
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import epsilon_in
from mechanisms.vectors import Vector
from scenarios.plan import Plan


class Budget:
    """A fold over `charged` events; it must agree with the agents' own ledgers."""

    kinds: tuple[type[Event], ...] = (Charged,)

    def __init__(self, plan: Plan, ledgers: list[Ledger]) -> None:
        self._plan = plan
        self._ledgers = ledgers
        self.counts = [0] * plan.size
        self._sums = [Sums()] * plan.size
        self._claims = [Sums()] * plan.size
        self._read = [0] * plan.size
        self._cache: dict[tuple[Sums, float, str], float] = {}

    def __call__(self, event: Charged) -> None:
        assert event.node is not None, "an agent was charged"  # noqa: S101
        self.counts[event.node] += 1

    def _catch_up(self) -> None:
        """Compose anew what was charged since the last look, from the spends themselves."""
        for i, ledger in enumerate(self._ledgers):
            if self._read[i] == self.counts[i]:
                continue
            for spend, run in groupby(ledger.since(self._read[i])):
                times = sum(1 for _ in run)
                self._sums[i] = self._sums[i].plus(spend, times)
                self._claims[i] = self._claims[i].plus(_claim(spend), times)
            self._read[i] = self.counts[i]

    def headline(self) -> Vector:
        """Return each node's ε in the headline view, by the headline accountant."""
        return self.by(self._plan.privacy.accountant)

    def by(self, accountant: str, view: str | None = None) -> Vector:
        """Return each node's ε by one accountant, in a view."""
        self._catch_up()
        return self._epsilons(self._sums, accountant, view)

    def epsilon_of(self, node: int) -> float:
        """Return one node's ε in the headline view, as of the last look at all."""
        privacy = self._plan.privacy
        composed = self._one(self._sums[node], self._plan.nodes[node].delta, privacy.accountant)
        shows = privacy.shows_unreleased_model
        return epsilon_in(privacy.view, composed, shows_unreleased_model=shows)

    def claimed(self) -> Vector:
        """Return each node's ε as its calibration claims it."""
        self._catch_up()
        privacy = self._plan.privacy
        accountant = "kov_printed" if privacy.misprinted else privacy.accountant
        return self._epsilons(self._claims, accountant, None)

    def left(self) -> Vector:
        """Return what each node's cap leaves, as the filter counts; NaN without a cap."""
        self._catch_up()
        caps = [node.cap for node in self._plan.nodes]
        return np.array(
            [
                math.nan if cap is None else max(0.0, cap.epsilon - cap.spent(total))
                for cap, total in zip(caps, self._sums, strict=True)
            ]
        )

    def _epsilons(self, sums: list[Sums], accountant: str, view: str | None) -> Vector:
        privacy = self._plan.privacy
        chosen, shows = view or privacy.view, privacy.shows_unreleased_model
        found = np.empty(len(sums))
        for i, total in enumerate(sums):
            composed = self._one(total, self._plan.nodes[i].delta, accountant)
            found[i] = epsilon_in(chosen, composed, shows_unreleased_model=shows)
        return found

    def _one(self, total: Sums, delta: float, accountant: str) -> float:
        if not total.releases:
            return 0.0
        key = (total, delta, accountant)
        if key not in self._cache:
            if len(self._cache) > 100_000:
                self._cache.clear()
            self._cache[key] = headline(total, delta, accountant)[0]
        return self._cache[key]

    def accountant_name(self) -> str:
        """Return whose arithmetic the headline of the worst node is by."""
        self._catch_up()
        worst = int(np.argmax(self.headline()))
        total = self._sums[worst]
        return headline(total, self._plan.nodes[worst].delta, self._plan.privacy.accountant)[1]

    def terms(self) -> str:
        """Return what an ε stands with: view, δ and accountant."""
        delta = max(node.delta for node in self._plan.nodes)
        return f"{self._plan.privacy.view} view, δ = {delta:g}, {self.accountant_name()}"

    def side_by_side(self) -> dict[str, float]:
        """Return the largest ε over nodes under every accountant that is valid for some ledger."""
        self._catch_up()
        found: dict[str, float] = {}
        for total, node in zip(self._sums, self._plan.nodes, strict=True):
            if total.releases:
                for name, value in totals(total, node.delta).items():
                    found[name] = max(value, found.get(name, 0.0))
        return found


def _claim(spend: Spend) -> Spend:
    if spend.claimed == spend.charged:
        return spend
    return replace(spend, charged=spend.claimed)
