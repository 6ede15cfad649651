"""Listed edges: two ids, and a weight."""

from scenarios.language.table_rules import REQUIRED, Many, key
from scenarios.language.value_rules import LARGEST, SMALLEST, Number
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class EdgesTable(TopologyTable):
    """Listed edges: two ids, and a weight."""

    edges: list[list[float]] = key(
        Many(Many(Number(low=0, least=SMALLEST, most=LARGEST), 2, 3)),
        REQUIRED,
        words="The edges: two ids each, and a weight where it has one.",
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.listed(self.edges)


KIND = TopologyKind(
    "edges", EdgesTable, example={"edges": [[0, 1], [1, 2, 0.5], [2, 3], [3, 4], [4, 5]]}
)
