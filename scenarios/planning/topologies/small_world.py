"""A ring of `degree` neighbours; the share `rewire` of the edges is drawn anew (Watts and Strogatz 1998)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Number, count
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallWorldTable(KindTable):
    """A ring of `degree` neighbours; the share `rewire` of the edges is drawn anew (Watts and Strogatz 1998)."""

    degree: int = key(count(), REQUIRED)
    rewire: float = key(Number(low=0, high=1), 0.1)


def _edges(table: SmallWorldTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(
        KIND.name,
        inputs.agents,
        lambda nx: nx.watts_strogatz_graph(
            inputs.agents, table.degree, table.rewire, seed=inputs.rng
        ),
    )


KIND = TopologyKind(
    name="small-world",
    table=SmallWorldTable,
    edges=_edges,
    example={"degree": 2},
)
