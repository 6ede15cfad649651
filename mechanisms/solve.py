"""Exact minimisers of smooth local objectives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechanisms.vectors import Matrix, Vector

_MOST_STEPS = 200
TOLERANCE = 1e-9
ACCEPTED = 1e-6
"""The largest gradient norm that is ever taken for a minimum: what rounding may leave."""


class Smooth(Protocol):
    """What can be minimised: l2·‖θ‖² and something convex."""

    @property
    def dimension(self) -> int: ...

    @property
    def l2(self) -> float: ...

    def value(self, theta: Vector) -> float: ...

    def gradient(self, theta: Vector) -> Vector: ...

    def hessian(self, theta: Vector) -> Matrix: ...


@dataclass(frozen=True, slots=True)
class Solution:
    """A minimiser, and how nearly stationary it is."""

    theta: Vector
    residual: float
    steps: int


class NoMinimiser(ValueError):
    """The objective decreases for ever, or so slowly that no minimiser was found."""


def rounding(size: float) -> float:
    """The gradient norm below which rounding rules, where the gradient has parts of this size."""
    return 1e-13 * size


def minimise(
    objective: Smooth,
    *,
    start: Vector | None = None,
    linear: Vector | None = None,
    ridge: float = 0.0,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Minimise L(θ) + linear·θ + ½·ridge·‖θ‖² by damped Newton, to ‖gradient‖ ≤ tolerance.

    A linear term so large that rounding hides the tolerance is solved to 1e-13 of it; one that is not finite has a
    minimiser that is not a number.
    """
    theta = np.zeros(objective.dimension) if start is None else start.copy()
    tilt = np.zeros(objective.dimension) if linear is None else linear
    if not np.isfinite(tilt).all():
        return Solution(np.full_like(tilt, np.nan), np.inf, 0)
    floor = rounding(float(np.linalg.norm(tilt)))
    tolerance = max(tolerance, floor)

    def value(at: Vector) -> float:
        return objective.value(at) + float(tilt @ at) + 0.5 * ridge * float(at @ at)

    def gradient(at: Vector) -> Vector:
        return objective.gradient(at) + tilt + ridge * at

    slope = gradient(theta)
    for step in range(_MOST_STEPS):
        residual = float(np.linalg.norm(slope))
        hessian = objective.hessian(theta)
        hessian[np.diag_indices_from(hessian)] += ridge
        if residual <= tolerance:
            if not (objective.l2 or ridge) and not _isolated(hessian, slope, theta):
                break
            return Solution(theta, residual, step)
        theta = _descend(value, theta, slope, _direction(hessian, slope))
        slope = gradient(theta)
    residual = float(np.linalg.norm(slope))
    if residual <= max(ACCEPTED, floor) and (
        objective.l2 or ridge
    ):  # what rounding allows on badly scaled data; recorded
        return Solution(theta, residual, _MOST_STEPS)
    raise NoMinimiser(
        f"no single minimiser was found (gradient norm {residual:.3g}); "
        "without regularisation separable data have none: set task.l2 above 0"
    )


def _isolated(hessian: Matrix, slope: Vector, theta: Vector) -> bool:
    """Whether a Newton step from here would be tiny: a small gradient alone proves no minimum."""
    smallest = float(np.linalg.eigvalsh(hessian)[0])
    return smallest * 1e-6 * (1 + float(np.linalg.norm(theta))) > float(np.linalg.norm(slope))


def _direction(hessian: Matrix, slope: Vector) -> Vector:
    """Newton's direction; where the Hessian is not positive definite, shift it until it is."""
    shift = 0.0
    scale = max(float(np.trace(hessian)) / len(slope), 1e-12)
    while True:
        try:
            factor = np.linalg.cholesky(hessian + shift * np.eye(len(slope)))
        except np.linalg.LinAlgError:
            shift = max(4.0 * shift, 1e-6 * abs(scale))
            continue
        return -np.linalg.solve(factor.T, np.linalg.solve(factor, slope))


def _descend(
    value: Callable[[Vector], float], theta: Vector, slope: Vector, direction: Vector
) -> Vector:
    """Take the longest of 1, ½, ¼ … of a step that decreases enough (Armijo)."""
    here, decrease, length = value(theta), float(slope @ direction), 1.0
    while length > 1e-10:
        there = theta + length * direction
        if value(there) <= here + 1e-4 * length * decrease + 1e-15 * abs(here):
            return there
        length *= 0.5
    return theta + direction  # rounding hides the decrease: the full step is the best guess
