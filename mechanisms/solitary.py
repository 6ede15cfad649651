"""Every agent alone: the baseline of everything else."""

from dataclasses import dataclass

from mechanisms.mixing import Heard
from mechanisms.objectives import Objective
from mechanisms.solve import minimise
from mechanisms.strategy import SILENT, Card, Step
from mechanisms.vectors import Vector

CARD = Card(
    kind="local",
    title="Purely local learning: every agent minimises its own objective and says nothing",
    sends="nothing",
    keeps="its model",
    touches="every record, in one exact solve at the first wake",
    guarantee="ε = 0 for whoever watches the network; ε = ∞ for whoever sees a final model",
    source="the baseline of Bellet, Guerraoui, Taziki, Tommasi 2018, section 5",
    mended="the paper calls it perfectly private: true only if nothing is ever shown (theory.md, A15)",
)


@dataclass(frozen=True, slots=True)
class Solitary:
    """Minimise the agent's own objective at the first wake, and keep it to oneself."""

    objective: Objective
    planned = 0

    def begin(self, start: Vector) -> tuple[Vector, bool]:
        return start, False

    def model(self, state: tuple[Vector, bool]) -> Vector:
        return state[0]

    def propose(self, state: tuple[Vector, bool], heard: Heard, made: int) -> Step:  # noqa: ARG002
        if state[1]:
            return Step(SILENT, None, lambda _: (state, None))
        return Step(SILENT, None, lambda _: ((minimise(self.objective).theta, True), None))

    def without_data(self, state: tuple[Vector, bool], heard: Heard) -> Step:  # noqa: ARG002
        return Step(SILENT, None, lambda _: (state, None))
