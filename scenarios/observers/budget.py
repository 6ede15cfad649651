"""Recomputes every ledger from the charges that were told, and turns it into ε, view by view."""

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from actors.events import Charged, Diverged, Event
from mechanisms.accounting.compose import headline, totals
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Case, Key, Tally, loss_of, tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import AGGREGATE, epsilon_in, seen_in
from mechanisms.vectors import Vector
from scenarios.plan import Plan
from scenarios.promises import claim_of

_LIVE = 500
"""So many numerical compositions a run's samples may cost in all; what would cost more is left to the end."""
_AT_END = 400
_NUMERICAL = ("pld",)

_KEPT = 4096
"""So many bags' figures are remembered beyond those of one look."""

_Case = tuple[Case, float, str, bool]


class Budget:
    """A fold over `charged` events; it must agree with the agents' own ledgers."""

    kinds: tuple[type[Event], ...] = (Charged, Diverged)

    def __init__(self, plan: Plan, ledgers: Sequence[Ledger]) -> None:
        self._plan = plan
        self._ledgers = ledgers
        self.counts = [0] * plan.size
        self._bags = [Tally() for _ in plan.nodes]
        self._claims = [Tally() for _ in plan.nodes]
        self._summed: list[Tally] | None = None
        self._read = [0] * plan.size
        self._stopped: set[int] = set()
        self._cache: dict[_Case, tuple[float, str]] = {}
        self._live: bool | None = None
        self._told: dict[tuple[str, str, bool], dict[int, tuple[int, float]]] = {}
        self._left: dict[int, tuple[int, float]] = {}
        self.last = False
        """Whether this is the last look: then every accountant is asked."""

    def __call__(self, event: Event) -> None:
        node = event.node
        assert node is not None, "an agent was charged"  # noqa: S101
        if isinstance(event, Charged):
            self.counts[node] += 1
        else:
            self._stopped.add(node)

    def _catch_up(self) -> None:
        """Count anew what was charged since the last look, from the spends themselves."""
        for i in range(len(self._ledgers)):
            self._read_on(i)

    def _read_on(self, i: int) -> None:
        if self._read[i] != self.counts[i]:
            for spend, run in groupby(self._ledgers[i].since(self._read[i])):
                self._count(i, spend, sum(1 for _ in run))
            self._read[i] = self.counts[i]

    def _count(self, i: int, spend: Spend, times: int) -> None:
        if spend.summed is not None and self._summed is None:
            self._summed = [Tally(bag.key) for bag in self._bags]
        self._bags[i].add(loss_of(spend), times)
        self._claims[i].add(loss_of(claim_of(spend)), times)
        if self._summed is not None:
            self._summed[i].add(loss_of(seen_in(AGGREGATE, spend)), times)

    def headline(self) -> Vector:
        """Return each node's ε in the headline view, by the headline accountant."""
        return self.by(self._plan.privacy.accountant)

    def by(self, accountant: str, view: str | None = None) -> Vector:
        """Return each node's ε by one accountant, in a view."""
        self._catch_up()
        chosen = view or self._plan.privacy.view
        told = self._told.setdefault((chosen, accountant, self.last), {})
        changed = [
            i
            for i, read in enumerate(self._read)
            if i not in told or told[i][0] != read or i in self._stopped
        ]
        if changed:
            bags = self._bags_in(chosen)
            found = self.epsilons([(i, bags[i]) for i in changed], accountant)
            shows = self._plan.privacy.shows_unreleased_model
            for i, e in zip(changed, found, strict=True):
                seen = epsilon_in(chosen, e, shows_unreleased_model=shows)
                told[i] = self._read[i], seen
        return np.array([told[i][1] for i in range(len(self._read))])

    def _bags_in(self, view: str) -> list[Tally]:
        """What is told of each ledger in a view."""
        self._catch_up()
        summed = view == AGGREGATE and self._summed is not None
        bags = self._summed if summed and self._summed is not None else self._bags
        return [self._whole(i, bag) for i, bag in enumerate(bags)]

    def _whole(self, i: int, bag: Tally) -> Tally:
        """Count what was still planned, too, of an agent whose own outputs made it stop (theory.md, 5.5)."""
        planned = self._plan.nodes[i].planned if i in self._stopped else None
        if planned is None:
            return bag
        return Tally(bag.key).take(planned[len(self._ledgers[i]) :])

    def _adaptive(self, i: int) -> bool:
        """Whether an agent's releases, or their end, may have depended on its outputs."""
        stopped = i in self._stopped and self._plan.nodes[i].planned is None
        return stopped or self._plan.privacy.adaptive

    def epsilons(self, bags: Sequence[tuple[int, Tally]], accountant: str) -> list[float]:
        """Return ε of bags of some nodes, at each one's δ."""
        nodes = self._plan.nodes
        cases = [(bag.case, nodes[i].delta, accountant, self._adaptive(i)) for i, bag in bags]
        self._find({case: bag for case, (_, bag) in zip(cases, bags, strict=True)})
        found = [self._cache[case][0] for case in cases]
        if self._plan.privacy.adaptive and accountant == "tightest":
            # what is proved is the cap that was set in advance
            found = [
                e if (cap := nodes[i].cap) is None or not len(bag) else min(e, cap.epsilon)
                for e, (i, bag) in zip(found, bags, strict=True)
            ]
        return found

    def _find(self, cases: dict[_Case, Tally]) -> None:
        """Compose what has not been composed: numerically too where there is little of it, or at the end."""
        new = {case: bag for case, bag in cases.items() if case not in self._cache}
        without = () if self.is_live else _NUMERICAL
        for case, bag in new.items():
            _, delta, accountant, adaptive = case
            self._cache[case] = headline(bag, delta, accountant, adaptive=adaptive, but=without)
        if self.last and without:
            largest = sorted(cases, key=lambda case: -self._cache[case][0])[:_AT_END]
            for case in largest:
                _, delta, accountant, adaptive = case
                self._cache[case] = headline(cases[case], delta, accountant, adaptive=adaptive)
        for case in list(self._cache)[: max(0, len(self._cache) - _KEPT - 2 * len(cases))]:
            if case not in cases:  # the oldest: a ledger that grew is not met again
                del self._cache[case]

    @property
    def is_live(self) -> bool:
        """Whether samples compose numerically: by the plan, so that a run's figures are all of one kind."""
        if self._live is None:
            schedules = set[Key]()
            for node in self._plan.nodes:
                schedule = getattr(node.mechanism, "schedule", None)
                spends = () if schedule is None else schedule(len(node.neighbours))
                if spends is None:
                    return bool(self._set_live(live=False))
                schedules.add(tally(spends).coarse)
                if sum(times for key in schedules for _, times in key) > _LIVE:
                    return bool(self._set_live(live=False))
            self._set_live(live=True)
        return bool(self._live)

    def recall(self, *, live: bool) -> None:
        """Compose as a run that is over did."""
        self._live = live

    def _set_live(self, *, live: bool) -> bool:
        self._live = live
        return live

    def epsilon_of(self, node: int) -> float:
        """Return one node's ε in the headline view: what `headline` says of it, now."""
        self._read_on(node)
        privacy, bag = self._plan.privacy, self._bags[node]
        told = self._told.get((privacy.view, privacy.accountant, self.last), {}).get(node)
        if told is not None and told[0] == self._read[node] and node not in self._stopped:
            return told[1]
        if privacy.view == AGGREGATE and self._summed is not None:
            bag = self._summed[node]
        (found,) = self.epsilons([(node, self._whole(node, bag))], privacy.accountant)
        return epsilon_in(
            privacy.view, found, shows_unreleased_model=privacy.shows_unreleased_model
        )

    def claimed(self) -> Vector:
        """Return each node's ε as its calibration claims it."""
        self._catch_up()
        privacy = self._plan.privacy
        pure = not any(bag.sums.mu_squares for bag in self._claims)
        accountant = "kov_printed" if privacy.misprinted and pure else privacy.accountant
        return np.array(self.epsilons(list(enumerate(self._claims)), accountant))

    def left(self) -> Vector:
        """Return what each node's cap leaves, as the filter counts; NaN without a cap."""
        self._catch_up()
        for i, (node, read) in enumerate(zip(self._plan.nodes, self._read, strict=True)):
            if i not in self._left or self._left[i][0] != read:
                cap = node.cap
                left = math.nan if cap is None else max(0.0, cap.epsilon - cap.spent(self._bags[i]))
                self._left[i] = read, left
        return np.array([self._left[i][1] for i in range(len(self._read))])

    def without(self, gone: Sequence[Sequence[int]]) -> Vector:
        """Return, of each node, ε of its ledger minus ε of its ledger without some releases."""
        kept = []
        for i, (ledger, lost) in enumerate(zip(self._ledgers, gone, strict=True)):
            dropped = set(lost)
            seen = (seen_in(self._plan.privacy.view, s) for s in ledger.spends)
            kept.append(self._whole(i, tally(s for k, s in enumerate(seen) if k not in dropped)))
        whole = self.by(self._plan.privacy.accountant)
        rest = np.array(self.epsilons(list(enumerate(kept)), self._plan.privacy.accountant))
        return np.maximum(0.0, np.where(whole == rest, 0.0, whole - rest))

    def accountant_name(self) -> str:
        """Return whose arithmetic the headline of the worst node is by."""
        privacy = self._plan.privacy
        worst = int(np.argmax(self.headline()))
        bag, node = self._bags_in(privacy.view)[worst], self._plan.nodes[worst]
        case = bag.case, node.delta, privacy.accountant, self._adaptive(worst)
        self._find({case: bag})
        value, name = self._cache[case]
        if privacy.adaptive and node.cap is not None and node.cap.epsilon < value:
            return f"{node.cap.accountant} filter"
        return name

    def terms(self) -> str:
        """Return what an ε stands with: view, δ and accountant."""
        deltas = {node.delta for node in self._plan.nodes}
        equals = "=" if len(deltas) == 1 else "≤"
        return (
            f"{self._plan.privacy.view} view, δ {equals} {max(deltas):g}, {self.accountant_name()}"
        )

    def side_by_side(self) -> dict[str, float]:
        """Return the largest ε over nodes under every accountant that is valid for some ledger."""
        found: dict[str, float] = {}
        bags = {
            (bag.case, node.delta, self._adaptive(node.id)): bag
            for bag, node in zip(
                self._bags_in(self._plan.privacy.view), self._plan.nodes, strict=True
            )
            if len(bag)
        }
        largest = sorted(bags, key=lambda case: -bags[case].sums.pure - bags[case].sums.mu_squares)
        for number, case in enumerate(largest):
            but = _NUMERICAL if number >= _AT_END else ()
            told = totals(bags[case], case[1], adaptive=case[2], but=but)
            for name, value in told.items():
                found[name] = max(value, found.get(name, 0.0))
        return found
