"""Model propagation: local models, made once, smoothed over the graph (Bellet et al. 2018, App. C)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.noise import Law
from mechanisms.objectives import Objective
from mechanisms.solve import minimise
from mechanisms.strategy import DERIVED, RELEASE, Card, Step, silent, smoothing
from mechanisms.vectors import Vector, round_to

CARD = Card(
    kind="propagation",
    title="Model propagation: one local model each, then free smoothing over the graph",
    sends="its propagated model after each wake; only the first reads data",
    keeps="its own (perturbed) local model, the last model heard from each neighbour",
    touches="every record once, in the local solve of the first release",
    guarantee="one release: ε = ζ·2L₂w/Λ with output noise (Λ = 2·l2); later wakes are free",
    source="Bellet, Guerraoui, Taziki, Tommasi 2018, App. C; Vanhaesebrouck et al. 2017; "
    "output perturbation: Chaudhuri, Monteleoni, Sarwate 2011",
    mended="E18 (the warm start is charged), E19 (the sensitivity uses the true Λ), "
    "E21 (rounded releases)",
)


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
    planned = 1

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
            anchor = minimise(self.objective).theta
            if self.law is not None:
                assert rng is not None, "a private release has noise"  # noqa: S101
                anchor = anchor + self.law.draw(rng, self.spend.scale, len(anchor))
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

    def _pull(self, heard: Heard, anchor: Vector) -> Vector:
        pull = self.mu * self.confidence
        return (heard.mean() + pull * anchor) / (1.0 + pull)
