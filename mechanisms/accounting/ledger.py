"""An agent's spends, in the order they were charged."""

from mechanisms.accounting.loss import Sums, Tally, loss_of, plain
from mechanisms.accounting.spend import Spend


class Ledger:
    """Append-only. Its length is the release counter: it survives whatever happens to the agent."""

    __slots__ = ("_counted", "_plain", "_plainly", "_spends", "_tally", "sums")

    def __init__(self) -> None:
        self._spends: list[Spend] = []
        self.sums = Sums()
        self._tally, self._plain = Tally(), Tally()
        self._counted = self._plainly = 0

    def __len__(self) -> int:
        return len(self._spends)

    @property
    def spends(self) -> tuple[Spend, ...]:
        """All of them, oldest first."""
        return tuple(self._spends)

    def at(self, k: int) -> Spend:
        """The spend of release k."""
        return self._spends[k]

    def since(self, first: int) -> list[Spend]:
        """Those from number `first` on."""
        return self._spends[first:]

    @property
    def tally(self) -> Tally:
        """The losses of all of them, counted when somebody asks."""
        if self._counted < len(self._spends):
            self._tally.take(self._spends[self._counted :])
            self._counted = len(self._spends)
        return self._tally

    @property
    def plain(self) -> Tally:
        """The same losses as numerical composition takes them: of objective perturbation only the pure ε."""
        if self._plainly < len(self._spends):
            for spend in self._spends[self._plainly :]:
                self._plain.add(plain(loss_of(spend)))
            self._plainly = len(self._spends)
        return self._plain

    def charge(self, spend: Spend) -> int:
        """Add a spend and return the number of its release, counted from 0."""
        self._spends.append(spend)
        self.sums = self.sums.plus(spend)
        return len(self._spends) - 1
