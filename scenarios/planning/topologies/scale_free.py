"""Each agent joins `attach` others, rather those with many edges (Barabási and Albert 1999)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, KindTable, key
from scenarios.language.value_rules import count
from scenarios.planning.topologies import TopologyInputs, TopologyKind

if TYPE_CHECKING:
    from scenarios.planning.graphs import Edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleFreeTable(KindTable):
    """Each agent joins `attach` others, rather those with many edges (Barabási and Albert 1999)."""

    attach: int = key(count(), REQUIRED)


def _edges(table: ScaleFreeTable, inputs: TopologyInputs) -> "tuple[Edge, ...]":
    from scenarios.planning.graphs import from_networkx

    return from_networkx(
        KIND.name,
        inputs.agents,
        lambda nx: nx.barabasi_albert_graph(inputs.agents, table.attach, seed=inputs.rng),
    )


KIND = TopologyKind(
    name="scale-free",
    table=ScaleFreeTable,
    edges=_edges,
    example={"attach": 2},
)
