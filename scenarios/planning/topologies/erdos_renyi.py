"""Every two agents are joined with probability `p`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import Number
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErdosRenyiTable(KindTable):
    """Every two agents are joined with probability `p`."""

    p: float = key(Number(low=0, high=1, least=1e-9), REQUIRED)


def _edges(table: ErdosRenyiTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(
        KIND.name,
        inputs.agents,
        lambda nx: nx.fast_gnp_random_graph(inputs.agents, table.p, seed=inputs.rng),
    )


KIND = TopologyKind(
    name="erdos-renyi",
    table=ErdosRenyiTable,
    edges=_edges,
    example={"p": 0.8},
)
