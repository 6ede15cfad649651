"""Links: a policy says what becomes of a message, the link carries it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actors.faults.link_effects import Hold, LinkEffect, Passage, Reordering
from actors.messages import Message
from clocks.durations import Bits, Constant, Duration, Nanoseconds

LOST, HELD = -1, -2
_BLOCK = 32
_RESENDS = 1 << 40

Lanes = Callable[[int, int], Bits]
"""Draws `(first, count)` of several links at once: one row of random bits for each."""


AT_ONCE = Constant(0.0)

Outlet = Callable[[int, int, Message], None]
"""Where a link ends: `(arrival, sent, message)` goes into the receiver's mailbox; a damaged one has −`sent`."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The verdict on each message of a link: lost with probability `loss`, else late by `latency`."""

    latency: Duration = AT_ONCE
    loss: float = 0.0
    rate: float | None = None
    """Bytes per second; None is without limit."""

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


@dataclass(slots=True)
class Waiting:
    """A message that a fault keeps on its link."""

    delay: int
    due: int
    """When it would have arrived."""
    sent: int
    message: Message
    corrupt: bool
    late: bool
    """Whether it only waits for the next message to go past it."""


class Fan:
    """An agent's outgoing links: what becomes of version v on a link is a function of the link and v.

    Verdicts are drawn for all links together, thirty-two versions at a time. `effects` are what faults do
    to single links now, and `held` what they keep there: both are empty most of the time.
    """

    __slots__ = (
        "_block",
        "_columns",
        "_groups",
        "_lanes",
        "_policies",
        "_resent",
        "_size",
        "effects",
        "held",
        "outlets",
        "receivers",
    )  # fmt: skip

    def __init__(self, receivers: Sequence[int], policies: Sequence[Policy], lanes: Lanes) -> None:
        self.receivers = list(receivers)
        self._lanes = lanes
        self._size = len(self.receivers)
        self._policies = tuple(policies)
        groups: dict[int, tuple[Policy, list[int]]] = {}
        for row, policy in enumerate(policies):
            groups.setdefault(id(policy), (policy, []))[1].append(row)
        self._groups = [(policy, np.array(rows)) for policy, rows in groups.values()]
        self._block = -1
        self._columns: list[list[int]] = []
        self._resent = [0] * self._size
        self.outlets: list[Outlet] = []
        self.effects: dict[int, list[LinkEffect]] = {}
        self.held: dict[int, list[Waiting]] = {}

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

    # what faults do

    def add_effect(self, slot: int, effect: LinkEffect) -> None:
        """Lay an effect on one link."""
        self.effects.setdefault(slot, []).append(effect)

    def remove_effect(self, slot: int, effect: LinkEffect, now: int) -> None:
        """Take it away again; what it held goes on, unless something else holds it."""
        here = self.effects[slot]
        here.remove(effect)
        if not here:
            del self.effects[slot]
        if slot in self.held:
            self._let_go(slot, now)

    def _let_go(self, slot: int, now: int) -> None:
        others = self.effects.get(slot, ())
        holding = any(isinstance(other, Hold) for other in others)
        overtaking = any(isinstance(other, Reordering) for other in others)
        kept, last = list[Waiting](), -1
        for waiting in self.held.pop(slot):
            if holding or (overtaking and waiting.late):
                kept.append(waiting)
            else:
                last = max(now, waiting.due) if waiting.late else now + waiting.delay
                self._arrive(slot, last, waiting)
        if kept:
            self.held[slot] = kept
            if last >= 0:
                self.pass_by(slot, last)

    def pass_by(self, slot: int, arrival: int) -> None:
        """Let those follow that waited for a message to go past them."""
        waiting = self.held.get(slot)
        if not waiting:
            return
        for one in [w for w in waiting if w.late]:
            waiting.remove(one)
            self._arrive(slot, max(one.due, arrival + 1), one)
        if not waiting:
            del self.held[slot]

    def _arrive(self, slot: int, arrival: int, waiting: Waiting) -> None:
        sent = -waiting.sent if waiting.corrupt else waiting.sent
        self.outlets[slot](arrival, sent, waiting.message)

    def keep(self, slot: int, passage: Passage, delay: int, sent: int) -> None:
        """Keep a message on its link."""
        late = not any(isinstance(effect, Hold) for effect in self.effects.get(slot, ()))
        due, message = passage.now + delay, passage.message
        waiting = Waiting(delay, due, sent, message, passage.corrupt, late)
        self.held.setdefault(slot, []).append(waiting)

    @property
    def holds(self) -> int:
        """How many messages are kept on these links."""
        return sum(map(len, self.held.values())) if self.held else 0

    def judge(self, slot: int, now: int, size: int, delay: int, message: Message) -> Passage:
        """Let every effect of a link judge one message."""
        policy = self._policies[slot]
        passage = Passage(
            now, size, max(0, delay), message,
            lambda bits: int(policy.latency.draw(bits, message.version)[0]), base=max(0, delay), lost=delay < 0,
        )  # fmt: skip
        for effect in self.effects.get(slot, ()):
            if effect.judge(passage) and effect.fault >= 0:
                passage.by.append(effect.fault)
        return passage
