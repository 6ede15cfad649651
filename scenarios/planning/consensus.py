"""Builds mechanisms of the ADMM family, with the noise that budget, α and degrees set."""

from collections.abc import Callable

from mechanisms.accounting.calibrate import Perturbed
from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import rounded_up, tally
from mechanisms.accounting.spend import unprotected
from mechanisms.admm import Alternating
from mechanisms.guards import Growth, Guard, Open
from mechanisms.noise import grid_below
from mechanisms.objectives import LocalObjective
from mechanisms.perturbation import FEATURE_BOUND, Record, record_of
from scenarios.planning.mechanism_tables import ConsensusTable, PenalisedTable
from scenarios.planning.public_facts import Public
from scenarios.planning.release_charges import CannotProvide, Terms

_FEW = 64
"""So many agents are calibrated one by one."""


def plain(
    table: ConsensusTable, public: Public, penalty: Growth, dual_step: float, *, naive: bool = False
) -> Callable[[LocalObjective], Alternating]:
    """Return what makes one agent's ADMM without noise."""
    guard = Open(unprotected(table.kind, 2 * public.dimension + 1))

    def make(objective: LocalObjective) -> Alternating:
        _refuse_heavy(table, objective)
        return Alternating(objective, dual_step, penalty, guard, naive=naive)

    return make


def guarded(
    table: ConsensusTable,
    i: int,
    public: Public,
    penalty: Growth,
    dual_step: float,
    guard: Callable[[Record], Guard],
) -> Callable[[LocalObjective], Alternating]:
    """Return what makes agent i's ADMM with the noise of a guard, which bounds what one record can do."""
    grid = None if public.grid is None else grid_below(public.grid)
    degree = public.places.degree(i)

    def make(objective: LocalObjective) -> Alternating:
        _refuse_heavy(table, objective)
        kept = guard(record_of(objective))
        _can_begin(kept, penalty, objective, degree)
        return Alternating(objective, dual_step, penalty, kept, grid)

    return make


def _refuse_heavy(table: ConsensusTable, objective: LocalObjective) -> None:
    if objective.points < table.C:
        raise CannotProvide(
            f"C = {table.C:g} must be at most the points of every agent, and one has {objective.points}",
            "mechanism.C",
        )


def within_budget(mechanism: Alternating, degree: int, terms: Terms) -> None:
    """Refuse given noise whose given releases cost more than the given budget."""
    spends = mechanism.schedule(degree)
    if not spends or terms.epsilon is None or terms.printed:
        return
    accountant = terms.accountant("epsilon")
    total = by(accountant, tally(spends), terms.delta)
    if total > terms.epsilon * (1 + 1e-9):
        raise CannotProvide(
            f"{len(spends)} releases with this noise compose to ε = {total:.4g} ({accountant}, δ = "
            f"{terms.delta:g}), above the budget {terms.epsilon:g}; start with less",
            "mechanism.noise",
        )


def own_penalty(table: PenalisedTable, i: int) -> Growth:
    """Return η_i(t) of an agent with a penalty of its own."""
    start, growth = (
        v[i % len(v)] if isinstance(v, list) else v for v in (table.eta.start, table.eta.growth)
    )
    return Growth(start, growth, table.eta.cap)


def perturbed(table: ConsensusTable, i: int, public: Public, penalty: Growth) -> Perturbed:
    """Return what the loss of agent i's releases is distributed as, at the degree that it has in the plan."""
    bend = table.C / public.sizes[i] * public.loss.curvature_bound * FEATURE_BOUND**2
    convexity = table.rho + 2.0 * penalty.at(0) * max(1, public.places.degree(i))
    x = bend / convexity
    # in large worlds agents of like sizes and degrees share one calibration
    return Perturbed(x if public.count <= _FEW else rounded_up(x, 16), public.dimension)


def _can_begin(guard: Guard, penalty: Growth, objective: LocalObjective, degree: int) -> None:
    """Refuse what no noise can keep: the printed bound of pp has a part that noise does not touch."""
    if not degree:
        return
    pull = penalty.at(0) * degree
    if guard.fix(0, 2.0 * objective.l2 + 2.0 * pull, pull, degree) is None:
        raise CannotProvide(
            f"as printed, no noise reaches this ε: the bound holds 1.4·c₁·C/(ηVB) = "
            f"{1.4 * record_of(objective).bend / pull:.4g} for each release whatever the noise; raise eta",
            "mechanism.eta",
        )
