"""What holds a cap: whether one more release would break it."""

from dataclasses import dataclass, field, replace

from mechanisms.accounting import renyi
from mechanisms.accounting.accountant import Accountant
from mechanisms.accounting.accountants import ACCOUNTANTS
from mechanisms.accounting.accountants.zcdp import rho_of
from mechanisms.accounting.compose import by
from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.loss import Loss, Tally, loss_of, plain
from mechanisms.accounting.spend import Spend

_SLACK = 1e-9  # relative: what rounding in a calibration may lose


@dataclass(frozen=True, slots=True)
class Cap:
    """A budget (ε, δ), and the accountant that holds it.

    `planned` is the bag of releases that was calibrated to fit, fixed in advance, as its accountant takes them: what is a
    part of it fits too. Releases off that plan (at another degree, say) are judged by a Rényi filter: a sum of Rényi
    divergences at one order, which was chosen in advance, so that it is valid also where charges depend on earlier
    outputs (Feldman, Zrnic 2021). Whether a run leaves its plan must not depend on outputs: here degrees decide, which are
    public. Accountants that read sums hold a cap by them.
    """

    epsilon: float
    delta: float
    accountant: str
    planned: Tally | None = field(default=None, compare=False)
    order: int = field(init=False, compare=False, repr=False)
    """The place of the filter's order on the grid of orders."""

    def __post_init__(self) -> None:
        if self.accountant not in ACCOUNTANTS:
            raise ValueError(f"no filter holds a cap by the accountant {self.accountant!r}")
        object.__setattr__(self, "order", self._best_order())

    @property
    def _by(self) -> Accountant:
        return ACCOUNTANTS[self.accountant]

    def _best_order(self) -> int:
        """Choose the filter's order, by public facts: the best for the plan, else for Gaussian-like losses."""
        if self._by.of_sums is not None or self.delta <= 0:
            return 0
        if self.planned is not None and len(self.planned):
            return renyi.best_order(renyi.total(self.planned.coarse), self.delta)
        rho = rho_of(self.epsilon, self.delta)
        return renyi.best_order(rho * (1.0 + renyi.LAMBDAS), self.delta)

    def planning(self, planned: Tally) -> "Cap":
        """Return the cap with a schedule that is fixed in advance, where that fits by the accountant of the cap."""
        fits = by(self.accountant, planned, self.delta) <= self.epsilon * (1 + _SLACK)
        if not fits or self._by.of_sums is not None:
            return self
        return replace(self, planned=self._taken(planned))

    def _taken(self, bag: Tally) -> Tally:
        """Return a bag as the accountant takes its losses: one that `takes_plain` knows only ε of objective perturbation."""
        if not self._by.takes_plain:
            return bag
        return Tally((plain(loss), times) for loss, times in bag.key)

    def _is_planned(self, bag: Tally) -> bool:
        return self.planned is not None and self._taken(bag).within(self.planned)

    def spent(self, bag: Tally, *, numerical: bool = True) -> float:
        """Return ε of what was charged, as the filter counts it.

        Without `numerical`, another accountant stands in for one that takes long: Rényi curves for "pld".
        """
        if self._by.of_sums is not None:
            return self._by.epsilon(bag, self.delta)
        if self._is_planned(bag):
            stand_in = None if numerical else self._by.stand_in
            return by(stand_in or self.accountant, bag, self.delta)
        return self._filtered(bag)

    def _filtered(self, bag: Tally, more: Loss | None = None) -> float:
        """Return ε by the Rényi filter: 0 of nothing, else at least what its order sets aside for δ."""
        if not len(bag) and more is None:
            return 0.0
        divergence = renyi.divergence(bag, self.order, more)
        return renyi.converted(divergence, self.order, self.delta)

    def holds(self, bag: Tally) -> bool:
        """Whether what was charged is within the cap."""
        if self._is_planned(bag):
            return True
        return self.spent(bag) <= self.epsilon * (1 + _SLACK)

    def admits(self, ledger: Ledger, spend: Spend) -> bool:
        """Whether the ledger with this spend stays within the cap."""
        if (of_sums := self._by.of_sums) is not None:
            sums = ledger.sums.plus(spend)
            return of_sums(sums, self.delta) <= self.epsilon * (1 + _SLACK)
        loss, planned = loss_of(spend), self.planned
        if planned is not None:
            is_plain = self._by.takes_plain
            bag, taken = (ledger.plain, plain(loss)) if is_plain else (ledger.tally, loss)
            if bag.count(taken) < planned.count(taken) and bag.within(planned):
                return True
        return self._filtered(ledger.tally, loss) <= self.epsilon * (1 + _SLACK)
