"""The privacy of each group of a run, recomputed from its ledger: by accountant and by view, with what was claimed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms.vectors import Vector
from scenarios.language.json_numbers import number
from scenarios.records.epsilon_terms import EpsilonTerms, terms_of
from scenarios.records.file_guard import guarded
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import budget_of


@dataclass(frozen=True, slots=True)
class GroupPrivacy:
    """The largest ε over the agents of one group, after all releases that were charged."""

    name: str
    agents: int
    releases: int
    delta: float
    """The largest of its agents."""
    claimed: float
    """What the calibration promises; NaN where the run did not record it."""
    by_accountant: Mapping[str, float]
    """In the headline view, by each accountant that is valid for every ledger of the run."""
    by_view: Mapping[str, float]
    """By the headline accountant, in each view."""


@dataclass(frozen=True, slots=True)
class RunPrivacy:
    """The terms of a run's ε, and the ε of each group."""

    terms: EpsilonTerms
    groups: tuple[GroupPrivacy, ...]


def privacy_of(record: RunRecord) -> RunPrivacy | None:
    """Return the privacy of each group; None where a run has no summary of its end.

    It is composed as the run composed it at its end, so the largest over groups is what the summary says.
    """
    terms = terms_of(record)
    if terms is None:
        return None
    with guarded(record.path):
        return RunPrivacy(terms, _groups(record, terms))


def _groups(record: RunRecord, terms: EpsilonTerms) -> tuple[GroupPrivacy, ...]:
    facts, headline = record.facts, record.summary["epsilon"]
    budget = budget_of(record)
    accountants = {name: budget.by(name, terms.view) for name in headline["side_by_side"]}
    views = {view: budget.by(facts.accountant, view) for view in headline["views"]}
    claims = _claims(record, facts.size)
    deltas = [part.delta for part in facts.budgets for _ in range(part.count)]
    groups = []
    for name, members in facts.members.items():
        ids = list(members)
        groups.append(
            GroupPrivacy(
                name=name,
                agents=len(ids),
                releases=int(budget.counts[ids].sum()),
                delta=max(deltas[i] for i in ids),
                claimed=_largest(claims, ids),
                by_accountant={key: _largest(values, ids) for key, values in accountants.items()},
                by_view={key: _largest(values, ids) for key, values in views.items()},
            )
        )
    return tuple(groups)


def _claims(record: RunRecord, size: int) -> Vector:
    values = record.last_sample.get("epsilon.claimed")
    if not isinstance(values, list) or len(values) != size:
        return np.full(size, math.nan)
    return np.array([number(value) for value in values])


def _largest(values: Vector, ids: list[int]) -> float:
    known = values[ids]
    known = known[~np.isnan(known)]
    return float(known.max()) if known.size else math.nan
