"""Coordinate descent on personalised models (Bellet et al. 2018, eq. 4 and 6)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.columns import Places
from mechanisms.mixing import Heard
from mechanisms.noise import Law, round_to
from mechanisms.objectives import GradientBound, Gradients, LocalObjective, Objective
from mechanisms.strategy import DERIVED, RELEASE, Explained, Step, silent, smoothed, smoothing
from mechanisms.vectors import Matrix, Vector


@dataclass(frozen=True, slots=True)
class CoordinateDescent:
    """Θ_i ← (1−α)Θ_i + α(Σ_j W_ij/D_ii Θ̂_j − μ c_i(∇L_i(Θ_i) + ν)), α = 1/(1 + μ c_i L_i^loc)."""

    objective: Objective
    mu: float
    confidence: float
    smoothness: float
    law: Law | None = None
    spends: tuple[Spend, ...] = ()
    clip: Vector | None = None
    smooth_after: bool = True
    grid: float | None = None
    free: Spend | None = None  # the infinite spend of a release without noise

    @property
    def planned(self) -> int | None:
        return None if self.law is None else len(self.spends)

    @property
    def derives(self) -> bool:
        return self.smooth_after

    def begin(self, start: Vector) -> Vector:
        return start

    def model(self, state: Vector) -> Vector:
        return state

    def next_spend(self, heard: Heard, made: int) -> Spend | None:
        if not heard.total:
            return None  # degree 0: no agent could receive it
        if self.law is None:
            return self.free
        return self.spends[made] if made < len(self.spends) else None

    def release(
        self, state: Vector, heard: Heard, made: int, rng: np.random.Generator | None
    ) -> tuple[Vector, Vector]:
        if self.law is None:
            return self._descend(state, heard, None)
        assert rng is not None, "a private release has noise"  # noqa: S101
        return self._descend(state, heard, self.law.draw(rng, self.spends[made].scale, len(state)))

    def propose(self, state: Vector, heard: Heard, made: int) -> Step:
        spend = self.next_spend(heard, made)
        if spend is None:
            return self.without_data(state, heard) if self.smooth_after else silent(state)
        return Step(RELEASE, spend, lambda rng: self.release(state, heard, made, rng))

    def without_data(self, state: Vector, heard: Heard) -> Step:
        if not heard.total:
            return silent(state)

        def finish(_: np.random.Generator | None) -> tuple[Vector, Vector]:
            moved = smoothing(state, heard)
            return moved, moved

        return Step(DERIVED, None, finish)

    def _descend(self, theta: Vector, heard: Heard, noise: Vector | None) -> tuple[Vector, Vector]:
        pull = self.mu * self.confidence
        slope = self.objective.gradient(theta, self.clip)
        moved = descended(theta, slope, heard.mean(), noise, pull, _step(pull, self.smoothness))
        if self.grid is not None:
            moved = round_to(moved, self.grid)
        return moved, moved

    @classmethod
    def in_rows(cls, mechanisms: Sequence["CoordinateDescent"]) -> "DescentInRows | None":
        """Return the descents of all agents as rows; None where losses, laws or grids are of several kinds."""
        first = mechanisms[0]
        alike = all(each.grid == first.grid and each.law is first.law for each in mechanisms)
        objectives = [each.objective for each in mechanisms]
        local = [each for each in objectives if isinstance(each, LocalObjective)]
        if not alike or len(local) < len(objectives):
            return None
        if any(each.loss != local[0].loss for each in local):
            return None
        free = first.law is None
        if any(each.free is None if free else not each.spends for each in mechanisms):
            return None
        return DescentInRows(mechanisms, local)

    def explain(
        self, before: Vector, heard: Heard, made: int, sent: Vector, after: Vector
    ) -> Explained:
        """Take the step without noise: the rest of what was sent is noise."""
        assert self.law is not None, "a private release has noise"  # noqa: S101
        centre, _ = self._descend(before, heard, None)
        pull = self.mu * self.confidence
        reach = pull / (1.0 + pull * self.smoothness)
        noise, scale = (centre - sent) / reach, self.spends[made].scale
        density = self.law.log_density(noise, scale) - len(sent) * math.log(reach)
        return Explained(density, self.law.standard(noise, scale), after)

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:  # noqa: ARG002
        """All releases, with what each costs; None where every wake makes one."""
        return None if self.law is None else self.spends

    def longest_gradient(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound that noise was scaled for."""
        bounded = self.gradient_bound()
        return (0.0, 0.0) if bounded is None else bounded.longest(theta)

    def gradient_bound(self) -> GradientBound | None:
        """Return the bound that noise was scaled for; None where there is no noise."""
        if self.law is None or not self.spends:
            return None
        bound = self.spends[0].sensitivity / (2.0 * self.objective.weight)
        return GradientBound(self.objective, self.clip, self.law.norm, bound)

    def noise_to_step(self, state: Vector, heard: Heard, made: int) -> float | None:
        """E‖effect of the noise‖ over ‖the noiseless step‖, from where the agent stands."""
        if self.law is None:
            return 0.0
        if made >= len(self.spends) or not heard.total:
            return None
        pull = self.mu * self.confidence
        effect = pull * self.law.mean_norm(self.spends[made].scale, len(state))
        wanted = heard.mean() - state - pull * self.objective.gradient(state, self.clip)
        return effect / max(float(np.linalg.norm(wanted)), 1e-300)


