"""When an agent wakes: strategies that yield instants, and one that counts messages."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from clocks.clock import nanoseconds
from clocks.durations import Draws, block_of, exponential

_FIRST, _MOST = 8, 64
"""So many wakes are drawn at once: at first, and later."""


def _blocks() -> Iterator[tuple[int, int]]:
    """Yield the blocks of a stream one after the other: the first draw of each, and how many it has."""
    first = 0
    while True:
        first, count = block_of(first, _FIRST, _MOST)
        yield first, count
        first += count


class Activation(Protocol):
    """Yields the instants of an agent's wakes, strictly increasing."""

    def instants(self, draws: Draws) -> Iterator[int]:
        """Yield them, from random bits of the agent's own clock stream."""
        ...

    @property
    def rate(self) -> float:
        """Mean wakes per second, for words, warnings and the length of a tick."""
        ...


@dataclass(frozen=True, slots=True)
class Poisson:
    """Wakes at the points of a Poisson process of `rate` per second."""

    rate: float

    def instants(self, draws: Draws) -> Iterator[int]:
        gaps, now = exponential(1 / self.rate), 0
        for first, number in _blocks():
            for gap in gaps.draw(draws(first, number), first).tolist():
                now += max(1, gap)
                yield now


@dataclass(frozen=True, slots=True)
class Synchronous:
    """Wakes at the same time as every other agent, at every multiple of `period_s`."""

    period_s: float

    @property
    def rate(self) -> float:
        return 1 / self.period_s

    def instants(self, draws: Draws) -> Iterator[int]:  # noqa: ARG002
        period = nanoseconds(self.period_s)
        return (k * period for k in count(1))


@dataclass(frozen=True, slots=True)
class Periodic:
    """Wakes every `period_s` of its own clock, which drifts; each wake is late by up to `jitter_s`."""

    period_s: float
    jitter_s: float = 0.0
    drift: float = 0.0

    @property
    def rate(self) -> float:
        return 1 / (self.period_s * (1 + self.drift))

    def instants(self, draws: Draws) -> Iterator[int]:
        period = nanoseconds(self.period_s * (1 + self.drift))
        jitter, last = nanoseconds(self.jitter_s), 0
        for first, number in _blocks():
            for k, bits in enumerate(draws(first, number).tolist(), first + 1):
                last = max(last + 1, k * period + (bits >> 32) * jitter // (1 << 32))
                yield last


@dataclass(frozen=True, slots=True)
class Trace:
    """Wakes at the instants that a file or a person wrote down."""

    wakes: tuple[int, ...]

    @property
    def rate(self) -> float:
        return len(self.wakes) / (self.wakes[-1] / 1e9) if self.wakes and self.wakes[-1] else 0.0

    def instants(self, draws: Draws) -> Iterator[int]:  # noqa: ARG002
        return iter(self.wakes)


@dataclass(frozen=True, slots=True)
class Barrier:
    """Wakes when the messages of its round are in, or after `timeout_s`. The behaviour counts."""

    timeout_s: float | None = None
    quorum: float = 1.0

    @property
    def rate(self) -> float:
        return math.nan

    def ready(self, heard: int, expected: int, waited_ns: int) -> bool:
        """Whether the round may end: enough of the expected messages are in, or time is up."""
        if self.timeout_s is not None and waited_ns >= nanoseconds(self.timeout_s):
            return True
        return expected > 0 and heard >= max(1, math.ceil(self.quorum * expected - 1e-9))
