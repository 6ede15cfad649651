"""Each agent is joined with the `k` agents whose target models are nearest to its own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import OfDataTable, TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


_GAMMA = 0.1
"""Any would do: neighbours are ranked by similarity, which falls with the angle."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnnTable(OfDataTable):
    """Each agent is joined with the `k` agents whose target models are nearest to its own."""

    k: int = key(count(), 10)


def _edges(table: KnnTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import nearest_agents, similarity

    return nearest_agents(similarity(KIND.name, inputs.targets, _GAMMA), table.k)


KIND = TopologyKind(
    name="knn",
    table=KnnTable,
    edges=_edges,
    example={"k": 2},
)
