"""Instants and delays, compiled: the keys of streams, tables of durations, and the clocks of agents.

The same integers as `clocks.durations` and `clocks.activation` give: draw n of a stream is splitmix64 of its key and n, and
a table is read by integer interpolation.
"""

import numpy as np

from actors.compiled.compiling import compiled
from actors.compiled.noise_bits import high_product
from clocks.durations import _CELLS as CELLS
from clocks.durations import _GOLDEN

U = np.uint64
GOLDEN = U(_GOLDEN)
CONSTANT, TABLE, REPLAYED = range(3)
"""Kinds of delays: always the same, by quantiles, or one after the other again and again."""
POISSON, SYNCHRONOUS, PERIODIC, TRACE = range(4)
"""Kinds of clocks."""
NEVER = (1 << 63) - 1
_UNIT = 2.0**-53
BODY, LOW, HIGH = range(3)
"""The rows of a table."""


@compiled()
def bits(key, number):
    """Return draw `number` of the stream of a key."""
    z = U(number + 1) * GOLDEN + key
    z ^= z >> U(30)
    z *= U(0xBF58476D1CE4E5B9)
    z ^= z >> U(27)
    z *= U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


@compiled()
def _between(knots, cell, rest):
    left = knots[cell]
    width = knots[cell + 1] - left
    return left + (width >> 32) * rest + (((width & 0xFFFFFFFF) * (rest >> 1)) >> 31)


@compiled()
def from_table(table, luck):
    """Return the duration that a word of random bits draws from a table."""
    cell = np.int64(luck >> U(54))
    rest = np.int64((luck >> U(22)) & U(0xFFFFFFFF))
    if cell == 0:
        return _between(table[LOW], rest >> 22, (rest & 0x3FFFFF) << 10)
    if cell == CELLS - 1:
        return _between(table[HIGH], rest >> 22, (rest & 0x3FFFFF) << 10)
    return _between(table[BODY], cell, rest)


@compiled()
def delay(kind, value, count, tables, listed, luck, number):
    """Return delay `number` of a kind: `value` is the constant, the place of the table, or where `count` listed ones begin."""
    if kind == CONSTANT:
        return value
    if kind == TABLE:
        return from_table(tables[value], luck)
    return listed[value + number % count]


@compiled()
def is_lost(luck, loss):
    """Whether a link loses the message that drew these bits."""
    return np.float64(np.int64(luck >> U(11))) * _UNIT < loss


@compiled()
def next_wake(kind, value, jitter, tables, listed, key, number, last):
    """Return wake `number` of a clock, counted from 0, where the one before it was at `last`; NEVER where there is none.

    `value` is the place of a table of gaps (Poisson), a period, or where a trace begins, which has `jitter` instants.
    """
    if kind == POISSON:
        return last + max(1, from_table(tables[value], bits(key, number)))
    if kind == SYNCHRONOUS:
        return (number + 1) * value
    if kind == PERIODIC:
        late = np.int64(high_product(bits(key, number) >> U(32) << U(32), U(jitter)))
        return max(last + 1, (number + 1) * value + late)
    return listed[value + number] if number < jitter else NEVER
