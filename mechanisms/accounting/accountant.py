"""What an accountant is: a way to compose the losses of releases into one ε at a δ, always an upper bound.

The accountants stand in `mechanisms/accounting/accountants/`, one record in one file. All are valid for releases whose
parameters were fixed in advance or depend on public events; where these depend on earlier outputs, only `adaptive` ones
are (theory.md, 5.5). Nothing here loads NumPy: the names of accountants are needed before it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from mechanisms.accounting.loss import Sums, Tally

EPSILON, MU, MIXED = "epsilon", "mu", "mixed"
"""What a bag of releases holds: those of a pure ε, Gaussian ones, whose charge is a μ, or both."""


def unit_of(total: Sums) -> str:
    """Return what a bag with these sums holds; a bag without charges counts as one of a pure ε."""
    if not total.mu_squares:
        return EPSILON
    return MIXED if total.pure else MU


@dataclass(frozen=True, slots=True, kw_only=True)
class Accountant:
    """One accountant. Either `of_sums` or `of_bag` is its formula: it takes releases and δ, and returns ε.

    ε is infinite where an accountant has no claim. A formula of sums also holds caps: it tells at once whether one more
    release fits. Caps of the others are held by their plan and by a Rényi filter (`filter.Cap`).
    """

    name: str
    simplicity: int
    """Its place from the simplest argument on: of accountants with equal ε the simplest is named."""
    claims_for: frozenset[str]
    """The units (`unit_of`) that it has a claim for, and says more of than a simpler accountant that is exact."""
    of_sums: Callable[[Sums, float], float] | None = None
    of_bag: Callable[[Tally, float], float] | None = None
    needs_delta: bool = True
    """Whether it has no claim at δ = 0."""
    adaptive: bool = False
    """Whether it is valid where charges depend on earlier outputs, and where a charge is infinite."""
    calibrates: bool = False
    """Whether `tightest` may choose it to turn a budget into charges."""
    keeps_one: bool = False
    """Whether ε of one release is its charge."""
    takes_plain: bool = False
    """Whether it knows only the ε of objective perturbation (`loss.plain`)."""
    stand_in: str | None = None
    """The accountant that bounds it from above where it takes too long; None if it never does."""
    never_below: str | None = None
    """The accountant whose ε is never larger where that knows every law exactly; None if there is none."""

    def __post_init__(self) -> None:
        if (self.of_sums is None) == (self.of_bag is None):
            raise ValueError(f"{self.name} needs one formula: of_sums or of_bag")

    def epsilon(self, bag: Tally, delta: float) -> float:
        """Return ε of a bag of releases at δ; 0 of an empty one, infinite where there is no claim."""
        if not bag.sums.releases:
            return 0.0
        if self.of_sums is not None:
            return self.of_sums(bag.sums, delta)
        assert self.of_bag is not None, "one of both is given"  # noqa: S101
        return self.of_bag(bag, delta)

    def has_claim(self, unit: str, delta: float) -> bool:
        """Whether it has a claim for releases of a unit at δ."""
        return unit in self.claims_for and (delta > 0 or not self.needs_delta)

    def is_asked(self, total: Sums, delta: float) -> bool:
        """Whether it has a claim for releases with these sums, at δ."""
        if not math.isfinite(total.pure + total.mu_squares):
            return self.adaptive
        return self.has_claim(unit_of(total), delta)
