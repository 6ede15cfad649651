"""A random graph in which every agent has `degree` neighbours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegularTable(KindTable):
    """A random graph in which every agent has `degree` neighbours."""

    degree: int = key(count(), REQUIRED)


def _edges(table: RegularTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(
        KIND.name,
        inputs.agents,
        lambda nx: nx.random_regular_graph(table.degree, inputs.agents, seed=inputs.rng),
    )


KIND = TopologyKind(
    name="regular",
    table=RegularTable,
    edges=_edges,
    example={"degree": 3},
)
