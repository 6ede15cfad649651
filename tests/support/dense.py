"""The papers' consensus algorithms as plain loops over dense matrices, written from their equations.

Nothing here is taken from the packages but the plan's data and the random numbers of (seed, agent, release).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenarios.planning.plan import Plan
from scenarios.planning.seeds import NoiseSource

Array = np.ndarray[Any, np.dtype[np.float64]]


def newton(
    gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], x: Array
) -> Array:
    """Solve a smooth strongly convex problem to rounding."""
    for _ in range(100):
        slope = gradient(x)
        move = np.linalg.solve(hessian(x), slope)
        length = 1.0
        while np.linalg.norm(gradient(x - length * move)) > np.linalg.norm(slope) and length > 1e-8:
            length /= 2
        x = x - length * move
        if np.linalg.norm(move) < 1e-14 * (1 + np.linalg.norm(x)):
            break
    return x


@dataclass
class Consensus:
    """min Σ_i [C/B_i Σ ln(1+e^−u·f) + ρ/2‖f‖²] over one f, on the plan's points and graph."""

    plan: Plan
    C: float
    rho: float
    u: list[Array] = field(init=False)
    A: Array = field(init=False)

    def __post_init__(self) -> None:
        self.u = [x * y[:, None] for x, y in self.plan.shards.train]
        n = self.plan.size
        self.A = np.zeros((n, n))
        for i, j in zip(self.plan.graph.heads, self.plan.graph.tails, strict=True):
            self.A[i, j] = self.A[j, i] = 1.0

    @property
    def degrees(self) -> Array:
        """D, the diagonal matrix of degrees."""
        return np.diag(self.A.sum(axis=1))

    def gradient(self, i: int, f: Array) -> Array:
        u = self.u[i]
        slope: Array = -self.C / len(u) * (u.T @ (1 / (1 + np.exp(u @ f)))) + self.rho * f
        return slope

    def hessian(self, i: int, f: Array) -> Array:
        u = self.u[i]
        p = 1 / (1 + np.exp(u @ f))
        bend: Array = self.C / len(u) * (u.T * (p * (1 - p))) @ u + self.rho * np.eye(len(f))
        return bend

    def solve(self, i: int, linear: Array, ridge: float) -> Array:
        """Argmin O_i(f) + linear·f + ½ ridge ‖f‖²."""
        d = len(linear)
        return newton(
            lambda f: self.gradient(i, f) + linear + ridge * f,
            lambda f: self.hessian(i, f) + ridge * np.eye(d),
            np.zeros(d),
        )

    def optimum(self) -> Array:
        """Argmin Σ_i O_i."""
        nodes, d = range(self.plan.size), self.plan.dimension
        return newton(
            lambda f: np.sum([self.gradient(i, f) for i in nodes], axis=0),
            lambda f: np.sum([self.hessian(i, f) for i in nodes], axis=0),
            np.zeros(d),
        )

    def noise(self, i: int, k: int, zeta: float) -> Array:
        """The first draw of release k of agent i with density ∝ exp(−ζ‖x‖)."""
        return self.noises(i, k, zeta)[0]

    def noises(self, i: int, k: int, *zetas: float) -> list[Array]:
        """The draws of release k of agent i, one after the other, with densities ∝ exp(−ζ‖x‖)."""
        rng = NoiseSource(self.plan.seeds["noise"]).of(i)(k)
        drawn = []
        for zeta in zetas:
            direction = rng.standard_normal(self.plan.dimension)
            length = rng.standard_gamma(self.plan.dimension) / zeta
            drawn.append(direction * (length / np.sqrt(direction @ direction)))
        return drawn

    def hiding(self, zeta: float, residual: float, kappa: float) -> float:
        """ζ₂ = ε₂κ/(2 tol) of the noise on a minimiser; tol is 1e-9, or 1e-13 of a bound on the linear noise (E20)."""
        d = self.plan.dimension
        tolerance = max(1e-9, 1e-13 * (d + 9 * np.sqrt(d) + 60) / zeta)
        return float(residual * kappa / (2 * tolerance))

    def run(
        self,
        steps: int,
        theta: float,
        eta: Callable[[int, int], float],
        release: "Callable[[Consensus, int, int, Array, float, State], Array] | None" = None,
    ) -> "State":
        """M-ADMM in the edge form (eq. 5–8 of Zhang and Zhu, 10–11 of Zhang, Khalili, Liu)."""
        n, d = self.plan.size, self.plan.dimension
        state = State(np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, n, d)))
        for t in range(steps):
            sent = np.zeros((n, d))
            for i in range(n):
                near = np.flatnonzero(self.A[i])
                h, lam = eta(i, t), state.dual[i].sum(axis=0)
                if release is None:
                    g = 2 * lam - h * sum(state.sent[i] + state.sent[j] for j in near)
                    sent[i] = self.solve(i, g, 2 * h * len(near))
                else:
                    sent[i] = release(self, i, t, lam, h, state)
            for i in range(n):
                for j in np.flatnonzero(self.A[i]):
                    state.dual[i, j] += theta / 2 * (sent[i] - sent[j])
            state.before, state.sent = state.sent, sent
        return state


@dataclass
class State:
    """What was sent last, secret states, and a dual for each ordered pair."""

    sent: Array
    secret: Array
    dual: Array
    before: Array | None = None
