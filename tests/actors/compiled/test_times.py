"""Compiled delays and clocks give the integers of `clocks.durations` and `clocks.activation`."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clocks.activation import Activation, Periodic, Poisson, Synchronous, Trace
from clocks.durations import Constant, Duration, Replayed, bits_of, exponential, lognormal, pareto
from tests.support.arenas import needs_numba

pytestmark = needs_numba
LAWS: list[Duration] = [
    Constant(0.25),
    exponential(1.5),
    lognormal(0.05, 1.0),
    pareto(1e-3, 0.8),
    Replayed((5, 0, 9)),
]


@pytest.mark.slow
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**45))
@settings(max_examples=200, deadline=None)
def test_draws_are_the_same(key: int, number: int) -> None:
    from actors.compiled import times

    wanted = bits_of(np.uint64(key), number, 1)[0]
    assert np.uint64(times.bits(np.uint64(key), number)) == wanted


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_delays_are_the_same_in_the_body_and_in_both_tails(law: Duration) -> None:
    from actors.compiled import times
    from actors.compiled.enrolment import Catalogue
    from tests.support.compiled_arrays import arrays_of_one_agent

    catalogue = Catalogue()
    kind, value, count = catalogue.duration(law)
    arrays = catalogue.fill(arrays_of_one_agent(1, 0, (0, 0)))
    rng = np.random.Generator(np.random.PCG64(4))
    ends = [0, 1, 2**22 - 1, 2**54 - 1, 2**54, 2**64 - 2**54 - 1, 2**64 - 2**54, 2**64 - 1]
    lucks = np.array([*ends, *rng.integers(0, 2**64, 2000, np.uint64).tolist()], np.uint64)
    for number, luck in enumerate(lucks):
        got = times.delay(kind, value, count, arrays.tables, arrays.listed, luck, number)
        assert got == law.draw(np.array([luck]), number)[0]


CLOCKS: list[Activation] = [
    Poisson(2.0),
    Synchronous(1.5),
    Periodic(1.0, 0.3, 0.05),
    Periodic(1e-3, 20.0),  # late by more than 2³² ns, and often by more than a period
    Trace((0, 5, 17)),
]


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: type(clock).__name__)
def test_clocks_wake_at_the_same_instants(clock: Activation) -> None:
    from actors.arena.columns import CLOCK, JITTER, PERIOD
    from actors.compiled import times
    from actors.compiled.enrolment import Catalogue
    from tests.support.compiled_arrays import arrays_of_one_agent

    catalogue, key = Catalogue(), np.uint64(77)
    row = np.zeros(40, np.int64)
    catalogue.enrol_clock(clock, row)
    arrays = catalogue.fill(arrays_of_one_agent(1, 0, (0, 0)))
    got, last = list[int](), 0
    for number in range(300):
        kind, period, jitter = row[[CLOCK, PERIOD, JITTER]].tolist()
        last = times.next_wake(
            kind, period, jitter, arrays.tables, arrays.listed, key, number, last
        )
        if last == times.NEVER:
            break
        got.append(last)
    draws = lambda first, count: bits_of(key, first, count)  # noqa: E731
    assert got == list(islice(clock.instants(draws), 300))
