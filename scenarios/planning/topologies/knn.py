"""Each agent is joined with the `k` agents whose target models are nearest to its own."""

from scenarios.language.table_rules import key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import Edges, OfDataTable, TopologyInputs, TopologyKind

_GAMMA = 0.1
"""Any would do: neighbours are ranked by similarity, which falls with the angle."""


class KnnTable(OfDataTable):
    """Each agent is joined with the `k` agents whose target models are nearest to its own."""

    k: int = key(
        count(),
        10,
        words="How many of the most similar agents each agent is joined with. Edges are mutual, so an agent may have more.",
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        from scenarios.planning.graphs import nearest_agents, similarity

        return nearest_agents(similarity(self.kind, inputs.targets, _GAMMA), self.k)


KIND = TopologyKind("knn", KnnTable, example={"k": 2})
