"""What loops outside of hush work on: the data, weights and steps of a plan's agents, as plain arrays."""

from dataclasses import dataclass

import numpy as np

from mechanisms.descent import CoordinateDescent
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Agent:
    """What one agent of coordinate descent works with."""

    neighbours: tuple[int, ...]
    shares: Vector
    """What the models of its neighbours weigh; they add up to 1."""
    rows: Matrix
    """Its points, each times its label."""
    l2: float
    pull: float
    """μ·c_i, what a gradient weighs."""
    step: float
    """α of its step."""
    scale: float
    """The rate of its noise (the inverse of a length); infinite where it adds none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything that a bare loop needs to know of a plan of `cd`."""

    dimension: int
    agents: tuple[Agent, ...]
    start: Matrix

    @property
    def size(self) -> int:
        return len(self.agents)


def problem(plan: Plan) -> Problem:
    """Return the arrays of a plan of `cd` with logistic loss; raise TypeError for another kind."""
    agents, starts = [], []
    for node, (x, y) in zip(plan.nodes, plan.shards.train, strict=True):
        mechanism = node.mechanism
        if not isinstance(mechanism, CoordinateDescent):
            raise TypeError(f"a plan of cd has arrays, this one is of {type(mechanism).__name__}")
        pull = mechanism.mu * mechanism.confidence
        agents.append(
            Agent(
                node.neighbours,
                node.weights / node.weights.sum(),
                x * y[:, None],
                mechanism.objective.l2,
                pull,
                1.0 / (1.0 + pull * mechanism.smoothness),
                mechanism.spends[0].scale if mechanism.spends else np.inf,
            )
        )
        starts.append(node.start)
    return Problem(plan.shards.dimension, tuple(agents), np.array(starts, dtype=np.float64))
