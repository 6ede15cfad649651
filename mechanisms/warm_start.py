"""A private warm start, then descent: one budget over both (Bellet et al. 2018, App. C)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.objectives import GradientBound
from mechanisms.propagation import Propagated, Propagation
from mechanisms.strategy import Explained, Step
from mechanisms.vectors import Vector


class Warming(NamedTuple):
    """What propagation holds, and how many wakes it had."""

    warm: Propagated
    wakes: int


@dataclass(frozen=True, slots=True)
class WarmDescent:
    """Release a local model once, propagate it for `wakes` wakes, then descend from there."""

    propagation: Propagation
    descent: CoordinateDescent
    wakes: int
    derives = True

    @property
    def planned(self) -> int | None:
        later = self.descent.planned
        return None if later is None else later + 1

    def begin(self, start: Vector) -> Warming:
        return Warming(self.propagation.begin(start), 0)

    def model(self, state: Warming) -> Vector:
        return state.warm.theta

    def pause(self, state: Warming) -> int:
        """Return how many wakes propagate without data before the descent."""
        first = state.warm.anchor is None
        return max(0, self.wakes - state.wakes - first)

    def propose(self, state: Warming, heard: Heard, made: int) -> Step:
        if made == 0 or state.wakes < self.wakes:
            return _onward(self.propagation.propose(state.warm, heard, made), state)
        return self._descending(self.descent.propose(state.warm.theta, heard, made - 1), state)

    def without_data(self, state: Warming, heard: Heard) -> Step:
        if state.wakes < self.wakes:
            return _onward(self.propagation.without_data(state.warm, heard), state)
        return self._descending(self.descent.without_data(state.warm.theta, heard), state)

    @staticmethod
    def _descending(step: Step, state: Warming) -> Step:
        def finish(rng: np.random.Generator | None) -> tuple[Warming, Vector | None]:
            theta, vector = step.finish(rng)
            return Warming(state.warm._replace(theta=theta), state.wakes), vector

        return Step(step.kind, step.spend, finish)

    def explain(
        self, before: Warming, heard: Heard, made: int, sent: Vector, after: Warming
    ) -> Explained:
        """Explain the local model first, then the steps of the descent."""
        if made == 0:
            explained = self.propagation.explain(before.warm, heard, made, sent, after.warm)
            return explained._replace(after=after._replace(warm=explained.after))
        theta, moved = before.warm.theta, after.warm.theta
        explained = self.descent.explain(theta, heard, made - 1, sent, moved)
        return explained._replace(after=after)

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:
        """All releases, with what each costs; None where every wake makes one."""
        first, later = self.propagation.schedule(degree), self.descent.schedule(degree)
        return None if first is None or later is None else first + later

    def longest_gradient(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound that noise was scaled for."""
        return self.descent.longest_gradient(theta)

    def gradient_bound(self) -> GradientBound | None:
        """Return the bound that the noise of the descent was scaled for; None where there is no noise."""
        return self.descent.gradient_bound()

    def noise_to_step(self, state: Warming, heard: Heard, made: int) -> float | None:
        """E‖effect of the noise‖ over ‖the noiseless step‖ of the descent."""
        return self.descent.noise_to_step(state.warm.theta, heard, max(0, made - 1))


def _onward(step: Step, state: Warming) -> Step:
    """Count a wake of propagation."""

    def finish(rng: np.random.Generator | None) -> tuple[Warming, Vector | None]:
        warm, vector = step.finish(rng)
        return Warming(warm, state.wakes + 1), vector

    return Step(step.kind, step.spend, finish)
