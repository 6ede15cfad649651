"""Steps of many agents at once: kinds whose mathematics is a few products have a step over rows.

A row is one agent. The law of every step over rows: a row has the bits that it has alone, however many stand beside it. So
one matrix product over agents is not allowed; a product for each agent is, and whatever goes element by element.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.spend import Spend
from mechanisms.noise import Law
from mechanisms.vectors import Matrix, Vector

Places = NDArray[np.int64]


class InRows(Protocol):
    """The agents of a world whose releases follow schedules, and whose model is what they send."""

    spends: Sequence[tuple[Spend, ...]]
    """For each agent, what its releases cost; without noise, the one spend of all of them."""
    law: Law | None
    """The law of noise; None where there is none."""

    def enter(self, member: int, state: Any) -> Vector | None:
        """Take over the state of an agent, and return its model; None where its next step has no step over rows."""
        ...

    def state(self, member: int, theta: Vector) -> Any:
        """Return the state of an agent that was taken over, with the model that it has now."""
        ...

    def rest(self, members: Places, wakes: Places, *, silent: bool) -> None:
        """Count wakes without a release that agents had; at `silent` ones no neighbour was present."""
        ...

    def prepared(self, members: Places, pauses: Places) -> "FrontStep":
        """Return the step of agents: what is read of them is read once, for all of these fronts.

        `pauses` says of each how many of its wakes make no release before the next one does, this wake included.
        """
        ...


@runtime_checkable
class TakesOthers(Protocol):
    """Rows in which an agent may get another mechanism of the same kind."""

    def replace(self, member: int, kind: Any) -> None:
        """Let an agent step by another mechanism from now on."""
        ...


class FrontStep(Protocol):
    """The step of some of the members that it was prepared for: rows are their models, and the means of what they heard."""

    def release(self, rows: slice, theta: Matrix, mixed: Matrix, noise: Matrix | None) -> Matrix:
        """Return what members release: a new array."""
        ...

    def smooth(self, rows: slice, theta: Matrix, mixed: Matrix) -> Matrix:
        """Return what members send without data: a new array."""
        ...


@runtime_checkable
class StepsInRows(Protocol):
    """Its releases can be made for many agents at once."""

    @classmethod
    def in_rows(cls, mechanisms: Sequence[Any]) -> InRows | None:
        """Return the mechanisms of all agents as rows; None where they cannot be computed together."""
        ...


def in_rows(mechanisms: Sequence[object]) -> InRows | None:
    """Return the mechanisms of a world as rows; None where one has no step over rows, or they are of several kinds."""
    kinds = set(map(type, mechanisms))
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if not issubclass(kind, StepsInRows):
        return None
    names = ("in_rows", "propose", "without_data")
    owners = {next(each for each in kind.__mro__ if name in vars(each)) for name in names}
    # a subclass that changed only the step of one agent has no step over rows
    return kind.in_rows(mechanisms) if len(owners) == 1 else None
