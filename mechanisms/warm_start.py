"""A private warm start, then descent: one budget over both (Bellet et al. 2018, App. C)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.spend import Spend
from mechanisms.columns import Places
from mechanisms.descent import CoordinateDescent, DescentInRows, DescentStep
from mechanisms.mixing import Heard
from mechanisms.objectives import GradientBound
from mechanisms.propagation import Propagated, Propagation, PropagationInRows, PropagationStep
from mechanisms.strategy import Explained, Step
from mechanisms.vectors import Matrix, Vector


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

    @property
    def derives(self) -> bool:
        """Whether it goes on sending after its last release; while it propagates it sends in any case."""
        return self.descent.derives

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

    @classmethod
    def in_rows(cls, mechanisms: Sequence["WarmDescent"]) -> "WarmInRows | None":
        """Return all agents as rows, behind their local models; None where their descents are of several kinds."""
        descent = CoordinateDescent.in_rows([kind.descent for kind in mechanisms])
        return None if descent is None else WarmInRows(mechanisms, descent)

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


class WarmInRows:
    """Many agents behind their first release: they propagate for as long as their pause lasts, then they descend."""

    def __init__(self, kinds: Sequence[WarmDescent], descent: DescentInRows) -> None:
        self._propagation = PropagationInRows([kind.propagation for kind in kinds])
        self._descent = descent
        self._planned = np.array([kind.wakes for kind in kinds])
        self._wakes = np.zeros(len(kinds), np.int64)
        self.law = descent.law
        self.spends = descent.spends if self.law is None else _joined(self._propagation, descent)

    def enter(self, member: int, state: Warming) -> Vector | None:
        self._wakes[member] = state.wakes
        return self._propagation.enter(member, state.warm)

    def state(self, member: int, theta: Vector) -> Warming:
        return Warming(self._propagation.state(member, theta), int(self._wakes[member]))

    def rest(self, members: Places, wakes: Places, *, silent: bool) -> None:  # noqa: ARG002
        # a wake without a release propagates as long as such wakes are planned, and smooths behind the last release
        self._wakes[members] = np.minimum(self._wakes[members] + wakes, self._planned[members])

    def prepared(self, members: Places, pauses: Places) -> "WarmStep":
        propagates = (pauses > 0)[:, None]
        return WarmStep(
            self._propagation.prepared(members, pauses),
            self._descent.prepared(members, pauses),
            propagates,
        )


def _joined(propagation: PropagationInRows, descent: DescentInRows) -> list[tuple[Spend, ...]]:
    """Return the schedules of both, one object for all agents that have the same two."""
    known: dict[tuple[Spend, int], tuple[Spend, ...]] = {}
    return [
        known.setdefault((first[0], id(later)), first + later)
        for first, later in zip(propagation.spends, descent.spends, strict=True)
    ]


class WarmStep(NamedTuple):
    """The step of some members, and which of them propagate."""

    propagation: PropagationStep
    descent: DescentStep
    propagates: NDArray[np.bool_]

    def release(self, rows: slice, theta: Matrix, mixed: Matrix, noise: Matrix | None) -> Matrix:
        return self.descent.release(rows, theta, mixed, noise)

    def smooth(self, rows: slice, theta: Matrix, mixed: Matrix) -> Matrix:
        pulled = self.propagation.smooth(rows, theta, mixed)
        return np.where(self.propagates[rows], pulled, self.descent.smooth(rows, theta, mixed))
