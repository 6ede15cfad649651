"""Objective perturbation: one mechanism behind DVP, PP and the private warm start (theory.md, 2.1).

The minimiser of w·Σℓ(u·f) + κ/2‖f‖² + g·f + b·f with b ∝ exp(−ζ‖b‖) loses at most
2ζwG + ln(1 + w c₁/κ) to whoever replaces one record: w is a record's weight, G bounds a slope, c₁ a curvature.
"""

import math
from dataclasses import dataclass

from mechanisms.objectives import Objective

FEATURE_BOUND = 1.0
"""R: the declared bound on the norm of a feature vector; the data were held to it."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one record can do: `pull` bounds w·‖∇ℓ‖₂, `bend` bounds w·‖∇²ℓ‖₂. Both are public."""

    pull: float
    bend: float

    def jacobian(self, convexity: float) -> float:
        """ln(1 + x), x = w c₁/κ: what the change of variables costs (E2)."""
        return math.log1p(self.bend / convexity)


def record_of(objective: Objective) -> Record:
    """Bound one record's part in an objective, features in the ball of radius R."""
    loss = objective.loss
    return Record(
        objective.weight * loss.lipschitz * FEATURE_BOUND,
        objective.weight * loss.curvature_bound * FEATURE_BOUND**2,
    )


@dataclass(frozen=True, slots=True)
class Perturbation:
    """How one release is perturbed: ridge Φ, ζ of the linear noise, and the two parts of its loss."""

    ridge: float
    zeta: float
    jacobian: float

    def loss(self, shift: float) -> float:
        """ζ·shift + ln(1+x): what the release costs when one record moves b by at most `shift`."""
        return self.zeta * shift + self.jacobian


def corrected(target: float, record: Record, convexity: float) -> Perturbation:
    """Return the noise that makes a release cost exactly `target` (E1, E2)."""
    ridge, jacobian = 0.0, record.jacobian(convexity)
    if jacobian > target / 2:
        ridge = record.bend / math.expm1(target / 2) - convexity
        jacobian = record.jacobian(convexity + ridge)
    return Perturbation(ridge, (target - jacobian) / (2.0 * record.pull), jacobian)


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
