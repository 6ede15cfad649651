"""What holds a cap: would one more release break it."""

from dataclasses import dataclass, field

from mechanisms.accounting.compose import by, closed
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Tally, loss_of
from mechanisms.accounting.spend import Spend

_SLACK = 1e-9  # relative: what rounding in a calibration may lose
_SUMMED = frozenset({"basic", "kov", "kov_printed", "zcdp", "gaussian"})


@dataclass(frozen=True, slots=True)
class Cap:
    """A budget (ε, δ), and the accountant that holds it.

    A schedule fixed in advance may be held by the accountant that calibrated it; one that depends on
    earlier outputs only by sums of ε or of ρ (theory.md, 5.5). `planned` is a bag that is known to fit:
    what is a part of it fits too.
    """

    epsilon: float
    delta: float
    accountant: str
    planned: Tally | None = field(default=None, compare=False)

    def spent(self, bag: Tally) -> float:
        """Return ε of what was charged, as the filter counts it."""
        return by(self.accountant, bag, self.delta)

    def holds(self, bag: Tally) -> bool:
        """Whether what was charged is within the cap."""
        if self.planned is not None and bag.within(self.planned):
            return True
        return self.spent(bag) <= self.epsilon * (1 + _SLACK)

    def admits(self, ledger: Ledger, spend: Spend) -> bool:
        """Whether the ledger with this spend stays within the cap."""
        if self.accountant in _SUMMED:
            sums = ledger.sums.plus(spend)
            return closed(self.accountant, sums, self.delta) <= self.epsilon * (1 + _SLACK)
        bag, loss = ledger.tally, loss_of(spend)
        planned = self.planned
        if planned is not None and bag.count(loss) < planned.count(loss) and bag.within(planned):
            return True
        return self.spent(bag.plus(loss)) <= self.epsilon * (1 + _SLACK)
