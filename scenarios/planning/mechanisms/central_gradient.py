"""central-gradient: noisy gradient descent of one curator on the pooled data (Wang, Ye, Xu 2017)."""

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
    from scenarios.planning.server import Answers, Clear

    answers = Answers(
        task=Gradient,
        steps=public.rounds or 1,
        once=False,
        by_size=False,
        learning_rate=table.learning_rate,
    )
    made = Clear(table, public, answers, rate=table.learning_rate, pooled_scale=False, watched=True)
    return made.builder()


_NOISE: Noise[GradientTable] = Noise(
    unit="mu", fixed_by=by_rounds, bounded=never, scheme=lambda *_: None
)
KIND = MechanismKind(
    name="central-gradient",
    family="server",
    table=GradientTable,
    inner=None,
    card=Card(
        title="Noisy gradient descent of one curator on the pooled data",
        sends="one noisy gradient each round",
        keeps="the server's last model",
        touches="every record in one gradient each round",
        guarantee="each round costs μ = 2G/(nσ); the run their composition",
        source="Wang, Ye, Xu 2017, gradient perturbation",
        mended="the constant of σ is exact for (ε, δ) (E5 v); as_printed is the same",
    ),
    noise=_NOISE,
    needs_convex=never,
    check=check_server,
    steps=None,
    build=_build,
    joint=evenly,
    examples={"": {}},
    order=5,
    pooled=True,
)
