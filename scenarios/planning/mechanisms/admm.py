"""admm: consensus ADMM (Zhang, Zhu 2016, Algorithm 1)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.check_mechanism import check_consensus
from scenarios.planning.joint_objectives import summed
from scenarios.planning.mechanism import Builder, Card, MechanismKind, always
from scenarios.planning.mechanism_tables import POSITIVE, ConsensusTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public


class AdmmTable(ConsensusTable):
    """The keys of admm."""

    eta: float = key(POSITIVE, 0.5, words="The penalty η that draws neighbours together.")
    duals: str = key(
        Choice("integral", "naive"),
        "integral",
        words="Duals as integrals over what was broadcast, which heal after losses, or as steps of each agent's own.",
    )


def _build(table: AdmmTable, public: "Public") -> Builder:
    from mechanisms.guards import Growth
    from scenarios.planning.consensus import plain

    naive = table.duals == "naive"
    make = plain(table, public, Growth(table.eta), table.eta, naive=naive)
    return Builder(lambda _: make)


KIND = MechanismKind(
    name="admm",
    family="consensus",
    table=AdmmTable,
    inner=AdmmTable,
    card=Card(
        title="Consensus ADMM: one model for all, by exact local solves and duals on edges",
        sends="its model, its time and its integral (2d + 1 numbers) after each wake, to all "
        "neighbours",
        keeps="its model, the last message of each neighbour",
        touches="every record, in one exact solve at each wake",
        guarantee="none: every release costs ε = ∞",
        source="Zhang, Zhu 2016, Algorithm 1, eq. (5)–(8); Zhang, Khalili, Liu 2018, eq. (8)–(9)",
        mended="E24 (f_j for f_p in eq. 8); duals are integrals of broadcasts, and heal by "
        "themselves",
    ),
    noise=None,
    needs_convex=always,
    check=check_consensus,
    steps=None,
    build=_build,
    joint=summed,
    enough_points=(3,),
    examples={"": {}},
    order=1,
)
