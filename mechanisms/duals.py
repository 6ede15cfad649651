"""Duals as time integrals of what was broadcast: λ_ij = θ/2 (∫f_i − ∫f_j), in ticks (theory.md, 4).

A row is what one message holds: value (d), integral up to its publication (d), time of publication. An agent
that has never published has a time of NaN and integral 0; where nothing is known of it any more, the time is ∞, and the edge is 0
until the next message. Both ends compute an edge from the same broadcasts, so it is antisymmetric by
construction, and one message heals whatever was lost.
"""

import numpy as np

from mechanisms.mixing import Heard
from mechanisms.vectors import Matrix, Vector

NEVER, UNKNOWN = np.nan, np.inf


def opening(value: Vector) -> Vector:
    """Return the row of an agent that has published nothing but its public start."""
    return np.concatenate([value, np.zeros(len(value)), [NEVER]])


def row(value: Vector, former: Vector | None, ticks: float) -> Vector:
    """Return the row to publish: a value, and the integral of everything published before it."""
    return np.concatenate([value, standing(former, len(value), ticks), [ticks]])


def standing(published: Vector | None, d: int, ticks: float) -> Vector:
    """Return an agent's integral now: its last value counts until the next one."""
    if published is None or not np.isfinite(published[-1]):
        return np.zeros(d)
    integral: Vector = published[d : 2 * d] + (ticks - published[-1]) * published[:d]
    return integral


def gaps(heard: Heard, d: int) -> Matrix:
    """Return ∫f_i − ∫f_j since each edge began, a row for each neighbour; 0 for absent and unknown ones."""
    rows = heard.values
    since = rows[:, -1]
    elapsed = np.where(np.isfinite(since), heard.ticks - since, 0.0)
    theirs = rows[:, d : 2 * d] + elapsed[:, None] * rows[:, :d]
    offsets: Matrix = standing(heard.own, d, heard.ticks) - theirs
    if heard.offsets is not None:
        offsets -= heard.offsets
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
