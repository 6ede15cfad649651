"""NumPy's own draws, compiled: Philox4x64, and normal, exponential, gamma and Laplace numbers with the very same bits.

A noise stream is Philox4x64-10 (Salmon, Moraes, Dror, Shaw 2011) keyed by the agent, with the number of the release in
the highest word of its counter (mechanisms.noise). Numbers are made of its words as `numpy.random.Generator` makes them:
a ziggurat of 256 layers for normal and exponential ones (Marsaglia, Tsang 2000; doi:10.18637/jss.v005.i08), and
rejection for gamma ones (Marsaglia, Tsang 2000; doi:10.1145/358407.358414). The ziggurats are the tables that numba
ships for NumPy's generators.

A workspace is an array of words and one of two integers: how many words are used, and how many blocks were made.
"""

import numpy as np
from numba.core import types
from numba.np.random._constants import (
    fe_double,
    fi_double,
    ke_double,
    ki_double,
    we_double,
    wi_double,
    ziggurat_exp_r,
    ziggurat_nor_inv_r,
    ziggurat_nor_r,
)

from actors.compiled.compiling import compiled, instruction

U = np.uint64
NORMAL_KEPT = np.array(ki_double, np.uint64)
NORMAL_WIDTHS = np.array(wi_double, np.float64)
NORMAL_HEIGHTS = np.array(fi_double, np.float64)
EXPONENTIAL_KEPT = np.array(ke_double, np.uint64)
EXPONENTIAL_WIDTHS = np.array(we_double, np.float64)
EXPONENTIAL_HEIGHTS = np.array(fe_double, np.float64)
_NORMAL_END = float(ziggurat_nor_r)
_NORMAL_END_INVERSE = float(ziggurat_nor_inv_r)
_EXPONENTIAL_END = float(ziggurat_exp_r)
_UNIT = 2.0**-53
_WORDS_OF_BLOCK = 4
USED, BLOCKS = 0, 1
"""Places in the second array of a workspace."""


@instruction
def high_product(typing_context, one, other):
    """Return the upper 64 bits of the product of two unsigned words."""

    def generate(context, builder, signature, arguments):
        from llvmlite import ir  # noqa: PLC0415 # it comes with numba

        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)

    return types.uint64(types.uint64, types.uint64), generate


