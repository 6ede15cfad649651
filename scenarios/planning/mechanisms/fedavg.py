"""fedavg: federated averaging (McMahan et al. 2017)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.planning.check_mechanism import check_server
from scenarios.planning.joint_objectives import by_size
from scenarios.planning.mechanism import Builder, Card, MechanismKind, never
from scenarios.planning.mechanism_tables import COUNT, MechanismTable, learning_rate

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public


class FedavgTable(MechanismTable):
    """The keys of fedavg."""

    learning_rate: float = learning_rate()
    epochs: int = key(
        COUNT, 1, words="How many times a client goes through its points before it answers."
    )


def _build(table: FedavgTable, public: "Public") -> Builder:
    from mechanisms.federated import Epochs
    from scenarios.planning.server import Answers, Federation

    answers = Answers(
        task=lambda _: Epochs(table.learning_rate, table.epochs),
        steps=public.rounds or 1,
        once=False,
        by_size=True,
        learning_rate=None,
    )
    return Federation(table, public, answers).builder()


KIND = MechanismKind(
    name="fedavg",
    family="server",
    table=FedavgTable,
    inner=FedavgTable,
    card=Card(
        title="Federated averaging: clients run epochs of SGD, the server averages by size",
        sends="the model after its epochs",
        keeps="the server's last model",
        touches="every record, epochs times a round",
        guarantee="none: every release costs ε = ∞",
        source="McMahan, Moore, Ramage, Hampson, Agüera y Arcas 2017",
        mended="nothing; wddp with every-round is its private form",
    ),
    noise=None,
    needs_convex=never,
    check=check_server,
    steps=lambda table: {"epochs": table.epochs},
    build=_build,
    joint=by_size,
    examples={"": {}},
    order=6,
)
