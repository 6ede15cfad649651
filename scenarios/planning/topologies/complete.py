"""Every two agents are joined."""

from itertools import combinations

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class CompleteTable(TopologyTable):
    """Every two agents are joined."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return tuple((i, j, 1.0) for i, j in combinations(range(inputs.agents), 2))


KIND = TopologyKind("complete", CompleteTable, example={})
