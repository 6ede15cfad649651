"""What faults do to the messages of one directed link; those that overlap compose, in the order they began.

A trouble judges each message as it is sent: at arrival only the receiver's being up is judged. Chance is a
stream of the fault and the link, one position for each message it judges, so removing a fault leaves others alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from actors.messages import Message
from clocks.clock import NANOSECONDS
from clocks.durations import Bits, Draws, Duration

Redraw = Callable[[Bits], int]
"""How long a copy would take on this link: from random bits, by the link's own latency."""
_PER_MESSAGE = 4
_LONGEST = 1 << 60
"""No transfer takes longer: it is 36 years."""


@dataclass(slots=True)
class Passage:
    """One message on its way over one link, as far as it has been judged."""

    now: int
    size: int
    delay: int
    message: Message
    redraw: Redraw
    base: int = 0
    """Its delay before anything judged it."""
    lost: bool = False
    held: bool = False
    corrupt: bool = False
    copies: list[int] = field(default_factory=list)
    by: list[int] = field(default_factory=list)
    """The faults that touched it."""


class Trouble(Protocol):
    """What one fault does on one link."""

    fault: int

    def judge(self, passage: Passage) -> bool:
        """Change what becomes of a message; true where it did."""
        ...


class Chance:
    """The random bits of a trouble: four draws for each message that it judges."""

    __slots__ = ("_draws", "_judged")

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._judged = 0

    def next(self) -> Bits:
        bits = self._draws(self._judged * _PER_MESSAGE, _PER_MESSAGE)
        self._judged += 1
        return bits


def happens(bits: Bits, at: int, probability: float) -> bool:
    """Whether a draw falls below a probability."""
    return float(bits[at] >> np.uint64(11)) * 2.0**-53 < probability


@dataclass(slots=True, eq=False)
class Losing:
    """Each message is lost with probability `p`; 1 is a cut."""

    fault: int
    p: float
    chance: Chance

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.lost |= hit
        return hit


@dataclass(slots=True, eq=False)
class Bursts:
    """Losses in bursts (Gilbert 1960, Elliott 1963): a chain of two states, one step for each message."""

    fault: int
    enter: float
    leave: float
    good: float
    bad: float
    chance: Chance
    in_burst: bool = False

    def judge(self, passage: Passage) -> bool:
        bits = self.chance.next()
        hit = happens(bits, 0, self.bad if self.in_burst else self.good)
        turns = happens(bits, 1, self.leave if self.in_burst else self.enter)
        self.in_burst ^= turns
        passage.lost |= hit
        return hit


@dataclass(slots=True, eq=False)
class Delaying:
    """Each message takes longer by a latency, which repeats the one before with probability `correlation`.

    Repeating keeps the distribution as it is, and makes neighbours correlate by exactly that much.
    """

    fault: int
    latency: Duration
    correlation: float
    chance: Chance
    former: int = -1
    drawn: int = 0

    def judge(self, passage: Passage) -> bool:
        bits = self.chance.next()
        if self.former < 0 or not happens(bits, 0, self.correlation):
            self.former = int(self.latency.draw(bits[1:2], self.drawn)[0])
            self.drawn += 1
        passage.delay += self.former
        return self.former > 0


@dataclass(slots=True, eq=False)
class Doubling:
    """A copy of a message arrives too, with a latency of its own; `asking`: only of questions."""

    fault: int
    p: float
    chance: Chance
    asking: bool = False

    def judge(self, passage: Passage) -> bool:
        if self.asking and not passage.message.asks:
            return False
        bits = self.chance.next()
        hit = happens(bits, 0, self.p) and not passage.lost
        if hit:
            passage.copies.append(passage.redraw(bits[1:2]))
        return hit


@dataclass(slots=True, eq=False)
class Corrupting:
    """A message arrives damaged: its receiver sees that, and throws it away."""

    fault: int
    p: float
    chance: Chance

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.corrupt |= hit
        return hit


@dataclass(slots=True, eq=False)
class Overtaking:
    """A message waits until the next one on its link has gone past it."""

    fault: int
    p: float
    chance: Chance

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.held |= hit
        return hit


@dataclass(slots=True, eq=False)
class Throttling:
    """A token bucket of so many bytes a second; `burst` bytes may go at once. Transfers wait for each other."""

    fault: int
    bytes_per_second: float
    burst: float = 0.0
    full_at: int = 0
    """When the bucket has its `burst` again, in nanoseconds."""

    def judge(self, passage: Passage) -> bool:
        cost = round(min(passage.size * NANOSECONDS / self.bytes_per_second, _LONGEST))
        self.full_at = min(max(self.full_at, passage.now) + cost, passage.now + _LONGEST)
        room = round(min(self.burst * NANOSECONDS / self.bytes_per_second, _LONGEST))
        wait = max(0, self.full_at - room - passage.now)
        passage.delay += wait
        return wait > 0


@dataclass(slots=True, eq=False)
class Holding:
    """Messages stay on the link until the fault ends."""

    fault: int

    def judge(self, passage: Passage) -> bool:
        passage.held = True
        return True


@dataclass(slots=True, eq=False)
class Poisoning:
    """What arrives is the model turned round and made `factor` times as long."""

    fault: int
    factor: float
    dimension: int

    def judge(self, passage: Passage) -> bool:
        vector = passage.message.vector
        if vector is None:
            return False
        poisoned = vector.copy()
        poisoned[: self.dimension] *= -self.factor
        message = passage.message
        passage.message = Message(
            message.sender, message.version, message.round, poisoned, message.sent, message.asks
        )
        return True
