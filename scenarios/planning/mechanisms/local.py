"""local: every agent alone."""

from typing import TYPE_CHECKING

from scenarios.planning.check_mechanism import nothing_else
from scenarios.planning.joint_objectives import apart
from scenarios.planning.mechanism import Builder, Card, MechanismKind, never
from scenarios.planning.mechanism_tables import MechanismTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public


class LocalTable(MechanismTable):
    """local has no keys."""


def _build(table: LocalTable, public: "Public") -> Builder:  # noqa: ARG001
    from mechanisms.solitary import Solitary

    return Builder(lambda _: Solitary)


KIND = MechanismKind(
    name="local",
    family="alone",
    table=LocalTable,
    inner=LocalTable,
    card=Card(
        title="Purely local learning: every agent minimises its own objective and says nothing",
        sends="nothing",
        keeps="its model",
        touches="every record, in one exact solve at the first wake",
        guarantee="ε = 0 for whoever watches the network; ε = ∞ for whoever sees a final model",
        source="the baseline of Bellet, Guerraoui, Taziki, Tommasi 2018, section 5",
        mended="the paper calls it perfectly private: true only if nothing is ever shown",
    ),
    noise=None,
    needs_convex=never,
    check=nothing_else,
    steps=None,
    build=_build,
    joint=apart,
    examples={"": {}},
    order=1,
    releases=False,
)
