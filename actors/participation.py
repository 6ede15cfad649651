"""What an agent knows of its own participation: which of its wakes brought no release, and whether the last was read.

All of it follows from clocks, faults and messages, never from data, so that a mechanism may decide by it without a charge.
"""

from collections.abc import Iterator, Mapping

from actors.messages import Message


class Participation:
    """Counts the wakes of one agent, missed ones too, and what it merged of each neighbour.

    `instants` are the agent's own wake times; None where barriers count rounds.
    """

    __slots__ = (
        "_has_paid",
        "_instants",
        "acknowledged",
        "missed",
        "reads",
        "released",
        "slot",
    )

    def __init__(self, instants: Iterator[int] | None) -> None:
        self._instants = instants
        self.reads: dict[int, int] = {}
        """The newest version of each sender that it merged."""
        self.slot = -1
        """The number of its last wake, missed ones counted; −1 before the first."""
        self.missed: tuple[int, ...] = ()
        """The numbers of the wakes before its last one at which nothing was charged: it was away, alone, or waited."""
        self._has_paid = False
        """Whether it was charged at its last wake."""
        self.released: int | None = None
        """The version under which its last release was published; None before the first."""
        self.acknowledged = False
        """Whether a neighbour said that it merged that version, or a later one."""

    def wake(self, instant: int, round_: int) -> None:
        """Note a wake at an instant of its own clock; with barriers, of a round that is counted from 1."""
        former = self.slot + self._has_paid  # of wakes before the first there is none
        self._has_paid = False
        if self._instants is None:
            self.slot = round_ - 1
        else:
            for at in self._instants:
                self.slot += 1
                if at >= instant:
                    break
        self.missed += tuple(range(max(0, former), self.slot))

    def merge(self, agent: int, taken: Mapping[int, Message]) -> None:
        """Note what the agent merged, and what its neighbours said of its own messages."""
        for sender, message in taken.items():
            self.reads[sender] = message.version
            read = -1 if message.reads is None else message.reads.get(agent, -1)
            if self.released is not None and read >= self.released:
                self.acknowledged = True

    def pay(self) -> None:
        """Note that the share of this wake was charged; a release that fails afterwards does not bring it back."""
        self._has_paid = True

    def release(self, version: int) -> None:
        """Note that a release was published under a version."""
        self.released, self.acknowledged = version, False

    def lose_memory(self) -> None:
        """Forget what was merged: a crash took it with the models of the neighbours."""
        self.reads.clear()
