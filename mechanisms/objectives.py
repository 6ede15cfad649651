"""Losses and local objectives: values, slopes, curvatures, Lipschitz and smoothness constants.

Every loss is a scalar function of t = row·θ − offset. For a margin loss the row is y·x and there is no
offset; for a residual loss the row is x and the offset y. The norm of a row is the norm of x.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.vectors import Matrix, Vector


class Loss(Protocol):
    """A scalar loss of t = row·θ − offset."""

    @property
    def margin(self) -> bool:
        """Whether rows are y·x (labels ±1) rather than x with offset y."""
        ...

    @property
    def lipschitz(self) -> float:
        """The supremum of |slope|."""
        ...

    @property
    def curvature_bound(self) -> float:
        """The supremum of |curvature|: c₁ of theory.md, section 1."""
        ...

    @property
    def convex(self) -> bool:
        """Whether a stationary point is a minimum."""
        ...

    def value(self, t: Vector) -> Vector: ...

    def slope(self, t: Vector) -> Vector: ...

    def curvature(self, t: Vector) -> Vector: ...


@dataclass(frozen=True, slots=True)
class Logistic:
    """ln(1 + e^−t)."""

    margin = True
    lipschitz = 1.0
    curvature_bound = 0.25
    convex = True

    def value(self, t: Vector) -> Vector:
        return np.logaddexp(0.0, -t)

    def slope(self, t: Vector) -> Vector:
        return 0.5 * np.tanh(0.5 * t) - 0.5

    def curvature(self, t: Vector) -> Vector:
        tanh = np.tanh(0.5 * t)
        return 0.25 * (1.0 - tanh * tanh)


@dataclass(frozen=True, slots=True)
class SmoothedHinge:
    """Hinge with a parabola of half-width `width` at the kink: |slope| = 1 is attained."""

    width: float = 0.5
    margin = True
    lipschitz = 1.0
    convex = True

    @property
    def curvature_bound(self) -> float:
        return 1.0 / (2.0 * self.width)

    def value(self, t: Vector) -> Vector:
        gap = 1.0 - t
        inside = (gap + self.width) ** 2 / (4.0 * self.width)
        return np.where(gap > self.width, gap, np.where(gap < -self.width, 0.0, inside))

    def slope(self, t: Vector) -> Vector:
        return -np.clip((1.0 - t + self.width) / (2.0 * self.width), 0.0, 1.0)

    def curvature(self, t: Vector) -> Vector:
        return np.where(np.abs(1.0 - t) <= self.width, self.curvature_bound, 0.0)


@dataclass(frozen=True, slots=True)
class Squared:
    """t², no ½; with `clip`, linear beyond |t| = clip, so that its slope is bounded."""

    clip: float = math.inf
    margin = False
    curvature_bound = 2.0
    convex = True

    @property
    def lipschitz(self) -> float:
        return 2.0 * self.clip

    def value(self, t: Vector) -> Vector:
        if self.clip == math.inf:
            return t * t
        inside = np.minimum(np.abs(t), self.clip)
        return inside * (2.0 * np.abs(t) - inside)

    def slope(self, t: Vector) -> Vector:
        return 2.0 * np.clip(t, -self.clip, self.clip)

    def curvature(self, t: Vector) -> Vector:
        return np.where(np.abs(t) <= self.clip, 2.0, 0.0)


@dataclass(frozen=True, slots=True)
class Welsch:
    """1 − e^(−t²/2): bounded, so an outlier stops pulling; not convex."""

    margin = False
    lipschitz = math.exp(-0.5)
    curvature_bound = 1.0
    convex = False

    def value(self, t: Vector) -> Vector:
        return -np.expm1(-0.5 * t * t)

    def slope(self, t: Vector) -> Vector:
        return t * np.exp(-0.5 * t * t)

    def curvature(self, t: Vector) -> Vector:
        return (1.0 - t * t) * np.exp(-0.5 * t * t)


class Objective(Protocol):
    """What a mechanism may ask of an agent's data: L(θ) = weight·Σ ℓ(t_n) + l2·‖θ‖²."""

    @property
    def points(self) -> int:
        """Number of records: public."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def weight(self) -> float:
        """The weight of one record: 1/m for a mean, 1 for a sum, C/m in the ADMM family. Public."""
        ...

    @property
    def l2(self) -> float: ...

    @property
    def loss(self) -> Loss: ...

    def value(self, theta: Vector) -> float: ...

    def gradient(self, theta: Vector, clip: Vector | None = None) -> Vector:
        """Its gradient; with `clip`, |slope| of record n is at most clip[n]."""
        ...

    def record_gradient(self, theta: Vector, record: int) -> Vector:
        """The gradient of one record's loss, regularised: the mean over records is the gradient of a mean."""
        ...

    def hessian(self, theta: Vector) -> Matrix: ...

    def clip_at(self, bound: float, norm: str) -> Vector:
        """The slopes at which each record's gradient has norm `bound` ("l1" or "l2")."""
        ...

    def longest_gradient(self, theta: Vector, clip: Vector | None, norm: str) -> float:
        """The largest norm of one record's gradient at θ."""
        ...

    def smoothness(self) -> float:
        """c₁·λ_max of this very data, plus 2·l2: not public."""
        ...


