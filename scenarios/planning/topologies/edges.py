"""Listed edges: two ids, and a weight."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, Many, key
from scenarios.language.value_rules import LARGEST, SMALLEST, Number
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgesTable(KindTable):
    """Listed edges: two ids, and a weight."""

    edges: list[list[float]] = key(
        Many(Many(Number(low=0, least=SMALLEST, most=LARGEST), 2, 3)), REQUIRED
    )


def _edges(table: EdgesTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import listed

    return listed(table.edges, inputs.agents)


KIND = TopologyKind(
    name="edges",
    table=EdgesTable,
    edges=_edges,
    example={"edges": [[0, 1], [1, 2, 0.5], [2, 3], [3, 4], [4, 5]]},
)
