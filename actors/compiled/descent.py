"""The mathematics of a wake, compiled: slopes of losses, gradients, the mean of neighbours, and one step of descent.

Sums may be taken in another order than NumPy takes them: results agree to rounding, which the grid of releases takes away.
"""

import numpy as np
from numba.core import types
from numba.np.arrayobj import populate_array

from actors.compiled.compiling import FUSED, LOOSE, compiled, instruction

LOGISTIC, HINGE, SQUARED, WELSCH = range(4)
"""Losses: see `mechanisms.objectives`."""
_ROWS = 8
"""So many records are read at once: each is read from memory once for its score and its gradient."""
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0
"""1.5·2⁵²: added to a number below 2⁵¹ it leaves the nearest integer in the low bits."""
_LARGEST = 700.0
_BYTES = 8


@instruction
def word_of(typing_context, number):
    """Return the 64 bits of a float."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@instruction
def number_of(typing_context, word):
    """Return the float with these 64 bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@instruction
def records_at(typing_context, place, count, width):
    """Return the rows of numbers that lie at an address, one after the other; no copy is made."""
    kind = types.Array(types.float64, 2, "C")

    def generate(context, builder, signature, arguments):
        array = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, _BYTES)
        populate_array(
            array,
            data=builder.inttoptr(arguments[0], array.data.type),
            shape=(arguments[1], arguments[2]),
            strides=(builder.mul(arguments[2], size), size),
            itemsize=_BYTES,
            meminfo=None,
        )
        return array._getvalue()  # noqa: SLF001 # numba's own way

    return kind(types.int64, types.int64, types.int64), generate


@compiled(FUSED)
def exponential_of(x):
    """Return e^x to a few units in the last place, for |x| ≤ 700; without a branch, so that loops over it are vectors."""
    shifted = x * _LOG2_E + _SHIFT
    whole = shifted - _SHIFT
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * number_of((word_of(shifted) << 52) + (1023 << 52))


@compiled()
def slopes(z, count, loss, shape):
    """Replace scores by the slopes of a loss; `shape` is the width of a hinge, or the clip of a square."""
    if loss == LOGISTIC:
        for r in range(count):
            t = z[r]
            t = min(t, _LARGEST)
            t = max(t, -_LARGEST)
            z[r] = -1.0 / (1.0 + exponential_of(t))
    elif loss == HINGE:
        for r in range(count):
            t = (1.0 - z[r] + shape) / (2.0 * shape)
            t = max(t, 0.0)
            z[r] = -(min(t, 1.0))
    elif loss == SQUARED:
        for r in range(count):
            t = z[r]
            t = max(t, -shape)
            z[r] = 2.0 * (min(t, shape))
    else:
        for r in range(count):
            t = z[r]
            e = -0.5 * t * t
            z[r] = t * exponential_of(e) if e > -_LARGEST else t * np.exp(e)


@compiled(LOOSE)
def _scores(rows, r, theta, z):
    """Set the scores of eight records."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(len(theta)):
        t = theta[k]
        s0 += rows[r, k] * t
        s1 += rows[r + 1, k] * t
        s2 += rows[r + 2, k] * t
        s3 += rows[r + 3, k] * t
        s4 += rows[r + 4, k] * t
        s5 += rows[r + 5, k] * t
        s6 += rows[r + 6, k] * t
        s7 += rows[r + 7, k] * t
    z[0], z[1], z[2], z[3] = s0, s1, s2, s3
    z[4], z[5], z[6], z[7] = s4, s5, s6, s7


@compiled(LOOSE)
def _add_rows(rows, r, z, out):
    """Add eight records, each as often as its slope says."""
    z0, z1, z2, z3, z4, z5, z6, z7 = z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7]
    for k in range(len(out)):
        one = z0 * rows[r, k] + z1 * rows[r + 1, k] + z2 * rows[r + 2, k] + z3 * rows[r + 3, k]
        two = z4 * rows[r + 4, k] + z5 * rows[r + 5, k] + z6 * rows[r + 6, k] + z7 * rows[r + 7, k]
        out[k] += one + two


@compiled(LOOSE)
def _score(rows, r, theta):
    score = 0.0
    for k in range(len(theta)):
        score += rows[r, k] * theta[k]
    return score


@compiled(LOOSE)
def _add_row(rows, r, slope, out):
    for k in range(len(out)):
        out[k] += slope * rows[r, k]


@compiled()
def gradient(rows, offsets, clips, theta, loss, shape, weight, l2, z, out):
    """Set `out` to the gradient of an objective (see `mechanisms.objectives`); no columns of offsets or clips mean none.

    `z` is a scratch of at least eight numbers.
    """
    points, at = len(rows), 0
    for k in range(len(theta)):
        out[k] = (2.0 * l2) * theta[k]
    while at < points:
        count = min(_ROWS, points - at)
        if count == _ROWS:
            _scores(rows, at, theta, z)
        else:
            for r in range(count):
                z[r] = _score(rows, at + r, theta)
        if offsets.shape[1]:
            for r in range(count):
                z[r] -= offsets[at + r, 0]
        slopes(z, count, loss, shape)
        if clips.shape[1]:
            for r in range(count):
                most = clips[at + r, 0]
                t = max(z[r], -most)
                z[r] = min(t, most)
        for r in range(count):
            z[r] *= weight
        if count == _ROWS:
            _add_rows(rows, at, z, out)
        else:
            for r in range(count):
                _add_row(rows, at + r, z[r], out)
        at += count


@compiled(LOOSE)
def add_two(share, vector, other_share, other, out):
    """Add two vectors with their shares."""
    for k in range(len(out)):
        out[k] += share * vector[k] + other_share * other[k]


@compiled(LOOSE)
def add_one(share, vector, out):
    """Add a vector with its share."""
    for k in range(len(out)):
        out[k] += share * vector[k]


@compiled(LOOSE)
def square(vector):
    """Return the sum of the squares."""
    total = 0.0
    for k in range(len(vector)):
        total += vector[k] * vector[k]
    return total


@compiled(FUSED)
def descend(theta, mean, slope, noise, factor, pull, step, grid, out):
    """Set `out` to the next model of `mechanisms.descent`, on a grid unless that is 0; `factor` scales the noise."""
    kept = 1.0 - step
    for k in range(len(out)):
        out[k] = step * (mean[k] - pull * (slope[k] + factor * noise[k])) + kept * theta[k]
    if grid > 0.0:
        inverse = 1.0 / grid
        for k in range(len(out)):
            out[k] = np.rint(out[k] * inverse) * grid


@compiled(FUSED)
def halfway(theta, mean, out):
    """Set `out` half-way between a model and the mean of the neighbours."""
    for k in range(len(out)):
        out[k] = (mean[k] + theta[k]) * 0.5
