"""propagation: model propagation (Bellet et al. 2018, App. C)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.check_budget import budgets_given, needs_convexity
from scenarios.planning.check_mechanism import nothing_else
from scenarios.planning.joint_objectives import propagating
from scenarios.planning.mechanism import Builder, Card, CheckContext, MechanismKind, Noise, never
from scenarios.planning.mechanism_tables import POSITIVE, MechanismTable, calibration

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme


class InnerPropagationTable(MechanismTable):
    """The keys of propagation inside local-dp."""

    mu: float = key(
        POSITIVE,
        1.0,
        words="How much an agent's own data weigh against agreement with its neighbours.",
    )
    noise: str = key(
        Choice("none", "output", "objective"),
        "none",
        words="Where the noise of the one release goes: nowhere, onto the local model, or into its objective.",
    )


class PropagationTable(InnerPropagationTable):
    """The keys of propagation."""

    calibration: str = calibration()


def _fixed_by(table: InnerPropagationTable, around: CheckContext) -> None:
    """One release takes the whole budget."""
    name = f"{table.noise} noise"
    if table.noise != "objective":
        needs_convexity(name, (*around.place, "noise"), around)
    budgets_given(name, around)


def _scheme(table: InnerPropagationTable, i: int, public: "Public") -> "Scheme | None":
    from scenarios.planning.personalised import start_scheme

    return None if table.noise == "none" else start_scheme(table.noise, i, public)


def _build(table: InnerPropagationTable, public: "Public") -> Builder:
    from scenarios.planning.personalised import propagation
    from scenarios.planning.release_charges import charges_once

    def agent(i: int) -> "Maker":
        wanted = _scheme(table, i, public)
        charge = None if wanted is None else charges_once(public, public.terms[i], wanted)[0]
        return propagation(table.mu, table.noise, i, public, charge)

    return Builder(agent)


KIND = MechanismKind(
    name="propagation",
    family="personalised",
    table=PropagationTable,
    inner=InnerPropagationTable,
    card=Card(
        title="Model propagation: one local model each, then free smoothing over the graph",
        sends="its propagated model after each wake; only the first reads data",
        keeps="its own (perturbed) local model, the last model heard from each neighbour",
        touches="every record once, in the local solve of the first release",
        guarantee="one release: ε = ζ·2L₂w/Λ with output noise (Λ = 2·l2), ζ·2L₂w + ln(1 + w c₁/κ) "
        "with objective noise, κ = 2·l2 + Φ, a thousandth of it for the solver; Φ makes up for l2 = 0; later wakes are free",
        source="Bellet, Guerraoui, Taziki, Tommasi 2018, App. C; Chaudhuri, Monteleoni, Sarwate "
        "2011, Algorithms 1 and 2",
        mended="E2 (ln(1+x) once), E18 (the warm start is charged), E19 (the true Λ), E20, E21; "
        "as_printed takes Chaudhuri's looser objective noise, and does not cover the "
        "solver's residual",
    ),
    noise=Noise(
        unit={"output": "epsilon", "objective": "epsilon"},
        fixed_by=_fixed_by,
        bounded=never,
        scheme=_scheme,
        smooths=True,
    ),
    needs_convex=lambda table: table.noise != "none",
    check=nothing_else,
    steps=None,
    build=_build,
    joint=propagating,
    examples={"": {}, "output": {"noise": "output"}, "objective": {"noise": "objective"}},
    order=3,
)
