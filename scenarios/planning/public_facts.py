"""What every agent may know before a run: sizes, degrees, budgets, declared bounds. Scales rest on nothing else."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.masking import Pads
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.release_charges import Terms
from scenarios.planning.scenario_tables import ServerTable


@dataclass(frozen=True, slots=True)
class Place:
    """Where one agent stands: its neighbours' weights, and their public starts."""

    weights: Vector
    firsts: Matrix


@dataclass(frozen=True, slots=True)
class Public:
    """The public facts of a scenario."""

    sizes: tuple[int, ...]
    dimension: int
    loss: Loss
    l2: Callable[[int], float]
    """λ of an agent with so many points."""
    terms: tuple[Terms, ...]
    places: tuple[Place, ...]
    rounds: int | None
    server: ServerTable
    grid: float | None
    pads: Pads

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def confidences(self) -> Vector:
        """c_i = m_i / max m."""
        sizes = np.array(self.sizes, dtype=np.float64)
        confidences: Vector = sizes / sizes.max()
        return confidences

    @property
    def asked(self) -> int:
        """How many clients a server asks in a round, when all are present."""
        return max(1, round(float(self.server.sample) * self.count))


Maker = Callable[[LocalObjective], Mechanism]
"""Makes one agent's mechanism on an objective: its own, or one on perturbed records."""
