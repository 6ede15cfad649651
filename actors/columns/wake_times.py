"""The next wakes of many agents by their own clocks: a few instants of each, drawn for all of them at once."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from actors.columns.table import Words
from clocks.activation import Activation, Poisson, Synchronous
from clocks.clock import nanoseconds
from clocks.durations import Bits, bits_at, draws_of, exponential
from mechanisms.vectors import distinct

NEVER = (1 << 63) - 1
"""The instant of a wake that does not come."""
_FAR = 1 << 62
"""No run lasts so many nanoseconds: 146 years."""
_IN_ALL, _LEAST, _MOST = 4096, 8, 64
"""So many instants are kept in all; and of each agent at least and at most."""


class WakeTimes:
    """Keeps the next instants of each agent, the same as `Activation.instants` yields."""

    def __init__(
        self, activations: Sequence[Activation], keys: Bits, most: Sequence[int | None]
    ) -> None:
        """Take the clock of each agent, the key of its stream, and how many wakes it may have; None is without bound."""
        size = len(activations)
        self._keys = keys
        self._most = np.array([NEVER if each is None else each for each in most], np.int64)
        groups: dict[int, list[int]] = {}
        for i, activation in enumerate(activations):
            groups.setdefault(id(activation), []).append(i)
        self._clocks = [activations[members[0]] for members in groups.values()]
        self._clock_of = np.zeros(size, np.int64)
        for place, members in enumerate(groups.values()):
            self._clock_of[members] = place
        self.width = min(_MOST, max(_LEAST, _IN_ALL // max(1, size)))
        """Of so many wakes of each agent the instants are kept."""
        self._times = np.full((size, self.width), NEVER)
        self._at = np.full(size, self.width)
        """Where in its row the next wake of each agent stands; behind the last one before anything was drawn."""
        self._drawn = np.zeros(size, np.int64)
        self._iterators: dict[int, Iterator[int]] = {}

    def skip(self, ids: Words, after: Words) -> None:
        """Let the next wake of some agents be the first that is not before an instant each."""
        self._refill(ids[self._at[ids] >= self.width])
        behind = ids
        while len(behind):
            passed = (self._times[behind] < after[:, None]).sum(axis=1)
            self._at[behind] = np.maximum(self._at[behind], passed)
            empty = self._at[behind] >= self.width
            behind, after = behind[empty], after[empty]
            self._refill(behind)

    def next_of(self, ids: Words) -> Words:
        """Return the next instant of some agents, NEVER where there is none."""
        used = self._at[ids] >= self.width
        if used.any():
            self._refill(ids[used])
        instants: Words = self._times[ids, self._at[ids]]
        return instants

    def window(self, ids: Words, until: int, before: int, most: int) -> tuple[Words, Words]:
        """Return the next wakes of some agents in their order: instants and agents, about `most` of them.

        They come up to an instant, and in it those below the id `before`. All wakes that come before the last of them are
        among them, and the wake of each agent that follows stands in its row. `ids` rise.
        """
        self._refill(ids[self._at[ids] > self.width // 2])
        times = self._times[ids]
        known = int(times[:, -1].min(initial=NEVER)) - 1
        """Up to here all wakes of all agents stand in their rows, and none of them is the last one there."""
        is_ahead = np.arange(self.width) >= self._at[ids][:, None]
        is_ahead &= times <= min(known, until)
        rows, columns = np.nonzero(is_ahead)
        instants, agents = times[rows, columns], ids[rows]
        if until <= known:
            comes = (instants < until) | (agents < before)
            instants, agents = instants[comes], agents[comes]
        if len(instants) > most:
            bound = np.partition(instants, most)[most]
            some = instants <= bound
            instants, agents = instants[some], agents[some]
        order = np.argsort(instants, kind="stable")  # equal instants stay in the order of agents
        return instants[order], agents[order]

    def advance(self, ids: Words, wakes: Words) -> None:
        """Count wakes of some agents as had: no agent is named twice."""
        self._at[ids] += wakes

    def has_more(self, ids: Words, wakes: Words) -> NDArray[np.bool_]:
        """Whether agents have wakes after so many, which a window named: no agent is named twice."""
        has_more: NDArray[np.bool_] = self._times[ids, self._at[ids] + wakes] != NEVER
        return has_more

    def _refill(self, ids: Words) -> None:
        """Let rows begin with the next wake, and be full."""
        if not len(ids):
            return
        clocks = self._clock_of[ids]
        for place in distinct(clocks).tolist():
            members = ids[clocks == place]
            used = self._at[members]
            drawn = self._draw(self._clocks[place], members, used)
            both = np.concatenate([self._times[members], drawn], axis=1)
            columns = used[:, None] + np.arange(self.width)
            self._times[members] = np.take_along_axis(both, columns, axis=1)
            self._drawn[members] += used
            self._at[members] = 0

    def _draw(self, clock: Activation, ids: Words, counts: Words) -> Words:
        """Return the instants that follow the kept ones, at least `counts` of each agent; what is more than that is not used."""
        numbers = self._drawn[ids][:, None] + np.arange(self.width)
        if isinstance(clock, Poisson):
            last = np.where(self._drawn[ids] > 0, self._times[ids, -1], 0)
            bits = bits_at(self._keys[ids][:, None], numbers.astype(np.uint64))
            gaps = np.maximum(exponential(1 / clock.rate).draw(bits, 0), 1)
            instants = _bounded(last, gaps)
        elif isinstance(clock, Synchronous):
            period = nanoseconds(clock.period_s)
            instants = np.where(numbers < _FAR // max(1, period), (numbers + 1) * period, NEVER)
        else:
            instants = self._one_by_one(clock, ids, counts)
        drawn: Words = np.where(numbers < self._most[ids][:, None], instants, NEVER)
        return drawn

    def _one_by_one(self, clock: Activation, ids: Words, counts: Words) -> NDArray[np.int64]:
        """Return the instants of a clock whose wakes follow from the wakes before them."""
        instants = np.full((len(ids), self.width), NEVER)
        for row, (i, count) in enumerate(zip(ids.tolist(), counts.tolist(), strict=True)):
            if i not in self._iterators:
                self._iterators[i] = clock.instants(draws_of(self._keys[i]))
            some = list(islice(self._iterators[i], count))
            instants[row, : len(some)] = [t if t < _FAR else NEVER for t in some]
        return instants


def _bounded(last: Words, gaps: Words) -> Words:
    """Return the last instants with the gaps added up, NEVER for what lies so far ahead that it has no number."""
    far = last[:, None].astype(np.float64) + np.cumsum(gaps, axis=1, dtype=np.float64)
    return np.where(far < _FAR, last[:, None] + np.cumsum(gaps, axis=1), NEVER)
