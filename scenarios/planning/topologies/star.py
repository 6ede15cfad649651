"""Agent 0 is joined with every other."""

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class StarTable(TopologyTable):
    """Agent 0 is joined with every other."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(self.kind, lambda nx: nx.star_graph(inputs.agents - 1))


KIND = TopologyKind("star", StarTable, example={})
