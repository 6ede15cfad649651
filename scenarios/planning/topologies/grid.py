"""Agents stand in rows and columns, and are joined with those beside them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridTable(KindTable):
    """Agents stand in rows and columns, and are joined with those beside them."""

    rows: int = key(count(), REQUIRED)
    columns: int = key(count(), REQUIRED)


def _edges(table: GridTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import NoGraph, from_networkx

    rows, columns = table.rows, table.columns
    if rows * columns != inputs.agents:
        raise NoGraph(f"a {rows} × {columns} grid has {rows * columns} agents, not {inputs.agents}")
    return from_networkx(
        KIND.name,
        inputs.agents,
        lambda nx: nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns)),
    )


KIND = TopologyKind(
    name="grid",
    table=GridTable,
    edges=_edges,
    example={"rows": 2, "columns": 3},
)
