"""Builds mechanisms of the personalised family, with the noise that budget and bounds set."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.accountants.basic import ACCOUNTANT as BASIC
from mechanisms.accounting.calibrate import PURE, Additive, Perturbed
from mechanisms.accounting.spend import Spend, unprotected
from mechanisms.descent import CoordinateDescent
from mechanisms.noise import LAWS, Law, grid_below
from mechanisms.objectives import LocalObjective
from mechanisms.participating import ParticipatingDescent
from mechanisms.perturbation import FEATURE_BOUND, corrected, printed, record_of
from mechanisms.propagation import Propagation
from mechanisms.solve import ACCEPTED
from mechanisms.vectors import Vector
from scenarios.planning.mechanism_tables import DescentTable
from scenarios.planning.public_facts import Public
from scenarios.planning.release_charges import (
    NORM_GAMMA,
    CannotProvide,
    Scheme,
    Shape,
    Terms,
    charges,
    charges_once,
    growth,
)

_FAINTEST = 1e-9
"""A release with less than this share of the largest charge is noise and nothing else."""


def descent(
    table: DescentTable, i: int, public: Public, scheme: Scheme | None
) -> Callable[[LocalObjective], CoordinateDescent]:
    """Return what makes agent i's coordinate descent, calibrated by a scheme; None without noise."""
    d, mu, c = public.dimension, table.mu, float(public.confidences[i])
    if scheme is None:
        free = public.once(("unprotected", "cd"), lambda: unprotected("cd", d))
        return lambda objective: CoordinateDescent(
            objective, mu, c, _smoothness(table, objective, None), free=free
        )
    law, terms = LAWS[table.noise], public.terms[i]
    if table.schedule == "rollover":
        _refuse_other_sums(law, terms)
    fixed = charges_once(public, terms, scheme)
    grid = None if public.grid is None else grid_below(public.grid)

    def make(objective: LocalObjective) -> CoordinateDescent:
        bounds = _bounds(table, objective, law, as_printed=terms.printed)
        lengths = (objective.weight, bounds.true, bounds.believed)
        spends = public.once(
            ("spends", id(table), terms, scheme, lengths),
            lambda: _spends_of(table, law, objective, fixed, bounds, terms, scheme.shape),
        )
        settled = (
            objective,
            mu,
            c,
            _smoothness(table, objective, law),
            law,
            spends,
            bounds.clip,
            table.smooth_after,
            grid,
        )
        if table.release == "always" and table.schedule != "rollover":
            return CoordinateDescent(*settled)
        return ParticipatingDescent(
            *settled,
            when_read=table.release == "when-read",
            rolls_over=table.schedule == "rollover",
            squares=law.unit == "mu",
        )

    return make


def _refuse_other_sums(law: Law, terms: Terms) -> None:
    """Raise CannotProvide where shares that pass on would not add up to what they were: only Σμ² and Σε do."""
    accountant = terms.accountant(law.unit)
    if law.unit != "mu" and accountant != BASIC.name:
        raise CannotProvide(
            f'shares pass on where they add up: noise = "gaussian" (Σμ²), or privacy.calibrate = "basic" (Σε), not {accountant}',
            "mechanism.schedule",
        )


def descent_scheme(
    table: DescentTable,
    public: Public,
    releases: int | None,
    alpha: float | None = None,
    i: int | None = None,
) -> Scheme:
    """Return how the releases of a descent with noise are calibrated; `i` is whose, where agents' schedules may differ."""
    wakes = None if i is None or table.schedule != "survival" else public.expected_wakes[i]

    def make() -> Scheme:
        law = LAWS[table.noise]
        form = Additive(law.name, public.dimension)
        return Scheme(form, releases, _schedule(table, public, law, wakes), alpha=growth(alpha))

    return public.once(("scheme", id(table), releases, wakes), make)


def start_scheme(noise: str, i: int, public: Public) -> Scheme:
    """Return how the one release of agent i's propagation is calibrated."""
    match noise:
        case "output":
            return Scheme(Additive("norm-gamma", public.dimension), 1)
        case "objective":
            m = public.sizes[i]
            x = public.loss.curvature_bound * FEATURE_BOUND**2 / m / max(2.0 * public.l2(m), 1e-300)
            return Scheme(Perturbed(x, public.dimension), 1)
        case _:
            raise NotImplementedError(f"no release is written for propagation noise {noise!r}")


class _Bounds(NamedTuple):
    """How long one record's gradient is: in truth, and as the scale believes; and where it is clipped."""

    true: float
    believed: float
    clip: Vector | None


def _spends_of(
    table: DescentTable,
    law: Law,
    objective: LocalObjective,
    fixed: tuple[float, ...],
    bounds: _Bounds,
    terms: Terms,
    shape: Shape,
) -> tuple[Spend, ...]:
    """Return the spend of each release, as the table has its smoothness."""
    spends = _spends(law, objective, fixed, bounds, terms, shape)
    if table.smoothness != "data":
        return spends
    # as printed only: its scale is not public
    return tuple(replace(spend, charged=math.inf) for spend in spends)


