"""Audits a plan: runs it on two data sets that differ in one record, and estimates a lower bound on the privacy loss between them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting import numerical
from mechanisms.accounting.loss import Loss, Tally, tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import OUTSIDER, add_in, composable, seen_in
from mechanisms.vectors import Matrix, Vector
from mechanisms.witness import UNROUNDED
from scenarios.auditing.lower_bound import (
    Bound,
    Criterion,
    Law,
    Statistic,
    best_threshold,
    black_box,
    bound_by_law,
    lower_bound,
    power,
    projections,
    rounded,
)
from scenarios.auditing.neighbouring_data import Neighbours, Setting, neighbours
from scenarios.auditing.watched_run import Seen, observe
from scenarios.language.json_numbers import declared_by
from scenarios.language.problems import ScenarioError
from scenarios.planning import totals
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator
from scenarios.planning.totals import claim_of
from scenarios.running.worker_processes import shared_out

MODELS = "final models"
EXACT = "exact loss"
NEARLY = "Gaussian approximation of the loss"
"""The name of a statistic that is no privacy loss: the noise of several steps is Gaussian around the answer where the loss is linear."""
_KNOWN = frozenset({"gaussian", "laplace", "norm-gamma"})
"""Laws of additive noise: where a release claims one of them, the law of its loss is known beforehand."""
_OTHERS = 0.1
"""The share of the probability of error that other statistics have where the exact loss is judged by its law."""
REFUTED, NOT_REFUTED, BROKEN = "refuted", "not refuted", "above the charge"
_POINTS = 24
_DOUBLE, _HUGE = 2.0, 100.0
_LIKELY, _MOST = 0.8, 1_000_000
"""A test is likely to refute from this power on; no more runs than this are proposed."""

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
    """Releases of code of a scenario's own, whose loss is unknown: runs × releases × coordinates."""

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


def audit(order: Order, progress: Progress | None = None) -> Finding:
    """Run the plan under both data sets, and judge the claim and the charge; `progress` is called with the share that is done.

    Raises `ScenarioError` where the plan releases nothing, or claims no finite ε.
    """
    setting = neighbours(order.plan, how=order.how, node=order.node, more=order.more)
    return judge(order, setting, _gather(order, setting, progress or (lambda _: None)))


# gathering


def _gather(order: Order, setting: Setting, progress: Progress) -> Evidence:
    seen: list[Seen] = []
    if order.jobs <= 1:
        pair = setting.plans()
        for run in range(order.runs):
            seen += _both(pair, run)
            progress((run + 1) / order.runs)
    else:
        for some in _in_parallel(order, setting):
            seen += some
            progress(len(seen) / (2 * order.runs))
    return evidence(seen[0::2], seen[1::2])


def _both(pair: Neighbours, run: int) -> list[Seen]:
    """Run once under D and once under D′, each with noise of its own."""
    return [
        observe(plan, pair.node, pair.pair, f"audit/{side}/{run}")
        for side, plan in enumerate((pair.one, pair.other))
    ]


def _in_parallel(order: Order, setting: Setting) -> Iterator[list[Seen]]:
    size = max(1, min(200, order.runs // (4 * order.jobs)))
    parts = [range(at, min(at + size, order.runs)) for at in range(0, order.runs, size)]
    return shared_out(_part, ((setting, part) for part in parts), order.jobs)


def _part(setting: Setting, runs: range) -> list[Seen]:
    """Make the same two plans in another process, and do some of the runs."""
    pair = setting.plans()
    return [seen for run in runs for seen in _both(pair, run)]


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
    plan, node, view = order.plan, order.plan.nodes[pair.node], order.eyes
    spends = tuple(seen_in(view, spend) for spend in seen.spends)
    if not spends:
        problem = f"agent {pair.node} released nothing: there is nothing to audit"
        raise ScenarioError.of(plan.name, problem)
    charges = composable(add_in(view, Tally(), seen.spends))
    claims = tally(map(claim_of, spends))
    unit = "mu" if charges.laws == {"gaussian"} else "epsilon"
    if not math.isfinite(claims.sums.pure + claims.sums.mu_squares):
        problem = f"the releases of agent {pair.node} claim no finite ε: there is nothing to refute"
        raise ScenarioError.of(plan.name, problem)
    statistics = _statistics(view, seen, rounds=bool(plan.resolved["privacy"]["grid"]))
    criterion = Criterion(unit, node.delta, order.confidence)
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
        worth, enough = _power(order, claims, claim, criterion, others=len(statistics) > 1)
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


def _law_of(claims: Tally) -> Law | None:
    """Return the law of the loss that is claimed, where it is known."""
    fit = all(loss.law in _KNOWN and 0 < loss.epsilon < _HUGE for loss, _ in claims.key)
    return numerical.law(claims) if fit and len(claims) else None


def _bound(statistics: list[Statistic], claims: Tally, criterion: Criterion) -> Bound:
    """Judge the exact loss by the law that is claimed for it, with all runs; other statistics with half of them."""
    law = _law_of(claims) if any(name == EXACT for name, _, _ in statistics) else None
    if law is None:
        return lower_bound(statistics, criterion)
    exact = next(each for each in statistics if each[0] == EXACT)
    others = [each for each in statistics if each[0] != EXACT]
    whole = criterion.confidence
    bound = bound_by_law(exact, law, criterion.at(_confidence(whole, others=bool(others))))
    if others:
        second = lower_bound(others, criterion.at(1.0 - _OTHERS * (1.0 - whole)))
        bound = max(bound, second, key=lambda each: each.value)
    return bound


def _confidence(whole: float, *, others: bool) -> float:
    """Return the confidence for the exact loss: all statistics together err as often as the audit's confidence allows."""
    return 1.0 - (1.0 - _OTHERS) * (1.0 - whole) if others else whole


def _above(bound: Bound, bag: Tally, total: float) -> bool:
    """Whether the bound is above the total of a bag of losses, in the unit of the bound."""
    if bound.unit == "mu":
        return bound.value > math.sqrt(bag.sums.mu_squares) * (1 + 1e-9)
    return bound.value > total * (1 + 1e-9)


def _power(
    order: Order, claims: Tally, claimed: float, criterion: Criterion, *, others: bool
) -> tuple[float, int | None]:
    """Return the probability that losses of twice the claim are refuted, and the runs that would make that likely.

    The runs are None where these suffice, or a million would not.
    Additive noise stands for perturbed objectives.
    """
    doubled = [(_stand_in(loss), times) for loss, times in claims.key]
    if not all(0 < loss.epsilon < _HUGE for loss, _ in doubled):
        return 0.0, None
    limit = math.sqrt(claims.sums.mu_squares) if criterion.unit == "mu" else claimed
    law, known = numerical.law(Tally(doubled)), _law_of(claims)
    exact = criterion.at(_confidence(order.confidence, others=known is not None and others))

    def of(runs: int) -> float:
        threshold = None if known is None else best_threshold(known, runs, exact)
        rng = generator(order.plan.seed, "audit/power")
        return power(law, limit, runs, exact, rng, threshold)

    probability, runs = of(order.runs), 2 * order.runs
    if probability >= _LIKELY:
        return probability, None
    while runs <= _MOST and of(runs) < _LIKELY:
        runs *= 2
    return probability, runs if runs <= _MOST else None


def _stand_in(loss: Loss) -> Loss:
    law = "norm-gamma" if loss.law == "objective" and loss.d > 1 else loss.law
    law = "laplace" if law == "objective" else law
    return loss._replace(law=law, epsilon=_DOUBLE * loss.epsilon, jacobian=0.0)


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
