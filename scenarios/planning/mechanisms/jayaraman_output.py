"""jayaraman-output: an average of minimisers with noise in secure computation (Jayaraman et al. 2018)."""

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

    return one_answer("norm-gamma", public)


def _build(table: OneAnswerTable, public: "Public") -> Builder:
    from scenarios.planning.server import SecureMinimisers

    return SecureMinimisers(table, public, law="norm-gamma", divides=True).builder()


KIND = MechanismKind(
    name="jayaraman-output",
    family="server",
    table=OneAnswerTable,
    inner=None,
    card=Card(
        title="An average of local minimisers with one noise inside secure computation",
        sends="its masked minimiser, once",
        keeps="the server's model",
        touches="every record in one exact solve",
        guarantee="one release: ε_j = ζ·2G/(m n_jΛ), Λ = 2·l2, behind secure computation; n₁ of the smallest survivor "
        "sets ζ",
        source="Jayaraman, Wang, Evans, Gu 2018, output perturbation",
        mended="E25 (Laplace per coordinate on an L2 sensitivity: norm-gamma instead); as_printed "
        "keeps it",
    ),
    noise=Noise(unit="epsilon", fixed_by=by_budget, bounded=never, scheme=_scheme),
    needs_convex=always,
    check=check_one_answer,
    steps=None,
    build=_build,
    joint=evenly,
    examples={"": {}},
    order=3,
)
