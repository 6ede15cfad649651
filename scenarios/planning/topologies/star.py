"""Agent 0 is joined with every other."""

from scenarios.planning.topologies import (
    Edges,
    TopologyInputs,
    TopologyKind,
    TopologyTable,
    joined,
)


class StarTable(TopologyTable):
    """Agent 0 is joined with every other."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return joined((0, i) for i in range(1, inputs.agents))


KIND = TopologyKind("star", StarTable, example={})
