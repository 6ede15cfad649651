"""jayaraman-gradient: gradients with one noise inside secure computation (Jayaraman et al. 2018)."""

from typing import TYPE_CHECKING

from scenarios.planning.check_budget import by_rounds
from scenarios.planning.check_mechanism import check_server
from scenarios.planning.joint_objectives import evenly
from scenarios.planning.mechanism import Builder, Card, MechanismKind, Noise, never
from scenarios.planning.mechanism_tables import GradientTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public


def _build(table: GradientTable, public: "Public") -> Builder:
    from mechanisms.federated import Gradient
    from scenarios.planning.server import Answers, SecureGradients

    answers = Answers(
        task=Gradient,
        steps=public.rounds or 1,
        once=False,
        by_size=False,
        learning_rate=table.learning_rate,
    )
    made = SecureGradients(table, public, answers)
    return made.builder()


_NOISE: Noise[GradientTable] = Noise(
    unit="mu", fixed_by=by_rounds, bounded=never, scheme=lambda *_: None
)
KIND = MechanismKind(
    name="jayaraman-gradient",
    family="server",
    table=GradientTable,
    inner=None,
    card=Card(
        title="Gradient descent with one noise inside secure computation",
        sends="a masked gradient each round",
        keeps="the server's last model",
        touches="every record in one gradient each round",
        guarantee="each round costs party j μ = 2G/(m n_jσ), in every view that cannot open the computation; m and n₁ of "
        "the survivors set σ",
        source="Jayaraman, Wang, Evans, Gu 2018, gradient perturbation",
        mended="nothing: the printed σ is exact zCDP with the right sensitivity (E25); survivors "
        "set the scale",
    ),
    noise=_NOISE,
    needs_convex=never,
    check=check_server,
    steps=None,
    build=_build,
    joint=evenly,
    examples={"": {}},
    order=2,
)
