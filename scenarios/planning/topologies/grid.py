"""Agents stand in rows and columns, and are joined with those beside them."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class GridTable(TopologyTable):
    """Agents stand in rows and columns, and are joined with those beside them."""

    rows: int = key(count(), REQUIRED)
    columns: int = key(count(), REQUIRED)

    def join(self, inputs: TopologyInputs) -> Edges:
        from scenarios.planning.graphs import NoGraph

        rows, columns, n = self.rows, self.columns, inputs.agents
        if rows * columns != n:
            raise NoGraph(f"a {rows} × {columns} grid has {rows * columns} agents, not {n}")
        return inputs.networkx(
            self.kind,
            lambda nx: nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns)),
        )


KIND = TopologyKind("grid", GridTable, example={"rows": 2, "columns": 3})
