"""pvp: ADMM with primal variable perturbation (Zhang, Zhu 2016, Algorithm 3)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice, Flag, Number
from scenarios.planning.check_budget import by_two
from scenarios.planning.check_mechanism import check_consensus
from scenarios.planning.joint_objectives import summed
from scenarios.planning.mechanism import (
    Builder,
    Card,
    CheckContext,
    MechanismKind,
    Noise,
    always,
    never,
)
from scenarios.planning.mechanism_tables import PerturbedTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme


class PvpTable(PerturbedTable):
    """The keys of pvp."""

    variant: str = key(
        Choice("clean", "printed"),
        "clean",
        words="Whether the next solve starts from what was released, or from the un-noised minimiser as printed.",
    )
    final_dual: bool = key(
        Flag(), False, words="Whether a last dual step ends the run, as the paper's listing has it."
    )
    final_share: float | None = key(
        Number(above=0, below=1, least=1e-6),
        words="The share of a budget that the last dual step takes.",
    )


def _check(table: PvpTable, around: CheckContext) -> None:
    check_consensus(table, around)
    by_rho = table.variant == "printed" or table.calibration == "as_printed"
    if by_rho and table.rho == 0:
        around.value("rho", "pvp as printed is private by rho alone: it must be above 0")
    if table.final_share is not None and not table.final_dual:
        around.key("final_share", "belongs to final_dual = true")
    if table.final_share is not None and table.alpha is not None:
        around.key("final_share", "is a share of a budget: give that, and no alpha")


def _scheme(table: PvpTable, i: int, public: "Public") -> "Scheme":
    from mechanisms.accounting.calibrate import Additive, Ending, Form
    from mechanisms.guards import Growth
    from scenarios.planning.consensus import perturbed
    from scenarios.planning.release_charges import Scheme, growth, uniform

    form: Form = Additive("norm-gamma", public.dimension)
    if table.final_dual:
        form = Ending(form, perturbed(table, i, public, Growth(table.eta)))
    share = table.final_share

    def ending(releases: int) -> tuple[float, ...]:
        """Give the final dual-perturbed step its share of the budget."""
        if share is None or releases == 1:
            return uniform(releases)
        return (*uniform(releases - 1), share / (1.0 - share) * (releases - 1))

    return Scheme(form, table.releases or public.rounds, ending, alpha=growth(table.alpha))


def _build(table: PvpTable, public: "Public") -> Builder:
    from mechanisms.guards import Growth, PrimalNoise
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
            lambda record: PrimalNoise(
                record,
                public.dimension,
                targets,
                table.rho,
                table.variant == "printed",
                table.final_dual,
                terms.printed,
            ),
        )

    return Builder(agent)


KIND = MechanismKind(
    name="pvp",
    family="consensus",
    table=PvpTable,
    inner=None,
    card=Card(
        title="ADMM with primal variable perturbation: noise on each local minimiser",
        sends="its model, its time and its integral (2d + 1 numbers) after each wake, to all "
        "neighbours",
        keeps='what it released last; variant = "printed" keeps the un-noised minimiser, a secret',
        touches="every record, in one exact solve for each release",
        guarantee='each release costs ζ·2C/(B(ρ + 2ηV)); variant = "printed" ζ·2C/(Bρ), for the whole'
        " trajectory",
        source="Zhang, Zhu 2016, Algorithm 3, Theorem 2",
        mended="E3 (ζ has C in it), E4 (the final step uses released values), E17; as_printed "
        "takes ζ = ρBα/(2C), and its final step costs 2C/B·(1 + ηV/ρ)·ζ + ln(1+x)",
    ),
    noise=Noise(unit="epsilon", fixed_by=by_two, bounded=never, scheme=_scheme),
    needs_convex=always,
    check=_check,
    steps=None,
    build=_build,
    joint=summed,
    enough_points=(5, 6),
    examples={
        "": {"releases": 8},
        "printed": {"releases": 8, "variant": "printed", "final_dual": True, "final_share": 0.5},
    },
    order=3,
)
