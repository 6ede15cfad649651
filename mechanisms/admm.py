"""The ADMM family: one primal step, whose duals are integrals of broadcasts (theory.md, sections 1 and 4)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms import duals
from mechanisms.accounting.spend import Spend
from mechanisms.guards import Growth, Guard, Open, Terms
from mechanisms.mixing import Heard
from mechanisms.noise import LAWS, round_to
from mechanisms.objectives import GradientBound, Objective
from mechanisms.perturbation import tolerance_of
from mechanisms.solve import TOLERANCE, Solution
from mechanisms.strategy import RELEASE, Explained, Step, silent
from mechanisms.vectors import Matrix, Vector
from mechanisms.warm import Warm

_NORM_GAMMA = LAWS["norm-gamma"]


class Alternated(NamedTuple):
    """What was released last, the minimiser behind it, and the solver with what it remembers."""

    theta: Vector
    minimiser: Vector
    solver: Warm
    kept: Matrix | None = None
    """Naive duals, added up wake by wake; integrals need no memory."""


@dataclass(frozen=True, slots=True)
class Alternating:
    """f = argmin O_i(f) + Φ/2‖f‖² + (2λ_i + b)·f + η Σ_j ‖f − ½(a_i + a_j)‖², λ_ij = θ/2(∫f_i − ∫f_j).

    `objective` holds C/B Σℓ + ρ/2‖f‖². Only neighbours that are present count, each once.
    """

    objective: Objective
    dual_step: float
    penalty: Growth
    guard: Guard
    grid: float | None = None
    naive: bool = False
    """Whether duals are added up wake by wake, as the papers write them, instead of integrated."""

    @property
    def planned(self) -> int | None:
        return self.guard.planned

    @property
    def _rho(self) -> float:
        return 2.0 * self.objective.l2

    def begin(self, start: Vector) -> Alternated:
        return Alternated(start, start, Warm(self.objective, start))

    def model(self, state: Alternated) -> Vector:
        return state.theta

    def opening(self, start: Vector) -> Vector:
        return duals.opening(start)

    def duals(self, heard: Heard) -> Matrix:
        """λ_ij, a row for each neighbour."""
        gaps = duals.gaps(heard, self.objective.dimension)
        gaps *= 0.5 * self.dual_step
        return gaps

    def accounted(self, state: Alternated, heard: Heard) -> Matrix:
        """The duals that a solve goes by: integrals, or what was added up so far and now."""
        if not self.naive:
            return self.duals(heard)
        added: Matrix = 0.5 * self.dual_step * duals.steps(heard, self.objective.dimension)
        if state.kept is not None:
            added += np.where(heard.present[:, None], state.kept, 0.0)
        return added

    def propose(self, state: Alternated, heard: Heard, made: int) -> Step:
        terms = self.terms(heard, made)
        if terms is None:
            return silent(state)

        def finish(rng: np.random.Generator | None) -> tuple[Alternated, Vector]:
            noise, fixed = None, terms
            if fixed.linear is not None:
                noise = _NORM_GAMMA.draw(_given(rng), fixed.linear, len(state.theta))
            minimiser = self._exact(state, heard, made, fixed, noise)
            solve = fixed.spend.solve
            if solve is not None and solve.smoothing is not None:  # hides where the solver stopped
                d = len(minimiser)
                minimiser = minimiser + _NORM_GAMMA.draw(_given(rng), solve.smoothing, d)
            value = minimiser
            if fixed.output is not None:
                value = minimiser + _NORM_GAMMA.draw(_given(rng), fixed.output, len(value))
            if self.grid is not None:
                value = round_to(value, self.grid)
            if not fixed.secret:
                minimiser = value  # only what was released is kept
            published = duals.row_now(value, heard)
            kept = self.accounted(state, heard) if self.naive else None
            return Alternated(value, minimiser, state.solver, kept), published

        return Step(RELEASE, terms.spend, finish)

    def without_data(self, state: Alternated, heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)

    def terms(self, heard: Heard, made: int) -> Terms | None:
        """Return the noise of the next release; None where there is none."""
        planned = self.planned
        if not heard.degree or (planned is not None and made >= planned):
            return None  # degree 0: no agent could receive it
        pull = self.penalty.at(made) * heard.degree
        return self.guard.fix(made, self._rho + 2.0 * pull, pull, heard.degree)

    def linear(self, state: Alternated, heard: Heard, made: int, terms: Terms) -> Vector:
        """2λ_i − η Σ_j (a_i + a_j): everything linear in the solve but the noise."""
        d, eta = len(state.theta), self.penalty.at(made)
        mine = state.theta
        if terms.secret:
            mine = 2.0 * state.minimiser - state.theta
        elif terms.noiseless_self:
            mine = state.minimiser
        together: Vector = _ones_of(heard) @ heard.values[:, :d]
        together += heard.degree * mine
        together *= eta
        tilt: Vector = np.add.reduce(self.accounted(state, heard), axis=0)
        tilt *= 2.0
        tilt -= together
        return tilt

    def minimiser(
        self, state: Alternated, heard: Heard, made: int, terms: Terms, noise: Vector | None
    ) -> Vector:
        """Solve the primal step."""
        return self._solution(state, heard, made, terms, noise).theta

    def _solution(
        self, state: Alternated, heard: Heard, made: int, terms: Terms, noise: Vector | None
    ) -> Solution:
        tilt = self.linear(state, heard, made, terms)
        if noise is not None:
            tilt = tilt + noise
        ridge = 2.0 * self.penalty.at(made) * heard.degree + terms.ridge
        return state.solver.solve(tilt, ridge)

    def _exact(
        self, state: Alternated, heard: Heard, made: int, terms: Terms, noise: Vector | None
    ) -> Vector:
        """Solve it as nearly as was charged for; what is not a minimiser is not released (E20)."""
        solution = self._solution(state, heard, made, terms, noise)
        allowed = math.inf
        if terms.output is not None:
            allowed = TOLERANCE
        elif terms.linear is not None:
            allowed = tolerance_of(terms.linear, len(solution.theta))
        return (
            solution.theta if solution.residual <= allowed else np.full_like(solution.theta, np.nan)
        )

    def explain(
        self, before: Alternated, heard: Heard, made: int, sent: Vector, after: Alternated
    ) -> Explained:
        """Invert the solve: what was drawn if these are the data (theory.md, section 6)."""
        terms = self.terms(heard, made)
        assert terms is not None, "it was released"  # noqa: S101
        value = sent[: self.objective.dimension]
        kept = after._replace(minimiser=value, solver=before.solver)
        if terms.linear is not None:
            ridge = 2.0 * self.penalty.at(made) * heard.degree + terms.ridge
            slope = self.objective.gradient(value) + ridge * value
            noise = -(slope + self.linear(before, heard, made, terms))
            bent = self.objective.hessian(value) + ridge * np.eye(len(value))
            jacobian = float(np.linalg.slogdet(bent)[1])
            density = _NORM_GAMMA.log_density(noise, terms.linear) + jacobian
            return Explained(density, noise * terms.linear, kept)
        centre = self.minimiser(before, heard, made, terms, None)
        noise, scale = value - centre, terms.output or 0.0
        if terms.secret:
            kept = kept._replace(minimiser=centre)
        return Explained(_NORM_GAMMA.log_density(noise, scale), noise * scale, kept)

    def noise_to_step(self, state: Alternated, heard: Heard, made: int) -> float | None:
        """E‖effect of the noise‖ over ‖the noiseless step‖, from where the agent stands."""
        terms = self.terms(heard, made)
        if terms is None:
            return None
        trial = self.begin(state.theta)._replace(minimiser=state.minimiser)
        moved = self.minimiser(trial, heard, made, terms, None) - state.theta
        effect = 0.0
        if terms.linear is not None:
            curvature = self._rho + 2.0 * self.penalty.at(made) * heard.degree + terms.ridge
            effect += _NORM_GAMMA.mean_norm(terms.linear, len(state.theta)) / curvature
            solve = terms.spend.solve
            if solve is not None and solve.smoothing is not None:
                effect += _NORM_GAMMA.mean_norm(solve.smoothing, len(state.theta))
        if terms.output is not None:
            effect += _NORM_GAMMA.mean_norm(terms.output, len(state.theta))
        return effect / max(float(np.linalg.norm(moved)), 1e-300)

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:
        """All releases at a degree, with what each costs; None where there is no end, or no noise."""
        if not degree:
            return ()
        return None if self.planned is None else self.costs(degree, self.planned)

    def costs(self, degree: int, count: int) -> tuple[Spend, ...]:
        """What so many releases cost at a degree."""
        known: dict[object, Terms | None] = {}
        spends = []
        for k in range(count):
            pull = self.penalty.at(k) * degree
            key = pull, self.guard.like(k)
            if key not in known:
                known[key] = self.guard.fix(k, self._rho + 2.0 * pull, pull, degree)
            terms = known[key]
            if terms is not None:
                spends.append(terms.spend)
        return tuple(spends)

    def longest_gradient(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound that noise was scaled for."""
        bounded = self.gradient_bound()
        return (0.0, 0.0) if bounded is None else bounded.longest(theta)

    def gradient_bound(self) -> GradientBound | None:
        """Return the bound that noise was scaled for; None where there is no noise."""
        if isinstance(self.guard, Open):
            return None
        return GradientBound(self.objective, None, "l2", self.objective.loss.lipschitz)

    def residual(self, state: Alternated) -> float:
        """Return the largest gradient norm that a solve of this agent took for a minimum."""
        return state.solver.residual


def _ones_of(heard: Heard) -> Vector:
    """Return 1 for each neighbour that is present, and 0 for each that is not."""
    if heard.degree == len(heard.values):
        return np.ones(heard.degree)
    return heard.present.astype(np.float64)


def _given(rng: np.random.Generator | None) -> np.random.Generator:
    assert rng is not None, "a private release has noise"  # noqa: S101
    return rng
