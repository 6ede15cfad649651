"""pathak: an average of minimisers with Laplace noise (Pathak, Rane, Raj 2010)."""

from typing import TYPE_CHECKING

from scenarios.planning.check_budget import by_budget
from scenarios.planning.check_mechanism import check_one_answer
from scenarios.planning.joint_objectives import evenly
from scenarios.planning.mechanism import (
    Builder,
    Card,
    MechanismKind,
    Noise,
    always,
    never,
)
from scenarios.planning.mechanism_tables import OneAnswerTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public
    from scenarios.planning.release_charges import Scheme


def _scheme(table: OneAnswerTable, i: int, public: "Public") -> "Scheme":  # noqa: ARG001
    from scenarios.planning.server import one_answer

    return one_answer("laplace", public)


def _build(table: OneAnswerTable, public: "Public") -> Builder:
    from scenarios.planning.server import SecureMinimisers

    return SecureMinimisers(table, public, law="laplace", divides=False).builder()


KIND = MechanismKind(
    name="pathak",
    family="server",
    table=OneAnswerTable,
    inner=None,
    card=Card(
        title="An average of local minimisers with Laplace noise for the smallest party",
        sends="its masked minimiser, once",
        keeps="the server's model",
        touches="every record in one exact solve",
        guarantee="one release: ε_j = 2√d·G/(m n_jΛ s), Λ = 2·l2, behind secure aggregation; the party that draws the "
        "noise can remove it: against that party there is none",
        source="Pathak, Rane, Raj 2010",
        mended="E25 (an L1 bound for Laplace); as_printed takes s = 2/(n₁Λε): safe where √d ≤ m",
    ),
    noise=Noise(unit="epsilon", fixed_by=by_budget, bounded=never, scheme=_scheme),
    needs_convex=always,
    check=check_one_answer,
    steps=None,
    build=_build,
    joint=evenly,
    examples={"": {}},
    order=4,
)
