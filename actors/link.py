"""Links: a policy says what becomes of a message, the link carries it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actors.messages import Message
from clocks.durations import Bits, Constant, Duration, Nanoseconds

LOST = -1
_BLOCK = 32
_RESENDS = 1 << 40

Lanes = Callable[[int, int], Bits]
"""Draws `(first, count)` of several links at once: one row of random bits for each."""


AT_ONCE = Constant(0.0)

Outlet = Callable[[int, int, Message], None]
"""Where a link ends: `(arrival, sent, message)` goes into the receiver's mailbox."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The verdict on each message of a link: lost with probability `loss`, else late by `latency`."""

    latency: Duration = AT_ONCE
    loss: float = 0.0

    def verdicts(self, bits: Bits, first: int) -> Nanoseconds:
        """Return delays in nanoseconds for messages `first`, `first` + 1 …; LOST for lost ones.

        Message n takes draws 2n (its fate) and 2n + 1 (its delay) of its link's stream, so that a
        change of one parameter leaves all other verdicts alone.
        """
        delays = self.latency.draw(bits[..., 1::2], first)
        if self.loss > 0:
            fates = (bits[..., ::2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
            delays = np.where(fates < self.loss, LOST, delays)
        return delays


class Fan:
    """An agent's outgoing links: what becomes of version v on a link is a function of the link and v.

    Verdicts are drawn for all links together, thirty-two versions at a time.
    """

    __slots__ = (
        "_block", "_columns", "_groups", "_lanes", "_resent", "_size", "outlets", "receivers",
    )  # fmt: skip

    def __init__(self, receivers: Sequence[int], policies: Sequence[Policy], lanes: Lanes) -> None:
        self.receivers = list(receivers)
        self._lanes = lanes
        self._size = len(self.receivers)
        groups: dict[int, tuple[Policy, list[int]]] = {}
        for row, policy in enumerate(policies):
            groups.setdefault(id(policy), (policy, []))[1].append(row)
        self._groups = [(policy, np.array(rows)) for policy, rows in groups.values()]
        self._block = -1
        self._columns: list[list[int]] = []
        self._resent = [0] * self._size
        self.outlets: list[Outlet] = []

    def verdicts(self, version: int) -> list[int]:
        """Return the delay of a version on every link, or LOST."""
        block, at = divmod(version, _BLOCK)
        if block != self._block:
            self._block = block
            self._columns = self._draw(block * _BLOCK, _BLOCK).T.tolist()
        return self._columns[at]

    def again(self, slot: int) -> int:
        """Return the delay of the next resend on one link, or LOST: resends have draws of their own."""
        number = _RESENDS + self._resent[slot]
        self._resent[slot] += 1
        return int(self._draw(number, 1)[slot, 0])

    def _draw(self, first: int, count: int) -> Any:
        bits = self._lanes(2 * first, 2 * count)
        if len(self._groups) == 1:
            return self._groups[0][0].verdicts(bits, first)
        drawn = np.empty((self._size, count), dtype=np.int64)
        for policy, rows in self._groups:
            drawn[rows] = policy.verdicts(bits[rows], first)
        return drawn
