"""collaborative-admm: collaborative learning, two agents at a time (Vanhaesebrouck, Bellet, Tommasi 2017)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.planning.clocks import waits
from scenarios.planning.durations import ConstantTable
from scenarios.planning.joint_objectives import personalised
from scenarios.planning.mechanism import Builder, Card, CheckContext, MechanismKind, name_of, never
from scenarios.planning.mechanism_tables import COUNT, POSITIVE, MechanismTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Maker, Public


class CollaborativeTable(MechanismTable):
    """The keys of collaborative-admm."""

    mu: float = key(
        POSITIVE,
        1.0,
        words="How much an agent's own data weigh against agreement with its neighbours.",
    )
    penalty: float = key(
        POSITIVE, 1.0, words="The penalty that draws the copies of a pair together."
    )
    local_steps: int = key(COUNT, 10, words="How many gradient steps a trade takes.")


def _check(table: CollaborativeTable, around: CheckContext) -> None:
    for group in around.groups:
        if waits(group.clock):
            around.report.value(
                group.path_to("clock"),
                f"{table.kind} trades in pairs: there is no round to wait for",
            )
        still = isinstance(group.compute, ConstantTable) and group.compute.value == 0
        if name_of(group.compute) is not None and not still:
            around.report.value(
                group.path_to("compute"),
                f"{table.kind} answers at once: computing time has no meaning",
            )


def _build(table: CollaborativeTable, public: "Public") -> Builder:
    from mechanisms.accounting.spend import unprotected
    from mechanisms.collaborative import Collaborative

    def agent(i: int) -> "Maker":
        place, confidence = public.places[i], float(public.confidences[i])
        spend = unprotected(table.kind, 4 * public.dimension)
        return lambda objective: Collaborative(
            objective,
            place.weights,
            place.firsts,
            table.mu,
            confidence,
            table.penalty,
            table.local_steps,
            objective.smoothness(),
            spend,
        )

    return Builder(agent)


KIND = MechanismKind(
    name="collaborative-admm",
    family="pairs",
    table=CollaborativeTable,
    inner=CollaborativeTable,
    card=Card(
        title="Collaborative learning by ADMM, two agents at a time",
        sends="its model, its copy of the partner's and two duals (4d numbers), to one partner "
        "and back",
        keeps="its model, and per edge a copy, two consensus values, two duals",
        touches="every record, in local_steps gradients for each trade",
        guarantee="none: every release costs ε = ∞",
        source="Vanhaesebrouck, Bellet, Tommasi 2017, section 4",
        mended="a trade whose answer is lost is healed by the next one between the two",
    ),
    noise=None,
    needs_convex=never,
    check=_check,
    steps=lambda table: {"local_steps": table.local_steps},
    build=_build,
    joint=personalised,
    examples={"": {}},
)
