"""madmm: ADMM whose agents have penalties of their own (Zhang, Khalili, Liu 2018)."""

from typing import TYPE_CHECKING

from scenarios.planning.check_mechanism import check_penalties
from scenarios.planning.joint_objectives import summed
from scenarios.planning.mechanism import Builder, Card, MechanismKind, always
from scenarios.planning.mechanism_tables import PenalisedTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public


def _build(table: PenalisedTable, public: "Public") -> Builder:
    from scenarios.planning.consensus import own_penalty, plain

    return Builder(lambda i: plain(table, public, own_penalty(table, i), table.theta))


KIND = MechanismKind(
    name="madmm",
    family="consensus",
    table=PenalisedTable,
    inner=PenalisedTable,
    card=Card(
        title="Modified ADMM: every agent has a penalty of its own that may grow",
        sends="its model, its time and its integral (2d + 1 numbers) after each wake, to all "
        "neighbours",
        keeps="its model, its penalty, the last message of each neighbour",
        touches="every record, in one exact solve at each wake",
        guarantee="none: every release costs ε = ∞",
        source="Zhang, Khalili, Liu 2018, eq. (10)–(11), (13)–(16)",
        mended="E13 (θ is common), E14 (convergence is proved for common η only), E24; duals are "
        "integrals of broadcasts, and heal by themselves",
    ),
    noise=None,
    needs_convex=always,
    check=check_penalties,
    steps=None,
    build=_build,
    joint=summed,
    examples={"": {"eta": {"start": 0.5, "growth": 1.02, "cap": 1.0}}},
    order=4,
)
