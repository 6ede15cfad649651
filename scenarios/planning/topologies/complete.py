"""Every two agents are joined."""

from dataclasses import dataclass

from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompleteTable(TopologyTable):
    """Every two agents are joined."""

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(self.kind, lambda nx: nx.complete_graph(inputs.agents))


KIND = TopologyKind("complete", CompleteTable, example={})
