"""Each agent joins `attach` others, rather those with many edges (Barabási and Albert 1999)."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class ScaleFreeTable(TopologyTable):
    """Each agent joins `attach` others, rather those with many edges (Barabási and Albert 1999)."""

    attach: int = key(count(), REQUIRED, words="How many edges each new agent brings.")

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(
            self.kind,
            lambda nx: nx.barabasi_albert_graph(inputs.agents, self.attach, seed=inputs.rng),
        )


KIND = TopologyKind("scale-free", ScaleFreeTable, example={"attach": 2})
