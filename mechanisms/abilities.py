"""What some mechanisms can do beside the protocol of `mechanisms.strategy`, as small protocols of one ability each.

Code asks `isinstance(mechanism, Explains)` and the like, where it needs an ability: once, when agents are made or plans
are read, not at each wake. `isinstance` looks for the names of the methods; mypy checks their signatures.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.objectives import GradientBound
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
class Pauses(Protocol):
    """It makes no release at some of its wakes after the first one, however that went, and sends without data there."""

    def pause(self, state: State) -> int:
        """Return how many of its next wakes bring none, from a state; those after the first release, where that is to come."""
        ...


@runtime_checkable
class Participates(Protocol):
    """Its releases follow what its agent missed, and what neighbours said that they read: public facts, told by `Heard`."""

    def share(self, missed: tuple[int, ...]) -> Spend:
        """Return what a release costs after wakes with these numbers brought none."""
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
class SharesNoise(Protocol):
    """It may be hidden by a noise that several draw together, or another one draws: not by its own."""

    @property
    def shares_noise(self) -> bool:
        """Whether it is."""
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
class MayHoldNoModel(Protocol):
    """Its state need not hold a model that the task scores."""

    def has_model(self, state: State) -> bool:
        """Whether a state does; where it does not, `model` returns NaN."""
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
class StatesGradientBound(BoundsGradient, Protocol):
    """It says what that bound is, so that many agents can be checked together."""

    def gradient_bound(self) -> GradientBound | None:
        """Return the bound that noise was scaled for; None where there is no noise."""
        ...


@runtime_checkable
class LeavesResidual(Protocol):
    """It solves its step numerically."""

    def residual(self, state: State) -> float:
        """Return the largest gradient norm that a solve took for a minimum."""
        ...


@runtime_checkable
class AddsRidge(Protocol):
    """It may solve its objective with a public ridge, which makes it strongly convex whatever the objective is."""

    @property
    def ridge(self) -> float | None:
        """Φ of ½Φ‖f‖²; None where it adds none."""
        ...


@runtime_checkable
class HasSpends(Protocol):
    """Its releases follow a schedule that is fixed in advance, whatever the degree."""

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What each release costs, in their order; empty where all are free of noise."""
        ...


@runtime_checkable
class ReleasesAtOnce(HasSpends, Protocol):
    """It has such a schedule, and can make a release in a single call.

    `propose` and the `finish` of its step are these two, one after the other.
    """

    def next_spend(self, heard: Heard, made: int) -> Spend | None:
        """Return what the next release costs, after `made` releases; None where the next step is none."""
        ...

    def release(
        self, state: State, heard: Heard, made: int, rng: np.random.Generator | None
    ) -> tuple[State, Vector | None]:
        """Make release number `made` with noise: return the next state, and what leaves."""
        ...


def releases_at_once(mechanism: object) -> ReleasesAtOnce | None:
    """Return a mechanism that releases at once; None for another, also where a subclass changed only one of the two ways."""
    able: Any = mechanism
    if not offers(mechanism, ReleasesAtOnce):
        return None
    names, kinds = ("propose", "next_spend", "release"), type(mechanism).__mro__
    owners = {next(kind for kind in kinds if name in vars(kind)) for name in names}
    return able if len(owners) == 1 else None


_of_classes: dict[tuple[type, type], bool | None] = {}


def offers(mechanism: object, ability: type) -> bool:
    """Whether a mechanism has an ability: `isinstance`, which looks at every name of a protocol, asked once for each class."""
    key = type(mechanism), ability
    if key not in _of_classes:
        _of_classes[key] = _by_class(*key)
    by_class = _of_classes[key]
    return isinstance(mechanism, ability) if by_class is None else by_class


def _by_class(kind: type, ability: type) -> bool | None:
    """Return whether all mechanisms of a class have an ability; None where each has to be asked."""
    try:
        if issubclass(kind, ability):
            return True
    except TypeError:  # a protocol with properties: a class that has all its names has fields in slots, or properties
        names = [n for p in ability.__mro__ if p is not Protocol for n in vars(p) if n[0] != "_"]
        if all(hasattr(kind, name) for name in names):
            return True
    adds_its_own = bool(kind.__dictoffset__) or hasattr(kind, "__getattr__")
    return None if adds_its_own else False


def scheduled(mechanism: object, degree: int) -> tuple[Spend, ...] | None:
    """Return all releases of a mechanism at a degree; None where it has no schedule, or one without end."""
    able: Any = mechanism
    spends: tuple[Spend, ...] | None = None
    if offers(mechanism, HasSchedule):
        spends = able.schedule(degree)
    return spends


def is_scored(mechanism: object, state: State) -> bool:
    """Whether the state of a mechanism holds a model that the task scores."""
    able: Any = mechanism
    return not offers(mechanism, MayHoldNoModel) or bool(able.has_model(state))


def openings_of(mechanism: object, starts: Matrix) -> Matrix:
    """Return the rows that neighbours hold of agents with these starts before they have sent anything."""
    if not offers(mechanism, HasOpening):
        return starts
    able: Any = mechanism
    width = len(able.opening(np.zeros(starts.shape[1])))
    return np.array([able.opening(row) for row in starts]).reshape(len(starts), width)
