"""wddp: weighted distributed gradient descent (Kang, Liu, Wang, Algorithm 1)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice, count
from scenarios.planning.check_budget import by_rounds, gaussian_budgets
from scenarios.planning.check_mechanism import asked, check_server
from scenarios.planning.joint_objectives import by_size, evenly
from scenarios.planning.mechanism import Builder, Card, CheckContext, MechanismKind, Noise, never
from scenarios.planning.mechanism_tables import (
    COUNT,
    POSITIVE,
    MechanismTable,
    calibration,
    learning_rate,
)

if TYPE_CHECKING:
    from mechanisms.federated import Task
    from mechanisms.joint import Common, Graph
    from mechanisms.objectives import LocalObjective
    from scenarios.planning.public_facts import Public
    from scenarios.planning.scenario_tables import ScenarioTable


class InnerWddpTable(MechanismTable):
    """The keys of wddp inside local-dp."""

    learning_rate: float = learning_rate()
    local_rounds: int | None = key(
        COUNT,
        words="How many gradient steps a party takes before it sends. Required where it sends once.",
    )
    weights: str = key(
        Choice("size", "uniform"),
        "size",
        words="Whether the server weighs parties by their points or alike.",
    )
    noise: str = key(
        Choice("none"), "none", words="No noise: what it learns from is private already."
    )
    synchronise: str = key(
        Choice("once", "every-round"),
        "once",
        words="Whether a party sends its model once, or a gradient every round.",
    )

    @property
    def tolerate(self) -> int:
        """How many of those asked may drop out: their noise is not counted on."""
        return 0

    @property
    def colluders(self) -> int:
        """How many clients tell the server their noise."""
        return 0

    @property
    def sigma(self) -> float | None:
        """The standard deviation of each coordinate of a party's noise, where the file gives it."""
        return None

    @property
    def once(self) -> bool:
        """Whether every client answers once."""
        return self.synchronise == "once"


class WddpTable(InnerWddpTable):
    """The keys of wddp."""

    noise: str = key(
        Choice("local", "aggregate", "none"),
        "local",
        words="Whether each party's noise protects what it sends, only the sum of all protects, or nothing does.",
    )
    tolerate: int = key(
        count(0), 0, words="How many of those asked may drop out: their noise is not counted on."
    )
    colluders: int = key(count(0), 0, words="How many clients tell the server their noise.")
    calibration: str = calibration()
    sigma: float | None = key(
        POSITIVE,
        words="The standard deviation of each coordinate of a party's noise, as printed only; left out, the budget sets it.",
    )


def _check(table: InnerWddpTable, around: CheckContext) -> None:
    check_server(table, around, once=table.once)
    private, aggregate = table.noise in {"local", "aggregate"}, table.noise == "aggregate"
    if aggregate and table.once:
        around.value(
            "noise",
            '"aggregate" needs synchronise = "every-round": what is summed once has drifted apart, and no gain can be promised',
        )
    if table.tolerate and not aggregate:
        around.key("tolerate", 'belongs to noise = "aggregate"')
    if table.colluders and not aggregate:
        around.key("colluders", 'belongs to noise = "aggregate"')
    if table.sigma is not None and not private:
        around.key("sigma", "is the scale of noise: it means nothing without it")
    elif table.sigma is not None and table.calibration != "as_printed":
        around.key("sigma", 'is a scale that nothing proves: it needs calibration = "as_printed"')
    if table.synchronise == "every-round" and table.local_rounds is not None:
        around.key("local_rounds", 'belongs to synchronise = "once"')
    if table.once and table.local_rounds is None and "local_rounds" not in table.given:
        around.report.key(around.place, "wddp that sends once needs local_rounds")
    left, lost = asked(around), (table.tolerate or 0) + (table.colluders or 0)
    if private and lost and left - lost < 1:
        around.value(
            "tolerate" if table.tolerate else "colluders",
            f"of {left} clients that are asked, {table.tolerate or 0} may drop out and {table.colluders or 0} collude: "
            "nobody's noise is left",
        )


def _fixed_by(table: InnerWddpTable, around: CheckContext) -> None:
    if "sigma" in table.given:
        return  # what each answer costs follows from it
    (gaussian_budgets if table.once else by_rounds)(table, around)


def _build(table: InnerWddpTable, public: "Public") -> Builder:
    from mechanisms.federated import Descent, Gradient
    from scenarios.planning.server import Answers, Clear, Federation, Summed

    steps = (table.local_rounds if table.once else public.rounds) or 1

    def task(sigma: float) -> "Task":
        return Descent(table.learning_rate, steps, sigma) if table.once else Gradient(sigma)

    answers = Answers(
        task=task,
        steps=steps,
        once=table.once,
        by_size=table.weights == "size",
        learning_rate=None if table.once else table.learning_rate,
    )
    match table.noise:
        case "none":
            made = Federation(table, public, answers)
        case "local":
            made = Clear(
                table,
                public,
                answers,
                rate=table.learning_rate,
                pooled_scale=True,
                watched=False,
                sigma=table.sigma,
            )
        case "aggregate":
            made = Summed(
                table,
                public,
                answers,
                tolerate=table.tolerate,
                colluders=table.colluders,
                sigma=table.sigma,
            )
        case noise:
            raise NotImplementedError(f"nothing is written for the noise {noise!r} of wddp")
    return made.builder()


def _joint(
    table: InnerWddpTable, graph: "Graph", objectives: "tuple[LocalObjective, ...]"
) -> "Common":
    return (by_size if table.weights == "size" else evenly)(table, graph, objectives)


def _warnings(table: InnerWddpTable, read: "ScenarioTable") -> tuple[str, ...]:
    quorum = 1.0 if read.server is None else read.server.quorum
    if table.noise != "aggregate" or quorum >= 1 or table.tolerate:
        return ()
    return (
        f"server.quorum = {quorum:g} lets clients drop out, and mechanism.tolerate = 0 does not: such rounds "
        "are aborted, and paid for",
    )


KIND = MechanismKind(
    name="wddp",
    family="server",
    table=WddpTable,
    inner=InnerWddpTable,
    card=Card(
        title="Weighted distributed gradient descent: parties learn, a server averages",
        sends="once: the model after local_rounds noisy steps; every-round: one noisy gradient",
        keeps="the server's last model",
        touches="every record in each local step",
        guarantee="local noise: μ = 2G√T/(n_jσ_j) in every view, and of T hidden steps that contract "
        "by a < 1 (once, l2 > 0) √((1−aᵀ)/(1+aᵀ)·(1+a)/(1−a)) for √T; aggregate: μ = "
        "2G√T·w_j/(n_jσ), σ the noise of the sum without dropouts and colluders, behind "
        "secure aggregation",
        source="Kang, Liu, Wang, Algorithm 1, eq. (3), (4), (11)",
        mended="E5 (the printed σ is short by n/n_j on the wire), E6; as_printed takes σ of eq. "
        "(3), its constant exact for (ε, δ), with m·n₁ for n where weights are uniform, or sigma itself",
    ),
    noise=Noise(
        unit={"local": "mu", "aggregate": "mu"},
        fixed_by=_fixed_by,
        bounded=never,
        scheme=lambda *_: None,
        given=lambda table: table.sigma is not None,
    ),
    needs_convex=never,
    check=_check,
    steps=lambda table: {"local_rounds": table.local_rounds},
    build=_build,
    joint=_joint,
    examples={
        "once": {"local_rounds": 10},
        "rounds": {"synchronise": "every-round"},
        "sum": {"synchronise": "every-round", "noise": "aggregate", "tolerate": 1},
    },
    order=1,
    warnings=_warnings,
)
