"""What one release costs, as frozen data: enough to recompute it under any accountant."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

UNITS = {
    "gaussian": "mu",
    "laplace": "epsilon",
    "norm-gamma": "epsilon",
    "objective": "epsilon",
    "local": "epsilon",
    "pure": "epsilon",
    "none": "epsilon",
}
"""What a charge of each law of noise counts. A law that is not listed here cannot be charged.

"pure" stands for any noise of which only a pure ε is known; "none" is no noise, with an infinite charge.
"""

SCALES = {
    "gaussian": "standard deviation of each coordinate",
    "laplace": "scale b of each coordinate, density ∝ exp(−|x|/b)",
    "norm-gamma": "rate ζ of its length, density ∝ exp(−ζ‖x‖): d/ζ on average",
    "objective": "rate ζ of the length of the linear term, density ∝ exp(−ζ‖x‖): d/ζ on average",
    "local": "rate ζ of the length of each record's noise, density ∝ exp(−ζ‖x‖): d/ζ on average",
    "pure": "as its own code has it",
    "none": "no noise",
}
"""What `scale` of a spend means, for each law of noise."""


RESIDUAL_SHARE = 1e-3
"""The share of a release's ε that pays for the tolerance of its solver (theory.md, E20)."""


class Solve(NamedTuple):
    """What the Jacobian of an objective perturbation rests on: ln(1 + C c₁/(B κ)), κ = ρ + Φ + 2ηV.

    `residual` is ε₂, the part of the charge that pays for the solver's `tolerance` (a gradient norm): noise of rate
    ε₂κ/(2·tolerance) is added to the minimiser. As printed both are 0: then the residual is not covered.
    """

    kappa: float
    degree: int
    phi: float
    weight: float
    """C, the weight of the agent's whole loss."""
    bend: float
    """C c₁/B: how much one record can bend the objective. The Jacobian's part is ln(1 + bend/κ)."""
    residual: float = 0.0
    tolerance: float = 0.0

    @property
    def smoothing(self) -> float | None:
        """The rate ζ₂ of the noise on the minimiser; None as printed."""
        return self.residual * self.kappa / (2.0 * self.tolerance) if self.residual else None


class Hidden(NamedTuple):
    """What one step costs where only the model after the last step is seen: a μ, and how much each step contracts."""

    mu: float
    contraction: float


@dataclass(frozen=True, slots=True)
class Spend:
    """One release of one agent.

    `charged` is the true loss bound and `claimed` what the calibration promises: a pure ε, or the μ of
    Gaussian noise where `law` is "gaussian". Adjacency: replace one record of one agent, sizes public.
    """

    mechanism: str
    law: str
    calibration: str
    scale: float
    sensitivity: float
    norm: str
    d: int
    jacobian: float
    claimed: float
    charged: float
    summed: float | None = None
    """What it costs in the view `aggregate`, which sees only sums, where that is less."""
    solve: Solve | None = None
    """What a perturbed objective was solved with; None for other noise."""
    hidden: Hidden | None = None
    """What it costs in the view `outsider`, which sees only the last model, where that is less than all steps."""

    def __post_init__(self) -> None:
        if self.law not in UNITS:
            known = ", ".join(UNITS)
            raise ValueError(f"the noise law of a spend must be one of {known}; got {self.law!r}")
        if not self.charged >= 0:
            raise ValueError(f"a charge must be >= 0, got {self.charged!r}")


def unprotected(mechanism: str, d: int) -> Spend:
    """Return the spend of a release without noise: infinite."""
    return Spend(mechanism, "none", "none", 0.0, math.inf, "l2", d, 0.0, math.inf, math.inf)


def claim_of(spend: Spend) -> Spend:
    """Return a spend as its calibration claims it."""
    if spend.claimed == spend.charged and spend.summed is None:
        return spend
    return replace(spend, charged=spend.claimed, summed=None)


def implied_charge(spend: Spend) -> float:
    """Return what a release costs at least by its own scale, sensitivity and solve, in the unit of its law.

    Of "local" noise it is the part of the features, for the labels' part is in no scale; of "pure" noise it is 0, for only
    the declared charge is known. Raises ValueError for a law that has no rule here.
    """
    scale, sensitivity = spend.scale, spend.sensitivity
    match spend.law:
        case "gaussian":
            return sensitivity / scale if scale > 0 else math.inf
        case "laplace":  # its ε is that of the L1 norm, which is up to sqrt(d) times another one
            reach = sensitivity if spend.norm == "l1" else sensitivity * math.sqrt(max(1, spend.d))
            return reach / scale if scale > 0 else math.inf
        case "norm-gamma" | "local":
            return scale * sensitivity
        case "objective":
            residual = math.inf if spend.solve is None else spend.solve.residual
            return scale * sensitivity + _implied_jacobian(spend) + residual
        case "pure":
            return 0.0
        case "none":
            return math.inf
        case _:
            raise ValueError(f"no charge follows from the noise law {spend.law!r}")


_SHARE = 1e-9
"""So much less than its fields give a charge may be, as a share of it: the order of a sum rounds otherwise."""


def is_understated(spend: Spend) -> bool:
    """Whether a release is charged less than its own fields give: in all, in its Jacobian's part, or as a hidden step."""
    least, hidden = implied_charge(spend), spend.hidden
    stated = [(spend.charged, least), (spend.jacobian, _implied_jacobian(spend))]
    stated += [] if hidden is None else [(hidden.mu, least)]
    return any(cost < implied * (1.0 - _SHARE) for cost, implied in stated)


def at_its_own_fields(spend: Spend) -> Spend:
    """Return a spend that is charged at least what its own fields give."""
    least, hidden = implied_charge(spend), spend.hidden
    if hidden is not None:
        hidden = hidden._replace(mu=max(hidden.mu, least))
    charged, jacobian = max(spend.charged, least), _implied_jacobian(spend)
    return replace(spend, charged=charged, jacobian=jacobian, hidden=hidden)


def _implied_jacobian(spend: Spend) -> float:
    """Return the part of a charge that a change of variables costs: ln(1 + bend/κ), or what is stated where that is more."""
    if spend.solve is None:
        return spend.jacobian
    return max(spend.jacobian, math.log1p(spend.solve.bend / spend.solve.kappa))


def rounded_up(charge: float) -> float | str:
    """Round a charge up to 1e-9, as every event and digest carries it; JSON has no infinity."""
    if charge == math.inf:
        return "inf"
    return math.ceil(charge * 1e9) / 1e9 if charge < 1e6 else charge
