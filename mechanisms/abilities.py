"""What some mechanisms can do beside the protocol of `mechanisms.strategy`, as small protocols of one ability each.

Code asks `isinstance(mechanism, Explains)` and the like, where it needs an ability: once, when agents are made or plans
are read, not at each wake. `isinstance` looks for the names of the methods; mypy checks their signatures.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.strategy import Explained, State
from mechanisms.vectors import Matrix, Vector


@runtime_checkable
class HasSchedule(Protocol):
    """Its releases are fixed in advance."""

    def schedule(self, degree: int) -> tuple[Spend, ...] | None:
        """Return all releases at a degree, with what each costs; None where wakes without end make one each."""
        ...


@runtime_checkable
class HasCosts(Protocol):
    """What its next releases cost is known, though their number is not."""

    def costs(self, degree: int, count: int) -> tuple[Spend, ...]:
        """Return what so many releases cost at a degree."""
        ...


@runtime_checkable
class Derives(Protocol):
    """It can go on sending after its releases, without data."""

    @property
    def derives(self) -> bool:
        """Whether it does."""
        ...


@runtime_checkable
class HasOpening(Protocol):
    """What neighbours hold of it before it has sent anything is not its start."""

    def opening(self, start: Vector) -> Vector:
        """Return the row that neighbours hold of an agent with this start."""
        ...


@runtime_checkable
class KeepsDuals(Protocol):
    """It keeps duals on the edges of its agent (mechanisms.duals)."""

    def duals(self, heard: Heard) -> Matrix:
        """Return the duals as integrals of what was sent, a row for each neighbour."""
        ...


@runtime_checkable
class AccountsDuals(Protocol):
    """It solves with duals that are not always the integrals of what was sent."""

    def accounted(self, state: State, heard: Heard) -> Matrix:
        """Return the duals that it would solve with now, a row for each neighbour."""
        ...


@runtime_checkable
class AnswersServer(Protocol):
    """It answers the questions of a server."""

    @property
    def once(self) -> bool:
        """Whether it answers one question only; its bits are then the answer to every later one."""
        ...

    def hold(self, state: State, theta: Vector) -> State:
        """Return the state with the server's model taken over."""
        ...


@runtime_checkable
class Trades(Protocol):
    """It exchanges vectors with one neighbour at a time."""

    def agree(self, state: State, slot: int, mine: Vector, theirs: Vector) -> State:
        """Return the state with an edge settled, from the vectors that both ends sent."""
        ...


@runtime_checkable
class Recovers(Protocol):
    """Its storage keeps more through a crash than the ledger."""

    def recover(self, state: State, start: Vector) -> State:
        """Return the state after a crash that took the memory."""
        ...


@runtime_checkable
class Explains(Protocol):
    """It knows the density of what it releases: an auditor who knows all but one record can use it."""

    def explain(
        self, before: State, heard: Heard, made: int, sent: Vector, after: State
    ) -> Explained:
        """Return how well its data explain release number `made`, from the state before it."""
        ...


@runtime_checkable
class MeasuresNoise(Protocol):
    """It can compare its noise with its steps, as an oracle sees them."""

    def noise_to_step(self, state: State, heard: Heard, made: int) -> float | None:
        """Return E‖effect of the noise‖ over ‖the noiseless step‖; None where the next step has no noise of its own."""
        ...


@runtime_checkable
class BoundsGradient(Protocol):
    """Its noise is scaled for a bound on the gradient of one record."""

    def longest_gradient(self, theta: Vector) -> tuple[float, float]:
        """Return the longest gradient of one record at θ, and the bound that noise was scaled for."""
        ...


@runtime_checkable
class LeavesResidual(Protocol):
    """It solves its step numerically."""

    def residual(self, state: State) -> float:
        """Return the largest gradient norm that a solve took for a minimum."""
        ...


def scheduled(mechanism: object, degree: int) -> tuple[Spend, ...] | None:
    """Return all releases of a mechanism at a degree; None where it has no schedule, or one without end."""
    return mechanism.schedule(degree) if isinstance(mechanism, HasSchedule) else None


def openings_of(mechanism: object, starts: Matrix) -> Matrix:
    """Return the rows that neighbours hold of agents with these starts before they have sent anything."""
    if not isinstance(mechanism, HasOpening):
        return starts
    width = len(mechanism.opening(np.zeros(starts.shape[1])))
    return np.array([mechanism.opening(row) for row in starts]).reshape(len(starts), width)
