"""Model propagation: local models, made once, smoothed over the graph (Bellet et al. 2018, App. C)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.columns import Places
from mechanisms.mixing import Heard
from mechanisms.noise import Law, round_to
from mechanisms.objectives import Objective
from mechanisms.perturbation import tolerance_of
from mechanisms.solve import minimise
from mechanisms.strategy import DERIVED, RELEASE, Explained, Step, silent, smoothing
from mechanisms.vectors import Matrix, Vector


class Propagated(NamedTuple):
    """The model, and the local model it is pulled to once that was made."""

    theta: Vector
    anchor: Vector | None


@dataclass(frozen=True, slots=True)
class Propagation:
    """Θ_i ← (Σ_j W_ij/D_ii Θ̂_j + μ c_i Θ̃_i) / (1 + μ c_i), Θ̃_i the released local model."""

    objective: Objective
    mu: float
    confidence: float
    law: Law | None
    spend: Spend
    grid: float | None = None
    ridge: float | None = None  # Φ of an objective perturbation; None: the noise is on the output
    planned = 1
    derives = True

    def begin(self, start: Vector) -> Propagated:
        return Propagated(start, None)

    def model(self, state: Propagated) -> Vector:
        return state.theta

    def propose(self, state: Propagated, heard: Heard, made: int) -> Step:
        if not heard.total:
            return silent(state)
        if made:
            return self.without_data(state, heard)

        def finish(rng: np.random.Generator | None) -> tuple[Propagated, Vector]:
            anchor = self._local_model(rng)
            if self.grid is not None:
                anchor = round_to(anchor, self.grid)
            theta = self._pull(heard, anchor)
            if self.grid is not None:
                theta = round_to(theta, self.grid)
            return Propagated(theta, anchor), theta

        return Step(RELEASE, self.spend, finish)

    def without_data(self, state: Propagated, heard: Heard) -> Step:
        if not heard.total:
            return silent(state)

        def finish(_: np.random.Generator | None) -> tuple[Propagated, Vector]:
            if state.anchor is None:  # refused, or lost in a crash: it may not be made again
                theta = smoothing(state.theta, heard)
            else:
                theta = self._pull(heard, state.anchor)
            return Propagated(theta, state.anchor), theta

        return Step(DERIVED, None, finish)

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:  # noqa: ARG002
        """The one release, with what it costs; None where it is without noise."""
        return None if self.law is None else (self.spend,)

    def explain(
        self,
        before: Propagated,  # noqa: ARG002
        heard: Heard,
        made: int,  # noqa: ARG002
        sent: Vector,
        after: Propagated,  # noqa: ARG002
    ) -> Explained:
        """Undo the mixing, which is public: what is left is the perturbed local model."""
        assert self.law is not None, "a private release has noise"  # noqa: S101
        pull, scale = self.mu * self.confidence, self.spend.scale
        anchor = ((1.0 + pull) * sent - heard.mean()) / pull
        if self.ridge is None:
            noise, jacobian = anchor - minimise(self.objective).theta, 0.0
        else:
            noise = -(self.objective.gradient(anchor) + self.ridge * anchor)
            bent = self.objective.hessian(anchor) + self.ridge * np.eye(len(anchor))
            jacobian = float(np.linalg.slogdet(bent)[1])
        density = self.law.log_density(noise, scale) + jacobian
        return Explained(density, noise * scale, Propagated(sent, anchor))

    def _local_model(self, rng: np.random.Generator | None) -> Vector:
        if self.law is None:
            return minimise(self.objective).theta
        assert rng is not None, "a private release has noise"  # noqa: S101
        noise = self.law.draw(rng, self.spend.scale, self.objective.dimension)
        if self.ridge is None:
            return minimise(self.objective).theta + noise
        solution, solve = minimise(self.objective, linear=noise, ridge=self.ridge), self.spend.solve
        theta = solution.theta
        if solve is not None and solve.smoothing is not None:  # hides where the solver stopped
            theta = theta + self.law.draw(rng, solve.smoothing, self.objective.dimension)
        if solution.residual > tolerance_of(self.spend.scale, self.objective.dimension):
            return np.full_like(theta, np.nan)  # not as exact as was charged for
        return theta

    def noise_to_step(self, state: Propagated, heard: Heard, made: int) -> float | None:
        """E‖effect of the noise‖ over ‖the noiseless step‖ of the one release."""
        if self.law is None:
            return 0.0
        if made or not heard.total:
            return None
        pull = self.mu * self.confidence
        effect = self.law.mean_norm(self.spend.scale, len(state.theta))
        if self.ridge is not None:
            effect /= max(2.0 * self.objective.l2 + self.ridge, 1e-300)
        local = minimise(self.objective, ridge=self.ridge or 0.0).theta
        moved = self._pull(heard, local) - state.theta
        return effect * pull / (1.0 + pull) / max(float(np.linalg.norm(moved)), 1e-300)

    def _pull(self, heard: Heard, anchor: Vector) -> Vector:
        return _pulled(heard.mean(), anchor, self.mu * self.confidence)

    @classmethod
    def in_rows(cls, mechanisms: Sequence["Propagation"]) -> "PropagationInRows":
        """Return the propagations of all agents as rows."""
        return PropagationInRows(mechanisms)


def _pulled(mixed: Matrix, anchor: Matrix, pull: Matrix | float) -> Matrix:
    """Return (mixed + μc·anchor) / (1 + μc), of one agent or of a row for each."""
    moved: Matrix = (mixed + pull * anchor) / (1.0 + pull)
    return moved


class PropagationInRows:
    """Propagation of many agents behind their one release, which takes a solve and is made alone."""

    def __init__(self, kinds: Sequence[Propagation]) -> None:
        self.law = kinds[0].law
        self.spends = [(kind.spend,) for kind in kinds]
        self._pulls = np.array([[kind.mu * kind.confidence] for kind in kinds])
        self._anchors = np.zeros((len(kinds), kinds[0].objective.dimension))

    def enter(self, member: int, state: Propagated) -> Vector | None:
        if state.anchor is None:
            return None  # it is to be made; or it was lost, and the agent smooths what it has
        self._anchors[member] = state.anchor
        return state.theta

    def state(self, member: int, theta: Vector) -> Propagated:
        return Propagated(theta, self._anchors[member].copy())

    def rest(self, members: Places, wakes: Places, *, silent: bool) -> None:
        """Count nothing: how often an agent propagated does not matter."""

    def prepared(self, members: Places, pauses: Places) -> "PropagationStep":  # noqa: ARG002
        return PropagationStep(self._anchors[members], self._pulls[members])


class PropagationStep(NamedTuple):
    """The step of some members: their released local models, and μc."""

    anchors: Matrix
    pulls: Matrix

    def smooth(self, rows: slice, theta: Matrix, mixed: Matrix) -> Matrix:  # noqa: ARG002
        return _pulled(mixed, self.anchors[rows], self.pulls[rows])

    def release(self, rows: slice, theta: Matrix, mixed: Matrix, noise: Matrix | None) -> Matrix:
        raise NotImplementedError("an agent that made its release makes no other one")