def _step(pull: float, smoothness: float) -> float:
    """Return α = 1/(1 + μ c L)."""
    return 1.0 / (1.0 + pull * smoothness)


def descended(
    theta: Matrix,
    slope: Matrix,
    mixed: Matrix,
    noise: Matrix | None,
    pull: Matrix | float,
    step: Matrix | float,
) -> Matrix:
    """Return (1−α)Θ + α(mixed − μc(slope + noise)), of one agent or of a row for each; `slope` is written over."""
    moved = slope
    if noise is not None:
        moved += noise
    moved *= -pull
    moved += mixed
    moved *= step
    moved += (1.0 - step) * theta
    return moved


class DescentInRows:
    """Coordinate descent of many agents: the same bits as of each alone."""

    def __init__(
        self, kinds: Sequence[CoordinateDescent], objectives: Sequence[LocalObjective]
    ) -> None:
        """Take descents of one loss, one law of noise and one grid."""
        first = kinds[0]
        pulls = [kind.mu * kind.confidence for kind in kinds]
        self._pull = np.array(pulls)[:, None]
        steps = [_step(p, kind.smoothness) for p, kind in zip(pulls, kinds, strict=True)]
        self._step = np.array(steps)[:, None]
        self._grid = first.grid
        self._gradients = Gradients(objectives, [kind.clip for kind in kinds])
        self.law = first.law
        self.spends = [
            kind.spends if kind.free is None or first.law else (kind.free,) for kind in kinds
        ]

    def enter(self, member: int, state: Vector) -> Vector:  # noqa: ARG002
        return state

    def state(self, member: int, theta: Vector) -> Vector:  # noqa: ARG002
        return theta

    def rest(self, members: Places, wakes: Places, *, silent: bool) -> None:
        """Count nothing: a descent is what its model is."""

    def replace(self, member: int, kind: CoordinateDescent) -> None:
        """Let an agent descend on other records, by the same loss."""
        assert isinstance(kind.objective, LocalObjective), "those of the others are"  # noqa: S101
        pull = kind.mu * kind.confidence
        self._pull[member], self._step[member] = pull, _step(pull, kind.smoothness)
        self._gradients.replace(member, kind.objective, kind.clip)

    def prepared(self, members: Places, pauses: Places) -> "DescentStep":  # noqa: ARG002
        gradients = self._gradients.prepared(members)
        return DescentStep(gradients, self._pull[members], self._step[members], self._grid)


class DescentStep(NamedTuple):
    """The step of some members: their gradients, μc and α, and their grid."""

    gradients: Callable[[int, int, Matrix], Matrix]
    pulls: Matrix
    steps: Matrix
    grid: float | None

    def release(self, rows: slice, theta: Matrix, mixed: Matrix, noise: Matrix | None) -> Matrix:
        slope = self.gradients(rows.start, rows.stop, theta)
        moved = descended(theta, slope, mixed, noise, self.pulls[rows], self.steps[rows])
        return moved if self.grid is None else round_to(moved, self.grid)

    @staticmethod
    def smooth(rows: slice, theta: Matrix, mixed: Matrix) -> Matrix:  # noqa: ARG004
        return smoothed(theta, mixed)
