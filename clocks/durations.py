"""How long things take: distributions of durations as exact integer tables.

A table maps 64 random bits to nanoseconds by integer interpolation between quantiles that were rounded
to 30 significant bits. So a schedule is the same on every machine, whatever its floating point does.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clocks.clock import NANOSECONDS, nanoseconds

Bits = NDArray[np.uint64]
Nanoseconds = NDArray[np.int64]
Draws = Callable[[int, int], Bits]
"""Draws `(first, count)` of one named stream: 64 random bits each, a function of their number."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_CELLS = 1024
_FLOOR = 2.0**-32
_LONGEST = 1 << 60


def bits_of(keys: np.uint64 | Bits, first: int, count: int) -> Bits:
    """Return draws `first`, `first` + 1 … of the stream of a key: each is a function of key and number alone.

    Of several keys in a column, shape (k, 1), a row each is returned.
    """
    return bits_at(keys, np.arange(first, first + count, dtype=np.uint64))


def bits_at(keys: np.uint64 | Bits, numbers: Bits) -> Bits:
    """Return draws of streams by their numbers: of each key the one that stands beside it, by NumPy's rules of shapes."""
    z = numbers + _ONE
    z *= _GOLDEN
    return _mix(z + keys)


def draws_of(key: np.uint64) -> Draws:
    """Return the stream of a key."""

    def bits(first: int, count: int) -> Bits:
        return bits_of(key, first, count)

    return bits


def block_of(number: int, first: int, most: int) -> tuple[int, int]:
    """Return the block of a stream that holds a draw: its first draw, and how many there are in it.

    The first blocks have `first` draws, later ones as many as lie before them, but at most `most`: a short run draws few
    that it does not use, and a long one draws many at once. All blocks are powers of two, and so must both bounds be.
    """
    count = min(most, max(first, 1 << max(0, number.bit_length() - 1)))
    return number - number % count, count


