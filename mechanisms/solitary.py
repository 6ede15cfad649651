"""Every agent alone: the baseline of everything else."""

from dataclasses import dataclass

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.objectives import Objective
from mechanisms.solve import minimise
from mechanisms.strategy import SILENT, Step, silent
from mechanisms.vectors import Vector


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
            return silent(state)
        return Step(SILENT, None, lambda _: ((minimise(self.objective).theta, True), None))

    def schedule(self, degree: int) -> tuple[Spend, ...]:  # noqa: ARG002
        """No release."""
        return ()

    def without_data(self, state: tuple[Vector, bool], heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)
