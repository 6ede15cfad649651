"""What sets the noise: from a budget, releases and alpha to the charge of each release."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mechanisms.accounting.accountant import EPSILON, MIXED, MU
from mechanisms.accounting.accountants import kov, kov_printed, named, simplest, zcdp
from mechanisms.accounting.calibrate import (
    Case,
    Form,
    bag_of,
    composed,
    most_releases,
    shaped_charges,
)
from mechanisms.accounting.compose import TIGHTEST, by
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.loss import Key
from mechanisms.guards import Growth
from mechanisms.noise import LAWS
from scenarios.planning.accountant import AUTO
from scenarios.planning.mechanism_tables import GrowingTable

if TYPE_CHECKING:
    from scenarios.planning.public_facts import Public

MOST_RELEASES = 1_000_000
_ROOM = 1 + 1e-12


class CannotProvide(ValueError):
    """Budget, releases and noise do not fit together; `key` says which of them to look at."""

    def __init__(self, message: str, key: str = "mechanism") -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class Terms:
    """The privacy terms of one group: its budget, and the accountants that calibrate and hold it.

    `calibrate` is "tightest" until the plan has chosen an accountant for its mechanisms. Without a budget `epsilon` is
    None; without a number of rounds, `rounds` is.
    """

    epsilon: float | None
    delta: float
    calibrate: str
    filter: str
    rounds: int | None
    printed: bool = False
    """Whether the scales are the papers': then the budget sets the noise, and nothing holds it."""
    misprinted: bool = False
    """Whether the paper of this kind prints its composition wrong (E8)."""

    @property
    def budget(self) -> float:
        """ε of the budget. Raises CannotProvide where the group has none."""
        if self.epsilon is None:
            raise CannotProvide(
                "the noise is set by the budget: give budget = { epsilon = … }", "nodes"
            )
        return self.epsilon

    def accountant(self, unit: str) -> str:
        """Return the name of the accountant that calibrates releases of a unit.

        Gaussian releases alone always go by μ, which is exact; without δ few accountants are valid. As printed, a
        paper's own composition calibrates: Bellet et al. 2018, Theorem 1 for its kinds, else what hush 0.5 took for
        all of them.
        """
        if unit == MU or self.delta <= 0:
            return simplest(unit, self.delta)
        if self.misprinted:
            return kov_printed.ACCOUNTANT.name
        chosen = self.calibrate
        if chosen == TIGHTEST and self.printed:
            chosen = kov.ACCOUNTANT.name
        assert chosen != TIGHTEST, "the plan settles it before it asks"  # noqa: S101
        has_claim = named(chosen).has_claim(unit, self.delta)
        return chosen if has_claim else simplest(unit, self.delta)

    def cap(self, unit: str | None) -> Cap | None:
        """The cap and what holds it; None without a budget or noise, and where scales are as printed."""
        if self.epsilon is None or unit is None or self.printed:
            return None
        holder = self.accountant(unit) if self.filter == AUTO else self.filter
        return Cap(self.epsilon, self.delta, holder)

    def cap_of_its_own_code(self) -> Cap | None:
        """The cap of releases that may depend on earlier outputs: a sum of ε, or of ρ (theory.md, 5.5)."""
        if self.epsilon is None:
            return None
        if self.filter != AUTO:
            return Cap(self.epsilon, self.delta, self.filter)
        by_rho = zcdp.ACCOUNTANT.name
        return Cap(self.epsilon, self.delta, by_rho if self.delta > 0 else simplest(EPSILON, 0.0))


NORM_GAMMA = LAWS["norm-gamma"]

Shape = Callable[[int], tuple[float, ...]]
"""The weights of so many releases."""


def uniform(releases: int) -> tuple[float, ...]:
    """Every release alike."""
    return (1.0,) * releases


class Scheme(NamedTuple):
    """How an agent's releases are to be calibrated."""

    form: Form
    """What the loss of a release is distributed as."""
    releases: int | None
    """How many are planned; None where budget and alpha fix it."""
    shape: Shape = uniform
    before: Key = ()
    """What was spent before them."""
    alpha: Growth | None = None
    """What each release costs; None where the budget is shared out over them."""

    @property
    def unit(self) -> str:
        """What its charges count; Gaussian releases after others are mixed."""
        return MIXED if self.before and self.form.unit == MU else self.form.unit

    @property
    def planned(self) -> int:
        """How many releases are planned. Raises CannotProvide where nothing plans them."""
        if self.releases is None:
            raise CannotProvide("the noise is not fixed: give mechanism.releases")
        return self.releases


