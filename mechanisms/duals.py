"""Duals as time integrals of what was broadcast: λ_ij = θ/2 (∫f_i − ∫f_j), in ticks (theory.md, 4).

A row is what one message holds: value (d), integral up to its publication (d), time of publication. An agent
that has never published has a time of NaN and integral 0; where nothing is known of it any more, the time is ∞, and the edge is 0
until the next message. Both ends compute an edge from the same broadcasts, so it is antisymmetric by
construction, and one message heals whatever was lost.
"""

from math import isfinite

import numpy as np

from mechanisms.mixing import Heard
from mechanisms.vectors import Matrix, Vector

NEVER, UNKNOWN = np.nan, np.inf


def opening(value: Vector) -> Vector:
    """Return the row of an agent that has published nothing but its public start."""
    return np.concatenate([value, np.zeros(len(value)), [NEVER]])


def row(value: Vector, former: Vector | None, ticks: float) -> Vector:
    """Return the row to publish: a value, and the integral of everything published before it."""
    return _row(value, standing(former, len(value), ticks), ticks)


def row_now(value: Vector, heard: Heard) -> Vector:
    """Return the row that an agent publishes now."""
    return _row(value, standing_now(heard, len(value)), heard.ticks)


def _row(value: Vector, integral: Vector, ticks: float) -> Vector:
    d = len(value)
    published = np.empty(2 * d + 1)
    published[:d] = value
    published[d:-1] = integral
    published[-1] = ticks
    return published


def standing(published: Vector | None, d: int, ticks: float) -> Vector:
    """Return an agent's integral now: its last value counts until the next one."""
    if published is None:
        return np.zeros(d)
    since = float(published[-1])
    if not isfinite(since):
        return np.zeros(d)
    integral: Vector = (ticks - since) * published[:d]
    integral += published[d : 2 * d]
    return integral


def standing_now(heard: Heard, d: int) -> Vector:
    """Return the integral of the agent itself as of now; a wake asks twice, and it is added up once."""
    known = heard.standing
    if known is None or known[0] is not heard.own or known[1] != heard.ticks:
        known = heard.own, heard.ticks, standing(heard.own, d, heard.ticks)
        heard.standing = known
    return known[2]


def gaps(heard: Heard, d: int) -> Matrix:
    """Return ∫f_i − ∫f_j since each edge began, a row for each neighbour; 0 for absent and unknown ones."""
    rows = heard.values
    since = rows[:, -1]
    elapsed = heard.ticks - since
    are_known = all(map(isfinite, since.tolist()))
    if not are_known:
        elapsed[~np.isfinite(since)] = 0.0
    offsets: Matrix = elapsed[:, None] * rows[:, :d]
    offsets += rows[:, d : 2 * d]
    np.subtract(standing_now(heard, d), offsets, out=offsets)
    if heard.offsets is not None:
        offsets -= heard.offsets
    if not are_known or heard.degree < len(rows):
        offsets[~heard.present | np.isposinf(since)] = 0.0
    return offsets


def steps(heard: Heard, d: int) -> Matrix:
    """Return f_i − f_j by what each end published last: what naive duals add at each wake, a row for each neighbour.

    Under loss or delay the two ends add different things, and nothing heals it.
    """
    if heard.own is None:
        return np.zeros((len(heard.values), d))
    differences: Matrix = heard.own[:d] - heard.values[:, :d]
    differences[~heard.present | ~np.isfinite(heard.values[:, -1])] = 0.0
    return differences


def forget(rows: Matrix) -> None:
    """Mark rows as unknown, until their senders are heard again."""
    rows[:, -1] = UNKNOWN
