"""What faults do to the messages of one directed link; effects that overlap compose, in the order they began.

An effect judges each message when it is sent; when it arrives, only whether the receiver is up is judged. Chance is a
stream of the fault and the link with one position for each message, so that removing a fault leaves others alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from actors.messages import Message
from clocks.clock import NANOSECONDS
from clocks.durations import Bits, Constant, Draws, Duration, block_of

Redraw = Callable[[Bits], int]
"""How long a copy would take on this link, in nanoseconds: from random bits, by the link's own latency."""
_PER_MESSAGE, _UNIT = 4, 2.0**-53
_FIRST, _MOST = 8, 32
"""The bits of so many messages are drawn at once: at first, and later."""
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

    __slots__ = ("_block", "_draws", "_first", "judged")

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self.judged = 0
        """How many messages it judged."""
        self._first = 0
        self._block: list[list[int]] = []

    def next(self) -> list[int]:
        """Return the bits of the next message."""
        at = self.judged - self._first
        if not 0 <= at < len(self._block):
            self._first, count = block_of(self.judged, _FIRST, _MOST)
            bits = self._draws(self._first * _PER_MESSAGE, count * _PER_MESSAGE)
            self._block = bits.reshape(count, _PER_MESSAGE).tolist()
            at = self.judged - self._first
        self.judged += 1
        return self._block[at]


def happens(bits: Bits | Sequence[int], at: int, probability: float) -> bool:
    """Whether a draw falls below a probability."""
    return (int(bits[at]) >> 11) * _UNIT < probability


@dataclass(slots=True, eq=False)
class LinkEffect(ABC):
    """What one fault does on one directed link; `fault` is its number, -1 for what a link does without any fault."""

    fault: int

    settles: ClassVar[bool] = True
    """Whether what it does fits a row: it loses and delays messages, and neither copies, holds nor changes one."""

    @abstractmethod
    def judge(self, passage: Passage) -> bool:
        """Change what becomes of a message; return whether it did."""

    @property
    def memory(self) -> Any:
        """What it remembers of the messages that it judged: set again, it judges the same ones alike."""
        return None

    @memory.setter  # noqa: B027 # most have nothing to remember
    def memory(self, memory: Any) -> None:
        """Remember nothing."""


@dataclass(slots=True, eq=False)
class ChanceEffect(LinkEffect):
    """An effect that needs random bits, of its own for each link."""

    chance: Chance

    @property
    def memory(self) -> Any:
        return self.chance.judged

    @memory.setter
    def memory(self, memory: Any) -> None:
        self.chance.judged = memory


@dataclass(slots=True, eq=False)
class RandomLoss(ChanceEffect):
    """Each message is lost with probability `p`; 1 is a cut."""

    p: float

    def judge(self, passage: Passage) -> bool:
        if self.p >= 1:
            self.chance.judged += 1  # whatever would be drawn, it is lost
            passage.lost = True
            return True
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

    @property
    def memory(self) -> Any:
        return self.chance.judged, self.in_burst

    @memory.setter
    def memory(self, memory: Any) -> None:
        self.chance.judged, self.in_burst = memory

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

    @property
    def memory(self) -> Any:
        return self.chance.judged, self.former, self.drawn

    @memory.setter
    def memory(self, memory: Any) -> None:
        self.chance.judged, self.former, self.drawn = memory

    def judge(self, passage: Passage) -> bool:
        bits = self.chance.next()
        if self.former < 0 or not happens(bits, 0, self.correlation):
            self.former = self._draw(bits[1])
            self.drawn += 1
        passage.delay += self.former
        return self.former > 0

    def _draw(self, bits: int) -> int:
        if isinstance(self.latency, Constant):
            return self.latency.shortest
        return int(self.latency.draw(np.array([bits], np.uint64), self.drawn)[0])


@dataclass(slots=True, eq=False)
class Duplication(ChanceEffect):
    """A copy of a message arrives too, with a latency of its own; `asking`: only of questions."""

    settles: ClassVar[bool] = False
    p: float
    asking: bool = False

    def judge(self, passage: Passage) -> bool:
        if self.asking and not passage.message.asks:
            return False
        bits = self.chance.next()
        hit = happens(bits, 0, self.p) and not passage.lost
        if hit:
            passage.copies.append(passage.redraw(np.array(bits[1:2], np.uint64)))
        return hit


@dataclass(slots=True, eq=False)
class Corruption(ChanceEffect):
    """A message arrives damaged: its receiver sees that, and throws it away."""

    settles: ClassVar[bool] = False
    p: float

    def judge(self, passage: Passage) -> bool:
        hit = happens(self.chance.next(), 0, self.p)
        passage.corrupt |= hit
        return hit


@dataclass(slots=True, eq=False)
class Reordering(ChanceEffect):
    """A message waits until the next one on its link has overtaken it."""

    settles: ClassVar[bool] = False
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

    @property
    def memory(self) -> Any:
        return self.full_at

    @memory.setter
    def memory(self, memory: Any) -> None:
        self.full_at = memory

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

    settles: ClassVar[bool] = False

    def judge(self, passage: Passage) -> bool:
        passage.held = True
        return True


@dataclass(slots=True, eq=False)
class Poisoning(LinkEffect):
    """What arrives is the model times `-factor`; the model is the first `dimension` numbers of a message."""

    settles: ClassVar[bool] = False
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
