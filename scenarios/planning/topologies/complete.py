"""Every two agents are joined."""

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class CompleteTable(TopologyTable):
    """Every two agents are joined."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(self.kind, lambda nx: nx.complete_graph(inputs.agents))


KIND = TopologyKind("complete", CompleteTable, example={})
