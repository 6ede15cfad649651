"""The test of an audit as it is planned before any run: its power, and how many runs it takes.

The alternative is fixed: losses of twice the claim, of the law that the releases claim. Nothing here runs a scenario.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.abilities import Explains, HasCosts, scheduled
from mechanisms.accounting import numerical
from mechanisms.accounting.loss import Loss, Tally, tally
from mechanisms.accounting.spend import Spend, claim_of
from mechanisms.accounting.views import OUTSIDER, add_in, composable, seen_in
from mechanisms.vectors import Vector
from scenarios.auditing.lower_bound import Criterion, Law, Rates, best_threshold, power
from scenarios.language.json_numbers import declared_by
from scenarios.planning import totals
from scenarios.planning.plan import Plan
from scenarios.planning.run_size import extent
from scenarios.planning.seeds import generator

WANTED = 0.95
"""The power that an audit has by default."""
LIKELY = 0.8
"""A test is likely to refute from this power on."""
FEWEST, USUAL, MOST_BY_ITSELF = 20, 1000, 10_000
"""Runs per data set that are made without being asked for: at least, where no number of runs would do, and at most."""
MOST = 1_000_000
"""No more runs than this are proposed."""
ALTERNATIVE = "losses of twice the claim"
_DOUBLE, _HUGE = 2.0, 100.0
_KNOWN = frozenset({"gaussian", "laplace", "norm-gamma"})
"""Laws of additive noise: where a release claims one of them, the law of its loss is known beforehand."""
_OTHERS = 0.1
"""The share of the probability of error that other statistics have where the exact loss is judged by its law."""
_PACE = 10_000
"""Updates a second on one core, for a first estimate of time: an audit measures its own."""

Power = Callable[[int], float]
"""The probability that losses of twice the claim are refuted with so many runs per data set."""


def law_of(claims: Tally) -> Law | None:
    """Return the law of the loss that is claimed, where it is known."""
    fit = all(loss.law in _KNOWN and 0 < loss.epsilon < _HUGE for loss, _ in claims.key)
    return numerical.law(claims) if fit and len(claims) else None


def confidence(whole: float, *, others: bool) -> float:
    """Return the confidence for the exact loss: all statistics together err as often as the audit's confidence allows."""
    return 1.0 - (1.0 - _OTHERS) * (1.0 - whole) if others else whole


def confidence_of_others(whole: float) -> float:
    """Return the confidence for the other statistics beside the exact loss."""
    return 1.0 - _OTHERS * (1.0 - whole)


def power_of(
    plan: Plan, claims: Tally, claimed: float, criterion: Criterion, *, others: bool
) -> Power:
    """Return the power of the test of the exact loss; additive noise stands for perturbed objectives."""
    doubled = [(_stand_in(loss), times) for loss, times in claims.key]
    if not all(0 < loss.epsilon < _HUGE for loss, _ in doubled):
        return lambda _: 0.0
    limit = math.sqrt(claims.sums.mu_squares) if criterion.unit == "mu" else claimed
    law, known = numerical.law(Tally(doubled)), law_of(claims)
    exact = criterion.at(confidence(criterion.confidence, others=known is not None and others))

    def of(runs: int) -> float:
        threshold = None if known is None else best_threshold(known, runs, exact)
        return power(law, limit, runs, exact, generator(plan.seed, "audit/power"), threshold)

    return of


def _stand_in(loss: Loss) -> Loss:
    law = "norm-gamma" if loss.law == "objective" and loss.d > 1 else loss.law
    law = "laplace" if law == "objective" else law
    return loss._replace(law=law, epsilon=_DOUBLE * loss.epsilon, jacobian=0.0)


def runs_for(of: Power, wanted: float = WANTED) -> int | None:
    """Return the fewest runs per data set with a power, to a twentieth, in two digits; None where a million has less."""
    high = FEWEST
    while of(high) < wanted:
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    low = high // 2
    while high > FEWEST and high - low > high // 20:
        middle = (low + high) // 2
        low, high = (low, middle) if of(middle) >= wanted else (middle, high)
    unit = int(10 ** max(0, len(str(high)) - 2))
    return math.ceil(high / unit) * unit


def percent(power: float) -> str:
    """Write a power in whole per cent, rounded down: 94.9 % is less than the 95 % that is wanted, and looks so."""
    return f"{math.floor(100 * power + 1e-9)} %"


@dataclass(frozen=True, slots=True)
class Planned:
    """How many runs are made on each data set, and what they are worth."""

    runs: int
    power: float | None
    """None where the statistic is not the exact loss, whose law alone is known."""
    needed: int | None
    """How many runs would have the power that is wanted; None where a million has less, or it is unknown."""
    chosen: bool
    """Whether a person chose the number of runs."""

    @property
    def in_words(self) -> str:
        """The power in a sentence, and why there are so many runs where that is not by the power."""
        runs = f"2 × {self.runs:,} runs"
        if self.power is None:
            why = "" if self.chosen else ", as many as ever where no power is known"
            return f"{runs}{why}; the statistic is not the exact loss, and its power is unknown"
        worth = f"power {percent(self.power)} to refute {ALTERNATIVE}"
        if self.chosen:
            if self.needed is None:
                more = f"; no number of runs up to {MOST:,} has {percent(WANTED)}"
            else:
                more = f"; 2 × {self.needed:,} have {percent(WANTED)}"
            return f"{runs}: {worth}{more if self.power < WANTED else ''}"
        if self.needed is None:
            return f"{runs}: {worth}; no number of runs up to {MOST:,} has {percent(WANTED)}"
        if self.needed > self.runs:
            return f"{runs}, the most without --runs: {worth}; {percent(WANTED)} takes 2 × {self.needed:,}"
        return f"{runs}: {worth}"


