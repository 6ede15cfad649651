"""An agent's spends, in the order they were charged."""

from mechanisms.accounting.loss import Sums, Tally, loss_of, plain
from mechanisms.accounting.spend import Spend


class Ledger:
    """Append-only. Its length is the release counter: it survives whatever happens to the agent.

    Sums and tallies are brought up to date when they are asked for: to charge costs one entry of a list.
    """

    __slots__ = ("_plain", "_spends", "_summed", "_sums", "_tally")

    def __init__(self) -> None:
        self._spends: list[Spend] = []
        self._sums, self._summed = Sums(), 0
        self._tally: Tally | None = None
        self._plain: Tally | None = None

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
    def sums(self) -> Sums:
        """The sums of all of them, added in their order."""
        spends = self._spends
        while self._summed < len(spends):
            self._sums = self._sums.plus(spends[self._summed])
            self._summed += 1
        return self._sums

    @property
    def tally(self) -> Tally:
        """The losses of all of them."""
        if self._tally is None:
            self._tally = Tally()
        if len(self._tally) < len(self._spends):
            self._tally.take(self._spends[len(self._tally) :])
        return self._tally

    @property
    def plain(self) -> Tally:
        """The same losses as numerical composition takes them: of objective perturbation only the pure ε."""
        if self._plain is None:
            self._plain = Tally()
        for spend in self._spends[len(self._plain) :]:
            self._plain.add(plain(loss_of(spend)))
        return self._plain

    def charge(self, spend: Spend) -> int:
        """Add a spend and return the number of its release, counted from 0."""
        self._spends.append(spend)
        return len(self._spends) - 1
