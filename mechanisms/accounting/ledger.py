"""An agent's spends, in the order they were charged."""

from mechanisms.accounting.loss import Sums, Tally, loss_of, plain
from mechanisms.accounting.spend import Spend


class Ledger:
    """Append-only. Its length is the release counter: it survives whatever happens to the agent.

    Most agents charge one spend again and again: the first spend is kept with how often it was charged in a row, and a
    list only of what came after another one. Sums and tallies are made when they are asked for.
    """

    __slots__ = ("_first", "_later", "_plain", "_summed", "_sums", "_tally", "_times")

    def __init__(self) -> None:
        self._first: Spend | None = None
        self._times = 0
        """How often the first spend was charged before another one was."""
        self._later: list[Spend] | None = None
        self._sums: Sums | None = None
        self._summed = 0
        self._tally: Tally | None = None
        self._plain: Tally | None = None

    def __len__(self) -> int:
        return self._times if self._later is None else self._times + len(self._later)

    @property
    def spends(self) -> tuple[Spend, ...]:
        """All of them, oldest first."""
        return tuple(self.since(0))

    def at(self, k: int) -> Spend:
        """The spend of release k. Raises IndexError where it was not made."""
        if not 0 <= k < len(self):
            raise IndexError(f"no release {k} among {len(self)}")
        if k >= self._times and self._later is not None:
            return self._later[k - self._times]
        assert self._first is not None, "a release was charged"  # noqa: S101
        return self._first

    def since(self, first: int) -> list[Spend]:
        """Those from number `first` on."""
        spends = list[Spend]()
        if first < self._times and self._first is not None:
            spends = [self._first] * (self._times - first)
        if self._later is not None:
            spends += self._later[max(0, first - self._times) :]
        return spends

    @property
    def sums(self) -> Sums:
        """The sums of all of them, added in their order."""
        sums = Sums() if self._sums is None else self._sums
        if self._summed < len(self):
            for spend in self.since(self._summed):
                sums = sums.plus(spend)
            self._sums, self._summed = sums, len(self)
        return sums

    @property
    def tally(self) -> Tally:
        """The losses of all of them."""
        if self._tally is None:
            self._tally = Tally()
        if len(self._tally) < len(self):
            self._tally.take(self.since(len(self._tally)))
        return self._tally

    @property
    def plain(self) -> Tally:
        """The same losses as numerical composition takes them: of objective perturbation only the pure ε."""
        if self._plain is None:
            self._plain = Tally()
        if len(self._plain) < len(self):
            for spend in self.since(len(self._plain)):
                self._plain.add(plain(loss_of(spend)))
        return self._plain

    def charge(self, spend: Spend, times: int = 1) -> int:
        """Charge releases of one spend, and return the number of the first of them, counted from 0.

        It is called where releases are admitted, and nowhere else (actors.release).
        """
        return self.note(spend, times)

    def note(self, spend: Spend, times: int = 1) -> int:
        """Add spends that were charged elsewhere, or that may be; return the number of the first of them."""
        made = len(self)
        if self._later is None and (made == 0 or spend is self._first):
            self._first = spend
            self._times += times
            return made
        if self._later is None:
            self._later = []
        self._later += [spend] * times
        return made
