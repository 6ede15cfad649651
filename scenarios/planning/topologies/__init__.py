"""The kinds of topology: which agents are joined. One record in one file each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import Flag
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Family

if TYPE_CHECKING:
    import numpy as np

    from mechanisms.vectors import Matrix

Edges = Sequence[tuple[int, int, float]]
"""Two agents, the smaller id first, and the weight of their edge; in order."""


def joined(pairs: Iterable[tuple[int, int]]) -> Edges:
    """Return the edges of some pairs of agents; all weights are 1. An agent is never joined with itself."""
    unique = {(i, j) if i < j else (j, i) for i, j in pairs if i != j}
    return tuple((i, j, 1.0) for i, j in sorted(unique))


@dataclass(frozen=True, slots=True)
class TopologyInputs:
    """What a topology may be made of beside its table, and how it is made."""

    agents: int
    rng: "np.random.Generator"
    targets: "Matrix | None"
    """The target models of a data source that has some, a row for each agent."""
    folders: Folders

    def networkx(self, kind: str, make: Callable[[Any], Any]) -> Edges:
        """Return the edges of the graph that `make` builds with networkx, which it is given; all weights are 1.

        Raises NoGraph, naming the kind, where networkx refuses.
        """
        from scenarios.planning.graphs import from_networkx

        return from_networkx(kind, self.agents, make)

    def listed(self, edges: Any) -> Edges:
        """Return listed edges, [a, b] or [a, b, weight]. Raises NoGraph for what is no edge."""
        from scenarios.planning.graphs import listed

        return listed(edges, self.agents)


class TopologyTable(KindTable):
    """The parameters of a topology."""

    def join(self, inputs: TopologyInputs) -> Edges:
        """Return the edges. Raises NoGraph or BadData."""
        raise NotImplementedError(f"no edges are made for {self.kind!r}")


class OfDataTable(TopologyTable):
    """A graph that is made of what agents are to learn."""

    public: bool = key(
        Flag(),
        False,
        words="Whether the graph is declared to have been public before the run. If not, the summary says that ε does not cover it.",
    )


@dataclass(frozen=True, slots=True)
class TopologyKind:
    """A kind of topology."""

    name: str
    table: type[TopologyTable]
    example: Mapping[str, Any]
    """A table of this kind for six agents, for tests and random worlds."""


TOPOLOGIES = Family(__name__, TopologyKind)
