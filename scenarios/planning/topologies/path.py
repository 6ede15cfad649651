"""A ring without the edge that closes it."""

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class PathTable(TopologyTable):
    """A ring without the edge that closes it."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(self.kind, lambda nx: nx.path_graph(inputs.agents))


KIND = TopologyKind("path", PathTable, example={})