def _spends(
    law: Law,
    objective: LocalObjective,
    fixed: tuple[float, ...],
    bounds: _Bounds,
    terms: Terms,
    shape: Shape,
) -> tuple[Spend, ...]:
    """Return the spend of each release."""
    sensitivity = 2.0 * bounds.true * objective.weight
    believed = 2.0 * bounds.believed * objective.weight
    calibration = "as_printed" if terms.printed else "corrected"
    if law.name == "gaussian" and terms.printed:
        scales = _remark_4(bounds.believed, fixed, terms, shape)
    else:
        scales = tuple(law.scale(charge, believed) for charge in fixed)
    made: dict[tuple[float, float], Spend] = {}
    for charge, scale in zip(fixed, scales, strict=True):
        if (charge, scale) not in made:
            made[charge, scale] = Spend(
                "cd",
                law.name,
                calibration,
                scale,
                sensitivity,
                law.norm,
                objective.dimension,
                0.0,
                charge,
                law.charge(scale, sensitivity),
            )
    return tuple(made[pair] for pair in zip(fixed, scales, strict=True))


def _remark_4(
    bound: float, fixed: tuple[float, ...], terms: Terms, shape: Shape
) -> tuple[float, ...]:
    """Return 2L√(2 ln(2/δ_k))/ε_k as printed, without 1/m (E12); δ is halved between releases and composition."""
    count = len(fixed)
    if terms.epsilon is None:
        epsilons = fixed
    else:
        half = Terms(
            terms.epsilon, terms.delta / 2, "kov", "auto", count, printed=True, misprinted=True
        )
        epsilons = charges(half, Scheme(PURE, count, shape))
    width = math.sqrt(2.0 * math.log(2.0 * 2.0 * count / max(terms.delta, 1e-300)))
    return tuple(2.0 * bound * width / epsilon for epsilon in epsilons)


def _smoothness(table: DescentTable, objective: LocalObjective, law: Law | None) -> float:
    """Choose L_i^loc: of the data without noise; a public bound with it (theory.md, A10)."""
    chosen = table.smoothness or ("data" if law is None else "bound")
    if chosen == "data":
        return objective.smoothness()
    if chosen == "bound":
        return _curvature(
            objective.weight * objective.points, objective.loss.curvature_bound, objective.l2
        )
    return float(chosen)


def _curvature(share: float, bend: float, l2: float) -> float:
    return float(bend * FEATURE_BOUND**2 * share + 2.0 * l2)


def _bounds(
    table: DescentTable, objective: LocalObjective, law: Law, *, as_printed: bool
) -> _Bounds:
    """Bound one record's gradient in the law's norm: by clipping, or by the loss (E7)."""
    spread = math.sqrt(objective.dimension) if law.norm == "l1" else 1.0
    if table.clip is not None:
        clip = float(table.clip)
        if as_printed:  # clipped in L2, whatever the noise
            return _Bounds(clip * spread, clip, objective.clip_at(clip, "l2"))
        return _Bounds(clip, clip, objective.clip_at(clip, law.norm))
    proved = objective.loss.lipschitz * FEATURE_BOUND
    given = table.lipschitz
    declared = None if given is None else {"l1": given.l1, "l2": given.l2}[law.norm]
    if as_printed:
        return _Bounds(proved * spread, proved if declared is None else float(declared), None)
    proved *= spread
    if declared is None:
        return _Bounds(proved, proved, None)
    if declared < proved * (1 - 1e-12):
        raise CannotProvide(
            f"lipschitz.{law.norm} = {declared:g} is below what a gradient can reach, {proved:g}; "
            "mechanism.clip would make it true",
            "mechanism.lipschitz",
        )
    return _Bounds(float(declared), float(declared), None)


def _schedule(table: DescentTable, public: Public, law: Law, wakes: float | None = None) -> Shape:
    """Return the weights of T releases (Bellet et al. 2018, Prop. 2, corrected by E10, or as printed).

    `wakes` is how many wakes a Poisson clock brings in the mean; None where wakes are certain.
    """
    kind = table.schedule
    flatness = _contraction(table, public) if kind not in {"uniform", "rollover"} else 0.0

    def shape(releases: int) -> tuple[float, ...]:
        k = np.arange(1, releases + 1)
        match kind:
            case "uniform" | "rollover":
                return (1.0,) * releases
            case "growing" | "survival":
                # noise of release k is contracted by C^{T−k}: Σ C^{T−k}/ε_k² at a fixed Σε_k is least for
                # ε ∝ C^{(T−k)/3}, and Σ C^{T−k}/μ_k² at a fixed Σμ_k² for μ ∝ C^{(T−k)/4}; where release k is
                # reached with the chance S_k its term counts S_k times
                power = 0.25 if law.unit == "mu" else 1.0 / 3.0
                weights = np.exp(-flatness * (releases - k) * power)
                if kind == "survival":
                    weights = weights * _survival(table, releases, wakes) ** power
            case "printed":
                # t of Proposition 2 counts the wakes of all n agents: wake k of one is expected at t = n·k
                weights = (1.0 - flatness / public.count) ** (public.count * k / 3.0)
            case _:
                raise NotImplementedError(f"no weights are written for schedule {kind!r}")
        if weights.min() < _FAINTEST * weights.max():
            raise CannotProvide(
                f"over {releases} releases the {kind} schedule spans a factor of "
                f"{weights.max() / max(weights.min(), 1e-300):.2g}: some would be noise alone; plan fewer",
                "mechanism.schedule",
            )
        return tuple(weights.tolist())

    return shape


