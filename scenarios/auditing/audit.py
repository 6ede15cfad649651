"""Audits a plan: runs it on two data sets that differ in one record, and estimates a lower bound on the privacy loss between them."""

import math
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.loss import Tally, tally
from mechanisms.accounting.spend import Spend, claim_of
from mechanisms.accounting.views import OUTSIDER
from mechanisms.vectors import Matrix, Vector
from mechanisms.witness import UNROUNDED
from scenarios.auditing.lower_bound import (
    Bound,
    Criterion,
    Statistic,
    black_box,
    bound_by_law,
    lower_bound,
    projections,
    rounded,
)
from scenarios.auditing.neighbouring_data import Neighbours, Setting, neighbours
from scenarios.auditing.planned_test import (
    LIKELY,
    MOST,
    Power,
    Subject,
    confidence,
    confidence_of_others,
    law_of,
    power_of,
)
from scenarios.auditing.watched_run import Seen, observe
from scenarios.language.json_numbers import declared_by
from scenarios.language.problems import ScenarioError
from scenarios.planning import totals
from scenarios.planning.context import Options
from scenarios.planning.own_code import failure_of_own
from scenarios.planning.plan import Plan
from scenarios.running.worker_processes import shared_out

MODELS = "final models"
EXACT = "exact loss"
NEARLY = "Gaussian approximation of the loss"
"""The name of a statistic that is no privacy loss: the noise of several steps is Gaussian around the answer where the loss is linear."""
REFUTED, NOT_REFUTED, BROKEN = "refuted", "not refuted", "above the charge"
_POINTS = 24
_PILOTS, _LONG = 4, 1.0
"""So many pairs of runs are made before an audit, or fewer where they have taken so many seconds."""

Progress = Callable[[float], None]
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be audited, and how."""

    plan: Plan
    runs: int = 1000
    confidence: float = 0.95
    view: str | None = None
    how: str = "worst"
    node: int | None = None
    jobs: int = 1
    more: Options = field(default_factory=Options)

    @property
    def eyes(self) -> str:
        """The view that is audited: the headline's, unless another is asked for."""
        return self.view or self.plan.privacy.view


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observations under D and under D′: a row for each run, losses summed up over releases."""

    losses: tuple[Matrix, Matrix]
    hints: dict[str, tuple[Vector, Vector]]
    models: tuple[Matrix, Matrix]
    spends: tuple[Spend, ...]
    exact: bool = True
    """Whether the losses are privacy losses, not an approximation of them."""
    sent: tuple[Table, Table] | None = None
    """What code of a scenario's own sent, whose loss is unknown: runs × vectors × coordinates."""

    @property
    def repeated(self) -> bool:
        """Whether there is more than one release, so that noise could be used twice."""
        return len(self.losses[0][0]) > 1


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an audit."""

    verdict: str
    lower: float
    claimed: float
    charged: float
    bound: Bound
    delta: float
    accountant: str
    power: float | None
    """How likely losses of twice the claim were to be refuted; None where the statistic is not the exact loss."""
    enough: int | None
    """How many runs would give 80 % of power; None where this has it, or no million would."""
    releases: int
    words: str
    node: int
    curve: tuple[tuple[int, float, float, float], ...] = ()
    """After so many releases: the lower bound, the claim and the charge."""
    declared_by: str | None = None
    """The code of the scenario's own that declares the claim and the charge."""


def audit(
    order: Order, progress: Progress | None = None, setting: Setting | None = None
) -> Finding:
    """Run the plan under both data sets, and judge the claim and the charge; `progress` is called with the share that is done.

    `setting` are the data sets, where they were made before.

    Raises `ScenarioError` where the plan releases nothing, or claims no finite ε.
    """
    if setting is None:
        setting = neighbours(order.plan, how=order.how, node=order.node, more=order.more)
    return judge(order, setting, _gather(order, setting, progress or (lambda _: None)))


@dataclass(frozen=True, slots=True)
class Pilot:
    """A few runs that are not judged, with noise of their own: what is seen in a run, and how long one takes."""

    setting: Setting
    seen: Evidence
    seconds: float
    """Seconds of one run on each data set."""

    def power(self, order: Order) -> Power | None:
        """Return the power of the test that was planned; None where the statistic is not the exact loss.

        Raises `ScenarioError` where the plan releases nothing, or claims no finite ε.
        """
        subject, statistics = _subject(order, self.setting, self.seen), _tried(order, self.seen)
        if not any(name == EXACT for name, _, _ in statistics):
            return None
        plan, criterion = order.plan, subject.criterion
        claim = totals.claimed(plan, subject.spends, criterion.delta)
        return power_of(plan, subject.claims, claim, criterion, others=len(statistics) > 1)


