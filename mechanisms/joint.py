"""What a kind minimises over all agents together, and its exact minimum."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.objectives import LocalObjective, Objective
from mechanisms.solve import NoMinimiser, minimise
from mechanisms.vectors import Matrix, Vector

_AT_ONCE = 1 << 16
"""So many edges are worked on at once: what is computed of them needs little memory beside them."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Undirected weighted edges (i < j) between n agents."""

    n: int
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    weights: Vector

    def among(self, nodes: NDArray[np.int64]) -> "Graph":
        """Return the graph of some nodes, numbered anew in their order."""
        place = np.full(self.n, -1)
        place[nodes] = np.arange(len(nodes))
        heads, tails = place[self.heads], place[self.tails]
        kept = (heads >= 0) & (tails >= 0)
        return Graph(len(nodes), heads[kept], tails[kept], self.weights[kept])

    def degrees(self) -> Vector:
        """D_ii = Σ_j W_ij."""
        degrees = np.zeros(self.n)
        np.add.at(degrees, self.heads, self.weights)
        np.add.at(degrees, self.tails, self.weights)
        return degrees

    def disagreement(self, theta: Matrix) -> float:
        """½ Σ_{i<j} W_ij ‖Θ_i − Θ_j‖²."""
        squares = np.empty(len(self.weights))
        for first in range(0, len(squares), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            gaps = theta[self.heads[some]] - theta[self.tails[some]]
            np.einsum("ij,ij->i", gaps, gaps, out=squares[some])
        return 0.5 * float(self.weights @ squares)

    def laplacian(self, theta: Matrix) -> Matrix:
        """(D − W)Θ, the gradient of the disagreement."""
        pulls = self.weights[:, None] * (theta[self.heads] - theta[self.tails])
        result = np.zeros_like(theta)
        np.add.at(result, self.heads, pulls)
        np.subtract.at(result, self.tails, pulls)
        return result


@dataclass(frozen=True, slots=True)
class Personalised:
    """Q_L(Θ) = ½Σ_{i<j} W_ij‖Θ_i−Θ_j‖² + μ Σ_i D_ii c_i L_i(Θ_i) (Bellet et al. 2018, eq. 2)."""

    graph: Graph
    objectives: tuple[Objective, ...]
    confidences: Vector
    mu: float

    @property
    def convex(self) -> bool:
        return all(objective.loss.convex for objective in self.objectives)

    def among(self, nodes: NDArray[np.int64]) -> "Personalised":
        """Return what these nodes minimise without the others."""
        kept = tuple(self.objectives[i] for i in nodes)
        return Personalised(self.graph.among(nodes), kept, self.confidences[nodes], self.mu)

    def _pulls(self) -> Vector:
        return self.mu * self.graph.degrees() * self.confidences

    def value(self, theta: Matrix, local: Vector | None = None) -> float:
        """Return its value; `local` are the values of the agents' objectives, None where they are not known."""
        if local is None:
            local = _values(self.objectives, theta)
        return self.graph.disagreement(theta) + float(self._pulls() @ local)

    def gradient(self, theta: Matrix) -> Matrix:
        rows = [o.gradient(row) for o, row in zip(self.objectives, theta, strict=True)]
        return self.graph.laplacian(theta) + self._pulls()[:, None] * np.array(rows)

    def minimum(self) -> Matrix:
        """Minimise by Newton's method, each step by conjugate gradients with Jacobi blocks."""
        theta = np.zeros((self.graph.n, self.objectives[0].dimension))
        degrees, pulls = self.graph.degrees(), self._pulls()
        value = self.value(theta)
        for _ in range(100):
            slope = self.gradient(theta)
            if float(np.abs(slope).max()) <= 1e-11 * max(1.0, float(pulls.max())):
                return theta
            hessians = np.array(
                [
                    p * o.hessian(row)
                    for p, o, row in zip(pulls, self.objectives, theta, strict=True)
                ]
            )
            move = -self._solve(hessians, degrees, slope)
            theta, value, moved = self._search(theta, value, slope, move)
            if not moved:
                break
        if float(np.abs(self.gradient(theta)).max()) > 1e-8 * max(1.0, float(pulls.max())):
            raise NoMinimiser("the joint objective has no single minimiser, or none was found")
        return theta

    def _search(
        self, theta: Matrix, value: float, slope: Matrix, move: Matrix
    ) -> tuple[Matrix, float, bool]:
        length, decrease = 1.0, float((slope * move).sum())
        while length > 1e-8:
            there = theta + length * move
            reached = self.value(there)
            if reached <= value + 1e-4 * length * decrease + 1e-14 * abs(value):
                return there, reached, True
            length *= 0.5
        return theta, value, False

    def _solve(self, hessians: NDArray[np.float64], degrees: Vector, right: Matrix) -> Matrix:
        d = right.shape[1]
        floor = np.where(degrees > 0, degrees, 1.0)  # an isolated agent has nothing to solve
        blocks = np.linalg.inv(hessians + floor[:, None, None] * np.eye(d))

        def apply(x: Matrix) -> Matrix:
            product: Matrix = np.matmul(hessians, x[:, :, None])[:, :, 0]
            return self.graph.laplacian(x) + product

        x = np.zeros_like(right)
        residual = right.copy()
        scaled = np.matmul(blocks, residual[:, :, None])[:, :, 0]
        direction, rate = scaled.copy(), float((residual * scaled).sum())
        goal = rate * 1e-20
        for _ in range(10 * right.size):
            if rate <= goal or rate <= 0:
                break
            image = apply(direction)
            curvature = float((direction * image).sum())
            if curvature <= 1e-14 * float((direction * direction).sum()):
                break  # flat: no step along it is better than another
            length = rate / curvature
            x += length * direction
            residual -= length * image
            scaled = np.matmul(blocks, residual[:, :, None])[:, :, 0]
            former, rate = rate, float((residual * scaled).sum())
            direction = scaled + (rate / former) * direction
        return x


@dataclass(frozen=True, slots=True)
class Propagating:
    """½Σ_{i<j} W_ij‖Θ_i−Θ_j‖² + ½μ Σ_i D_ii c_i‖Θ_i−Θ_i^loc‖² (Bellet et al. 2018, App. C)."""

    graph: Graph
    anchors: Matrix
    confidences: Vector
    mu: float
    convex = True

    def among(self, nodes: NDArray[np.int64]) -> "Propagating":
        """Return what these nodes minimise without the others."""
        graph = self.graph.among(nodes)
        return Propagating(graph, self.anchors[nodes], self.confidences[nodes], self.mu)

    def value(self, theta: Matrix, local: Vector | None = None) -> float:  # noqa: ARG002
        """Return its value: of the agents' objectives it needs nothing."""
        pulls = self.mu * self.graph.degrees() * self.confidences
        gaps = theta - self.anchors
        return self.graph.disagreement(theta) + 0.5 * float(
            pulls @ np.einsum("ij,ij->i", gaps, gaps)
        )

    def minimum(self) -> Matrix:
        """(D − W + μDC)⁻¹ μDC Θ^loc."""
        n = self.graph.n
        degrees = self.graph.degrees()
        pulls = self.mu * degrees * self.confidences
        system = np.diag(degrees + pulls)
        system[self.graph.heads, self.graph.tails] -= self.graph.weights
        system[self.graph.tails, self.graph.heads] -= self.graph.weights
        alone = degrees == 0
        system[alone, alone] = 1.0
        right = pulls[:, None] * self.anchors
        minimum: Matrix = np.asarray(np.linalg.solve(system, right), dtype=np.float64).reshape(
            n, -1
        )
        return minimum


@dataclass(frozen=True, slots=True)
class Apart:
    """Σ_i L_i(Θ_i): what agents minimise that do not talk."""

    objectives: tuple[Objective, ...]

    @property
    def convex(self) -> bool:
        return all(objective.loss.convex for objective in self.objectives)

    def among(self, nodes: NDArray[np.int64]) -> "Apart":
        """Return what these nodes minimise without the others."""
        return Apart(tuple(self.objectives[i] for i in nodes))

    def value(self, theta: Matrix, local: Vector | None = None) -> float:
        """Return its value; `local` are the values of the agents' objectives, None where they are not known."""
        return math.fsum(_values(self.objectives, theta) if local is None else local)

    def minimum(self) -> Matrix:
        return np.array([minimise(objective).theta for objective in self.objectives])


@dataclass(frozen=True, slots=True)
class Common:
    """Σ_i v_i O_i(θ_i), at its best with one θ for all: the ADMM family (v = 1) and the server family."""

    objectives: tuple[Objective, ...]
    weights: Vector

    @property
    def convex(self) -> bool:
        return all(objective.loss.convex for objective in self.objectives)

    def among(self, nodes: NDArray[np.int64]) -> "Common":
        """Return what these nodes minimise without the others."""
        return Common(tuple(self.objectives[i] for i in nodes), self.weights[nodes])

    def value(self, theta: Matrix, local: Vector | None = None) -> float:
        """Return its value; `local` are the values of the agents' objectives, None where they are not known."""
        if local is None:
            local = _values(self.objectives, theta)
        return float(self.weights @ local)

    def minimum(self) -> Matrix:
        one = minimise(_Sum(self.objectives, self.weights), tolerance=1e-10).theta
        return np.tile(one, (len(self.objectives), 1))


def _values(objectives: tuple[Objective, ...], theta: Matrix) -> Vector:
    return np.array([o.value(row) for o, row in zip(objectives, theta, strict=True)])


class _Sum:
    """A weighted sum of objectives of one model, for the solver."""

    def __init__(self, objectives: tuple[Objective, ...], weights: Vector) -> None:
        self._parts = list(zip(weights.tolist(), objectives, strict=True))
        self.dimension = objectives[0].dimension
        self.l2 = sum(v * o.l2 for v, o in self._parts)

    def value(self, theta: Vector) -> float:
        return math.fsum(v * o.value(theta) for v, o in self._parts)

    def gradient(self, theta: Vector) -> Vector:
        total: Vector = sum((v * o.gradient(theta) for v, o in self._parts), np.zeros_like(theta))
        return total

    def hessian(self, theta: Vector) -> Matrix:
        d = self.dimension
        total: Matrix = sum((v * o.hessian(theta) for v, o in self._parts), np.zeros((d, d)))
        return total


Joint = Personalised | Propagating | Apart | Common


def local_models(objectives: tuple[LocalObjective, ...]) -> Matrix | None:
    """Return every agent's own minimiser, or None where an agent has none."""
    try:
        return np.array([minimise(objective).theta for objective in objectives])
    except NoMinimiser:
        return None
