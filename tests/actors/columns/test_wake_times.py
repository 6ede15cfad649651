"""Instants that are drawn for many agents at once are those that each agent's own clock yields."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.columns.wake_times import NEVER, WakeTimes
from clocks.activation import Activation, Periodic, Poisson, Synchronous, Trace
from clocks.durations import draws_of

CLOCKS: list[Activation] = [
    Poisson(1.0),
    Poisson(0.01),
    Synchronous(0.5),
    Periodic(1.0, 0.3, 0.05),
    Periodic(1e-9, 3e-9),
    Trace((5, 7, 2_000_000_000)),
    Trace(()),
    Poisson(1e-9),
    Synchronous(1.45e8),
    Periodic(1e9),
]


def key(i: int) -> np.uint64:
    return np.uint64(977 * i + 3)


def times_of(clocks: list[Activation], most: list[int | None]) -> WakeTimes:
    keys = np.array([key(i) for i in range(len(clocks))], np.uint64)
    return WakeTimes(clocks, keys, most)


def alone(clock: Activation, i: int, most: int | None, count: int) -> list[int]:
    """Return the first instants that the clock of agent i yields."""
    return list(
        islice(clock.instants(draws_of(key(i))), count if most is None else min(count, most))
    )


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_windows_hold_all_wakes_in_their_order(data: Any) -> None:
    """However windows are cut, together they are the wakes of all clocks, sorted by instant and agent."""
    clocks = data.draw(st.lists(st.sampled_from(CLOCKS), min_size=1, max_size=5))
    most = [data.draw(st.sampled_from([None, 0, 1, 9])) for _ in clocks]
    times, ids = times_of(clocks, most), np.arange(len(clocks))
    times.skip(ids, np.zeros(len(clocks), np.int64))
    until = data.draw(st.integers(0, 3 * 10**10))
    got = list[tuple[int, int]]()
    while True:
        awake = ids[times.next_of(ids) != NEVER]
        if not len(awake):
            break
        t, agents = times.window(awake, until, data.draw(st.integers(0, 6)) if until == 0 else 6, 7)
        if not len(t):
            break
        named, counts = np.unique(agents, return_counts=True)
        more = times.has_more(named, counts)
        times.advance(named, counts)
        assert (more == (times.next_of(named) != NEVER)).all()
        got += zip(t.tolist(), agents.tolist(), strict=True)
        if len(got) > 400:
            break
    wanted = sorted(
        (t, i)
        for i, clock in enumerate(clocks)
        for t in alone(clock, i, most[i], len(got) + 1)
        if t <= until
    )
    assert got == wanted[: len(got)]
    assert len(got) > 400 or len(got) == len(wanted)


@pytest.mark.parametrize("clock", CLOCKS, ids=repr)
@pytest.mark.parametrize("after", [0, 6, 7_000_000_000, 10**12])
def test_an_agent_that_comes_late_misses_what_lies_before(clock: Activation, after: int) -> None:
    if isinstance(clock, Periodic) and after > 10:
        clock = Periodic(1.0, 0.3, 0.05)
    times, ids = times_of([clock], [None]), np.array([0])
    times.skip(ids, np.array([after]))
    wanted = next(
        (t for t in islice(clock.instants(draws_of(key(0))), 10_000) if t >= after), NEVER
    )
    assert times.next_of(ids).tolist() == [wanted]


def test_the_last_wake_of_an_instant_belongs_to_the_agents_below_a_number() -> None:
    times, ids = times_of([Synchronous(1.0)] * 4, [None] * 4), np.arange(4)
    times.skip(ids, np.zeros(4, np.int64))
    t, agents = times.window(ids, 2 * 10**9, 2, 100)
    assert list(zip(t.tolist(), agents.tolist(), strict=True)) == [
        (10**9, 0),
        (10**9, 1),
        (10**9, 2),
        (10**9, 3),
        (2 * 10**9, 0),
        (2 * 10**9, 1),
    ]
