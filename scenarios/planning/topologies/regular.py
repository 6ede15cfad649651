"""A random graph in which every agent has `degree` neighbours."""

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import Edges, TopologyInputs, TopologyKind, TopologyTable


class RegularTable(TopologyTable):
    """A random graph in which every agent has `degree` neighbours."""

    degree: int = key(count(), REQUIRED, words="How many neighbours each agent has.")

    def join(self, inputs: TopologyInputs) -> Edges:
        from scenarios.planning.regular_graph import regular_graph

        return regular_graph(self.degree, inputs.agents, inputs.rng)


KIND = TopologyKind("regular", RegularTable, example={"degree": 3})
