"""What every agent may know before a run: sizes, degrees, budgets, declared bounds. Scales rest on nothing else."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import numpy as np

from mechanisms.masking import Pads
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.graphs import Adjacency
from scenarios.planning.release_charges import Terms
from scenarios.planning.scenario_tables import ServerTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one agent stands: its neighbours' weights, and their public starts."""

    weights: Vector
    firsts: Matrix


class Places(Sequence[Place]):
    """Where all agents stand: each place is made when it is asked for."""

    def __init__(self, around: Adjacency, starts: Matrix) -> None:
        """Take the graph, and the start of every agent, a row each."""
        self._around, self._starts = around, starts

    @property
    def dimension(self) -> int:
        """How many numbers a start has."""
        return int(self._starts.shape[1])

    def degree(self, i: int) -> int:
        """Return how many neighbours an agent has."""
        return self._around.degree(i)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> Place: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Place, ...]: ...

    def __getitem__(self, at: "int | slice") -> "Place | tuple[Place, ...]":
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        return Place(self._around.weights_of(at), self._starts[self._around.ids_of(at)])

    def __iter__(self) -> Iterator[Place]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, slots=True)
class Public:
    """The public facts of a scenario."""

    sizes: tuple[int, ...]
    dimension: int
    loss: Loss
    l2: Callable[[int], float]
    """λ of an agent with so many points."""
    terms: tuple[Terms, ...]
    places: Places
    rounds: int | None
    server: ServerTable
    grid: float | None
    pads: Pads
    expected_wakes: tuple[float | None, ...]
    """How many wakes the Poisson clock of each agent brings in the mean until the horizon; None where wakes are certain, or
    something else than the horizon ends the run."""
    confidences: Vector = field(init=False, repr=False, compare=False)
    """c_i = m_i / max m."""
    _known: dict[Hashable, Any] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes = np.array(self.sizes, dtype=np.float64)
        object.__setattr__(self, "confidences", sizes / sizes.max())

    @property
    def count(self) -> int:
        return len(self.sizes)

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned when it was first asked for: agents of equal terms and sizes share one object."""
        try:
            made: T = self._known[what]
        except KeyError:
            made = self._known[what] = make()
        return made

    @property
    def asked(self) -> int:
        """How many clients a server asks in a round, when all are present."""
        return max(1, round(float(self.server.sample) * self.count))


Maker = Callable[[LocalObjective], Mechanism]
"""Makes one agent's mechanism on an objective: its own, or one on perturbed records."""
