"""pp: ADMM with penalty perturbation (Zhang, Khalili, Liu 2018, Algorithm 1)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import SubTable, key
from scenarios.planning.check_budget import by_two
from scenarios.planning.check_mechanism import check_penalties
from scenarios.planning.joint_objectives import summed
from scenarios.planning.mechanism import Builder, Card, MechanismKind, Noise, always, never
from scenarios.planning.mechanism_tables import (
    GrowingTable,
    PenalisedTable,
    calibration,
    releases,
)

if TYPE_CHECKING:
    from mechanisms.objectives import LocalObjective
    from mechanisms.strategy import Mechanism
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme


class PpTable(PenalisedTable):
    """The keys of pp. `noise` is that of each release: where it is given, ε follows from it."""

    noise: GrowingTable | None = key(
        SubTable(GrowingTable),
        words="The noise of each release, in place of a budget: ε then follows from it.",
    )
    releases: int | None = releases()
    calibration: str = calibration()


def _scheme(table: PpTable, i: int, public: "Public") -> "Scheme | None":
    from scenarios.planning.consensus import own_penalty, perturbed
    from scenarios.planning.release_charges import Scheme

    if table.noise is not None:
        return None
    form = perturbed(table, i, public, own_penalty(table, i))
    return Scheme(form, table.releases or public.rounds)


def _build(table: PpTable, public: "Public") -> Builder:
    from mechanisms.guards import Growth, PenaltyNoise
    from scenarios.planning.consensus import guarded, own_penalty, within_budget
    from scenarios.planning.release_charges import charges_once

    given = table.noise

    def agent(i: int) -> "Maker":
        terms, wanted = public.terms[i], _scheme(table, i, public)
        targets = None if wanted is None else charges_once(public, terms, wanted)
        make = guarded(
            table,
            i,
            public,
            own_penalty(table, i),
            table.theta,
            lambda record: PenaltyNoise(
                record,
                public.dimension,
                None if given is None else Growth(given.start, given.growth),
                targets,
                table.releases or public.rounds,
                terms.printed,
            ),
        )

        def within(objective: "LocalObjective") -> "Mechanism":
            made = make(objective)
            if given is not None:
                within_budget(made, public.places.degree(i), terms)
            return made

        return within

    return Builder(agent)


KIND = MechanismKind(
    name="pp",
    family="consensus",
    table=PpTable,
    inner=None,
    card=Card(
        title="ADMM with penalty perturbation: noise inside a growing penalty",
        sends="its model, its time and its integral (2d + 1 numbers) after each wake, to all "
        "neighbours",
        keeps="what it released last, its penalty, the last message of each neighbour",
        touches="every record, in one exact solve for each release",
        guarantee="each release costs α_iC/(η_iV_iB_i) + ln(1 + C c₁/(B_i(ρ + 2η_iV_i))), and a "
        "thousandth more for the solver",
        source="Zhang, Khalili, Liu 2018, Algorithm 1, Theorem 4.1",
        mended="E2 (ln(1+x) for 1.4c₁; no side condition), E22 (secret penalties protect nothing),"
        " E26 (no release at degree 0), E20 (as dvp); as_printed inverts the printed bound "
        "(26), and does not cover the solver's residual",
    ),
    noise=Noise(
        unit="epsilon",
        fixed_by=by_two,
        bounded=never,
        scheme=_scheme,
        given=lambda table: table.noise is not None,
    ),
    needs_convex=always,
    check=check_penalties,
    steps=None,
    build=_build,
    joint=summed,
    examples={"": {"releases": 8}},
    order=5,
)
