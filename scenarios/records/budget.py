"""The charges of every agent as events carried them, and their ε, view by view."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.events import Charged, Diverged, Event
from actors.log import Batch
from actors.turns import Turns
from mechanisms.abilities import HasSchedule
from mechanisms.accounting.accountants.basic import ACCOUNTANT as BASIC
from mechanisms.accounting.accountants.kov_printed import ACCOUNTANT as KOV_PRINTED
from mechanisms.accounting.compose import SLOW
from mechanisms.accounting.disclosure import (
    Reader,
    at_risk,
    epsilon_of,
    largest_of_all,
    side_by_side,
    simplest,
)
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Case, Key, Tally, tally
from mechanisms.accounting.spend import Spend, claim_of
from mechanisms.accounting.views import EAVESDROPPER, add_in
from mechanisms.vectors import Vector
from scenarios.records.courses import NONE, OWN, Courses, Numbers

if TYPE_CHECKING:
    from scenarios.planning.plan import Plan

_LIVE = 500
"""The most releases, over distinct plans, that samples compose numerically; a run with more does so at its end only."""
_AT_END = 400
"""The largest number of tallies that the last sample composes numerically: those with the largest ε."""

_KEPT = 4096
"""The largest number of figures that are kept beyond those of one sample."""

_Case = tuple[Case, Reader, bool]
_FOLDED: frozenset[type[Event]] = frozenset((Charged, Diverged))
Spender = Callable[[Tally, Iterable[Spend]], object]
"""Counts spends in a bag, as an adversary of some view sees them, or as they are claimed."""


class Terms(NamedTuple):
    """With what an agent's ε stands: agents with equal terms and equal charges have one ε."""

    delta: float
    cap: Cap | None
    planned: Key | None
    """The bag that the cap holds without a filter: caps are equal although these are not."""


class Classes(NamedTuple):
    """The agents in classes: all of one have made the same releases, under the same terms."""

    of: NDArray[np.int64]
    """The class of each agent."""
    first: NDArray[np.int64]
    """The first agent of each class: classes are in the order of these."""
    names: list[tuple[int, ...]]
    """What the agents of each class have in common: no later class of another content has that name."""


class _Bags:
    """The releases of agents as one reader of charges counts them, brought up to date when they are asked for.

    A bag is valid until the next one is asked for: agents whose courses cost the same share it while it grows.
    """

    def __init__(self, courses: Courses, count: Spender) -> None:
        self._courses, self._count = courses, count
        self._of_kind: dict[int, Tally] = {}
        self._of_agent: dict[int, Tally] = {}

    def of(self, agent: int) -> Tally:
        """Return all that an agent was charged."""
        kind, made = self._courses.kind(agent), int(self._courses.counts[agent])
        bags, key = (self._of_agent, agent) if kind in {NONE, OWN} else (self._of_kind, kind)
        bag = bags.get(key)
        if bag is None or len(bag) > made:
            bag = bags[key] = Tally()
        if len(bag) < made:
            self._count(bag, self._courses.since(agent, len(bag)))
        return bag


def _seen_in(view: str) -> Spender:
    def count(bag: Tally, spends: Iterable[Spend]) -> None:
        add_in(view, bag, spends)

    return count


def _claimed(bag: Tally, spends: Iterable[Spend]) -> None:
    bag.take(map(claim_of, spends))


def _charged(bag: Tally, spends: Iterable[Spend]) -> None:
    bag.take(spends)


