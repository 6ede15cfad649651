"""One objective, solved again and again: what changes is a linear term and a ridge.

A quasi-Newton solver that keeps an inverse Hessian from solve to solve, corrects it by BFGS, and starts from an
extrapolation of the last two solutions. Where it does not contract, it takes a new Hessian; where that does not
help, damped Newton does. How it got there changes only what the tolerance leaves.
"""

import numpy as np

from mechanisms.objectives import Objective
from mechanisms.solve import TOLERANCE, Solution, minimise, rounding
from mechanisms.vectors import Matrix, Vector

_MOST_STEPS = 60
_SHARPER = 1e-2
"""It stops at this share of the tolerance that is charged for, so that paths of many solves agree to 1e-10."""
_CONTRACTION = 0.7
"""A step must shrink the gradient to this share of it, or the Hessian is too old."""


class Warm:
    """Solves L(θ) + linear·θ + ½·ridge·‖θ‖² to ‖gradient‖ ≤ 1e-11·max(1, ‖linear‖), at most 1e-9.

    Beyond a linear term of 10⁴ rounding allows less, and 1e-13 of it is what is asked for.
    """

    __slots__ = ("_before", "_inverse", "_last", "_objective", "_ridge", "residual")

    def __init__(self, objective: Objective, start: Vector) -> None:
        self._objective = objective
        self._last = start
        self._before: Vector | None = None
        self._inverse: Matrix | None = None
        self._ridge = 0.0
        self.residual = 0.0
        """The largest gradient norm that was ever taken for a minimum."""

    def solve(self, linear: Vector, ridge: float) -> Solution:
        """Return the minimiser for this linear term and ridge."""
        if not np.isfinite(linear).all():
            return Solution(np.full_like(linear, np.nan), np.inf, 0)  # its agent diverges
        size = float(np.linalg.norm(linear))
        tolerance = max(TOLERANCE * min(1.0, _SHARPER * max(1.0, size)), rounding(size))
        solution = self._quasi_newton(linear, ridge, tolerance)
        self._before, self._last = self._last, solution.theta
        self.residual = max(self.residual, solution.residual)
        return solution

    def _gradient(self, theta: Vector, linear: Vector, ridge: float) -> Vector:
        gradient = self._objective.gradient(theta)
        gradient += linear
        gradient += ridge * theta
        return gradient

    def _quasi_newton(self, linear: Vector, ridge: float, tolerance: float) -> Solution:
        theta = self._last if self._before is None else 2.0 * self._last - self._before
        slope = self._gradient(theta, linear, ridge)
        length, fresh = float(np.linalg.norm(slope)), False
        for step in range(_MOST_STEPS):
            if length <= tolerance:
                return Solution(theta, length, step)
            if self._inverse is None or self._ridge != ridge:
                self._invert(theta, ridge)
                fresh = True
            assert self._inverse is not None, "it was just made"  # noqa: S101
            move = -(self._inverse @ slope)
            there = theta + move
            reached = self._gradient(there, linear, ridge)
            after = float(np.linalg.norm(reached))
            if after <= _CONTRACTION * length:
                self._correct(move, reached - slope)
                theta, slope, length, fresh = there, reached, after, False
            elif fresh:
                break  # far from the minimum: a full step overshoots
            else:
                self._inverse = None
        self._inverse = None
        return minimise(
            self._objective, start=theta, linear=linear, ridge=ridge, tolerance=tolerance
        )

    def _invert(self, theta: Vector, ridge: float) -> None:
        hessian = self._objective.hessian(theta)
        hessian[np.diag_indices_from(hessian)] += ridge
        self._inverse = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        self._ridge = ridge

    def _correct(self, move: Vector, change: Vector) -> None:
        """BFGS on the inverse, in place."""
        curvature = float(move @ change)
        if curvature <= 0 or self._inverse is None:
            return
        image = self._inverse @ change
        scale = (1.0 + float(change @ image) / curvature) / curvature
        self._inverse += scale * np.outer(move, move)
        cross = np.outer(image, move) / curvature
        self._inverse -= cross
        self._inverse -= cross.T
