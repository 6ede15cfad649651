"""cd: coordinate descent on personalised models (Bellet, Guerraoui, Taziki, Tommasi 2018)."""

from itertools import pairwise
from typing import TYPE_CHECKING

from scenarios.language.table_rules import Many, key
from scenarios.language.value_rules import Choice, Either, Number
from scenarios.planning.check_budget import by_two
from scenarios.planning.check_mechanism import check_descent
from scenarios.planning.joint_objectives import personalised
from scenarios.planning.mechanism import Builder, Card, CheckContext, MechanismKind, Noise, never
from scenarios.planning.mechanism_tables import POSITIVE, DescentTable, calibration

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public
    from scenarios.planning.release_charges import Scheme


CHANCE = Number(above=0, high=1)


class InnerCdTable(DescentTable):
    """The keys of cd inside local-dp."""

    alpha: float | None = key(
        POSITIVE,
        words="What one release costs: an ε, or the μ of Gaussian noise; left out, a budget says it.",
    )


class CdTable(InnerCdTable):
    """The keys of cd. `survival` is S_k, or the chance that one release is followed by another; None: by the clock."""

    schedule: str = key(
        Choice("uniform", "growing", "printed", "survival", "rollover"),
        "uniform",
        words="How a budget is shared out over the releases; `survival` and `rollover` follow participation.",
    )
    release: str = key(
        Choice("always", "when-read"),
        "always",
        words="Whether each wake releases, or only a wake after a neighbour has read the last release.",
    )
    survival: float | list[float] | None = key(
        Either("a number above 0 and at most 1, or one for each release", CHANCE, Many(CHANCE, 1)),
        words="The public probability of reaching each release, or of one being followed by another; left out, as the clock says.",
    )
    calibration: str = calibration()


def _fixed_by(table: InnerCdTable, around: CheckContext) -> None:
    if table.schedule != "uniform" and "alpha" in table.given:
        around.key("alpha", "a schedule shapes a budget over releases: give those, and no alpha")
    by_two(table, around)


def _check(table: InnerCdTable, around: CheckContext) -> None:
    check_descent(table, around)
    if table.release == "when-read":
        if table.noise == "none":
            around.key("release", "saves what releases cost: it means nothing without noise")
        if table.smooth_after is False:
            around.key("release", "needs smooth_after: an agent that waits sends what it smooths")
    if table.survival is not None and table.schedule != "survival":
        around.key("survival", 'belongs to schedule = "survival"')
    if isinstance(table.survival, list):
        _check_chances(table.survival, table, around)


def _check_chances(chances: list[float], table: InnerCdTable, around: CheckContext) -> None:
    """Report probabilities of reaching releases that grow, or that are not one for each."""
    if table.releases is not None and len(chances) != table.releases:
        around.value(
            "survival", f"must be one for each of {table.releases} releases, got {len(chances)}"
        )
    if None not in chances and any(b > a for a, b in pairwise(chances)):
        around.value("survival", "a later release cannot be reached more often than an earlier one")


def _scheme(table: InnerCdTable, i: int, public: "Public") -> "Scheme | None":
    from scenarios.planning.personalised import descent_scheme

    if table.noise == "none":
        return None
    return descent_scheme(table, public, table.releases or public.rounds, table.alpha, i)


def _build(table: InnerCdTable, public: "Public") -> Builder:
    from scenarios.planning.personalised import descent

    return Builder(lambda i: descent(table, i, public, _scheme(table, i, public)))


KIND = MechanismKind(
    name="cd",
    family="personalised",
    table=CdTable,
    inner=InnerCdTable,
    card=Card(
        title="Coordinate descent on personalised models, one gradient per wake",
        sends="its model after each wake, to all neighbours",
        keeps="its model, the last model heard from each neighbour, the releases left",
        touches="every record once per release, through one gradient; smoothing touches none",
        guarantee="each release costs ζ·2L₂w (norm-gamma), 2L₁w/s (Laplace) or μ = 2L₂w/s (Gaussian),"
        " w = 1/m: then alpha is a μ; the run costs their composition, in the "
        "eavesdropper's view",
        source="Bellet, Guerraoui, Taziki, Tommasi 2018, eq. (2), (4), (6), Theorem 1, Proposition"
        " 2",
        mended="E7 (Laplace takes an L1 bound), E8 (composition), E10 (budgets grow with time), "
        "E12, E16 (bracket of eq. 4), E21 (rounded releases); smoothing after the budget is"
        " hush's own (A10-smooth); as_printed takes the L2 bound for Laplace, Remark 4 for "
        "Gaussian, and E8 as it stands",
    ),
    noise=Noise(
        unit={"laplace": "epsilon", "norm-gamma": "epsilon", "gaussian": "mu"},
        fixed_by=_fixed_by,
        bounded=lambda table: "clip" in table.given,
        scheme=_scheme,
        smooths=True,
        own_composition=True,
    ),
    needs_convex=never,
    check=_check,
    steps=None,
    build=_build,
    joint=personalised,
    examples={
        "": {},
        "laplace": {"noise": "laplace", "releases": 8, "schedule": "growing"},
        "norm-gamma": {"noise": "norm-gamma", "releases": 8},
        "gaussian": {"noise": "gaussian", "releases": 8},
        "survival": {"noise": "norm-gamma", "releases": 8, "schedule": "survival", "survival": 0.9},
        "rollover": {"noise": "gaussian", "releases": 8, "schedule": "rollover"},
        "when-read": {"noise": "gaussian", "releases": 8, "release": "when-read"},
    },
    order=1,
)
