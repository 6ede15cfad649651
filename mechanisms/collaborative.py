"""Collaborative learning by ADMM, two agents at a time (Vanhaesebrouck, Bellet, Tommasi 2017, section 4)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.objectives import Objective
from mechanisms.strategy import RELEASE, Step, silent
from mechanisms.vectors import Matrix, Vector


class Shared(NamedTuple):
    """An agent's model, and per edge: its copy of the neighbour, consensus and dual of own and of copy."""

    theta: Vector
    copies: Matrix
    own: Matrix
    theirs: Matrix
    dual_own: Matrix
    dual_theirs: Matrix


@dataclass(frozen=True, slots=True)
class Collaborative:
    """min ¼Σ_j W_ij‖θ−c_ij‖² + μD_ii c_i L_i(θ) subject to both ends of an edge agreeing, penalty ϱ."""

    objective: Objective
    weights: Vector
    firsts: Matrix
    mu: float
    confidence: float
    penalty: float
    local_steps: int
    smoothness: float
    spend: Spend
    planned = None

    def begin(self, start: Vector) -> Shared:
        mine = np.tile(start, (len(self.weights), 1))
        zero = np.zeros_like(mine)
        return Shared(start, self.firsts.copy(), mine, self.firsts.copy(), zero, zero.copy())

    def model(self, state: Shared) -> Vector:
        return state.theta

    def opening(self, start: Vector) -> Vector:
        """What a neighbour holds before the first trade."""
        return np.concatenate([start, np.zeros(3 * len(start))])

    def propose(self, state: Shared, heard: Heard, made: int) -> Step:  # noqa: ARG002
        if not heard.total:
            return silent(state)
        slot, here = heard.partner, heard.present.copy()

        def finish(_: np.random.Generator | None) -> tuple[Shared, Vector]:
            solved = self.solve(state, here)
            return solved, self.say(solved, slot)

        return Step(RELEASE, self.spend, finish)

    def without_data(self, state: Shared, heard: Heard) -> Step:  # noqa: ARG002
        return silent(state)

    def solve(self, state: Shared, here: np.ndarray) -> Shared:
        """Take gradient steps on the own model, the copies in closed form."""
        half, rho = 0.5 * self.weights[here], self.penalty
        pull = self.mu * float(self.weights[here].sum()) * self.confidence
        step = 1.0 / (float(half.sum()) + pull * self.smoothness + rho * len(half))
        theta, copies = state.theta, state.copies.copy()
        fixed = rho * state.theirs[here] - state.dual_theirs[here]
        # with each copy at its minimum, (½w θ + fixed)/(½w + ϱ), what is not the loss has the slope bent·θ − level
        share = half / (half + rho)
        bent = rho * (float(share.sum()) + len(half))
        level = share @ fixed + (rho * state.own[here] - state.dual_own[here]).sum(axis=0)
        for _ in range(self.local_steps):
            slope = self.objective.gradient(theta)
            slope *= pull
            slope += bent * theta
            slope -= level
            slope *= step
            theta = theta - slope
        copies[here] = (half[:, None] * theta + fixed) / (half[:, None] + rho)
        return state._replace(theta=theta, copies=copies)

    def say(self, state: Shared, slot: int) -> Vector:
        """Return (θ_i, c_ij, Λo_ij, Λc_ij): what one trade sends."""
        parts = (state.theta, state.copies[slot], state.dual_own[slot], state.dual_theirs[slot])
        return np.concatenate(parts)

    def agree(self, state: Shared, slot: int, mine: Vector, theirs: Vector) -> Shared:
        """Settle an edge from what both ends said: Z = ½((Λo + Λc')/ϱ + θ + c'), Λ += ϱ(primal − Z)."""
        theta, copy, dual_own, dual_copy = mine.reshape(4, -1)
        other, their_copy, other_own, other_copy = theirs.reshape(4, -1)
        rho = self.penalty
        z_own = 0.5 * ((dual_own + other_copy) / rho + theta + their_copy)
        z_theirs = 0.5 * ((dual_copy + other_own) / rho + copy + other)
        own, far = state.own.copy(), state.theirs.copy()
        duals, far_duals = state.dual_own.copy(), state.dual_theirs.copy()
        own[slot], far[slot] = z_own, z_theirs
        duals[slot] = dual_own + rho * (theta - z_own)
        far_duals[slot] = dual_copy + rho * (copy - z_theirs)
        return state._replace(own=own, theirs=far, dual_own=duals, dual_theirs=far_duals)
