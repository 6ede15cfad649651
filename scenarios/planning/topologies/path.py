"""A ring without the edge that closes it."""

from scenarios.planning.topologies import (
    Edges,
    TopologyInputs,
    TopologyKind,
    TopologyTable,
    joined,
)


class PathTable(TopologyTable):
    """A ring without the edge that closes it."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return joined((i, i + 1) for i in range(inputs.agents - 1))


KIND = TopologyKind("path", PathTable, example={})
