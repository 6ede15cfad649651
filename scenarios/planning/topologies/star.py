"""Agent 0 is joined with every other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StarTable(KindTable):
    """Agent 0 is joined with every other."""


def _edges(_: StarTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(KIND.name, inputs.agents, lambda nx: nx.star_graph(inputs.agents - 1))


KIND = TopologyKind(
    name="star",
    table=StarTable,
    edges=_edges,
    example={},
)
