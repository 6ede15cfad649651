"""When agents wake: exact instants, exact laws."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from clocks.activation import Barrier, Periodic, Poisson, Synchronous, Trace
from clocks.durations import exponential
from scenarios.planning.seeds import draws

BITS = draws(3, "clock/0")


def first(activation: object, count: int) -> list[int]:
    return list(itertools.islice(activation.instants(BITS), count))  # type: ignore[attr-defined]


def test_synchronous_wakes_at_the_multiples_of_its_period() -> None:
    assert first(Synchronous(0.5), 4) == [500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000]


def test_poisson_gaps_are_exponential() -> None:
    times = np.array([0, *first(Poisson(4.0), 20_000)])
    gaps = np.diff(times) / 1e9
    assert stats.kstest(gaps, stats.expon(scale=0.25).cdf).pvalue > 1e-6
    lag_one = np.corrcoef(gaps[1:], gaps[:-1])[0, 1]
    assert abs(lag_one) < 5 / math.sqrt(len(gaps))


def test_poisson_times_are_a_function_of_the_stream() -> None:
    assert first(Poisson(1.0), 200) == first(Poisson(1.0), 200)
    other = list(itertools.islice(Poisson(1.0).instants(draws(3, "clock/1")), 200))
    assert first(Poisson(1.0), 200) != other


def test_poisson_gap_k_follows_from_draw_k_alone() -> None:
    """Wakes are drawn in blocks that grow; where a block begins changes no instant."""
    gaps = exponential(1 / 4.0).draw(BITS(0, 500), 0)
    assert first(Poisson(4.0), 500) == np.cumsum(np.maximum(1, gaps)).tolist()


def test_jitter_k_follows_from_draw_k_alone() -> None:
    late = [(int(bits) >> 32) * 10**8 >> 32 for bits in BITS(0, 300)]
    wakes = [k * 10**9 + by for k, by in enumerate(late, 1)]
    assert first(Periodic(1.0, jitter_s=0.1), 300) == wakes


def test_periodic_without_jitter_or_drift_is_synchronous() -> None:
    assert first(Periodic(0.5), 100) == first(Synchronous(0.5), 100)


def test_a_drifting_clock_ticks_at_its_own_period() -> None:
    assert first(Periodic(1.0, drift=0.01), 3) == [1_010_000_000, 2_020_000_000, 3_030_000_000]


def test_jitter_delays_each_wake_by_less_than_itself() -> None:
    late = np.array(first(Periodic(1.0, jitter_s=0.2), 2000)) - 10**9 * np.arange(1, 2001)
    assert late.min() >= 0
    assert late.max() < 200_000_000
    assert late.mean() == pytest.approx(1e8, rel=0.1)


@pytest.mark.parametrize(
    "activation", [Poisson(1000.0), Periodic(0.001, jitter_s=0.01), Synchronous(0.001)]
)
def test_instants_strictly_increase(activation: object) -> None:
    times = first(activation, 1000)
    assert all(a < b for a, b in itertools.pairwise(times))


def test_a_trace_is_itself() -> None:
    assert first(Trace((5, 8, 13)), 10) == [5, 8, 13]


@pytest.mark.parametrize(
    ("quorum", "heard", "expected", "ready"),
    [
        (1.0, 9, 10, False),
        (1.0, 10, 10, True),
        (0.7, 7, 10, True),
        (0.7, 6, 10, False),
        (0.5, 1, 3, False),
        (0.5, 2, 3, True),
        (0.1, 0, 3, False),
        (1.0, 0, 0, False),
    ],
)
def test_a_barrier_opens_at_its_quorum(
    quorum: float, heard: int, expected: int, *, ready: bool
) -> None:
    assert Barrier(None, quorum).ready(heard, expected, 10**18) is ready


def test_a_barrier_opens_when_time_is_up() -> None:
    barrier = Barrier(timeout_s=2.0)
    assert not barrier.ready(0, 3, 1_999_999_999)
    assert barrier.ready(0, 3, 2_000_000_000)
