"""A ring without the edge that closes it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathTable(KindTable):
    """A ring without the edge that closes it."""


def _edges(_: PathTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(KIND.name, inputs.agents, lambda nx: nx.path_graph(inputs.agents))


KIND = TopologyKind(
    name="path",
    table=PathTable,
    edges=_edges,
    example={},
)