class Budget:
    """Every agent's ε, by the charges that events carried: the sums behind the one rule of `accounting.disclosure`.

    Its charges are its own. In a run an invariant holds that they agree with the ledgers of the agents. ε is composed once
    for all agents with equal charges under equal terms. `live` is whether samples compose numerically, as the run of a
    recording did; None decides by the plan.
    """

    def __init__(self, plan: "Plan", *, live: bool | None = None) -> None:
        self._plan = plan
        self._courses = Courses(node.planned for node in plan.nodes)
        self._terms: list[Terms] = []
        self._terms_of = self._numbered_terms()
        self._stopped = np.zeros(plan.size, dtype=bool)
        self._bags: dict[str, _Bags] = {}
        self._claims = _Bags(self._courses, _claimed)
        self._spent = _Bags(self._courses, _charged)
        self._cache: dict[tuple[_Case, tuple[str, ...]], tuple[float, str]] = {}
        self._live = live
        self._known: dict[tuple[str, str, bool], dict[tuple[int, ...], float]] = {}
        self._left: dict[bool, dict[tuple[int, ...], float]] = {}
        self._classes: Classes | None = None
        self.last = False
        """Whether this is the last look: then every accountant is asked."""

    def _numbered_terms(self) -> Numbers:
        """Number what agents' ε stand with; return the number of each agent."""
        numbers: dict[Terms, int] = {}
        seen: dict[tuple[float, int], int] = {}
        each = []
        for node in self._plan.nodes:
            key = node.delta, id(node.cap)
            number = seen.get(key)
            if number is None:
                planned = None if node.cap is None else node.cap.planned
                terms = Terms(node.delta, node.cap, None if planned is None else planned.key)
                number = seen[key] = numbers.setdefault(terms, len(numbers))
            each.append(number)
        self._terms = list(numbers)
        return np.array(each, np.int64)

    @property
    def counts(self) -> Numbers:
        """How many releases of each agent were charged."""
        return self._courses.counts

    @property
    def courses(self) -> Numbers:
        """The number of each agent's course: agents of one course and count made equal releases; negative for others."""
        return self._courses.course

    def ledger(self, node: int) -> Ledger:
        """Return the charges of one agent."""
        return self._courses.ledger(node)

    def since(self, node: int, first: int) -> list[Spend]:
        """Return the spends of one agent from release `first` on."""
        return self._courses.since(node, first)

    def fold(self, batch: Batch | Iterable[Event]) -> None:
        """Take the next events, in order: charges count, and agents that diverged have stopped."""
        table = batch.spends.table if isinstance(batch, Batch) else []
        for part in batch.parts_of(_FOLDED) if isinstance(batch, Batch) else batch:
            if isinstance(part, Turns):
                made = part.released
                self.charge_many(part.agent[made], part.spend[made], table)
            elif type(part) not in _FOLDED:
                continue
            elif isinstance(part, Charged):
                assert part.node is not None, "an agent was charged"  # noqa: S101
                assert part.spend is not None, "a live event has its spend"  # noqa: S101
                self.charge(part.node, part.spend)
            elif isinstance(part, Diverged):
                assert part.node is not None, "an agent diverged"  # noqa: S101
                if part.node < self._plan.size:  # a server has no ledger
                    self._stopped[part.node] = True
                    self._classes = None

    def charge(self, node: int, spend: Spend) -> None:
        """Count one more release of an agent."""
        self._courses.charge(node, spend)
        self._classes = None

    def charge_many(self, agents: Numbers, places: Numbers, table: list[Spend]) -> None:
        """Count releases of agents in their order; `places` says where in a table of spends each one's is."""
        self._courses.charge_many(agents, places, table)
        self._classes = None

    def classes(self) -> Classes:
        """Return the agents in classes of equal charges under equal terms, as of now."""
        if self._classes is None:
            self._classes = self._classified()
        return self._classes

    def _classified(self) -> Classes:
        courses, size = self._courses, self._plan.size
        own = np.where(courses.course == OWN, np.arange(size) + 1, 0)
        columns = (
            own,
            courses.kinds,
            self._terms_of,
            self._stopped.astype(np.int64),
            courses.counts,
        )
        codes = np.zeros(size, np.int64)
        for column in columns:
            lowest, most = int(column.min(initial=0)), int(column.max(initial=0))
            codes = codes * (most - lowest + 1) + (column - lowest)
            if int(codes.max(initial=0)) >= 1 << 31:  # the next product must fit 64 bits
                codes = np.unique(codes, return_inverse=True)[1]
        _, firsts, of = np.unique(codes, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = firsts[order]
        names = [tuple(name) for name in np.column_stack([c[first] for c in columns]).tolist()]
        return Classes(place[of], first, names)

    def bags(self, agents: Sequence[int]) -> Iterator[tuple[int, Tally]]:
        """Yield agents, in an order that is quick, each with the bag of all its charges: valid until the next one."""
        for i in self._in_order(agents):
            yield i, self._spent.of(i)

    def _bag(self, i: int, view: str) -> Tally:
        """Return what is composed of one agent in a view: with all it had planned, where it diverged."""
        bags = self._bags.get(view)
        if bags is None:
            bags = self._bags[view] = _Bags(self._courses, _seen_in(view))
        stopped = bool(self._stopped[i])
        planned = self._plan.nodes[i].planned if stopped else None
        reader = self._reader(i, view, self._plan.privacy.accountant)
        return at_risk(bags.of(i), planned, int(self.counts[i]), reader, stopped=stopped)

    def _reader(self, i: int, view: str, accountant: str) -> Reader:
        node, privacy = self._plan.nodes[i], self._plan.privacy
        return Reader(
            view, accountant, node.delta, node.cap, privacy.adaptive, privacy.shows_unreleased_model
        )

    def _unplanned(self, i: int) -> bool:
        """Whether an agent was stopped by its outputs, and nothing was planned that could be charged instead."""
        return bool(self._stopped[i]) and self._plan.nodes[i].planned is None

    def headline(self) -> Vector:
        """Return each node's ε in the headline view, by the headline accountant."""
        return self.by(self._plan.privacy.accountant)

    def by(self, accountant: str, view: str | None = None) -> Vector:
        """Return each node's ε by one accountant, in a view."""
        chosen = view or self._plan.privacy.view
        known = self._known.setdefault((chosen, accountant, self.last), {})
        classes = self.classes()
        places = [at for at, name in enumerate(classes.names) if name not in known]
        if places:
            agents = classes.first[places].tolist()
            pairs = self._epsilons(agents, lambda i: self._bag(i, chosen), accountant, chosen)
            for at, (epsilon, _) in zip(places, pairs, strict=True):
                known[classes.names[at]] = epsilon
            if len(known) > _KEPT + 2 * len(classes.names):
                known = {name: known[name] for name in classes.names}
                self._known[chosen, accountant, self.last] = known
        return np.array([known[name] for name in classes.names])[classes.of]

    def _epsilons(
        self, agents: Sequence[int], bag_of: Callable[[int], Tally], accountant: str, view: str
    ) -> list[tuple[float, str]]:
        """Return ε of the bags of some agents, at each one's δ, and the accountant that each is by.

        What has not been composed is: numerically too where there is little of it, or at the end.
        """
        without = () if self.is_live else SLOW
        epsilons: dict[int, tuple[float, str]] = {}
        cases: dict[int, _Case] = {}
        for i in self._in_order(agents):
            bag = bag_of(i)
            reader = simplest(self._reader(i, view, accountant), bag)
            case = cases[i] = bag.case, reader, self._unplanned(i)
            epsilons[i] = self._epsilon(bag, case, without)
        if self.last and without:
            first_of = {cases[i]: i for i in reversed(agents)}
            largest = sorted(first_of, key=lambda case: -epsilons[first_of[case]][0])[:_AT_END]
            exact = {case: self._epsilon(bag_of(first_of[case]), case) for case in largest}
            epsilons = {i: exact.get(cases[i], epsilon) for i, epsilon in epsilons.items()}
        spare = len(self._cache) - _KEPT - 4 * len(agents)
        for key in list(self._cache)[: max(0, spare)]:
            del self._cache[key]  # the oldest: a ledger that grew is not met again
        return [epsilons[i] for i in agents]

    def _epsilon(self, bag: Tally, case: _Case, but: tuple[str, ...] = ()) -> tuple[float, str]:
        """Return ε of one case, and the accountant that it is by; some accountants are not asked."""
        known = self._cache.get((case, but))
        if known is None:
            _, reader, stopped = case
            known = epsilon_of(bag, reader, unplanned_stop=stopped, but=but)
            self._cache[case, but] = known
        return known

    def _in_order(self, agents: Sequence[int]) -> list[int]:
        """Return agents so that those of one kind of course follow each other, with growing numbers of releases."""
        ids = np.array(agents, np.int64)
        order = np.lexsort((self._courses.counts[ids], self._courses.kinds[ids]))
        ordered: list[int] = ids[order].tolist()
        return ordered

    @property
    def is_live(self) -> bool:
        """Whether samples compose numerically: by the plan, so that a run's figures are all of one kind."""
        if self._live is None:
            self._live = self._has_few_schedules()
        return self._live

    def _has_few_schedules(self) -> bool:
        """Whether the releases that the agents plan are known, and cheap to compose at every sample."""
        for node in self._plan.nodes:
            if node.planned is None and isinstance(node.mechanism, HasSchedule):
                return False
        planned = (course.planned for course in self._courses.all if course.is_planned)
        schedules = {tally(spends).coarse for spends in planned if spends is not None}
        return sum(times for key in schedules for _, times in key) <= _LIVE

    def epsilon_of(self, node: int) -> float:
        """Return one node's ε in the headline view: what `headline` says of it, now."""
        privacy = self._plan.privacy
        known = self._known.get((privacy.view, privacy.accountant, self.last), {})
        classes = self.classes()
        epsilon = known.get(classes.names[int(classes.of[node])])
        if epsilon is not None:
            return epsilon
        return self.stated(node)[0]

    def stated(self, node: int) -> tuple[float, str]:
        """Return one node's ε in the headline view, and the accountant that it is by."""
        privacy = self._plan.privacy
        (pair,) = self._epsilons(
            [node], lambda i: self._bag(i, privacy.view), privacy.accountant, privacy.view
        )
        return pair

    def claimed(self) -> Vector:
        """Return each node's ε as its calibration claims it."""
        classes, privacy = self.classes(), self._plan.privacy
        agents: list[int] = classes.first.tolist()
        claims = self._claims.of
        pure = not any(claims(i).sums.mu_squares for i in self._in_order(agents))
        accountant = KOV_PRINTED.name if privacy.misprinted and pure else privacy.accountant
        epsilons = self._epsilons(agents, claims, accountant, EAVESDROPPER)
        return np.array([epsilon for epsilon, _ in epsilons])[classes.of]

    def printed(self) -> Vector:
        """Return the sum of what each node's releases are claimed to cost: basic composition, whatever the accountant."""
        classes = self.classes()
        claims = self._claims.of
        epsilons = self._epsilons(classes.first.tolist(), claims, BASIC.name, EAVESDROPPER)
        return np.array([epsilon for epsilon, _ in epsilons])[classes.of]

    def per_release(self) -> Vector:
        """Return ε of each node's last release alone, in the headline view; 0 where there was none."""
        classes, privacy = self.classes(), self._plan.privacy
        agents: list[int] = classes.first.tolist()
        last: dict[int, Tally] = {}
        for i in agents:
            last[i] = Tally()
            add_in(privacy.view, last[i], self.since(i, max(0, int(self.counts[i]) - 1)))
        epsilons = self._epsilons(agents, last.__getitem__, privacy.accountant, privacy.view)
        return np.array([epsilon for epsilon, _ in epsilons])[classes.of]

    def left(self) -> Vector:
        """Return what each node's cap leaves, as the filter counts; NaN without a cap."""
        numerical, classes = self.is_live or self.last, self.classes()
        known = self._left.setdefault(numerical, {})
        names = dict(zip(classes.first.tolist(), classes.names, strict=True))
        for i, bag in self.bags([i for i, name in names.items() if name not in known]):
            left, cap = math.nan, self._plan.nodes[i].cap
            if cap is not None:
                left = max(0.0, cap.epsilon - cap.spent(bag, numerical=numerical))
            known[names[i]] = left
        if len(known) > _KEPT + 2 * len(names):
            known = self._left[numerical] = {name: known[name] for name in names.values()}
        return np.array([known[name] for name in classes.names])[classes.of]

    def without(self, gone: Sequence[Sequence[int]]) -> Vector:
        """Return, of each node, ε of its ledger minus ε of its ledger without some releases."""
        privacy, kept = self._plan.privacy, list[Tally]()
        for i, lost in enumerate(gone):
            dropped = set(lost)
            heard = (s for k, s in enumerate(self.since(i, 0)) if k not in dropped)
            stopped = bool(self._stopped[i])
            planned = self._plan.nodes[i].planned if stopped else None
            reader = self._reader(i, privacy.view, privacy.accountant)
            bag = add_in(privacy.view, Tally(), heard)
            kept.append(at_risk(bag, planned, int(self.counts[i]), reader, stopped=stopped))
        whole, everyone = self.by(privacy.accountant), range(self._plan.size)
        pairs = self._epsilons(everyone, kept.__getitem__, privacy.accountant, privacy.view)
        rest = np.array([epsilon for epsilon, _ in pairs])
        return np.maximum(0.0, np.where(whole == rest, 0.0, whole - rest))

    def accountant_name(self) -> str:
        """Return the accountant that the headline of the worst agent is by."""
        return self.stated(int(np.argmax(self.headline())))[1]

    def terms(self) -> str:
        """Return what an ε stands with: view, δ and accountant."""
        deltas = {node.delta for node in self._plan.nodes}
        equals = "=" if len(deltas) == 1 else "≤"
        return (
            f"{self._plan.privacy.view} view, δ {equals} {max(deltas):g}, {self.accountant_name()}"
        )

    def side_by_side(self) -> dict[str, float]:
        """Return the largest ε over nodes under every accountant that is valid for all ledgers that are not empty."""
        privacy, agents = self._plan.privacy, dict[_Case, int]()
        for i in self.classes().first.tolist():
            bag = self._bag(i, privacy.view)
            if len(bag):
                reader = self._reader(i, privacy.view, privacy.accountant)
                agents[bag.case, reader, self._unplanned(i)] = i
        largest = sorted(agents, key=lambda case: -case[0].sums.pure - case[0].sums.mu_squares)
        each = list[dict[str, float]]()
        for number, case in enumerate(largest):
            but = SLOW if number >= _AT_END else ()
            _, reader, stopped = case
            bag = self._bag(agents[case], privacy.view)
            each.append(side_by_side(bag, reader, unplanned_stop=stopped, but=but))
        return largest_of_all(each)
