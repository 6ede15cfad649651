"""Edges from a file: rows of two ids, and a weight."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Text
from scenarios.planning.files import numbers
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class EdgesFileTable(TopologyTable):
    """Edges from a file: rows of two ids, and a weight."""

    path: str = key(
        Text("a path"),
        REQUIRED,
        words="A text file with a row for each edge: two ids, and a weight where it has one.",
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.listed(numbers(inputs.folders.find(self.path)).tolist())


KIND = TopologyKind("file", EdgesFileTable, example={"path": "edges.csv"})
