"""The charges of every agent as events carried them, and their ε, view by view."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from actors.events import Charged, Diverged, Event
from mechanisms.abilities import HasSchedule
from mechanisms.accounting.accountants.kov_printed import ACCOUNTANT as KOV_PRINTED
from mechanisms.accounting.compose import SLOW
from mechanisms.accounting.disclosure import (
    Reader,
    at_risk,
    epsilon_of,
    largest_of_all,
    side_by_side,
)
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Case, Key, Tally, tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import EAVESDROPPER, add_in
from mechanisms.vectors import Vector
from scenarios.planning.plan import Plan
from scenarios.planning.totals import claim_of

_LIVE = 500
"""The most releases, over distinct plans, that samples compose numerically; a run with more does so at its end only."""
_AT_END = 400
"""The largest number of tallies that the last sample composes numerically: those with the largest ε."""

_KEPT = 4096
"""The largest number of figures that are kept beyond those of one sample."""

_Case = tuple[Case, Reader, bool]


_FOLDED = frozenset((Charged, Diverged))


class _View:
    """The releases that an adversary of one view has seen of every agent so far."""

    def __init__(self, view: str, ledgers: Sequence[Ledger]) -> None:
        self._view = view
        self._ledgers = ledgers
        self._bags = [Tally() for _ in ledgers]
        self._read = [0] * len(ledgers)

    def bag(self, i: int, count: int) -> Tally:
        """Return the first `count` releases of one agent, counted on from the last look."""
        if self._read[i] != count:
            spends = self._ledgers[i].since(self._read[i])[: count - self._read[i]]
            add_in(self._view, self._bags[i], spends)
            self._read[i] = count
        return self._bags[i]


class Budget:
    """Every agent's ε, by the charges that events carried: the sums behind the one rule of `accounting.disclosure`.

    Its ledgers are its own. In a run an invariant holds that they agree with those of the agents. `live` is whether samples
    compose numerically, as the run of a recording did; None decides by the plan.
    """

    def __init__(self, plan: Plan, *, live: bool | None = None) -> None:
        self._plan = plan
        self.ledgers = [Ledger() for _ in plan.nodes]
        self.counts = [0] * plan.size
        """How many releases of each agent were charged."""
        self._seen: dict[str, _View] = {}
        self._claims = [Tally() for _ in plan.nodes]
        self._claimed = [0] * plan.size
        self._stopped: set[int] = set()
        self._cache: dict[_Case, tuple[float, str]] = {}
        self._live = live
        self._known: dict[tuple[str, str, bool], dict[int, tuple[int, bool, float]]] = {}
        self._left: dict[int, tuple[int, bool, float]] = {}
        self.last = False
        """Whether this is the last look: then every accountant is asked."""

    def fold(self, events: Iterable[Event]) -> None:
        """Take the next events, in order: charges count, and agents that diverged have stopped."""
        for event in events:
            if type(event) not in _FOLDED:  # nearly all: `isinstance` would cost a run 2 % here
                continue
            if isinstance(event, Charged):
                assert event.node is not None, "an agent was charged"  # noqa: S101
                assert event.spend is not None, "a live event has its spend"  # noqa: S101
                self.charge(event.node, event.spend)
            elif isinstance(event, Diverged):
                assert event.node is not None, "an agent diverged"  # noqa: S101
                self._stopped.add(event.node)

    def charge(self, node: int, spend: Spend) -> None:
        """Count one more release of an agent."""
        self.ledgers[node].charge(spend)
        self.counts[node] += 1

    def _bag(self, i: int, view: str) -> Tally:
        """Return what is composed of one agent in a view: with all it had planned, where it diverged."""
        seen = self._seen.get(view)
        if seen is None:
            seen = self._seen[view] = _View(view, self.ledgers)
        node, count = self._plan.nodes[i], len(self.ledgers[i])
        reader = self._reader(i, view, self._plan.privacy.accountant)
        stopped = i in self._stopped
        planned = node.planned if stopped else None
        return at_risk(seen.bag(i, count), planned, count, reader, stopped=stopped)

    def _reader(self, i: int, view: str, accountant: str) -> Reader:
        node, privacy = self._plan.nodes[i], self._plan.privacy
        return Reader(
            view, accountant, node.delta, node.cap, privacy.adaptive, privacy.shows_unreleased_model
        )

    def _unplanned(self, i: int) -> bool:
        """Whether an agent was stopped by its outputs, and nothing was planned that could be charged instead."""
        return i in self._stopped and self._plan.nodes[i].planned is None

    def headline(self) -> Vector:
        """Return each node's ε in the headline view, by the headline accountant."""
        return self.by(self._plan.privacy.accountant)

    def by(self, accountant: str, view: str | None = None) -> Vector:
        """Return each node's ε by one accountant, in a view."""
        chosen = view or self._plan.privacy.view
        known = self._known.setdefault((chosen, accountant, self.last), {})
        changed = [i for i in range(self._plan.size) if self._is_new(i, known)]
        if changed:
            pairs = self._epsilons([(i, self._bag(i, chosen)) for i in changed], accountant, chosen)
            for i, (epsilon, _) in zip(changed, pairs, strict=True):
                known[i] = len(self.ledgers[i]), i in self._stopped, epsilon
        return np.array([known[i][2] for i in range(self._plan.size)])

    def _is_new(self, i: int, known: dict[int, tuple[int, bool, float]]) -> bool:
        return i not in known or known[i][:2] != (len(self.ledgers[i]), i in self._stopped)

    def _epsilons(
        self, bags: Sequence[tuple[int, Tally]], accountant: str, view: str
    ) -> list[tuple[float, str]]:
        """Return ε of bags of some nodes, at each one's δ, and the accountant that each is by."""
        cases: list[_Case] = [
            (bag.case, self._reader(i, view, accountant), self._unplanned(i)) for i, bag in bags
        ]
        self._compose({case: bag for case, (_, bag) in zip(cases, bags, strict=True)})
        return [self._cache[case] for case in cases]

    def _compose(self, cases: dict[_Case, Tally]) -> None:
        """Compose what has not been composed: numerically too where there is little of it, or at the end."""
        new = {case: bag for case, bag in cases.items() if case not in self._cache}
        without = () if self.is_live else SLOW
        for (key, reader, stopped), bag in new.items():
            self._cache[key, reader, stopped] = epsilon_of(
                bag, reader, unplanned_stop=stopped, but=without
            )
        if self.last and without:
            largest = sorted(cases, key=lambda case: -self._cache[case][0])[:_AT_END]
            for key, reader, stopped in largest:
                bag = cases[key, reader, stopped]
                self._cache[key, reader, stopped] = epsilon_of(bag, reader, unplanned_stop=stopped)
        for case in list(self._cache)[: max(0, len(self._cache) - _KEPT - 2 * len(cases))]:
            if case not in cases:  # the oldest: a ledger that grew is not met again
                del self._cache[case]

    @property
    def is_live(self) -> bool:
        """Whether samples compose numerically: by the plan, so that a run's figures are all of one kind."""
        if self._live is None:
            self._live = self._has_few_schedules()
        return self._live

    def _has_few_schedules(self) -> bool:
        """Whether the releases that the agents plan are known, and cheap to compose at every sample."""
        schedules = set[Key]()
        for node in self._plan.nodes:
            mechanism, degree = node.mechanism, len(node.neighbours)
            spends = mechanism.schedule(degree) if isinstance(mechanism, HasSchedule) else ()
            if spends is None:
                return False
            schedules.add(tally(spends).coarse)
            if sum(times for key in schedules for _, times in key) > _LIVE:
                return False
        return True

    def epsilon_of(self, node: int) -> float:
        """Return one node's ε in the headline view: what `headline` says of it, now."""
        privacy = self._plan.privacy
        known = self._known.get((privacy.view, privacy.accountant, self.last), {})
        if not self._is_new(node, known):
            return known[node][2]
        bag = self._bag(node, privacy.view)
        return self._epsilons([(node, bag)], privacy.accountant, privacy.view)[0][0]

    def claimed(self) -> Vector:
        """Return each node's ε as its calibration claims it."""
        for i, count in enumerate(self.counts):
            if self._claimed[i] != count:
                self._claims[i].take(map(claim_of, self.ledgers[i].since(self._claimed[i])))
                self._claimed[i] = count
        privacy = self._plan.privacy
        pure = not any(bag.sums.mu_squares for bag in self._claims)
        accountant = KOV_PRINTED.name if privacy.misprinted and pure else privacy.accountant
        epsilons = self._epsilons(list(enumerate(self._claims)), accountant, EAVESDROPPER)
        return np.array([epsilon for epsilon, _ in epsilons])

    def left(self) -> Vector:
        """Return what each node's cap leaves, as the filter counts; NaN without a cap."""
        numerical = self.is_live or self.last
        for i, (node, count) in enumerate(zip(self._plan.nodes, self.counts, strict=True)):
            if i not in self._left or self._left[i][:2] != (count, numerical):
                left, cap = math.nan, node.cap
                if cap is not None:
                    spent = cap.spent(self.ledgers[i].tally, numerical=numerical)
                    left = max(0.0, cap.epsilon - spent)
                self._left[i] = count, numerical, left
        return np.array([self._left[i][2] for i in range(self._plan.size)])

    def without(self, gone: Sequence[Sequence[int]]) -> Vector:
        """Return, of each node, ε of its ledger minus ε of its ledger without some releases."""
        privacy, kept = self._plan.privacy, list[tuple[int, Tally]]()
        for i, (ledger, lost) in enumerate(zip(self.ledgers, gone, strict=True)):
            dropped = set(lost)
            heard = (s for k, s in enumerate(ledger.spends) if k not in dropped)
            planned = self._plan.nodes[i].planned if i in self._stopped else None
            reader = self._reader(i, privacy.view, privacy.accountant)
            bag = add_in(privacy.view, Tally(), heard)
            stopped = i in self._stopped
            kept.append((i, at_risk(bag, planned, len(ledger), reader, stopped=stopped)))
        whole = self.by(privacy.accountant)
        rest = np.array([e for e, _ in self._epsilons(kept, privacy.accountant, privacy.view)])
        return np.maximum(0.0, np.where(whole == rest, 0.0, whole - rest))

    def accountant_name(self) -> str:
        """Return the accountant that the headline of the worst agent is by."""
        privacy = self._plan.privacy
        worst = int(np.argmax(self.headline()))
        bag = self._bag(worst, privacy.view)
        return self._epsilons([(worst, bag)], privacy.accountant, privacy.view)[0][1]

    def terms(self) -> str:
        """Return what an ε stands with: view, δ and accountant."""
        deltas = {node.delta for node in self._plan.nodes}
        equals = "=" if len(deltas) == 1 else "≤"
        return (
            f"{self._plan.privacy.view} view, δ {equals} {max(deltas):g}, {self.accountant_name()}"
        )

    def side_by_side(self) -> dict[str, float]:
        """Return the largest ε over nodes under every accountant that is valid for all ledgers that are not empty."""
        each = list[dict[str, float]]()
        privacy, bags = self._plan.privacy, dict[_Case, Tally]()
        for i in range(self._plan.size):
            bag = self._bag(i, privacy.view)
            if len(bag):
                reader = self._reader(i, privacy.view, privacy.accountant)
                bags[bag.case, reader, self._unplanned(i)] = bag
        largest = sorted(bags, key=lambda case: -bags[case].sums.pure - bags[case].sums.mu_squares)
        for number, case in enumerate(largest):
            but = SLOW if number >= _AT_END else ()
            _, reader, stopped = case
            each.append(side_by_side(bags[case], reader, unplanned_stop=stopped, but=but))
        return largest_of_all(each)
