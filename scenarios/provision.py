"""What sets the noise: from budgets, releases and bounds to one agent's mechanism."""

import math
from dataclasses import dataclass
from typing import Any

from mechanisms.accounting.calibrate import composed, most_releases, uniform_charge
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.spend import Spend, unprotected
from mechanisms.descent import CoordinateDescent
from mechanisms.noise import LAWS, Law
from mechanisms.objectives import LocalObjective
from mechanisms.propagation import Propagation
from mechanisms.solitary import Solitary
from mechanisms.solve import ACCEPTED
from mechanisms.strategy import Mechanism
from mechanisms.vectors import grid_below

Table = dict[str, Any]
MOST_RELEASES = 1_000_000
FEATURE_BOUND = 1.0
"""R: the declared bound on the norm of a feature vector; the data were held to it."""


class CannotProvide(ValueError):
    """Budget, releases and noise do not fit together; `key` says which of them to look at."""

    def __init__(self, message: str, key: str = "mechanism") -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class Terms:
    """What one group brings: its budget, and who calibrates and holds it."""

    epsilon: float | None
    delta: float
    calibrate: str
    filter: str
    rounds: int | None

    def accountant(self, law: Law) -> str:
        """Gaussian always by μ; without δ only basic composition is valid."""
        if law.unit == "mu":
            return "gaussian"
        return self.calibrate if self.delta > 0 else "basic"

    def cap(self, law: Law | None) -> Cap | None:
        """The cap and what holds it; None without a budget."""
        if self.epsilon is None or law is None:
            return None
        holder = self.accountant(law) if self.filter == "auto" else self.filter
        return Cap(self.epsilon, self.delta, holder)


def law_of(mechanism: Table) -> Law | None:
    """Return the law of a kind's noise; propagation's output noise is norm-gamma."""
    noise = mechanism.get("noise", "none")
    return LAWS["norm-gamma"] if noise == "output" else LAWS.get(noise)


def provide(
    mechanism: Table,
    objective: LocalObjective,
    confidence: float,
    terms: Terms,
    grid: float | None,
) -> Mechanism:
    """Make one agent's mechanism."""
    law = law_of(mechanism)
    width = None if law is None or grid is None else grid_below(grid)
    match mechanism["kind"]:
        case "cd":
            return _descent(mechanism, objective, confidence, terms, law, width)
        case "propagation":
            spend = _output(objective, terms, law)
            return Propagation(objective, mechanism["mu"], confidence, law, spend, width)
        case _:
            return Solitary(objective)


def _descent(
    mechanism: Table,
    objective: LocalObjective,
    confidence: float,
    terms: Terms,
    law: Law | None,
    grid: float | None,
) -> CoordinateDescent:
    smoothness = _smoothness(mechanism, objective, law)
    if law is None:
        free = unprotected("cd", objective.dimension)
        return CoordinateDescent(objective, mechanism["mu"], confidence, smoothness, free=free)
    bound = _gradient_bound(mechanism, objective, law)
    clip = objective.clip_at(bound, law.norm) if "clip" in mechanism else None
    sensitivity = 2.0 * bound * objective.weight
    charge, releases = _fix(mechanism, terms, law)
    scale = law.scale(charge, sensitivity)
    spend = Spend(
        "cd", law.name, "corrected", scale, sensitivity, law.norm, objective.dimension, 0.0,
        charge, law.charge(scale, sensitivity),
    )  # fmt: skip
    return CoordinateDescent(
        objective, mechanism["mu"], confidence, smoothness, law, (spend,) * releases, clip,
        mechanism["smooth_after"], grid,
    )  # fmt: skip


def _smoothness(mechanism: Table, objective: LocalObjective, law: Law | None) -> float:
    """Choose L_i^loc: of the data without noise; a public bound with it (theory.md, A10)."""
    chosen = mechanism.get("smoothness") or ("data" if law is None else "bound")
    if chosen == "data":
        return objective.smoothness()
    if chosen == "bound":
        largest = float(objective.weight * objective.points * FEATURE_BOUND**2)
        return float(objective.loss.curvature_bound * largest + 2.0 * objective.l2)
    return float(chosen)


def _gradient_bound(mechanism: Table, objective: LocalObjective, law: Law) -> float:
    """Bound one record's gradient in the law's norm: by clipping, or by the loss (E7)."""
    if "clip" in mechanism:
        return float(mechanism["clip"])
    proved = objective.loss.lipschitz * FEATURE_BOUND
    if law.norm == "l1":
        proved *= math.sqrt(objective.dimension)
    declared = (mechanism.get("lipschitz") or {}).get(law.norm)
    if declared is None:
        return proved
    if declared < proved * (1 - 1e-12):
        raise CannotProvide(
            f"lipschitz.{law.norm} = {declared:g} is below what a gradient can reach, {proved:g}; "
            "mechanism.clip would make it true",
            "mechanism.lipschitz",
        )
    return float(declared)


def _fix(mechanism: Table, terms: Terms, law: Law) -> tuple[float, int]:
    """Return (charge of one release, number of releases): two of three fix the third."""
    releases: int | None = mechanism.get("releases") or terms.rounds
    alpha: float | None = mechanism.get("alpha")
    by = terms.accountant(law)
    if terms.epsilon is None:
        assert alpha is not None, "judged before"  # noqa: S101
        assert releases is not None, "judged before"  # noqa: S101
        return alpha, releases
    if alpha is None:
        assert releases is not None, "judged before"  # noqa: S101
        return uniform_charge(law, terms.epsilon, terms.delta, releases, by), releases
    most = most_releases(law, terms.epsilon, terms.delta, alpha, by)
    if releases is None:
        if most == 0:
            raise CannotProvide(
                f"one release of alpha = {alpha:g} is above the budget {terms.epsilon:g}",
                "mechanism.alpha",
            )
        if most > MOST_RELEASES:
            raise CannotProvide(
                f"the budget holds more than {MOST_RELEASES:,} releases of alpha = {alpha:g}: "
                "give mechanism.releases",
                "mechanism.alpha",
            )
        return alpha, most
    if releases > most:
        total = composed(law, alpha, releases, terms.delta, by)
        raise CannotProvide(
            f"{releases} releases of {alpha:g} compose to ε = {total:.4g} ({by}, δ = "
            f"{terms.delta:g}), above the budget {terms.epsilon:g}; {most} would fit",
            "mechanism.releases",
        )
    return alpha, releases


def _output(objective: LocalObjective, terms: Terms, law: Law | None) -> Spend:
    """Charge one output-perturbed local model: Δ₂ = 2·G·w/Λ, Λ = 2·l2 (theory.md, A12)."""
    if law is None:
        return unprotected("propagation", objective.dimension)
    assert terms.epsilon is not None, "judged before"  # noqa: S101
    slope = objective.loss.lipschitz * FEATURE_BOUND
    if not math.isfinite(slope) or not objective.loss.convex:
        raise CannotProvide("output noise needs a convex loss with a bounded gradient", "task.loss")
    convexity = 2.0 * objective.l2
    # Both minimisers are found to ACCEPTED only, so each may lie ACCEPTED/Λ off (theory.md, E20).
    sensitivity = 2.0 * (slope * objective.weight + ACCEPTED) / convexity
    scale = law.scale(terms.epsilon * (1 - 1e-11), sensitivity)
    charged = law.charge(scale, sensitivity)
    return Spend(
        "propagation", law.name, "corrected", scale, sensitivity, law.norm, objective.dimension,
        0.0, terms.epsilon, charged,
    )  # fmt: skip
