"""Weights by the angle between target models; small ones are left out."""

from scenarios.language.table_rules import key
from scenarios.language.value_rules import positive
from scenarios.planning.topologies import Edges, OfDataTable, TopologyInputs, TopologyKind

NEGLIGIBLE = 1e-2
"""Similarities below this are left out, as Bellet et al. 2018 leave out negligible weights."""


class SimilarityTable(OfDataTable):
    """Weights by the angle between target models; small ones are left out."""

    gamma: float = key(
        positive(),
        0.1,
        words="The width of the kernel that turns the angle of two tasks into a weight.",
    )

    def join(self, inputs: TopologyInputs) -> Edges:
        from scenarios.planning.graphs import dense, similarity

        weights = similarity(self.kind, inputs.targets, self.gamma)
        return dense(weights, weights >= NEGLIGIBLE)


KIND = TopologyKind("similarity", SimilarityTable, example={})