def growth(alpha: float | GrowingTable | None) -> Growth | None:
    """Return a number that may grow from release to release; None for None."""
    if isinstance(alpha, GrowingTable):
        return Growth(alpha.start, alpha.growth)
    return None if alpha is None else Growth(alpha)


def case_of(terms: Terms, scheme: Scheme) -> Case | None:
    """Return what accountants differ in for one agent; None where nothing is left to choose."""
    if terms.epsilon is None or terms.printed or scheme.unit == MU:
        return None
    alpha, weights = scheme.alpha, None
    if alpha is None:
        weights = scheme.shape(scheme.planned)
    elif alpha.growth != 1 and scheme.releases is not None:
        weights = tuple(alpha.at(k) for k in range(scheme.releases))
    charge = 0.0 if alpha is None else alpha.start
    return Case(scheme.form, terms.epsilon, terms.delta, weights, scheme.before, charge)


def charges(terms: Terms, scheme: Scheme) -> tuple[float, ...]:
    """Return the charge of each release: two of budget, releases and alpha fix the third."""
    releases, form, alpha = scheme.releases, scheme.form, scheme.alpha
    if alpha is None:
        accountant = terms.accountant(scheme.unit)
        shaped = shaped_charges(
            form, terms.budget, terms.delta, scheme.shape(scheme.planned), accountant, scheme.before
        )
        if not all(charge > 0 for charge in shaped):
            raise CannotProvide(
                f"no noise is large enough for {releases} releases within ε = {terms.budget:g} and δ = "
                f"{terms.delta:g} ({accountant}): raise one of them, or choose another privacy.calibrate"
            )
        return shaped
    if terms.epsilon is None:
        return tuple(alpha.at(k) for k in range(scheme.planned))
    if alpha.growth != 1:
        return _growing(alpha, terms, form, releases)
    return (alpha.start,) * _count(alpha.start, terms, form, releases)


def charges_once(public: "Public", terms: Terms, scheme: Scheme) -> tuple[float, ...]:
    """Return the same, computed once for all agents of equal terms."""
    return public.once(("charges", terms, scheme), lambda: charges(terms, scheme))


def _count(alpha: float, terms: Terms, form: Form, releases: int | None) -> int:
    """Return how many equal releases there are; what breaks the budget is refused."""
    accountant = terms.accountant(form.unit)
    most = most_releases(form, terms.budget, terms.delta, alpha, accountant)
    if releases is None:
        if most == 0:
            raise CannotProvide(
                f"one release of alpha = {alpha:g} is above the budget {terms.budget:g}",
                "mechanism.alpha",
            )
        if most > MOST_RELEASES:
            raise CannotProvide(
                f"the budget holds more than {MOST_RELEASES:,} releases of alpha = {alpha:g}: "
                "give mechanism.releases",
                "mechanism.alpha",
            )
        return most
    if releases > most:
        total = composed(form, alpha, releases, terms.delta, accountant)
        raise CannotProvide(
            f"{releases} releases of {alpha:g} compose to ε = {total:.4g} ({accountant}, δ = "
            f"{terms.delta:g}), above the budget {terms.budget:g}; {most} would fit",
            "mechanism.releases",
        )
    return releases


def _growing(alpha: Growth, terms: Terms, form: Form, releases: int | None) -> tuple[float, ...]:
    """Return growing or shrinking charges, as many as were asked for or as fit."""
    budget = terms.budget
    accountant, charges = terms.accountant(form.unit), list[float]()

    def fit(count: int) -> bool:
        charges.extend(alpha.at(k) for k in range(len(charges), count))
        return by(accountant, bag_of(form, charges[:count]), terms.delta) <= budget * _ROOM

    most = _most(fit, releases or MOST_RELEASES + 1)
    if most < (releases or 1):
        raise CannotProvide(
            f"{most + 1} releases from alpha = {alpha.start:g} growing by {alpha.growth:g} are above the "
            f"budget {budget:g} ({accountant}, δ = {terms.delta:g})",
            "mechanism.alpha",
        )
    if most > MOST_RELEASES:
        raise CannotProvide(
            f"the budget holds more than {MOST_RELEASES:,} releases of this alpha: give mechanism.releases",
            "mechanism.alpha",
        )
    return tuple(charges[:most])


def _most(fit: Callable[[int], bool], limit: int) -> int:
    """Return the largest count up to a limit that fits; what fits, fits with fewer."""
    fits, breaks = 0, limit + 1
    trial = min(64, limit)
    while breaks - fits > 1:
        if fit(trial):
            fits = trial
        else:
            breaks = trial
        trial = min(2 * fits, limit) if breaks > limit and fits else (fits + breaks) // 2
        if trial == fits:
            trial += 1
    return fits
