"""Agents stand in rows and columns, and are joined with those beside them."""

from itertools import chain

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import (
    Edges,
    TopologyInputs,
    TopologyKind,
    TopologyTable,
    joined,
)


class GridTable(TopologyTable):
    """Agents stand in rows and columns, and are joined with those beside them."""

    rows: int = key(count(), REQUIRED, words="How many rows the grid has.")
    columns: int = key(count(), REQUIRED, words="How many columns the grid has.")

    def join(self, inputs: TopologyInputs) -> Edges:
        from scenarios.planning.graphs import NoGraph

        rows, columns, n = self.rows, self.columns, inputs.agents
        if rows * columns != n:
            raise NoGraph(f"a {rows} × {columns} grid has {rows * columns} agents, not {n}")
        across = ((i, i + 1) for i in range(n) if (i + 1) % columns)
        down = ((i, i + columns) for i in range(n - columns))
        return joined(chain(across, down))


KIND = TopologyKind("grid", GridTable, example={"rows": 2, "columns": 3})
