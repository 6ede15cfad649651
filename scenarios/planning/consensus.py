"""Mechanisms of the ADMM family, with the noise that budget, α and degrees set."""

from mechanisms.accounting.calibrate import Additive, Ending, Form, Perturbed
from mechanisms.accounting.compose import by
from mechanisms.accounting.loss import rounded_up, tally
from mechanisms.accounting.spend import unprotected
from mechanisms.admm import Alternating
from mechanisms.guards import DualNoise, Growth, Guard, Open, PenaltyNoise, PrimalNoise
from mechanisms.noise import grid_below
from mechanisms.objectives import LocalObjective
from mechanisms.perturbation import FEATURE_BOUND, Record, record_of
from scenarios.language.table_rules import Table as ReadTable
from scenarios.planning.public_facts import Maker, Public, Table
from scenarios.planning.release_charges import CannotProvide, Scheme, Shape, Terms, charges, uniform

_FEW = 64
"""So many agents are calibrated one by one."""


def alternating(table: Table, i: int, public: Public) -> Maker:
    """ADMM and its private forms."""
    penalty, dual_step = _penalty(table, i)
    private = table["kind"] not in {"admm", "madmm"}
    terms, d = public.terms[i], public.dimension
    grid = grid_below(public.grid) if private and public.grid is not None else None
    wanted = scheme(table, i, public)
    fixed = None if wanted is None else charges(table, terms, wanted)

    def make(objective: LocalObjective) -> Alternating:
        if table["C"] > objective.points:
            raise CannotProvide(
                f"C = {table['C']:g} must be at most the points of every agent, and one has {objective.points}",
                "mechanism.C",
            )
        guard: Guard = Open(unprotected(table["kind"], 2 * d + 1))
        if private:
            guard = _guard(table, record_of(objective), d, fixed, terms)
            _can_begin(guard, penalty, objective, len(public.places[i].weights))
        made = Alternating(
            objective, dual_step, penalty, guard, grid, naive=table.get("duals") == "naive"
        )
        if table.get("noise") is not None:
            _within_budget(made, len(public.places[i].weights), terms)
        return made

    return make


def _within_budget(mechanism: Alternating, degree: int, terms: Terms) -> None:
    """Given noise, given releases, given budget: all three are checked."""
    spends = mechanism.schedule(degree)
    if not spends or terms.epsilon is None or terms.printed:
        return
    by_whom = terms.accountant("epsilon")
    total = by(by_whom, tally(spends), terms.delta)
    if total > terms.epsilon * (1 + 1e-9):
        raise CannotProvide(
            f"{len(spends)} releases with this noise compose to ε = {total:.4g} ({by_whom}, δ = "
            f"{terms.delta:g}), above the budget {terms.epsilon:g}; start with less",
            "mechanism.noise",
        )


def _penalty(table: Table, i: int) -> tuple[Growth, float]:
    """Return η_i(t) and θ; admm, dvp and pvp have one for both."""
    eta = table["eta"]
    if not isinstance(eta, ReadTable):
        return Growth(eta), eta
    start, growth = (
        v[i % len(v)] if isinstance(v, list) else v for v in (eta["start"], eta["growth"])
    )
    return Growth(start, growth, eta["cap"]), table["theta"]


def scheme(table: Table, i: int, public: Public) -> Scheme | None:
    """Return how agent i's releases are calibrated; None without noise, and where pp is given its noise."""
    if table["kind"] in {"admm", "madmm"} or (
        table["kind"] == "pp" and table.get("noise") is not None
    ):
        return None
    return Scheme(_form(table, i, public), _shape(table))


def _form(table: Table, i: int, public: Public) -> Form:
    """Return what the loss of agent i's releases is distributed as, at the degree that it has in the plan."""
    penalty, _ = _penalty(table, i)
    bend = table["C"] / public.sizes[i] * public.loss.curvature_bound * FEATURE_BOUND**2
    convexity = table["rho"] + 2.0 * penalty.at(0) * max(1, len(public.places[i].weights))
    x = bend / convexity
    # in large worlds agents of like sizes and degrees share one calibration
    perturbed = Perturbed(x if public.count <= _FEW else rounded_up(x, 16), public.dimension)
    if table["kind"] != "pvp":
        return perturbed
    added = Additive("norm-gamma", public.dimension)
    return Ending(added, perturbed) if table["final_dual"] else added


def _shape(table: Table) -> Shape:
    """Give the final dual-perturbed step its share of the budget."""
    share = table.get("final_share")
    if share is None:
        return uniform

    def shape(releases: int) -> tuple[float, ...]:
        if releases == 1:
            return (1.0,)
        return (*(1.0,) * (releases - 1), share / (1.0 - share) * (releases - 1))

    return shape


def _guard(
    table: Table, record: Record, d: int, fixed: tuple[float, ...] | None, terms: Terms
) -> Guard:
    match table["kind"]:
        case "dvp":
            assert fixed is not None, "dvp has targets"  # noqa: S101
            return DualNoise(record, d, fixed, terms.printed)
        case "pvp":
            assert fixed is not None, "pvp has targets"  # noqa: S101
            secret = table["variant"] == "printed"
            return PrimalNoise(
                record, d, fixed, table["rho"], secret, table["final_dual"], terms.printed
            )
        case "pp":
            noise = table.get("noise")
            given = None if noise is None else Growth(noise["start"], noise["growth"])
            releases = table.get("releases") or terms.rounds
            return PenaltyNoise(record, d, given, fixed, releases, terms.printed)
        case kind:
            raise NotImplementedError(f"no noise is written for kind {kind!r}")


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