def _mix(z: Bits) -> Bits:
    """Finish as splitmix64 does (Steele, Lea, Flood 2014)."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


class Duration(Protocol):
    """A distribution of durations."""

    def draw(self, bits: Bits, first: int | Nanoseconds) -> Nanoseconds:
        """Turn random bits into durations; the first of them is number `first` of its stream.

        Where `first` is an array, it has the number of the first of each row of bits.
        """
        ...

    @property
    def mean_s(self) -> float:
        """Its mean in seconds, for words and warnings."""
        ...

    @property
    def shortest(self) -> int:
        """No duration is shorter than this many nanoseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same."""

    value_s: float

    def draw(self, bits: Bits, first: int | Nanoseconds) -> Nanoseconds:  # noqa: ARG002
        return np.full(bits.shape, nanoseconds(self.value_s), dtype=np.int64)

    @property
    def mean_s(self) -> float:
        return self.value_s

    @property
    def shortest(self) -> int:
        return nanoseconds(self.value_s)


def _round30(value_ns: float) -> int:
    """Round to 30 significant bits: one unit in the last place of a float decides nothing."""
    if not value_ns > 0:
        return 0
    if value_ns >= _LONGEST:
        return _LONGEST
    mantissa, exponent = math.frexp(value_ns)
    scaled = math.ldexp(round(mantissa * (1 << 30)), exponent - 30)
    return round(scaled)


class Table:
    """Quantiles at 1,024 equal steps, with finer steps of 2^-20 in both tails, cut at 2^-32."""

    __slots__ = ("_body", "_high", "_low", "_mean_s")

    def __init__(self, quantile: Callable[[float], float], mean_s: float) -> None:
        def knot(p: float) -> int:
            try:
                return _round30(quantile(min(max(p, _FLOOR), 1 - _FLOOR)) * NANOSECONDS)
            except OverflowError:
                return _LONGEST

        fine = _CELLS * _CELLS
        body = [knot(i / _CELLS) for i in range(_CELLS + 1)]
        low = [knot(i / fine) for i in range(_CELLS + 1)]
        high = [knot((fine - _CELLS + i) / fine) for i in range(_CELLS + 1)]
        for knots in (body, low, high):
            if any(a > b for a, b in pairwise(knots)):
                raise ValueError("a quantile function must not decrease")
        self._body, self._low, self._high = (np.array(k, dtype=np.int64) for k in (body, low, high))
        self._mean_s = mean_s

    def times(self, factor: float) -> "Table":
        """Return the distribution of durations that are `factor` times as long, which is at least 0.

        A product of two floats is rounded alike on every machine, and a knot has 30 bits: no quantile is asked for again.
        """
        scaled = copy(self)
        for name in ("_body", "_low", "_high"):
            knots = np.minimum(np.rint(getattr(self, name) * factor), _LONGEST)
            setattr(scaled, name, knots.astype(np.int64))
        scaled._mean_s = self._mean_s * factor  # noqa: SLF001 # its own copy
        return scaled

    @property
    def knots(self) -> Nanoseconds:
        """The quantiles in three rows of equal length: of the body, of the low tail and of the high one."""
        return np.array((self._body, self._low, self._high))

    @property
    def mean_s(self) -> float:
        return self._mean_s

    @property
    def shortest(self) -> int:
        return int(self._low[0])

    def draw(self, bits: Bits, first: int | Nanoseconds) -> Nanoseconds:  # noqa: ARG002
        cell = (bits >> np.uint64(54)).astype(np.int64)
        rest = ((bits >> np.uint64(22)) & np.uint64(0xFFFFFFFF)).astype(np.int64)
        drawn: Nanoseconds = _interpolate(self._body, cell, rest)
        for knots, at in ((self._low, 0), (self._high, _CELLS - 1)):
            tail = cell == at
            if tail.any():
                inner = rest[tail] >> 22
                finer = (rest[tail] & 0x3FFFFF) << 10
                drawn[tail] = _interpolate(knots, inner, finer)
        return drawn


def _interpolate(knots: NDArray[np.int64], cell: NDArray[np.int64], rest: NDArray[np.int64]) -> Any:
    """Go `rest / 2^32` of the way through a cell, in integers that cannot overflow."""
    left = knots[cell]
    width = knots[cell + 1] - left
    return left + (width >> 32) * rest + (((width & 0xFFFFFFFF) * (rest >> 1)) >> 31)


@dataclass(frozen=True, slots=True)
class Replayed:
    """Measured durations in their order, again and again."""

    values: tuple[int, ...]

    def draw(self, bits: Bits, first: int | Nanoseconds) -> Nanoseconds:
        at = (first + np.arange(bits.shape[-1])) % len(self.values)
        return np.broadcast_to(np.array(self.values, dtype=np.int64)[at], bits.shape)

    @property
    def mean_s(self) -> float:
        return sum(self.values) / len(self.values) / NANOSECONDS

    @property
    def shortest(self) -> int:
        return min(self.values)


@lru_cache(maxsize=512)
def uniform(low_s: float, high_s: float) -> Duration:
    """Equally likely between two bounds."""
    return Table(lambda p: low_s + (high_s - low_s) * p, (low_s + high_s) / 2)


@lru_cache(maxsize=512)
def exponential(mean_s: float) -> Duration:
    """Memoryless."""
    return Table(lambda p: -mean_s * math.log1p(-p), mean_s)


@lru_cache(maxsize=512)
def normal(mean_s: float, std_s: float) -> Duration:
    """Normal, with what would be negative taken as 0."""
    from statistics import NormalDist  # noqa: PLC0415 # only this kind needs it

    if std_s == 0:
        return Constant(mean_s)
    return Table(NormalDist(mean_s, std_s).inv_cdf, mean_s)


@lru_cache(maxsize=512)
def lognormal(median_s: float, sigma: float) -> Table:
    """The logarithm is normal: the usual shape of network latency."""
    from statistics import NormalDist  # noqa: PLC0415

    standard = NormalDist()
    return Table(
        lambda p: median_s * math.exp(sigma * standard.inv_cdf(p)),
        median_s * math.exp(sigma * sigma / 2),
    )


@lru_cache(maxsize=512)
def gamma(mean_s: float, shape: float) -> Duration:
    """A sum of `shape` exponential stages."""
    from scipy.special import gammaincinv  # noqa: PLC0415 # 170 ms

    return Table(lambda p: float(gammaincinv(shape, p)) * mean_s / shape, mean_s)


@lru_cache(maxsize=512)
def pareto(min_s: float, alpha: float) -> Duration:
    """Heavy-tailed above a minimum; its mean is infinite for alpha ≤ 1."""
    mean = min_s * alpha / (alpha - 1) if alpha > 1 else math.inf
    return Table(lambda p: min_s * math.exp(-math.log1p(-p) / alpha), mean)


@lru_cache(maxsize=512)
def weibull(scale_s: float, shape: float) -> Duration:
    """Shape below 1: many short ones and a few very long, as peer-to-peer sessions are."""
    return Table(
        lambda p: scale_s * (-math.log1p(-p)) ** (1 / shape), scale_s * math.gamma(1 + 1 / shape)
    )
