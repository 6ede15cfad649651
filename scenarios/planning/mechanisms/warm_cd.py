"""warm-cd: a private warm start by propagation, then coordinate descent (Bellet et al. 2018, Remark 3)."""

from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice, Number, count
from scenarios.planning.check_budget import by_two, needs_convexity
from scenarios.planning.check_mechanism import check_descent
from scenarios.planning.joint_objectives import personalised
from scenarios.planning.mechanism import Builder, Card, CheckContext, MechanismKind, Noise, never
from scenarios.planning.mechanism_tables import DescentTable, calibration

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Maker, Public
    from scenarios.planning.release_charges import Scheme


class WarmCdTable(DescentTable):
    """The keys of warm-cd."""

    calibration: str = calibration()
    warm_noise: str = key(
        Choice("output", "objective"),
        "output",
        words="Where the noise of the warm start goes: onto the local model, or into its objective.",
    )
    warm_share: float = key(
        Number(above=0, below=1, least=1e-6), 0.2, words="The share of ε that the warm start takes."
    )
    warm_wakes: int = key(count(0), 10, words="After how many wakes descent follows propagation.")


def _check(table: WarmCdTable, around: CheckContext) -> None:
    check_descent(table, around)
    if table.noise != "none" and table.warm_noise == "output":
        needs_convexity("output noise", (*around.place, "warm_noise"), around)


def _scheme(table: WarmCdTable, i: int, public: "Public") -> "Scheme | None":
    """Return how the releases of agent i's descent are calibrated after its warm start; None without noise."""
    from mechanisms.accounting.calibrate import rounded_down
    from scenarios.planning.personalised import descent_scheme, start_scheme
    from scenarios.planning.release_charges import CannotProvide

    if table.noise == "none":
        return None
    rounds, releases = public.rounds, table.releases
    if releases is None and rounds is not None:
        releases = rounds - max(1, table.warm_wakes)
        if releases < 1:
            raise CannotProvide(
                f"{table.warm_wakes} wakes of propagation leave none of {rounds} rounds to the descent",
                "mechanism.warm_wakes",
            )
    share = rounded_down(table.warm_share * public.terms[i].budget * (1 - 1e-11))
    start = start_scheme(table.warm_noise, i, public).form.loss(share)
    return descent_scheme(table, public, releases)._replace(before=((start, 1),))


def _build(table: WarmCdTable, public: "Public") -> Builder:
    from mechanisms.warm_start import WarmDescent
    from scenarios.planning.personalised import descent, propagation

    def agent(i: int) -> "Maker":
        wanted = _scheme(table, i, public)
        charge = None if wanted is None else wanted.before[0][0].epsilon
        warm = propagation(table.mu, table.warm_noise, i, public, charge)
        later = descent(table, i, public, wanted)
        return lambda o: WarmDescent(warm(o), later(o), table.warm_wakes)

    return Builder(agent)


KIND = MechanismKind(
    name="warm-cd",
    family="personalised",
    table=WarmCdTable,
    inner=None,
    card=Card(
        title="A private warm start by propagation, then coordinate descent, under one budget",
        sends="as propagation for warm_wakes wakes, then as cd",
        keeps="its (perturbed) local model, its model, the last model heard from each neighbour",
        touches="every record once for the warm start, and once per release of the descent",
        guarantee="warm_share of ε for the start; start and descent together stay within the budget",
        source="Bellet, Guerraoui, Taziki, Tommasi 2018, Remark 3, App. C and Figure 2(b)",
        mended="E18 (the start is charged), and what was mended of propagation and cd",
    ),
    noise=Noise(
        unit={"laplace": "epsilon", "norm-gamma": "epsilon", "gaussian": "mixed"},
        fixed_by=by_two,
        bounded=never,
        scheme=_scheme,
        smooths=True,
        own_composition=True,
    ),
    needs_convex=never,
    check=_check,
    steps=None,
    build=_build,
    joint=personalised,
    examples={"": {"noise": "norm-gamma", "releases": 4, "warm_wakes": 3}},
    order=2,
    warm_start=True,
)
