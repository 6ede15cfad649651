"""Each agent is joined with the one before and the one after it."""

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class RingTable(TopologyTable):
    """Each agent is joined with the one before and the one after it."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(self.kind, lambda nx: nx.cycle_graph(inputs.agents))


KIND = TopologyKind("ring", RingTable, example={})
