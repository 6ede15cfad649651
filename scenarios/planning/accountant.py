"""Which accountants a scenario may name, and where: one frozen record for each, in `scenarios/planning/accountants/`.

The mathematics of an accountant is a record in `mechanisms/accounting/accountants/`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mechanisms.accounting.accountant import EPSILON, MIXED, Accountant
from scenarios.planning.kinds import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountantKind:
    """What scenarios and reports need of one accountant. Every one has a metric, `epsilon.NAME`."""

    accountant: Accountant
    words: str
    """What it composes by, for the documentation."""
    tight: str
    """How close its bound comes to the least ε that holds, in words."""
    source: str
    """The papers that prove it, and where this project does."""
    is_headline: bool = False
    """Whether `privacy.accountant` may name it."""
    is_filter: bool = False
    """Whether `privacy.filter` may name it."""
    at_end: bool = False
    """Whether its metric is taken at the end of every run, asked for or not."""
    missing: str = ""
    """Why its metric may have no value."""

    @property
    def name(self) -> str:
        return self.accountant.name

    @property
    def calibrates(self) -> bool:
        """Whether `privacy.calibrate` may name it."""
        return self.accountant.calibrates

    @property
    def knows_gaussians(self) -> bool:
        """Whether it has a claim where there are Gaussian releases."""
        return MIXED in self.accountant.claims_for

    @property
    def knows_pure(self) -> bool:
        """Whether it has a claim where no release is Gaussian."""
        return EPSILON in self.accountant.claims_for


AUTO = "auto"
"""As a filter: the accountant that calibrates holds the cap, too."""
KINDS: Family[AccountantKind] = Family("scenarios.planning.accountants", AccountantKind)
"""The accountants by their names."""


def named(where: Callable[[AccountantKind], bool]) -> tuple[str, ...]:
    """Return the names of some accountants, the simplest argument first."""
    kinds = sorted(KINDS.values(), key=lambda kind: kind.accountant.simplicity)
    return tuple(kind.name for kind in kinds if where(kind))
