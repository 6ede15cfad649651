"""Facts of a world before anything happens, which readers of its events need: `world.json`."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clocks.durations import Constant
from mechanisms.accounting.accountants import ACCOUNTANTS
from mechanisms.accounting.compose import TIGHTEST
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import VIEWS
from scenarios.records.file_guard import MOST
from scenarios.records.ledger_file import line_of, spend_of

if TYPE_CHECKING:
    from actors.agent import Agent
    from scenarios.planning.plan import NodePlan, Plan

Value = TypeVar("Value")
_MOST_SEEN = 4096
"""So many plans are known again without a look at their releases."""


class Budgeted(msgspec.Struct, frozen=True):
    """`count` agents, one after the other, with one budget."""

    count: int
    cap: float | None
    delta: float
    filter: str = ""
    plan: int = -1
    """The index of their plan in `Facts.plans`; -1 where no releases are planned."""


class Declared(msgspec.Struct, frozen=True):
    """A fault as its scenario names it; instants in nanoseconds, None where they are not known beforehand."""

    name: str
    at: int | None = None
    lasts: int | None = None


class Facts(msgspec.Struct, frozen=True):
    """The agents, the edges between them, their budgets, and the view and the accountant of ε."""

    name: str
    kind: str
    seed: int
    size: int
    seats: int
    groups: list[tuple[str, int]]
    budgets: list[Budgeted]
    plans: list[list[tuple[int, dict[str, Any]]]]
    """For each plan, runs of equal releases: how many, and the spend of each as a line of a ledger has it."""
    absent: list[int]
    edges: list[tuple[int, int]]
    faults: list[Declared]
    view: str
    accountant: str
    shows: bool
    adaptive: bool
    not_covered: list[str]
    """Why ε does not cover the run, as far as the plan tells; empty where it does."""
    numerical: bool
    """Whether samples compose numerically."""
    horizon: int | None
    rounds: int | None
    updates: int | None

    @property
    def members(self) -> dict[str, tuple[int, ...]]:
        """The ids of each group."""
        members, first = dict[str, tuple[int, ...]](), 0
        for name, count in self.groups:
            members[name] = (*members.get(name, ()), *range(first, first + count))
            first += count
        return members

    @property
    def caps(self) -> list[float | None]:
        """The cap of each agent; None where there is none."""
        return [part.cap for part in self.budgets for _ in range(part.count)]

    def planned(self, number: int) -> tuple[Spend, ...] | None:
        """Return the spends of a plan; None for number -1, which stands for no plan."""
        if number < 0:
            return None
        return tuple(s for times, line in self.plans[number] for s in (spend_of(line),) * times)

    def cap_of(self, i: int) -> float | None:
        """Return the cap of one agent."""
        for part in self.budgets:
            if i < part.count:
                return part.cap
            i -= part.count
        return None

    def neighbours(self) -> list[list[int]]:
        """Return the neighbours of each agent, the server included."""
        near: list[list[int]] = [[] for _ in range(self.seats)]
        for i, j in self.edges:
            near[i].append(j)
            near[j].append(i)
        return [sorted(ids) for ids in near]

    def misfit(self) -> str:
        """Return which of the facts do not fit each other; empty where all do."""
        if not 0 < self.size <= self.seats <= MOST:
            return f"{self.size} agents in {self.seats} seats"
        counts = [count for _, count in self.groups], [part.count for part in self.budgets]
        if any(min(of, default=0) < 0 or sum(of) != self.size for of in counts):
            return f"its groups or budgets do not add up to {self.size} agents"
        if sum(times for plan in self.plans for times, _ in plan) > MOST:
            return f"its plans have more than {MOST:,} releases"
        if any(times < 0 for plan in self.plans for times, _ in plan):
            return "a plan has a negative number of releases"
        if not all(
            -1 <= part.plan < len(self.plans) and 0 <= part.delta < 1 for part in self.budgets
        ):
            return "a budget has a plan or a delta that cannot be"
        if self.view not in VIEWS or self.accountant not in {TIGHTEST, *ACCOUNTANTS}:
            return "there is no such view, or no such accountant"
        agents = [*self.absent, *(end for edge in self.edges for end in edge)]
        if not all(0 <= agent < self.seats for agent in agents):
            return f"an edge or an absent agent has no seat among {self.seats}"
        return ""


def facts_of(plan: "Plan", agents: Sequence["Agent"], *, numerical: bool) -> Facts:
    """Gather the facts of a world that was built."""
    plans, budgets_of = _Plans(), dict[tuple[object, ...], Budgeted]()

    def budget_of(node: "NodePlan") -> Budgeted:
        number, cap = plans.number(node), node.cap
        key = (id(cap), node.delta, number)
        if key not in budgets_of:
            epsilon, held_by = (None, "") if cap is None else (cap.epsilon, cap.accountant)
            budgets_of[key] = Budgeted(1, epsilon, node.delta, held_by, number)
        return budgets_of[key]

    groups = _lengths(node.group for node in plan.nodes)
    budgets = _lengths(map(budget_of, plan.nodes))
    declared = [
        Declared(
            _named(fault.path) or fault.name,
            None if fault.timing.at is None else fault.timing.at + fault.timing.later,
            fault.timing.lasts.shortest if isinstance(fault.timing.lasts, Constant) else None,
        )
        for fault in plan.faults
    ]
    privacy = plan.privacy
    return Facts(
        name=plan.name,
        kind=plan.kind,
        seed=plan.seed,
        size=plan.size,
        seats=plan.seats,
        groups=groups,
        budgets=[msgspec.structs.replace(budget, count=count) for budget, count in budgets],
        plans=[[(times, line_of(spend)) for times, spend in planned] for planned in plans.every],
        absent=[node.id for node in plan.nodes if not node.present],
        edges=[(a.id, j) for a in agents for j in a.neighbours if a.id < j],
        faults=declared,
        view=privacy.view,
        accountant=privacy.accountant,
        shows=privacy.shows_unreleased_model,
        adaptive=privacy.adaptive,
        not_covered=list(plan.uncovered),
        numerical=numerical,
        horizon=plan.horizon,
        rounds=plan.rounds,
        updates=plan.updates,
    )


class _Plans:
    """The different plans of releases, each a tuple of runs of equal ones."""

    def __init__(self) -> None:
        self.every: dict[tuple[tuple[int, Spend], ...], int] = {}
        self._seen: dict[int, tuple[tuple[Spend, ...], int]] = {}

    def number(self, node: "NodePlan") -> int:
        """Return the number of an agent's plan; −1 where none is planned."""
        planned = node.planned
        if planned is None:
            return -1
        seen = self._seen.get(id(planned))
        if seen is not None:  # agents of equal terms share one plan, which is long
            return seen[1]
        runs = tuple((times, spend) for spend, times in _lengths(planned))
        number = self.every.setdefault(runs, len(self.every))
        if len(self._seen) < _MOST_SEEN:
            self._seen[id(planned)] = planned, number  # kept, so that its id stays its own
        return number


def _lengths(values: Iterable[Value]) -> list[tuple[Value, int]]:
    """Return runs of equal values: each value, and how often it stands there in a row."""
    return [(value, sum(1 for _ in run)) for value, run in groupby(values)]


def _named(path: str) -> str:
    """Return the name that an author gave a fault; an unnamed one bears a number of twelve digits."""
    name = path.removeprefix("fault/").rpartition("/")[0]
    digits = name.rpartition("-")[2]
    return "" if len(digits) == 12 and set(digits) <= set("0123456789abcdef") else name
