"""A ring of `degree` neighbours; the share `rewire` of the edges is drawn anew (Watts and Strogatz 1998)."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Number, count
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class SmallWorldTable(TopologyTable):
    """A ring of `degree` neighbours; the share `rewire` of the edges is drawn anew (Watts and Strogatz 1998)."""

    degree: int = key(
        count(),
        REQUIRED,
        words="How many neighbours each agent has on the ring before edges are rewired.",
    )
    rewire: float = key(
        Number(low=0, high=1), 0.1, words="The probability that an edge gets another end."
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        return inputs.networkx(
            self.kind,
            lambda nx: nx.watts_strogatz_graph(
                inputs.agents, self.degree, self.rewire, seed=inputs.rng
            ),
        )


KIND = TopologyKind("small-world", SmallWorldTable, example={"degree": 2})