def pilot(order: Order) -> Pilot:
    """Run the plan a few times under both data sets, before an audit: no number of it enters the judgement."""
    setting = neighbours(order.plan, how=order.how, node=order.node, more=order.more)
    pair, seen, began = setting.plans(), list[Seen](), monotonic()
    for run in range(_PILOTS):
        before = monotonic()
        seen += _both(pair, run, "audit/pilot")
        seconds = monotonic() - before
        if before + seconds - began > _LONG:
            break
    return Pilot(setting, evidence(seen[0::2], seen[1::2]), seconds)


# gathering


def _gather(order: Order, setting: Setting, progress: Progress) -> Evidence:
    seen: list[Seen] = []
    if order.jobs <= 1:
        pair = setting.plans()
        for run in range(order.runs):
            seen += _both(pair, run)
            progress((run + 1) / order.runs)
    else:
        with closing(_in_parallel(order, setting)) as made:
            for some in made:
                seen += some
                progress(len(seen) / (2 * order.runs))
    return evidence(seen[0::2], seen[1::2])


def _both(pair: Neighbours, run: int, name: str = "audit") -> list[Seen]:
    """Run once under D and once under D′, each with noise of its own."""
    return [
        observe(plan, pair.node, pair.pair, f"{name}/{side}/{run}")
        for side, plan in enumerate((pair.one, pair.other))
    ]


