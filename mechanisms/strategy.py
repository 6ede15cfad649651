"""A mechanism in two steps: propose without noise, finish with it. `mechanisms.abilities` has what some can do beside it."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.vectors import Matrix, Vector

State = Any
"""What a mechanism keeps between wakes: its own frozen thing, opaque to the agent."""

RELEASE, DERIVED, SILENT = "release", "derived", "silent"


class Step(NamedTuple):
    """What an agent is about to do. `finish` turns noise into the next state and what leaves.

    A release has a spend and reads data in `finish`, so a refused one has touched nothing. A derived
    step has no spend and reads no data. A silent one sends nothing.
    """

    kind: str
    spend: Spend | None
    finish: Callable[[np.random.Generator | None], tuple[State, Vector | None]]


class Mechanism(Protocol):
    """Turns an agent's data and its neighbours' vectors into its next model and a release."""

    def begin(self, start: Vector) -> State:
        """Return the state before the first wake, from a start that no data decided."""
        ...

    def model(self, state: State) -> Vector:
        """Return the model that a state holds."""
        ...

    def propose(self, state: State, heard: Heard, made: int) -> Step:
        """Fix what the next release is and costs, after `made` releases; no noise is drawn."""
        ...

    def without_data(self, state: State, heard: Heard) -> Step:
        """Return the step of an agent that may not release: free smoothing, or silence."""
        ...

    @property
    def planned(self) -> int | None:
        """How many releases it will make; None when every wake makes one."""
        ...


class Explained(NamedTuple):
    """What some data make of a release that was sent from a state: as an auditor who knows all but one record sees it.

    `log_density` is ln of the density of what was sent, up to what does not depend on the data; `noise` is what must
    have been drawn, in units of its scale; `after` is the state that these data would have left. `exact` is false where
    the density is that of an approximation: then a difference of two is no privacy loss.
    """

    log_density: float
    noise: Vector
    after: State
    exact: bool = True


def silent(state: State) -> Step:
    """Return the step that changes nothing and sends nothing."""
    return Step(SILENT, None, lambda _: (state, None))


def smoothing(theta: Vector, heard: Heard) -> Vector:
    """Move half-way to the neighbours' mean: no data, no charge (theory.md, A10-smooth)."""
    return smoothed(theta, heard.mean())


def smoothed(theta: Matrix, mixed: Matrix) -> Matrix:
    """Return the same of one agent, or of a row for each: half-way from a model to a mean."""
    moved = mixed + theta
    moved *= 0.5
    return moved
