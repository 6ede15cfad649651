"""What sets the noise: from a budget, releases and alpha to the charge of each release."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mechanisms.accounting.calibrate import NOTHING, composed, most_releases, shaped_charges
from mechanisms.accounting.compose import Sums, by
from mechanisms.accounting.filter import Cap
from mechanisms.guards import Growth
from mechanisms.noise import LAWS, Law

Table = dict[str, Any]
MOST_RELEASES = 1_000_000
_ROOM = 1 + 1e-12


class CannotProvide(ValueError):
    """Budget, releases and noise do not fit together; `key` says which of them to look at."""

    def __init__(self, message: str, key: str = "mechanism") -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class Terms:
    """What one group brings: its budget, and who calibrates and holds it."""

    epsilon: float | None
    delta: float
    calibrate: str
    filter: str
    rounds: int | None
    printed: bool = False
    """Whether the scales are the papers': then the budget sets the noise, and nothing holds it."""
    misprinted: bool = False
    """Whether the paper of this kind prints its composition wrong (E8)."""

    def accountant(self, law: Law) -> str:
        """Gaussian always by μ; without δ only basic composition is valid."""
        if law.unit == "mu":
            return "gaussian"
        if self.delta <= 0:
            return "basic"
        return "kov_printed" if self.misprinted and self.calibrate == "kov" else self.calibrate

    def cap(self, law: Law | None) -> Cap | None:
        """The cap and what holds it; None without a budget, and where scales are as printed."""
        if self.epsilon is None or law is None or self.printed:
            return None
        holder = self.accountant(law) if self.filter == "auto" else self.filter
        return Cap(self.epsilon, self.delta, holder)


NORM_GAMMA = LAWS["norm-gamma"]

Shape = Callable[[int], tuple[float, ...]]
"""The weights of so many releases."""


def uniform(releases: int) -> tuple[float, ...]:
    """Every release alike."""
    return (1.0,) * releases


def charges(
    mechanism: Table,
    terms: Terms,
    law: Law,
    shape: Shape = uniform,
    before: Sums = NOTHING,
) -> tuple[float, ...]:
    """Return the charge of each release: two of budget, releases and alpha fix the third."""
    releases: int | None = mechanism.get("releases") or terms.rounds
    by_whom = terms.accountant(law)
    alpha = _alpha(mechanism.get("alpha"))
    if terms.epsilon is None:
        assert alpha is not None, "judged before"  # noqa: S101
        assert releases is not None, "judged before"  # noqa: S101
        return tuple(alpha.at(k) for k in range(releases))
    if alpha is None:
        assert releases is not None, "judged before"  # noqa: S101
        return shaped_charges(law, terms.epsilon, terms.delta, shape(releases), by_whom, before)
    if alpha.growth != 1:
        return _growing(alpha, terms, law, releases)
    return (alpha.start,) * _count(alpha.start, terms, law, releases)


def _alpha(alpha: Any) -> Growth | None:
    if alpha is None:
        return None
    return Growth(alpha["start"], alpha["growth"]) if isinstance(alpha, dict) else Growth(alpha)


def _count(alpha: float, terms: Terms, law: Law, releases: int | None) -> int:
    """Return how many equal releases there are; what breaks the budget is refused."""
    assert terms.epsilon is not None, "asked only with a budget"  # noqa: S101
    by_whom = terms.accountant(law)
    most = most_releases(law, terms.epsilon, terms.delta, alpha, by_whom)
    if releases is None:
        if most == 0:
            raise CannotProvide(
                f"one release of alpha = {alpha:g} is above the budget {terms.epsilon:g}",
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
        total = composed(law, alpha, releases, terms.delta, by_whom)
        raise CannotProvide(
            f"{releases} releases of {alpha:g} compose to ε = {total:.4g} ({by_whom}, δ = "
            f"{terms.delta:g}), above the budget {terms.epsilon:g}; {most} would fit",
            "mechanism.releases",
        )
    return releases


def _growing(alpha: Growth, terms: Terms, law: Law, releases: int | None) -> tuple[float, ...]:
    """Return growing or shrinking charges, as many as were asked for or as fit."""
    assert terms.epsilon is not None, "asked only with a budget"  # noqa: S101
    total, found, by_whom = NOTHING, list[float](), terms.accountant(law)
    for k in range(releases or MOST_RELEASES + 1):
        charge = alpha.at(k)
        total = Sums(
            k + 1, total.pure + charge, total.squares + charge**2,
            total.centred + charge * math.tanh(charge / 2), 0.0,
        )  # fmt: skip
        if by(by_whom, total, terms.delta) > terms.epsilon * _ROOM:
            if releases is None and found:
                return tuple(found)
            raise CannotProvide(
                f"{k + 1} releases from alpha = {alpha.start:g} growing by {alpha.growth:g} are above the "
                f"budget {terms.epsilon:g} ({by_whom}, δ = {terms.delta:g})",
                "mechanism.alpha",
            )
        found.append(charge)
    if releases is None:
        raise CannotProvide(
            f"the budget holds more than {MOST_RELEASES:,} releases of this alpha: give mechanism.releases",
            "mechanism.alpha",
        )
    return tuple(found)
