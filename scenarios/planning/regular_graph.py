"""Random regular graphs: ends of edges are paired at random, and what does not fit is paired anew (Steger, Wormald 1999).

The bits that are drawn, and the pairs made of them, are those of `networkx.random_regular_graph`: a seed has the graph that
it had before this file was written. Here bits are drawn many at a time, and pairs are compared as arrays.
"""

import numpy as np
from numpy.typing import NDArray

from scenarios.planning.graphs import EdgeArrays, NoGraph

_BLOCK = 1 << 16
"""So many random words are drawn at once, at the most."""

_Ids = NDArray[np.int64]


def regular_graph(degree: int, n: int, rng: np.random.Generator) -> EdgeArrays:
    """Return the edges of a graph over n agents in which each has `degree` neighbours, in order; all weights are 1.

    It is simple: no agent is its own neighbour, and no two are joined twice. It need not be connected. Raises NoGraph where
    there is no such graph.
    """
    if n * degree % 2:
        raise NoGraph(f"regular over {n} agents: n * d must be even")
    if not 0 <= degree < n:
        raise NoGraph(f"regular over {n} agents: the 0 <= d < n inequality must be satisfied")
    if n * degree >= 1 << 32:
        raise NoGraph(f"regular over {n:,} agents: n * d must be below 2^32, got {n * degree:,}")
    words = _Words(rng)
    while True:
        keys = _attempt(degree, n, words)
        if keys is not None:
            break
    keys.sort()
    heads, tails = np.divmod(keys, n)
    return EdgeArrays(heads, tails, np.ones(len(keys)))


def _attempt(degree: int, n: int, words: "_Words") -> _Ids | None:
    """Pair the ends of all edges; return each edge as head·n + tail, None where the last ends fit nowhere.

    Nearly all ends fit at the first try: these are compared as an array. What is left is a few ends, whatever n is.
    """
    ends = list(range(n)) * degree
    words.shuffle(ends)
    keys, misfits = _first_pairs(np.array(ends, dtype=np.int64).reshape(-1, 2), n)
    more = list[int]()
    joined: _Joined | None = None
    while misfits:
        left = dict[int, int]()  # in the order in which they did not fit
        for end in misfits:
            left[end] = left.get(end, 0) + 1
        joined = joined or _Joined(keys, n)
        if not _can_go_on(list(left), joined):
            return None
        ends = [end for end, times in left.items() for _ in range(times)]
        words.shuffle(ends)
        misfits = []
        for one, other in zip(ends[::2], ends[1::2], strict=True):
            low, high = min(one, other), max(one, other)
            if low == high or (low, high) in joined:
                misfits += (low, high)
            else:
                joined.add(low, high)
                more.append(low * n + high)
    return np.concatenate([keys, np.array(more, dtype=np.int64)])


def _first_pairs(pairs: _Ids, n: int) -> tuple[_Ids, list[int]]:
    """Return the pairs that can be edges as low·n + high, and the ends of the others, in order."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys = low * n + high
    order = np.argsort(keys, kind="stable")
    fits = np.ones(len(keys), dtype=np.bool_)
    fits[order[1:]] = keys[order[1:]] != keys[order[:-1]]  # of equal pairs the first fits
    fits &= low != high
    misfits: list[int] = np.column_stack([low[~fits], high[~fits]]).ravel().tolist()
    return keys[fits], misfits


def _can_go_on(left: list[int], joined: "_Joined") -> bool:
    """Whether two agents with ends left are not joined yet, as far as the search of networkx sees that.

    For each agent it walks through the others in order until it comes to itself, and goes on with the smallest agent it
    has met. So it overlooks some pairs, and then all is paired anew: another search would give seeds other graphs.
    """
    for agent in left:
        low = agent
        for other in left:
            if other == low:
                break
            low, high = min(low, other), max(low, other)
            if (low, high) not in joined:
                return True
    return False


class _Joined:
    """The pairs that are joined: most of them a sorted array, a few a set."""

    def __init__(self, keys: _Ids, n: int) -> None:
        self._n = n
        self._sorted = np.sort(keys)
        self._more = set[int]()

    def add(self, low: int, high: int) -> None:
        self._more.add(low * self._n + high)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        key = pair[0] * self._n + pair[1]
        at = int(np.searchsorted(self._sorted, key))
        return key in self._more or (at < len(self._sorted) and int(self._sorted[at]) == key)


class _Words:
    """Random words of 32 bits, and shuffles made of them as Python's `random.shuffle` makes them of NumPy's bytes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._words = np.empty(0, dtype=np.uint32)

    def shuffle(self, items: list[int]) -> None:
        """Shuffle in place (Fisher, Yates; Durstenfeld 1964): item i changes places with one of 0 … i, the last first."""
        last = len(items) - 1
        while last > 0:
            bits = (last + 1).bit_length()
            least = max(1, (1 << (bits - 1)) - 1)  # below it a choice takes fewer bits
            for place in self._below(last, last - least + 1, bits):
                items[last], items[place] = items[place], items[last]
                last -= 1

    def _below(self, last: int, count: int, bits: int) -> list[int]:
        """Return at most so many choices: of 0 … last, then of 0 … last − 1, and so on; words above are passed over.

        A choice of some bits is the first bytes of a word, the first of them the highest, without what they have too much.
        """
        if not len(self._words):
            size = min(_BLOCK, 2 * count + 16)
            self._words = self._rng.integers(0, 1 << 32, size=size, dtype=np.uint32)
        size = (bits + 7) // 8
        taken = self._words[: 2 * count + 16]
        swapped = taken.byteswap() >> np.uint32(32 - 8 * size)
        drawn = (swapped >> np.uint32(8 * size - bits)).astype(np.int64)
        accepted = drawn <= last
        while True:  # how many were accepted before a word decides whether it is: each turn settles one more at least
            before: _Ids = np.cumsum(accepted) - accepted
            again = drawn <= last - before
            if (again == accepted).all():
                break
            accepted = again
        at = np.flatnonzero(accepted)[:count]
        used = int(at[-1]) + 1 if len(at) == count else len(taken)
        self._words = self._words[used:]
        places: list[int] = drawn[at].tolist()
        return places
