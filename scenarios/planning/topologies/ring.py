"""Each agent is joined with the one before and the one after it."""

from scenarios.planning.topologies import (
    Edges,
    TopologyInputs,
    TopologyKind,
    TopologyTable,
    joined,
)


class RingTable(TopologyTable):
    """Each agent is joined with the one before and the one after it."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return joined((i, (i + 1) % inputs.agents) for i in range(inputs.agents))


KIND = TopologyKind("ring", RingTable, example={})
