"""Losses and local objectives: values, slopes, curvatures, Lipschitz and smoothness constants.

Every loss is a scalar function of t = row·θ − offset. For a margin loss the row is y·x and there is no
offset; for a residual loss the row is x and the offset y. The norm of a row is the norm of x.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

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


class GradientBound(NamedTuple):
    """What noise was scaled for: no record's gradient, with slopes clipped at `clip`, is longer than `bound` in a norm."""

    objective: Objective
    clip: Vector | None
    norm: str
    bound: float

    def longest(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound."""
        return self.objective.longest_gradient(theta, self.clip, self.norm), self.bound


class LocalObjective:
    """The objective of one agent on its own points.

    The points may be held as 32-bit numbers; sums and products of them are taken in 64 bits.
    """

    __slots__ = (
        "_offsets",
        "_rows",
        "dimension",
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
        """Make the objective of points; `weight` is that of one record, by default 1/m.

        Raises ValueError where a margin loss is given labels that are not ±1.
        """
        if loss.margin and not (np.abs(labels) == 1.0).all():
            raise ValueError("a margin loss takes labels of −1 and +1")
        rows = features * labels[:, None] if loss.margin else np.ascontiguousarray(features)
        self._keep(rows, labels, loss, l2, weight)

    @classmethod
    def of_rows(
        cls, rows: Matrix, labels: Vector, loss: Loss, l2: float, *, weight: float | None = None
    ) -> "LocalObjective":
        """Return the objective of rows as the loss reads them: y·x for a margin loss, else x. No copy is made of them."""
        made = cls.__new__(cls)
        made._keep(rows, labels, loss, l2, weight)  # noqa: SLF001 # its own class
        return made

    def _keep(
        self, rows: Matrix, labels: Vector, loss: Loss, l2: float, weight: float | None
    ) -> None:
        self._rows, self.labels = rows, labels
        self._offsets: Vector | None = None if loss.margin else labels
        self.points, self.dimension = rows.shape
        self.weight = 1.0 / self.points if weight is None else weight
        self.l2 = l2
        self.loss = loss

    @property
    def rows(self) -> Matrix:
        """The records as the loss reads them: y·x for a margin loss, else x."""
        return self._rows

    @property
    def features(self) -> Matrix:
        """The features x; of a margin loss made anew, as y·(y·x), which is x to the last bit."""
        if self.loss.margin:
            return self._rows * self.labels[:, None]
        return self._rows.astype(np.float64, copy=False)

    @property
    def offsets(self) -> Vector | None:
        """What is taken off scores: y, or None for a margin loss."""
        return self._offsets

    def with_ridge(self, ridge: float) -> "LocalObjective":
        """Return the objective with ½·ridge·‖θ‖² added: strongly convex with the modulus 2·l2 + ridge."""
        ridged = LocalObjective.__new__(LocalObjective)
        ridged._keep(  # noqa: SLF001 # its own class
            self._rows, self.labels, self.loss, self.l2 + 0.5 * ridge, self.weight
        )
        return ridged

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

    def lengths(self, norm: str) -> Vector:
        """Return the norm of each record ("l1" or "l2")."""
        rows = self._rows.astype(np.float64, copy=False)
        lengths: Vector = np.linalg.norm(rows, ord={"l1": 1, "l2": 2}[norm], axis=1)
        return lengths

    def clip_at(self, bound: float, norm: str) -> Vector:
        with np.errstate(
            over="ignore"
        ):  # a record of zeros has no gradient: its slope has no bound
            return bound / np.maximum(self.lengths(norm), np.finfo(float).tiny)

    def longest_gradient(self, theta: Vector, clip: Vector | None, norm: str) -> float:
        slopes = np.abs(self.loss.slope(self._scores(theta)))
        if clip is not None:
            slopes = np.minimum(slopes, clip)
        return float((slopes * self.lengths(norm)).max())

    def smoothness(self) -> float:
        rows = self._rows.astype(np.float64, copy=False)
        gram = (rows.T @ rows) * self.weight
        largest = float(np.linalg.eigvalsh(gram)[-1])
        return self.loss.curvature_bound * largest + 2.0 * self.l2


_MOST_COPIED = 1 << 20
"""Rows of so many numbers at most are copied into one array."""


def _stacked(rows: Sequence[Matrix]) -> NDArray[np.float64] | None:
    """Return matrices of one shape as one array, without a copy where they lie in a row; None where a copy is large."""
    base, (m, d), n = rows[0].base, rows[0].shape, len(rows)
    if isinstance(base, np.ndarray) and base.flags.c_contiguous and base.shape[1:] == (d,):
        places = [row.__array_interface__["data"][0] for row in rows]
        first, apart = places[0] - base.__array_interface__["data"][0], rows[0].nbytes
        if places == [places[0] + i * apart for i in range(n)] and rows[-1].base is base:
            start = first // (d * base.itemsize)
            view: NDArray[np.float64] = base[start : start + n * m].reshape(n, m, d)
            return view
    return np.array(rows) if n * m * d <= _MOST_COPIED else None


class StackedObjectives:
    """Several objectives of one loss and one dimension, whose gradients at one θ are taken together.

    The gradients are those of `LocalObjective.gradient`, bit for bit: NumPy multiplies a stack of matrices one by one, by
    the routine that it has for a single one, and all else goes element by element. Rows of one shape are a stack where
    they lie one after the other in memory, or are few; else each objective's own rows are read.
    """

    def __init__(self, objectives: Sequence[LocalObjective]) -> None:
        """Take at least one objective; raise ValueError where losses or dimensions differ."""
        first = objectives[0]
        if any(o.loss != first.loss or o.dimension != first.dimension for o in objectives):
            raise ValueError("objectives of several losses or dimensions have no common gradient")
        self._objectives = list(objectives)
        self._loss, self._dimension = first.loss, first.dimension
        rows = [o.rows for o in objectives]
        sizes = [o.points for o in objectives]
        ends = np.cumsum(sizes)
        self._scores = np.empty(int(ends[-1]))
        """The scores of all records, one objective after the other."""
        self._pieces = [
            (own, slice(int(end) - len(own), int(end))) for own, end in zip(rows, ends, strict=True)
        ]
        self._stack = _stacked(rows) if len(set(sizes)) == 1 else None
        offsets = [o.offsets for o in objectives if o.offsets is not None]
        self._offsets = np.concatenate(offsets) if offsets else None
        self._weights = np.repeat([o.weight for o in objectives], sizes)
        self._ridges = np.array([[2.0 * o.l2] for o in objectives])

    def gradients(self, theta: Vector, chosen: Sequence[int] | None = None) -> Matrix:
        """Return the gradient of each objective at θ, or of some by their places, a row for each: a new array."""
        if chosen is None:
            return self._all_gradients(theta)
        if 2 * len(chosen) > len(self._objectives):
            some: Matrix = self._all_gradients(theta)[list(chosen)]
            return some
        return np.array([self._objectives[i].gradient(theta) for i in chosen])

    def _all_gradients(self, theta: Vector) -> Matrix:
        scores, stack = self._scores, self._stack
        if stack is not None:
            np.matmul(stack, theta, out=scores.reshape(stack.shape[:2]))
        else:
            for rows, place in self._pieces:
                np.dot(rows, theta, out=scores[place])
        if self._offsets is not None:
            scores -= self._offsets
        slopes = self._loss.slope(scores)
        slopes *= self._weights
        if stack is not None:
            gradients: Matrix = np.matmul(slopes.reshape(len(stack), 1, -1), stack)[:, 0]
        else:
            gradients = np.empty((len(self._pieces), self._dimension))
            for (rows, place), gradient in zip(self._pieces, gradients, strict=True):
                np.dot(slopes[place], rows, out=gradient)
        if self._ridges.any():
            gradients += self._ridges * theta
        return gradients


class Gradients:
    """The gradients of several objectives of one loss, each at a θ of its own: the bits of `LocalObjective.gradient`.

    There are two products for each agent; all else goes element by element, for all records at once.
    """

    def __init__(
        self, objectives: Sequence[LocalObjective], clips: Sequence[Vector | None]
    ) -> None:
        """Take objectives of one loss, and where the slopes of each are clipped; None: nowhere."""
        self._rows = [objective.rows for objective in objectives]
        self._offsets = [objective.offsets for objective in objectives]
        self._clips = list(clips)
        self._is_clipped = any(clip is not None for clip in clips)
        self._loss = objectives[0].loss
        self._sizes = np.array([objective.points for objective in objectives])
        self._weights = np.array([objective.weight for objective in objectives])
        self._ridges = np.array([[2.0 * objective.l2] for objective in objectives])

    def replace(self, member: int, objective: LocalObjective, clip: Vector | None) -> None:
        """Take another objective of the same loss in place of one."""
        self._rows[member], self._offsets[member] = objective.rows, objective.offsets
        self._clips[member] = clip
        self._is_clipped = self._is_clipped or clip is not None
        self._sizes[member], self._weights[member] = objective.points, objective.weight
        self._ridges[member] = 2.0 * objective.l2

    def prepared(self, members: NDArray[np.int64]) -> Callable[[int, int, Matrix], Matrix]:
        """Return a function of `begin`, `end` and θ, a row each: the gradients of these members, as a new array."""
        sizes, loss, dot = self._sizes[members], self._loss, np.dot
        bounds = np.append(0, np.cumsum(sizes)).tolist()
        weights = np.repeat(self._weights[members], sizes)
        ids = members.tolist()
        rows = [self._rows[i] for i in ids]
        offsets = None if loss.margin else self._joined(self._offsets, ids)
        clips = self._joined(self._clips, ids) if self._is_clipped else None
        ridges, scores = self._ridges[members], np.empty(bounds[-1])
        parts = [scores[a:b] for a, b in pairwise(bounds)]
        ridged = (ridges != 0.0)[:, 0]
        are_ridged, none_is = bool(ridged.all()), not ridged.any()

        def gradients(begin: int, end: int, theta: Matrix) -> Matrix:
            here = slice(bounds[begin], bounds[end])
            for own, model, part in zip(rows[begin:end], theta, parts[begin:end], strict=True):
                dot(own, model, part)
            some = scores[here]
            if offsets is not None:
                some -= offsets[here]
            slopes = loss.slope(some)
            if clips is not None:
                np.clip(slopes, -clips[here], clips[here], out=slopes)
            slopes *= weights[here]
            some[:] = slopes
            found = np.empty(theta.shape)
            for own, part, row in zip(rows[begin:end], parts[begin:end], found, strict=True):
                dot(part, own, row)
            if are_ridged:
                found += ridges[begin:end] * theta
            elif not none_is:
                which = ridged[begin:end]
                found[which] += (ridges[begin:end] * theta)[which]
            return found

        return gradients

    def _joined(self, each: Sequence[Vector | None], ids: Sequence[int]) -> Vector:
        """Return vectors of some members one after the other, infinities for one without."""
        sizes = self._sizes
        joined = []
        for i in ids:
            vector = each[i]
            joined.append(np.full(sizes[i], np.inf) if vector is None else vector)
        return np.concatenate(joined)
