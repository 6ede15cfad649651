"""The kinds of topology: which agents are joined. One record in one file each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import Flag
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Family

if TYPE_CHECKING:
    import numpy as np

    from mechanisms.vectors import Matrix
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfDataTable(KindTable):
    """A graph that is made of what agents are to learn."""

    public: bool = key(Flag(), False)
    """Whether the graph is declared to have been public before the run."""


@dataclass(frozen=True, slots=True)
class TopologyInputs:
    """What a topology may be made of beside its table."""

    agents: int
    rng: "np.random.Generator"
    targets: "Matrix | None"
    """The target models of a data source that has some, a row for each agent."""
    folders: Folders


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyKind:
    """A kind of topology."""

    name: str
    table: type[KindTable]
    edges: Callable[[Any, TopologyInputs], "tuple[Edge, ...]"]
    """Takes a table; returns edges (i < j, weight) in order. Raises NoGraph or BadData."""
    example: Mapping[str, Any]
    """A table of this kind for six agents, for tests and random worlds."""


TOPOLOGIES = Family(__name__, TopologyKind)
