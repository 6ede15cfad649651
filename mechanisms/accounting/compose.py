"""Composition by every accountant side by side, and the tightest of them.

Every figure is an upper bound, rounded up where it is rounded. `adaptive` says that charges may depend on earlier outputs:
then only accountants count that are valid for that (theory.md, 5.5).
"""

import math

from mechanisms.accounting.accountants import ACCOUNTANTS, named
from mechanisms.accounting.loss import Tally

TIGHTEST = "tightest"
"""Stands for the accountant with the smallest ε."""
SLOW = tuple(name for name, one in ACCOUNTANTS.items() if one.stand_in is not None)
"""Accountants that may take too long to be asked at every sample."""
_TIE = 1 + 1e-6


def by(name: str, bag: Tally, delta: float) -> float:
    """Return ε of the releases by one accountant; infinite where it has no claim for them.

    Raises ValueError for an unknown name.
    """
    return named(name).epsilon(bag, delta)


def claims_of(bag: Tally, delta: float, *, adaptive: bool = False) -> tuple[str, ...]:
    """Name the accountants that have a claim for these releases; the simplest arguments first."""
    if adaptive:
        return tuple(name for name, one in ACCOUNTANTS.items() if one.adaptive)
    return tuple(name for name, one in ACCOUNTANTS.items() if one.is_asked(bag.sums, delta))


def totals(
    bag: Tally, delta: float, *, adaptive: bool = False, but: tuple[str, ...] = ()
) -> dict[str, float]:
    """Return ε of the releases at δ under every accountant that has a claim for them, but for some."""
    names = [n for n in claims_of(bag, delta, adaptive=adaptive) if n not in but]
    return {name: by(name, bag, delta) for name in names}


def headline(
    bag: Tally,
    delta: float,
    name: str = TIGHTEST,
    *,
    adaptive: bool = False,
    but: tuple[str, ...] = (),
) -> tuple[float, str]:
    """Return ε by a named accountant, or the tightest, and the name of that accountant."""
    if name == TIGHTEST:
        valid = totals(bag, delta, adaptive=adaptive, but=but)
        least = min(valid.values())
        simplest = next(n for n in valid if valid[n] <= least * _TIE)
        return valid[simplest], simplest
    if adaptive and len(bag) and not named(name).adaptive:
        return math.inf, name
    return by(name, bag, delta), name
