"""What faults do to the messages of one directed link; effects that overlap compose, in the order they began.

An effect judges each message when it is sent; when it arrives, only whether the receiver is up is judged. Chance is a
stream of the fault and the link with one position for each message, so that removing a fault leaves others alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from actors.messages import Message
from clocks.clock import NANOSECONDS
from clocks.durations import Bits, Draws, Duration

Redraw = Callable[[Bits], int]
"""How long a copy would take on this link, in nanoseconds: from random bits, by the link's own latency."""
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


class Chance:
    """The random bits of an effect: four draws for each message that it judges."""

    __slots__ = ("_draws", "_judged")

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._judged = 0

    def next(self) -> Bits:
        """Return the bits of the next message."""
        bits = self._draws(self._judged * _PER_MESSAGE, _PER_MESSAGE)
        self._judged += 1
        return bits


def happens(bits: Bits, at: int, probability: float) -> bool:
    """Whether a draw falls below a probability."""
    return float(bits[at] >> np.uint64(11)) * 2.0**-53 < probability


@dataclass(slots=True, eq=False)
class LinkEffect(ABC):
    """What one fault does on one directed link; `fault` is its number, -1 for what a link does without any fault."""

    fault: int

    @abstractmethod
    def judge(self, passage: Passage) -> bool:
        """Change what becomes of a message; return whether it did."""


@dataclass(slots=True, eq=False)
class ChanceEffect(LinkEffect):
    """An effect that needs random bits, of its own for each link."""

    chance: Chance


@dataclass(slots=True, eq=False)
class RandomLoss(ChanceEffect):
    """Each message is lost with probability `p`; 1 is a cut."""

    p: float

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.lost |= hit
        return hit


@dataclass(slots=True, eq=False)
class BurstLoss(ChanceEffect):
    """Losses in bursts (Gilbert 1960, Elliott 1963): a chain of two states, one step for each message."""

    enter: float
    leave: float
    good: float
    bad: float
    in_burst: bool = False

    def judge(self, passage: Passage) -> bool:
        bits = self.chance.next()
        hit = happens(bits, 0, self.bad if self.in_burst else self.good)
        turns = happens(bits, 1, self.leave if self.in_burst else self.enter)
        self.in_burst ^= turns
        passage.lost |= hit
        return hit


@dataclass(slots=True, eq=False)
class ExtraDelay(ChanceEffect):
    """Each message takes longer by a latency, which repeats the one before with probability `correlation`.

    Repeating keeps the distribution as it is, and makes neighbours correlate by exactly that much.
    """

    latency: Duration
    correlation: float = 0.0
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
class Duplication(ChanceEffect):
    """A copy of a message arrives too, with a latency of its own; `asking`: only of questions."""

    p: float
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
class Corruption(ChanceEffect):
    """A message arrives damaged: its receiver sees that, and throws it away."""

    p: float

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.corrupt |= hit
        return hit


@dataclass(slots=True, eq=False)
class Reordering(ChanceEffect):
    """A message waits until the next one on its link has overtaken it."""

    p: float

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.held |= hit
        return hit


@dataclass(slots=True, eq=False)
class RateLimit(LinkEffect):
    """A token bucket of so many bytes a second; `burst` bytes may go at once. Transfers wait for each other."""

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
class Hold(LinkEffect):
    """Messages stay on the link until the fault ends."""

    def judge(self, passage: Passage) -> bool:
        passage.held = True
        return True


@dataclass(slots=True, eq=False)
class Poisoning(LinkEffect):
    """What arrives is the model times `-factor`; the model is the first `dimension` numbers of a message."""

    factor: float
    dimension: int

    def judge(self, passage: Passage) -> bool:
        vector = passage.message.vector
        if vector is None:
            return False
        poisoned = vector.copy()
        poisoned[: self.dimension] *= -self.factor
        passage.message = passage.message.poisoned(poisoned)
        return True
