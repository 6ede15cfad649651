"""Each agent is joined with the one before and the one after it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RingTable(KindTable):
    """Each agent is joined with the one before and the one after it."""


def _edges(_: RingTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(KIND.name, inputs.agents, lambda nx: nx.cycle_graph(inputs.agents))


KIND = TopologyKind(
    name="ring",
    table=RingTable,
    edges=_edges,
    example={},
)
