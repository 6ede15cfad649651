"""local-dp: local differential privacy of the records, and any learner without noise on what it made of them."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.planning.check_mechanism import nothing_else
from scenarios.planning.losses import LossTable
from scenarios.planning.mechanism import (
    INNER,
    Builder,
    Card,
    CheckContext,
    MechanismKind,
    Noise,
    always,
    never,
    record_of,
)
from scenarios.planning.mechanism_tables import POSITIVE, MechanismTable, calibration

if TYPE_CHECKING:
    from mechanisms.joint import Graph, Joint
    from mechanisms.objectives import LocalObjective
    from mechanisms.strategy import Mechanism
    from scenarios.planning.public_facts import Maker, Public


class LocalDpTable(MechanismTable):
    """The keys of local-dp."""

    epsilon_features: float = key(POSITIVE, REQUIRED, words="The ε of the features of a record.")
    epsilon_label: float = key(POSITIVE, REQUIRED, words="The ε of the label of a record.")
    inner: MechanismTable = key(
        INNER, {"kind": "local"}, words="The mechanism that learns from the perturbed records."
    )
    calibration: str = calibration()


def _fixed_by(table: LocalDpTable, around: CheckContext) -> None:
    """Its two ε set the noise, and its learner has none."""
    inner: MechanismTable | None = table.inner
    if inner is not None and inner.noise not in {"none", None}:
        around.report.value(
            (*around.place, "inner", "noise"),
            f'the data are perturbed already: noise = "none", got "{inner.noise}"',
        )
    loss = around.read.task.loss
    if isinstance(loss, LossTable) and loss.score != "accuracy":
        around.report.value(
            ("task", "loss"), f"local-dp flips labels ±1, which the {loss.kind} loss does not have"
        )
    if None in (table.epsilon_features, table.epsilon_label):
        return
    cost = table.epsilon_features + table.epsilon_label
    for group in around.groups:
        cap = None if group.budget is None else group.budget.epsilon
        if cap is not None and cap < cost:
            around.report.value(
                group.path_to("budget"),
                f"the perturbed data cost epsilon_features + epsilon_label = {cost:g}, above the budget {cap:g}",
            )


def _build(table: LocalDpTable, public: "Public") -> Builder:
    from mechanisms.accounting.spend import Spend
    from mechanisms.local_privacy import disguise
    from scenarios.planning.release_charges import CannotProvide

    inner = record_of(table.inner).build(table.inner, public)
    cost = table.epsilon_features + table.epsilon_label
    spend = Spend(
        table.kind,
        "local",
        table.calibration,
        table.epsilon_features / 2.0,
        2.0,
        "l2",
        public.dimension,
        0.0,
        cost,
        cost,
    )

    def agent(i: int) -> "Maker":
        make = inner.agent(i)

        def disguised(objective: "LocalObjective") -> "Mechanism":
            try:
                template = make(objective)
            except CannotProvide as error:
                key = error.key.replace("mechanism", "mechanism.inner", 1)
                raise CannotProvide(str(error), key) from None
            return disguise(
                objective.features,
                objective.labels,
                table.epsilon_features,
                table.epsilon_label,
                spend,
                lambda x, y: make(objective.on(x, y)),
                template,
            )

        return disguised

    return Builder(agent, inner.coordinator)


def _joint(
    table: LocalDpTable, graph: "Graph", objectives: "tuple[LocalObjective, ...]"
) -> "Joint":
    return record_of(table.inner).joint(table.inner, graph, objectives)


_DP = {"epsilon_features": 2.0, "epsilon_label": 1.0}
KIND = MechanismKind(
    name="local-dp",
    family="alone",
    table=LocalDpTable,
    inner=None,
    card=Card(
        title="Local differential privacy: perturb each record once, learn from that for ever",
        sends="what the inner kind sends; all of it derived",
        keeps="the perturbed records, and what the inner kind keeps",
        touches="every record once",
        guarantee="ε_x + ε_y for each record: x + norm-gamma(ε_x/2), labels flipped with 1/(1 + "
        "e^ε_y)",
        source="the baseline of Bellet, Guerraoui, Taziki, Tommasi 2018, App. D; Duchi, Jordan, "
        "Wainwright 2012",
        mended="noise of an L2 ball of diameter 2; as_printed is the same",
    ),
    noise=Noise(
        unit="epsilon",
        fixed_by=_fixed_by,
        bounded=always,
        scheme=lambda *_: None,
        given=always,
        one_release=True,
    ),
    needs_convex=never,
    check=nothing_else,
    steps=None,
    build=_build,
    joint=_joint,
    examples={
        "": _DP,
        "admm": _DP | {"inner": {"kind": "admm"}},
        "cd": _DP | {"inner": {"kind": "cd"}},
        "pairs": _DP | {"inner": {"kind": "collaborative-admm"}},
        "fedavg": _DP | {"inner": {"kind": "fedavg"}},
    },
    order=2,
)
