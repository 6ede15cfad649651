"""The limit of world A: the whole loop as one compiled function. Without ledger, without records, Laplace noise, no Philox.

Wakes are served from a heap in exact order, messages are looked up by their receiver (each link keeps when its last eight
versions arrive), noise, latency and loss are functions of a counter. exp and log are polynomials that the compiler turns into vector
instructions. This is close to what a processor can do for one wake of private coordinate descent; it promises nothing, proves
nothing and tells nothing. numba compiles it (`pip install 'hush-sim[fast]'`).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from benchmarks.problem import Problem
from mechanisms.vectors import Matrix

VERSIONS = 8
"""So many versions are kept of each model; a message that is older than that counts as missed."""
UPDATES, DELIVERED, MISSED = range(3)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_FAST = {"reassoc", "contract", "arcp", "nsz"}
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@njit(inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def _mixed(word: Any) -> Any:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    word ^= word >> np.uint64(30)
    word *= np.uint64(_MIX_1)
    word ^= word >> np.uint64(27)
    word *= np.uint64(_MIX_2)
    return word ^ (word >> np.uint64(31))


@njit(inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def _uniform(key: Any, counter: Any) -> Any:
    """A number in (0, 1): number `counter` of the stream `key`."""
    word = _mixed(key + np.uint64(counter) * np.uint64(_GOLDEN))
    return (np.float64(np.int64(word >> np.uint64(12))) + 0.5) * 2.0**-52


@njit(inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def exp_of(x: Any) -> Any:
    """exp(x) for −700 < x < 700: 2^k times a polynomial on [−ln 2/2, ln 2/2]."""
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@njit(inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def log_of(x: Any) -> Any:
    """log(x) for normal x > 0: the exponent times ln 2, and the series of atanh for the rest, from √½ to √2."""
    bits = np.float64(x).view(np.int64)
    k = ((bits - 0x3FE6A09E667F3BCD) >> 52) + 0
    m = np.int64(bits - (k << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return np.float64(k) * _LN2_HIGH + (2.0 * s * p + np.float64(k) * _LN2_LOW)


@njit(fastmath=_FAST, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _gradient(rows: Any, first: Any, count: Any, theta: Any, l2: Any, slopes: Any, out: Any) -> Any:
    """Put the mean gradient of the logistic loss, and of l2‖θ‖², into `out`."""
    d = len(theta)
    for r in range(count):
        score = 0.0
        row = rows[first + r]
        for k in range(d):
            score += row[k] * theta[k]
        slopes[r] = min(max(score, -700.0), 700.0)
    for r in range(count):
        slopes[r] = -1.0 / ((1.0 + exp_of(slopes[r])) * count)
    for k in range(d):
        out[k] = 2.0 * l2 * theta[k]
    r = 0
    while r + 4 <= count:
        a, b, c, e = (
            rows[first + r],
            rows[first + r + 1],
            rows[first + r + 2],
            rows[first + r + 3],
        )
        for k in range(d):
            out[k] += (
                slopes[r] * a[k]
                + slopes[r + 1] * b[k]
                + slopes[r + 2] * c[k]
                + slopes[r + 3] * e[k]
            )
        r += 4
    while r < count:
        row = rows[first + r]
        for k in range(d):
            out[k] += slopes[r] * row[k]
        r += 1


@njit(fastmath=_FAST, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _add_laplace(out: Any, key: Any, start: Any, scale: Any) -> Any:
    """Add Laplace noise of mean length `scale` to every coordinate."""
    for k in range(len(out)):
        u = _uniform(key, start + k) - 0.5
        size = -scale * log_of(max(1.0 - 2.0 * abs(u), 1e-300))
        out[k] += size if u > 0 else -size


@njit(fastmath=_FAST, cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _move(
    theta: Any, out: Any, heard: Any, shares: Any, first: Any, end: Any, pull: Any, step: Any
) -> Any:
    """Put (1−α)θ + α(mixture of what was heard − pull·out) into `out` and θ."""
    d = len(theta)
    for k in range(d):
        out[k] *= -pull
    for e in range(first, end):
        share, model = shares[e], heard[e]
        for k in range(d):
            out[k] += share * model[k]
    for k in range(d):
        out[k] = step * out[k] + (1.0 - step) * theta[k]
        theta[k] = out[k]


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _sift(times: Any, ids: Any, time: Any, agent: Any) -> Any:
    """Replace the top of the heap."""
    n, at = len(times), 0
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and times[child + 1] < times[child]:
            child += 1
        if times[child] >= time:
            break
        times[at], ids[at] = times[child], ids[child]
        at = child
    times[at], ids[at] = time, agent


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _run(
    until: Any,
    latency: Any,
    loss: Any,
    seed: Any,
    indptr: Any,
    neighbour: Any,
    reverse: Any,
    shares: Any,
    rows: Any,
    offsets: Any,
    l2: Any,
    pull: Any,
    step: Any,
    scale: Any,
    theta: Any,
    heard: Any,
    ring: Any,
    arrival: Any,
    head: Any,
    seen: Any,
    times: Any,
    ids: Any,
    slopes: Any,
    counts: Any,
) -> Any:
    """Serve all wakes before `until`."""
    d = theta.shape[1]
    while times[0] < until:
        now, i = times[0], ids[0]
        first, end = indptr[i], indptr[i + 1]
        for e in range(first, end):  # the newest version of each neighbour that has arrived
            j, back = neighbour[e], reverse[e]
            known, oldest = seen[e], max(seen[e] + 1, head[j] - VERSIONS)
            newest = known
            for version in range(head[j] - 1, oldest - 1, -1):
                if arrival[back, version % VERSIONS] < now:
                    newest = version
                    break
            if newest > known:
                counts[DELIVERED] += 1
                seen[e] = newest
                model = ring[j, newest % VERSIONS]
                for k in range(d):
                    heard[e, k] = model[k]
            elif oldest > known + 1:
                counts[MISSED] += 1  # what arrived may be a version that is no longer kept
        key = _mixed(np.uint64(seed) + np.uint64(i + 1) * np.uint64(_GOLDEN))
        used = np.int64(head[i]) * (d + 2 * (end - first) + 1)
        count = offsets[i + 1] - offsets[i]
        out = ring[i, head[i] % VERSIONS]
        _gradient(rows, offsets[i], count, theta[i], l2[i], slopes, out)
        if scale[i] > 0.0:
            _add_laplace(out, key, used, scale[i])
        _move(theta[i], out, heard, shares, first, end, pull[i], step[i])
        used += d
        for e in range(first, end):
            delay = -latency * log_of(_uniform(key, used))
            lost = _uniform(key, used + 1) < loss
            arrival[e, head[i] % VERSIONS] = np.inf if lost else now + delay
            used += 2
        head[i] += 1
        counts[UPDATES] += 1
        _sift(times, ids, now - log_of(_uniform(key, used)), i)


@dataclass(frozen=True, slots=True)
class Ended:
    """The models at the end, and how much was done."""

    theta: Matrix
    updates: int
    delivered: int
    missed: int


class Limit:
    """The compiled loop on the arrays of a problem; one object runs once."""

    def __init__(self, problem: Problem, latency_s: float, loss: float) -> None:
        agents, n, d = problem.agents, problem.size, problem.dimension
        degrees = [len(agent.neighbours) for agent in agents]
        indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        neighbour = np.concatenate([agent.neighbours for agent in agents]).astype(np.int64)
        owner = np.repeat(np.arange(n), degrees)
        sizes = [len(agent.rows) for agent in agents]
        edges = len(neighbour)
        towards = np.lexsort((owner, neighbour))  # position k holds the edge back along edge k
        rng = np.random.Generator(np.random.PCG64(SEED))
        times = rng.exponential(1.0, n)
        order = np.argsort(times)
        self._counts = np.zeros(3, np.int64)
        self.theta = problem.start.copy()
        self.arrivals = np.full((edges, VERSIONS), np.inf)
        """When the last versions arrive along each link, in seconds; infinite for what is lost or was never sent."""
        self._arguments = (
            latency_s,
            loss,
            SEED,
            indptr,
            neighbour,
            towards.astype(np.int64),
            np.concatenate([agent.shares for agent in agents]),
            np.concatenate([agent.rows for agent in agents]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([agent.l2 for agent in agents]),
            np.array([agent.pull for agent in agents]),
            np.array([agent.step for agent in agents]),
            np.array([1.0 / agent.scale for agent in agents]),
            self.theta,
            problem.start[neighbour],
            np.zeros((n, VERSIONS, d)),
            self.arrivals,
            np.zeros(n, np.int64),
            np.full(edges, -1, np.int64),
            times[order],
            order.astype(np.int64),
            np.zeros(max(sizes)),
            self._counts,
        )

    def run(self, ticks: float) -> Ended:
        """Serve all wakes before `ticks` seconds."""
        _run(ticks, *self._arguments)
        return Ended(self.theta, *self._counts.tolist())


SEED = 1
