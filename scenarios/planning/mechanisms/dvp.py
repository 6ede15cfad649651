"""dvp: ADMM with dual variable perturbation (Zhang, Zhu 2016, Algorithm 2)."""

from typing import TYPE_CHECKING

from scenarios.planning.check_budget import by_two
from scenarios.planning.check_mechanism import check_consensus
from scenarios.planning.joint_objectives import summed
from scenarios.planning.mechanism import Builder, Card, MechanismKind, Noise, always, never
from scenarios.planning.mechanism_tables import PerturbedTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme


def _scheme(table: PerturbedTable, i: int, public: "Public") -> "Scheme":
    from mechanisms.guards import Growth
    from scenarios.planning.consensus import perturbed
    from scenarios.planning.release_charges import Scheme, growth

    form = perturbed(table, i, public, Growth(table.eta))
    return Scheme(form, table.releases or public.rounds, alpha=growth(table.alpha))


def _build(table: PerturbedTable, public: "Public") -> Builder:
    from mechanisms.guards import DualNoise, Growth
    from scenarios.planning.consensus import guarded
    from scenarios.planning.release_charges import charges_once

    def agent(i: int) -> "Maker":
        terms = public.terms[i]
        targets = charges_once(public, terms, _scheme(table, i, public))

        return guarded(
            table,
            i,
            public,
            Growth(table.eta),
            table.eta,
            lambda record: DualNoise(record, public.dimension, targets, terms.printed),
        )

    return Builder(agent)


KIND = MechanismKind(
    name="dvp",
    family="consensus",
    table=PerturbedTable,
    inner=None,
    card=Card(
        title="ADMM with dual variable perturbation: linear noise in each local solve",
        sends="its model, its time and its integral (2d + 1 numbers) after each wake, to all "
        "neighbours",
        keeps="what it released last, the last message of each neighbour",
        touches="every record, in one exact solve for each release",
        guarantee="each release costs ζ·2C/B + ln(1 + C c₁/(Bκ)) + α/1000, κ = ρ + Φ + 2ηV: exactly "
        "alpha; the run costs their composition, in the eavesdropper's view",
        source="Zhang, Zhu 2016, Algorithm 2, Theorem 1",
        mended="E1 (ζ is half the printed one), E2 (ln(1+x) once; Φ from α/2), E17 (releases "
        "compose), E23; E20 (a thousandth of alpha pays for noise that hides where the "
        "solver stops); as_printed keeps ζ = α̂, costs up to 2α̂ + ln(1+x), and does not "
        "cover the solver's residual",
    ),
    noise=Noise(unit="epsilon", fixed_by=by_two, bounded=never, scheme=_scheme),
    needs_convex=always,
    check=check_consensus,
    steps=None,
    build=_build,
    joint=summed,
    enough_points=(4,),
    examples={"": {"releases": 8}},
    order=2,
)