def planned(of: Power | None, chosen: int | None) -> Planned:
    """Return how many runs are made: as many as a person chose, else as the power wants within bounds."""
    if of is None:
        return Planned(chosen or USUAL, None, None, chosen is not None)
    needed = runs_for(of)
    runs = chosen or (USUAL if needed is None else min(needed, MOST_BY_ITSELF))
    return Planned(runs, of(runs), needed, chosen is not None)


# before anything is loaded that runs


class _Rough(Criterion):
    """The same criterion by Wilson's intervals, which need no SciPy: for a first estimate only."""

    def bounds(
        self, hits: NDArray[Any], alarms: NDArray[Any], count: int
    ) -> tuple[Vector, list[Rates]]:
        z = float(_quantile(np.array([1.0 - (1.0 - self.confidence) / 2.0]))[0])
        low, high = _wilson(hits, count, z, -1.0), _wilson(alarms, count, z, 1.0)
        if self.unit == "mu":
            values = np.maximum(0.0, _quantile(low) - _quantile(high))
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.maximum(0.0, np.log((low - self.delta) / high))
            values = np.where(low > self.delta, values, 0.0)
        return values, []


def _wilson(counts: NDArray[Any], of: int, z: float, side: float) -> Vector:
    share = counts / of
    middle = share + z * z / (2 * of)
    reach = z * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    end: Vector = np.clip((middle + side * reach) / (1 + z * z / of), 1e-12, 1 - 1e-12)
    return end


def _quantile(p: NDArray[Any]) -> Vector:
    """Return normal quantiles to four digits (Odeh, Evans 1974)."""
    tail = np.minimum(p, 1 - p)
    y = np.sqrt(-2.0 * np.log(np.clip(tail, 1e-300, 0.5)))
    over = ((-4.53642210148e-5 * y - 0.0204231210245) * y - 0.342242088547) * y - 1.0
    over = over * y - 0.322232431088
    under = ((3.8560700634e-3 * y + 0.10353775285) * y + 0.531103462366) * y + 0.588581570495
    under = under * y + 0.099348462606
    size = y + over / under
    quantiles: Vector = np.where(p < 0.5, -size, size)
    return quantiles


@dataclass(frozen=True, slots=True)
class AuditForecast:
    """What `hush audit` would take, without options: told before any run."""

    node: int
    claimed: float
    view: str
    delta: float
    planned: Planned
    updates: float
    """The updates of all its runs; NaN where only the run can tell."""

    def seconds(self, cores: int) -> float:
        """Return about how long it takes on so many cores."""
        return self.updates / (_PACE * cores)


def forecast_of(plan: Plan, node: int) -> AuditForecast | None:
    """Return what an audit of one agent would take; None where nothing is promised, or only a run can tell it."""
    if declared_by(plan.kind) is not None or plan.engine != "virtual":
        return None
    agent, view = plan.nodes[node], plan.privacy.view
    if not isinstance(agent.mechanism, Explains):
        return None
    spends = _spends(plan, node)
    if not spends or spends[0].law == "none":
        return None
    claim = totals.claimed(plan, spends, agent.delta)
    of = None
    if view != OUTSIDER:
        subject = Subject.of(view, spends, agent.delta, 0.95)
        if not subject.is_finite:
            return None
        rough = _Rough(subject.criterion.unit, agent.delta, 0.95)
        others = len(spends) > 1 or not plan.resolved["privacy"]["grid"]
        of = power_of(plan, subject.claims, claim, rough, others=others)
    test = planned(of, None)
    return AuditForecast(node, claim, view, agent.delta, test, 2 * test.runs * extent(plan).updates)


def _spends(plan: Plan, node: int) -> tuple[Spend, ...]:
    mechanism, degree = plan.nodes[node].mechanism, max(1, len(plan.nodes[node].neighbours))
    spends = scheduled(mechanism, degree)
    if spends is None and isinstance(mechanism, HasCosts):
        wakes = plan.expected_updates() / plan.size
        spends = (
            None if math.isnan(wakes) else mechanism.costs(degree, max(1, min(1000, int(wakes))))
        )
    return tuple(seen_in(plan.privacy.view, spend) for spend in spends or ())


@dataclass(frozen=True, slots=True)
class Subject:
    """What is tested: the losses that releases claim and were charged, in a view, and by which criterion."""

    spends: tuple[Spend, ...]
    charges: Tally
    claims: Tally
    criterion: Criterion

    @classmethod
    def of(cls, view: str, spends: tuple[Spend, ...], delta: float, sure: float) -> "Subject":
        """Gather it from releases; `sure` is the audit's confidence."""
        charges = composable(add_in(view, Tally(), spends))
        seen = tuple(seen_in(view, spend) for spend in spends)
        unit = "mu" if charges.laws == {"gaussian"} else "epsilon"
        return cls(seen, charges, tally(map(claim_of, seen)), Criterion(unit, delta, sure))

    @property
    def is_finite(self) -> bool:
        """Whether the releases claim a finite loss."""
        return math.isfinite(self.claims.sums.pure + self.claims.sums.mu_squares)