class LocalObjective:
    """The objective of one agent on its own points."""

    __slots__ = (
        "_offsets",
        "_rows",
        "dimension",
        "features",
        "l2",
        "labels",
        "loss",
        "points",
        "weight",
    )

    def __init__(
        self,
        features: Matrix,
        labels: Vector,
        loss: Loss,
        l2: float,
        *,
        weight: float | None = None,
    ) -> None:
        self.features, self.labels = features, labels
        self._rows = features * labels[:, None] if loss.margin else np.ascontiguousarray(features)
        self._offsets: Vector | None = None if loss.margin else labels
        self.points, self.dimension = features.shape
        self.weight = 1.0 / self.points if weight is None else weight
        self.l2 = l2
        self.loss = loss

    def on(self, features: Matrix, labels: Vector) -> "LocalObjective":
        """Return the same objective on other records, with the same weight for each."""
        return LocalObjective(features, labels, self.loss, self.l2, weight=self.weight)

    def _scores(self, theta: Vector) -> Vector:
        scores: Vector = self._rows @ theta
        if self._offsets is not None:
            scores -= self._offsets
        return scores

    def value(self, theta: Vector) -> float:
        fit = self.weight * float(self.loss.value(self._scores(theta)).sum())
        return fit + self.l2 * float(theta @ theta)

    def gradient(self, theta: Vector, clip: Vector | None = None) -> Vector:
        slopes = self.loss.slope(self._scores(theta))
        if clip is not None:
            slopes = np.clip(slopes, -clip, clip)
        slopes *= self.weight
        gradient: Vector = slopes @ self._rows
        if self.l2:
            gradient += (2.0 * self.l2) * theta
        return gradient

    def record_gradient(self, theta: Vector, record: int) -> Vector:
        row = self._rows[record]
        t = row @ theta - (0.0 if self._offsets is None else self._offsets[record])
        share = self.weight * self.points
        gradient: Vector = (share * self.loss.slope(t)) * row + (2.0 * self.l2) * theta
        return gradient

    def hessian(self, theta: Vector) -> Matrix:
        curvature = self.loss.curvature(self._scores(theta)) * self.weight
        hessian: Matrix = (self._rows.T * curvature) @ self._rows
        hessian[np.diag_indices_from(hessian)] += 2.0 * self.l2
        return hessian

    def _lengths(self, norm: str) -> Vector:
        lengths: Vector = np.linalg.norm(self._rows, ord={"l1": 1, "l2": 2}[norm], axis=1)
        return lengths

    def clip_at(self, bound: float, norm: str) -> Vector:
        with np.errstate(
            over="ignore"
        ):  # a record of zeros has no gradient: its slope has no bound
            return bound / np.maximum(self._lengths(norm), np.finfo(float).tiny)

    def longest_gradient(self, theta: Vector, clip: Vector | None, norm: str) -> float:
        slopes = np.abs(self.loss.slope(self._scores(theta)))
        if clip is not None:
            slopes = np.minimum(slopes, clip)
        return float((slopes * self._lengths(norm)).max())

    def smoothness(self) -> float:
        gram = (self._rows.T @ self._rows) * self.weight
        largest = float(np.linalg.eigvalsh(gram)[-1])
        return self.loss.curvature_bound * largest + 2.0 * self.l2