def _survival(table: DescentTable, releases: int, wakes: float | None) -> Vector:
    """Return S_k, the public probability that an agent reaches release k: as the file says, else by its clock alone."""
    given = table.survival
    if isinstance(given, list):
        if len(given) != releases:
            raise CannotProvide(
                f"survival has {len(given)} probabilities for {releases} releases",
                "mechanism.survival",
            )
        return np.array(given)
    if given is not None:
        powers: Vector = np.power(float(given), np.arange(releases))
        return powers
    if wakes is None:
        return np.ones(releases)
    from scipy.special import gammainc

    chances: Vector = np.asarray(
        gammainc(np.arange(1.0, releases + 1), wakes), dtype=np.float64
    )  # P(Poisson(wakes) ≥ k)
    return chances


def _contraction(table: DescentTable, public: Public) -> float:
    """Return σ/L_max of the joint objective, from public bounds: how much of the gap one wake of every agent closes."""
    mu, bends, convexities = table.mu, list[float](), list[float]()
    for size, c, place in zip(public.sizes, public.confidences, public.places, strict=True):
        degree, l2 = float(place.weights.sum()), public.l2(size)
        if degree > 0:
            smooth = _curvature(1.0, public.loss.curvature_bound, l2)
            convexities.append(mu * degree * c * 2.0 * l2)
            bends.append(degree * (1.0 + mu * c * smooth))
    return min(convexities) / max(bends) if bends else 0.0


def propagation(
    mu: float, noise: str, i: int, public: Public, charge: float | None
) -> Callable[[LocalObjective], Propagation]:
    """Return what makes agent i's propagation, whose one release costs `charge`; None without noise."""
    terms, c = public.terms[i], float(public.confidences[i])
    free = public.once(
        ("unprotected", "propagation"), lambda: unprotected("propagation", public.dimension)
    )
    grid = None if charge is None or public.grid is None else grid_below(public.grid)

    def make(objective: LocalObjective) -> Propagation:
        if charge is None:
            return Propagation(objective, mu, c, None, free, None)
        slope = objective.loss.lipschitz * FEATURE_BOUND
        if not math.isfinite(slope) or not objective.loss.convex:
            raise CannotProvide(
                f"{noise} noise needs a convex loss with a bounded gradient", "task.loss"
            )
        match noise:
            case "output":
                spend = _output(objective, charge, slope, terms)
                return Propagation(objective, mu, c, NORM_GAMMA, spend, grid)
            case "objective":
                spend, ridge = _objective(objective, charge, terms)
                return Propagation(objective, mu, c, NORM_GAMMA, spend, grid, ridge)
            case _:
                raise NotImplementedError(f"no release is written for propagation noise {noise!r}")

    return make


def _output(objective: LocalObjective, charge: float, slope: float, terms: Terms) -> Spend:
    """Charge one output-perturbed local model: Δ₂ = 2·G·w/Λ, Λ = 2·l2 (theory.md, A12)."""
    # Both minimisers are found to ACCEPTED only, so each may lie ACCEPTED/Λ off (theory.md, E20).
    sensitivity = 2.0 * (slope * objective.weight + ACCEPTED) / (2.0 * objective.l2)
    scale = NORM_GAMMA.scale(charge, sensitivity)
    return Spend(
        "propagation",
        "norm-gamma",
        "as_printed" if terms.printed else "corrected",
        scale,
        sensitivity,
        "l2",
        objective.dimension,
        0.0,
        charge,
        NORM_GAMMA.charge(scale, sensitivity),
    )


def _objective(objective: LocalObjective, charge: float, terms: Terms) -> tuple[Spend, float]:
    """Charge one objective-perturbed local model, and return it with Φ (theory.md, A12)."""
    record, convexity = record_of(objective), 2.0 * objective.l2
    if convexity == 0:
        convexity = 1e-300  # no modulus of its own: Φ supplies it
    how = (
        printed(charge, record, convexity, halved=True)
        if terms.printed
        else corrected(charge, record, convexity)
    )
    shift = 2.0 * record.pull
    spend = Spend(
        "propagation",
        "objective",
        "as_printed" if terms.printed else "corrected",
        how.zeta,
        shift,
        "l2",
        objective.dimension,
        how.jacobian,
        charge,
        how.loss(shift),
        solve=how.solve(record, convexity, 0, objective.dimension),
    )
    return spend, how.ridge
