"""Objective perturbation: one mechanism behind DVP, PP and the private warm start (theory.md, 2.1 and E20).

Replacing one record changes the log-density of the minimiser of w·Σℓ(u·f) + κ/2‖f‖² + g·f + b·f, b ∝ exp(−ζ‖b‖), by at most
2ζwG + ln(1 + w c₁/κ): w is a record's weight, G bounds a slope, c₁ a curvature. A solver stops within tolerance/κ of the
minimiser, at a place that depends on the data. Noise of rate ε₂κ/(2·tolerance) hides that for ε₂ more.
"""

import math
from dataclasses import dataclass

from mechanisms.accounting.spend import RESIDUAL_SHARE, Solve
from mechanisms.objectives import Objective
from mechanisms.solve import TOLERANCE, rounding

FEATURE_BOUND = 1.0
"""R: the declared bound on the norm of a feature vector; the data were held to it."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one record can do: `pull` bounds w·‖∇ℓ‖₂, `bend` bounds w·‖∇²ℓ‖₂. Both are public."""

    pull: float
    bend: float
    weight: float = 1.0
    """C: the weight of all records together."""

    def jacobian(self, convexity: float) -> float:
        """ln(1 + x), x = w c₁/κ: what the change of variables costs (E2)."""
        return math.log1p(self.bend / convexity)


def record_of(objective: Objective) -> Record:
    """Bound one record's part in an objective, features in the ball of radius R."""
    loss = objective.loss
    return Record(
        objective.weight * loss.lipschitz * FEATURE_BOUND,
        objective.weight * loss.curvature_bound * FEATURE_BOUND**2,
        objective.weight * objective.points,
    )


def tolerance_of(zeta: float, d: int) -> float:
    """Return the gradient norm to which a release is solved: 1e-9, and more only where the noise makes rounding larger.

    It rests on a bound of the noise's norm, Gamma(d)/ζ, that is passed with probability e^−40 at most, and not on its draw:
    a solve that ends above it is not released.
    """
    longest = (d + 9.0 * math.sqrt(d) + 60.0) / zeta if zeta > 0 else math.inf
    return max(TOLERANCE, rounding(longest))


@dataclass(frozen=True, slots=True)
class Perturbation:
    """How one release is perturbed: ridge Φ, ζ of the linear noise, and the two parts of its loss."""

    ridge: float
    zeta: float
    jacobian: float
    residual: float = 0.0
    """ε₂, which pays for the solver's tolerance; 0 as printed."""

    def loss(self, shift: float) -> float:
        """ζ·shift + ln(1+x) + ε₂: what the release costs when one record moves b by at most `shift`."""
        return self.zeta * shift + self.jacobian + self.residual

    def solve(self, record: Record, convexity: float, degree: int, d: int) -> Solve:
        """Return what this release is solved with, at this convexity (without Φ) and degree."""
        kappa = convexity + self.ridge
        tolerance = tolerance_of(self.zeta, d) if self.residual else 0.0
        return Solve(
            kappa, degree, self.ridge, record.weight, record.bend, self.residual, tolerance
        )


def corrected(target: float, record: Record, convexity: float) -> Perturbation:
    """Return the noise that makes a release cost exactly `target`: E1, E2, and E20 by a fixed share of it."""
    residual = target * RESIDUAL_SHARE
    rest = target - residual
    ridge, jacobian = 0.0, record.jacobian(convexity)
    if jacobian > rest / 2:
        ridge = record.bend / math.expm1(rest / 2) - convexity
        jacobian = record.jacobian(convexity + ridge)
    return Perturbation(ridge, (rest - jacobian) / (2.0 * record.pull), jacobian, residual)


def printed(
    target: float, record: Record, convexity: float, *, halved: bool = False
) -> Perturbation:
    """Return what the papers draw: α̂ = α − 2 ln(1+x), and ζ = α̂ on ε with b = wε.

    So Zhang and Zhu 2016, Algorithm 2 (E1). `halved` is ζ = α̂/2, Chaudhuri et al. 2011, Algorithm 2: loose, and
    private (E2).
    """
    ridge, hat = 0.0, target - 2.0 * record.jacobian(convexity)
    if hat <= 0:
        ridge = max(0.0, record.bend / math.expm1(target / 4) - convexity)
        hat = target / 2
    zeta = hat / record.pull * (0.5 if halved else 1.0)
    return Perturbation(ridge, zeta, record.jacobian(convexity + ridge))
