"""Every two agents are joined."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompleteTable(KindTable):
    """Every two agents are joined."""


def _edges(_: CompleteTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(KIND.name, inputs.agents, lambda nx: nx.complete_graph(inputs.agents))


KIND = TopologyKind(
    name="complete",
    table=CompleteTable,
    edges=_edges,
    example={},
)
