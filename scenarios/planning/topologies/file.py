"""Edges from a file: rows of two ids, and a weight."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Text
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgesFileTable(KindTable):
    """Edges from a file: rows of two ids, and a weight."""

    path: str = key(Text("a path"), REQUIRED)


def _edges(table: EdgesFileTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.files import numbers
    from scenarios.planning.graphs import listed

    return listed(numbers(inputs.folders.find(table.path)).tolist(), inputs.agents)


KIND = TopologyKind(
    name="file",
    table=EdgesFileTable,
    edges=_edges,
    example={"path": "edges.csv"},
)
