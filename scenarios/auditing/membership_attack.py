"""Membership inference from final models: whether a record was among the data, or another in its place."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechanisms.accounting.loss import tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import OUTSIDER, epsilon_in
from mechanisms.vectors import Matrix, Vector
from scenarios.auditing.lower_bound import clopper_pearson
from scenarios.auditing.neighbouring_data import recipe, watched
from scenarios.auditing.watched_run import perform, renoised
from scenarios.language.json_numbers import figure, show
from scenarios.planning import totals
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator


@dataclass(frozen=True, slots=True)
class MembershipFinding:
    """How well an attacker tells records from their replacements, and how well ε allows any attacker to."""

    node: int
    records: int
    runs: int
    auc: float
    advantage: float
    at_least: float
    allowed: float
    claimed: float
    charged: float
    delta: float
    accountant: str


def most_advantage(epsilon: float, delta: float) -> float:
    """The largest true positive rate minus false positive rate that (ε, δ) allows (Kairouz, Oh, Viswanath 2015)."""
    grown = math.exp(-min(epsilon, 700.0))
    return (1.0 - grown + 2.0 * delta * grown) / (1.0 + grown)


def membership(
    plan: Plan,
    *,
    records: int,
    runs: int,
    node: int | None,
    confidence: float,
    more: Options,
    progress: Callable[[float], None] | None = None,
) -> MembershipFinding:
    """Run the plan with each of some records in, and with another in its place; compare losses on the final model."""
    target = watched(plan, node)
    targets = range(min(records, plan.shards.sizes[target]))
    spends: tuple[Spend, ...] = ()
    scores: dict[bool, list[Vector]] = {True: [], False: []}
    for number, record in enumerate(targets):
        # runs of its own for every record, with it and without: then all of them are independent
        for inside, world in ((True, plan), (False, _without(plan, target, record, more))):
            rows = []
            for run in range(runs):
                agents = perform(
                    renoised(world, f"attack/membership/{record}/{inside}/{run}")
                ).agents
                rows.append(agents[target].model)
                spends = max(spends, agents[target].store.ledger.spends, key=len)
                if progress is not None:
                    progress((2 * number + (not inside) + (run + 1) / runs) / (2 * len(targets)))
            scores[inside].append(_scores(plan, target, record, np.array(rows)))
    there, gone = np.array(scores[True]), np.array(scores[False])
    auc, advantage, low = _success(there, gone, confidence)
    delta = plan.nodes[target].delta
    composed, accountant = totals.charged(plan, tally(spends), delta)
    shows = plan.privacy.shows_unreleased_model
    charged = epsilon_in(OUTSIDER, composed, shows_unreleased_model=shows)
    return MembershipFinding(
        target,
        len(targets),
        runs,
        auc,
        advantage,
        low,
        most_advantage(charged, delta),
        totals.claimed(plan, spends, delta),
        charged,
        delta,
        accountant,
    )


def _without(plan: Plan, target: int, record: int, more: Options) -> Plan:
    """Return the same plan with a stranger in a record's place: another agent's record, drawn publicly."""
    rng = generator(plan.seed, f"attack/stranger/{record}")
    others = [j for j in range(plan.size) if j != target] or [target]
    lender = others[int(rng.integers(len(others)))]
    x, y = plan.shards.train[lender]
    at = int(rng.integers(len(y)))
    train = [(a.copy(), b.copy()) for a, b in plan.shards.train]
    train[target][0][record], train[target][1][record] = x[at], y[at]
    return recipe(plan, more).make(train)


def _scores(plan: Plan, target: int, record: int, models: Matrix) -> Vector:
    """Minus the record's loss on each of the final models."""
    x, y = plan.shards.train[target]
    row, label = x[record], float(y[record])
    t = models @ row * label if plan.loss.margin else models @ row - label
    scores: Vector = -plan.loss.value(np.nan_to_num(t))
    return scores


def _success(there: Matrix, gone: Matrix, confidence: float) -> tuple[float, float, float]:
    """Learn a threshold for each record from one half of the runs; judge all on the other."""
    high, low = there[:, ::2].mean(axis=1), gone[:, ::2].mean(axis=1)
    sign = np.where(high >= low, 1.0, -1.0)[:, None]
    middle = (0.5 * (high + low))[:, None]
    one, other = sign * (there[:, 1::2] - middle), sign * (gone[:, 1::2] - middle)
    hits, alarms = int((one > 0).sum()), int((other > 0).sum())
    least, most = clopper_pearson(np.array([hits]), np.array([alarms]), one.size, confidence)
    ordered = np.sort(other.ravel())
    below = np.searchsorted(ordered, one.ravel(), side="left")
    ties = np.searchsorted(ordered, one.ravel(), side="right") - below
    auc = float((below + 0.5 * ties).mean() / other.size)
    return auc, (hits - alarms) / one.size, max(0.0, float(least[0] - most[0]))


def as_json(finding: MembershipFinding) -> dict[str, Any]:
    """Return the finding as a file holds it."""
    return {key: figure(v) if isinstance(v, float) else v for key, v in asdict(finding).items()}


def in_words(plan: Plan, finding: MembershipFinding) -> list[str]:
    """Return lines for a person: how well the attack went, and what was promised."""
    nothing = math.isinf(finding.charged)
    promise = "nothing to who sees final models" if nothing else f"ε = {show(finding.claimed)}"
    return [
        f"{plan.name} · {plan.kind} · seed {plan.seed} · membership of {finding.records} records of agent {finding.node}",
        f"  from its final model, {finding.runs:,} runs with each record and as many with another in its place",
        f"  AUC        {finding.auc:.3f} (0.5 is guessing)",
        f"  advantage  {finding.advantage:.3f}, at least {finding.at_least:.3f}; what was charged allows anybody {finding.allowed:.3f}",
        f"  promised   {promise}; charged ε = {show(finding.charged)} (outsider view, δ = {finding.delta:g}, "
        f"accountant: {finding.accountant})",
    ]