def _in_parallel(order: Order, setting: Setting) -> Generator[list[Seen], None, None]:
    size = max(1, min(200, order.runs // (4 * order.jobs)))
    parts = [range(at, min(at + size, order.runs)) for at in range(0, order.runs, size)]
    return shared_out(_part, ((part,) for part in parts), order.jobs, setting)


def _part(runs: range, setting: Setting) -> list[Seen]:
    """Make the same two plans in another process, and do some of the runs."""
    pair = setting.plans()
    try:
        return [seen for run in runs for seen in _both(pair, run)]
    except (Exception, SystemExit) as error:
        failure = failure_of_own(error)
        if failure is None:
            raise
        raise ScenarioError.of(pair.one.name, failure) from None  # a traceback stays in its process


def evidence(one: list[Seen], other: list[Seen]) -> Evidence:
    """Put the runs under D and those under D′ into tables."""
    most = max((len(s.losses) for s in (*one, *other)), default=0)

    def summed(seen: list[Seen]) -> Matrix:
        table = np.zeros((len(seen), max(1, most)))
        for row, each in zip(table, seen, strict=True):
            row[: len(each.losses)] = each.losses
        return np.nan_to_num(np.cumsum(table, axis=1))

    def released() -> tuple[Table, Table] | None:
        count = max(len(s.sent) for s in (*one, *other))
        if not count:
            return None
        width = max(len(vector) for s in (*one, *other) for vector in s.sent)
        tables = np.zeros((len(one), count, width)), np.zeros((len(other), count, width))
        for table, seen in zip(tables, (one, other), strict=True):
            for row, each in zip(table, seen, strict=True):
                for place, vector in zip(row, each.sent, strict=False):
                    place[: len(vector)] = np.nan_to_num(vector)
        return tables

    longest = max((*one, *other), key=lambda s: len(s.spends))
    return Evidence(
        (summed(one), summed(other)),
        {
            name: (np.array([s.hints[name] for s in one]), np.array([s.hints[name] for s in other]))
            for name in one[0].hints
        },
        (
            np.nan_to_num(np.array([s.models for s in one])),
            np.nan_to_num(np.array([s.models for s in other])),
        ),
        longest.spends,
        all(s.exact for s in (*one, *other)),
        released(),
    )


# judging


def judge(order: Order, pair: Setting, seen: Evidence) -> Finding:
    """Bound the loss from below, and compare the bound with the claim and the charge."""
    plan, node = order.plan, order.plan.nodes[pair.node]
    subject = _subject(order, pair, seen)
    spends, charges, claims = subject.spends, subject.charges, subject.claims
    criterion = subject.criterion
    statistics = _tried(order, seen)
    bound = _bound(statistics, claims, criterion)
    claim = totals.claimed(plan, spends, node.delta)
    charge, accountant = totals.charged(plan, charges, node.delta)
    lower = bound.as_epsilon(node.delta)
    verdict = NOT_REFUTED
    if _above(bound, claims, claim):
        verdict = REFUTED
    code = declared_by(plan.kind)
    if code is None and _above(bound, charges, charge):
        verdict = BROKEN  # what code of the scenario's own charges is a claim of its own
    worth, enough = None, None
    if any(name == EXACT for name, _, _ in statistics):
        of = power_of(plan, claims, claim, criterion, others=len(statistics) > 1)
        worth, enough = of(order.runs), _enough(of, order.runs)
    return Finding(
        verdict,
        lower,
        claim,
        charge,
        bound,
        node.delta,
        accountant,
        worth,
        enough,
        len(spends),
        pair.words,
        pair.node,
        _curve(order, seen, spends, criterion),
        code,
    )


def _subject(order: Order, pair: Setting, seen: Evidence) -> Subject:
    """Return what is tested; raise `ScenarioError` where the plan releases nothing, or claims no finite ε."""
    plan, node = order.plan, pair.node
    if not seen.spends and seen.sent is None:
        nothing = "released nothing" if declared_by(plan.kind) is None else "sent nothing"
        problem = f"agent {node} {nothing}: there is nothing to audit"
        raise ScenarioError.of(plan.name, problem)
    delta = plan.nodes[node].delta
    subject = Subject.of(order.eyes, seen.spends, delta, order.confidence)
    if not subject.is_finite:
        problem = f"the releases of agent {node} claim no finite ε: there is nothing to refute"
        raise ScenarioError.of(plan.name, problem)
    return subject


def _tried(order: Order, seen: Evidence) -> list[Statistic]:
    """Return the statistics of the view that is audited."""
    return _statistics(order.eyes, seen, rounds=bool(order.plan.resolved["privacy"]["grid"]))


def _statistics(view: str, seen: Evidence, *, rounds: bool) -> list[Statistic]:
    """Return the statistics of a view; low bits only where releases are not rounded, for each statistic costs power."""
    one, other = (table[:, -1] for table in seen.losses)
    models = MODELS, *projections(*seen.models)
    if seen.sent is not None and view != OUTSIDER:
        return [*black_box(*seen.sent), models]
    if view == OUTSIDER or not (one.any() or other.any()):
        return [models]
    statistics = [(EXACT if seen.exact else NEARLY, rounded(one), rounded(other))]
    for name, both in seen.hints.items():
        if (name in UNROUNDED and not rounds) or (name not in UNROUNDED and seen.repeated):
            statistics.append((name, *both))
    return statistics


def _bound(statistics: list[Statistic], claims: Tally, criterion: Criterion) -> Bound:
    """Judge the exact loss by the law that is claimed for it, with all runs; other statistics with half of them."""
    law = law_of(claims) if any(name == EXACT for name, _, _ in statistics) else None
    if law is None:
        return lower_bound(statistics, criterion)
    exact = next(each for each in statistics if each[0] == EXACT)
    others = [each for each in statistics if each[0] != EXACT]
    whole = criterion.confidence
    bound = bound_by_law(exact, law, criterion.at(confidence(whole, others=bool(others))))
    if others:
        second = lower_bound(others, criterion.at(confidence_of_others(whole)))
        bound = max(bound, second, key=lambda each: each.value)
    return bound


def _above(bound: Bound, bag: Tally, total: float) -> bool:
    """Whether the bound is above the total of a bag of losses, in the unit of the bound."""
    if bound.unit == "mu":
        return bound.value > math.sqrt(bag.sums.mu_squares) * (1 + 1e-9)
    return bound.value > total * (1 + 1e-9)


def _enough(of: Power, runs: int) -> int | None:
    """Return the runs that would make it likely to refute; None where these suffice, or a million would not."""
    if of(runs) >= LIKELY:
        return None
    runs *= 2
    while runs <= MOST and of(runs) < LIKELY:
        runs *= 2
    return runs if runs <= MOST else None


def _curve(
    order: Order, seen: Evidence, spends: tuple[Spend, ...], criterion: Criterion
) -> tuple[tuple[int, float, float, float], ...]:
    """Return bound, claim and charge after each of some releases, where the loss of each release was observed."""
    one, other = seen.losses
    if order.eyes == OUTSIDER or one.shape[1] != len(spends) or not one.any():
        return ()
    last, delta = len(spends), criterion.delta
    at = sorted({max(1, round(last ** (k / (_POINTS - 1)))) for k in range(_POINTS)} | {last})
    points = []
    for k in at:
        name = EXACT if seen.exact else NEARLY
        statistic = name, rounded(one[:, k - 1]), rounded(other[:, k - 1])
        claims = tally(map(claim_of, spends[:k]))
        bound = _bound([statistic], claims, criterion)
        claim = totals.claimed(order.plan, spends[:k], delta)
        charge, _ = totals.charged(order.plan, tally(spends[:k]), delta)
        points.append((k, bound.as_epsilon(delta), claim, charge))
    return tuple(points)
