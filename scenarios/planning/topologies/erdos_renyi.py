"""Every two agents are joined with probability `p`."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Number
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class ErdosRenyiTable(TopologyTable):
    """Every two agents are joined with probability `p`."""

    p: float = key(
        Number(low=0, high=1, least=1e-9), REQUIRED, words="The probability of each edge."
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(
            self.kind, lambda nx: nx.fast_gnp_random_graph(inputs.agents, self.p, seed=inputs.rng)
        )


KIND = TopologyKind("erdos-renyi", ErdosRenyiTable, example={"p": 0.8})