def workspace(numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a workspace that holds the words of about so many numbers, and a few more."""
    blocks = (numbers + numbers // 32 + 8 + _WORDS_OF_BLOCK - 1) // _WORDS_OF_BLOCK
    return np.zeros(_WORDS_OF_BLOCK * blocks, np.uint64), np.zeros(2, np.int64)


@compiled()
def _fill(words, used, k, key_low, key_high):
    """Make the next words of the stream."""
    blocks = len(words) // _WORDS_OF_BLOCK
    first = used[BLOCKS] + 1
    for block in range(blocks):
        c0, c1, c2, c3 = U(first + block), U(0), U(0), U(k)
        k0, k1 = key_low, key_high
        for _ in range(10):
            h0, l0 = high_product(U(0xD2E7470EE14C6C93), c0), U(0xD2E7470EE14C6C93) * c0
            h1, l1 = high_product(U(0xCA5A826395121157), c2), U(0xCA5A826395121157) * c2
            c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
            k0 += U(0x9E3779B97F4A7C15)
            k1 += U(0xBB67AE8584CAA73B)
        at = _WORDS_OF_BLOCK * block
        words[at], words[at + 1], words[at + 2], words[at + 3] = c0, c1, c2, c3
    used[BLOCKS] += blocks
    used[USED] = 0


@compiled()
def open_stream(words, used, k, key_low, key_high):
    """Begin the noise of release k of the agent with a key of two words."""
    used[BLOCKS] = 0
    _fill(words, used, k, key_low, key_high)


@compiled()
def next_word(words, used, k, key_low, key_high):
    """Return the next word of the stream."""
    if used[USED] >= len(words):
        _fill(words, used, k, key_low, key_high)
    used[USED] += 1
    return words[used[USED] - 1]


@compiled()
def unit(words, used, k, key_low, key_high):
    """Return a number in [0, 1): 53 bits of a word."""
    return np.float64(np.int64(next_word(words, used, k, key_low, key_high) >> U(11))) * _UNIT


@compiled()
def _rare_normal(place, reach, negative, words, used, k, key_low, key_high):
    """Return (1, a number) of a word that fell outside its layer's core, or (0, 0) where it is rejected."""
    if place == 0:
        while True:
            x = -_NORMAL_END_INVERSE * np.log1p(-unit(words, used, k, key_low, key_high))
            y = -np.log1p(-unit(words, used, k, key_low, key_high))
            if y + y > x * x:
                end = _NORMAL_END + x
                return 1, -end if (reach >> U(8)) & U(1) else end
    x = np.float64(np.int64(reach)) * NORMAL_WIDTHS[place]
    low, high = NORMAL_HEIGHTS[place], NORMAL_HEIGHTS[place - 1]
    if (high - low) * unit(words, used, k, key_low, key_high) + low < np.exp(-0.5 * x * x):
        return 1, -x if negative else x
    return 0, 0.0


@compiled()
def normal(words, used, k, key_low, key_high):
    """Return the next standard normal number."""
    while True:
        word = next_word(words, used, k, key_low, key_high)
        place = np.int64(word & U(0xFF))
        negative = (word >> U(8)) & U(1)
        reach = (word >> U(9)) & U(0x000FFFFFFFFFFFFF)
        if reach < NORMAL_KEPT[place]:
            x = np.float64(np.int64(reach)) * NORMAL_WIDTHS[place]
            return -x if negative else x
        kept, x = _rare_normal(place, reach, negative, words, used, k, key_low, key_high)
        if kept:
            return x


@compiled()
def normals(out, words, used, k, key_low, key_high):
    """Fill an array with standard normal numbers."""
    at, drawn, wanted, room = used[USED], 0, len(out), len(words)
    while drawn < wanted:
        if at >= room:
            _fill(words, used, k, key_low, key_high)
            at = 0
        word = words[at]
        at += 1
        place = np.int64(word & U(0xFF))
        reach = (word >> U(9)) & U(0x000FFFFFFFFFFFFF)
        x = np.float64(np.int64(reach)) * NORMAL_WIDTHS[place]
        negative = (word >> U(8)) & U(1)
        out[drawn] = -x if negative else x
        if reach < NORMAL_KEPT[place]:
            drawn += 1
            continue
        used[USED] = at
        kept, x = _rare_normal(place, reach, negative, words, used, k, key_low, key_high)
        at = used[USED]
        if kept:
            out[drawn] = x
            drawn += 1
    used[USED] = at


@compiled()
def exponential(words, used, k, key_low, key_high):
    """Return the next standard exponential number."""
    while True:
        word = next_word(words, used, k, key_low, key_high) >> U(3)
        place = np.int64(word & U(0xFF))
        reach = word >> U(8)
        x = np.float64(np.int64(reach)) * EXPONENTIAL_WIDTHS[place]
        if reach < EXPONENTIAL_KEPT[place]:
            return x
        if place == 0:
            return _EXPONENTIAL_END - np.log1p(-unit(words, used, k, key_low, key_high))
        low, high = EXPONENTIAL_HEIGHTS[place], EXPONENTIAL_HEIGHTS[place - 1]
        if (high - low) * unit(words, used, k, key_low, key_high) + low < np.exp(-x):
            return x


@compiled()
def gamma(shape, words, used, k, key_low, key_high):
    """Return the next standard gamma number of a shape of at least 1."""
    if shape == 1.0:
        return exponential(words, used, k, key_low, key_high)
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * b)
    while True:
        x = normal(words, used, k, key_low, key_high)
        v = 1.0 + c * x
        while v <= 0.0:
            x = normal(words, used, k, key_low, key_high)
            v = 1.0 + c * x
        v = v * v * v
        u = unit(words, used, k, key_low, key_high)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


@compiled()
def laplaces(out, scale, words, used, k, key_low, key_high):
    """Fill an array with Laplace numbers of a scale."""
    drawn = 0
    while drawn < len(out):
        u = unit(words, used, k, key_low, key_high)
        if u >= 0.5:
            out[drawn] = 0.0 - scale * np.log(2.0 - u - u)
            drawn += 1
        elif u > 0.0:
            out[drawn] = 0.0 + scale * np.log(u + u)
            drawn += 1
