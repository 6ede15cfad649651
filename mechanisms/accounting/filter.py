"""What holds a cap: would one more release break it."""

from dataclasses import dataclass

from mechanisms.accounting.compose import Sums, by
from mechanisms.accounting.spend import Spend

_SLACK = 1e-9  # relative: what rounding in a calibration may lose


@dataclass(frozen=True, slots=True)
class Cap:
    """A budget (ε, δ), and the accountant that holds it.

    A schedule fixed in advance may be held by the accountant that calibrated it; one that depends on
    earlier outputs only by sums of ε or ρ (theory.md, 5.5).
    """

    epsilon: float
    delta: float
    accountant: str

    def spent(self, sums: Sums) -> float:
        """Return ε of what was charged, as the filter counts it."""
        return by(self.accountant, sums, self.delta)

    def admits(self, sums: Sums, spend: Spend) -> bool:
        """Whether the ledger with this spend stays within the cap."""
        return self.spent(sums.plus(spend)) <= self.epsilon * (1 + _SLACK)
