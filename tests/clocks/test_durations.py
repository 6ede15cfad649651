"""Distributions of durations: quantiles, means, integers, and a draw that is a function of its number."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clocks import durations
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration, Replayed, block_of
from scenarios.planning.seeds import draws

BITS = draws(11, "test/durations")
N = 200_000

LAWS: dict[str, tuple[Duration, object]] = {
    "uniform": (durations.uniform(0.1, 0.5), stats.uniform(0.1, 0.4)),
    "exponential": (durations.exponential(0.25), stats.expon(scale=0.25)),
    "normal": (durations.normal(1.0, 0.1), stats.norm(1.0, 0.1)),
    "lognormal": (durations.lognormal(0.05, 0.5), stats.lognorm(0.5, scale=0.05)),
    "gamma": (durations.gamma(0.3, 2.5), stats.gamma(2.5, scale=0.3 / 2.5)),
    "pareto": (durations.pareto(0.01, 3.0), stats.pareto(3.0, scale=0.01)),
    "weibull": (durations.weibull(60.0, 0.4), stats.weibull_min(0.4, scale=60.0)),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_is_the_law(name: str) -> None:
    """Kolmogorov–Smirnov at level 1e-6: n = 200,000 resolves 0.6 % of the distribution function."""
    law, exact = LAWS[name]
    drawn = law.draw(BITS(0, N), 0) / 1e9
    distance = stats.kstest(drawn, exact.cdf).statistic  # type: ignore[attr-defined]
    assert distance < math.sqrt(-0.5 * math.log(1e-6 / 2) / N)


@pytest.mark.parametrize(
    "name", ["uniform", "exponential", "normal", "lognormal", "gamma", "pareto"]
)
def test_the_mean_is_the_mean(name: str) -> None:
    law, _ = LAWS[name]
    drawn = law.draw(BITS(0, N), 0) / 1e9
    error = 5 * drawn.std() / math.sqrt(N)
    assert drawn.mean() == pytest.approx(law.mean_s, abs=error)
    assert error < 0.03 * law.mean_s


@pytest.mark.parametrize("name", LAWS)
def test_a_draw_depends_on_its_number_alone(name: str) -> None:
    law, _ = LAWS[name]
    together = law.draw(BITS(0, 100), 0)
    apart = [int(law.draw(BITS(k, 1), k)[0]) for k in range(100)]
    assert together.tolist() == apart


@pytest.mark.parametrize("name", LAWS)
def test_draws_are_integers_not_below_the_shortest(name: str) -> None:
    law, _ = LAWS[name]
    drawn = law.draw(BITS(0, N), 0)
    assert drawn.dtype == np.int64
    assert drawn.min() >= law.shortest >= 0


def test_what_would_be_negative_is_zero() -> None:
    drawn = durations.normal(0.0, 1.0).draw(BITS(0, 1000), 0)
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.06)


def test_tables_are_pinned_to_the_nanosecond() -> None:
    """These integers are the schedule on every machine: a change of them is a change of every run."""
    bits = np.array([0, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0], dtype=np.uint64)
    assert durations.exponential(1.0).draw(bits, 0).tolist() == [
        0,
        693147181,
        22180707808,
        73766232,
    ]
    assert durations.lognormal(0.05, 0.5).draw(bits, 0).tolist() == [
        2218637,
        50000000,
        1126817932,
        24004427,
    ]


@given(st.integers(0, 10**15))
def test_a_whole_number_of_nanoseconds_comes_back(count: int) -> None:
    """Seconds are rounded to the nearest nanosecond: 0.57 s is a little less than 570,000,000 of them, as a double."""
    assert nanoseconds(count / 10**9) == count


@given(st.floats(0.0, 1e6))
def test_seconds_become_the_nearest_nanosecond(seconds: float) -> None:
    """At most half a nanosecond off, and what rounding a product costs: a unit in the last place."""
    error = abs(nanoseconds(seconds) - Fraction(seconds) * 10**9)
    assert error <= Fraction(1, 2) + Fraction(math.ulp(seconds * 1e9))


def test_seconds_are_not_cut_off() -> None:
    assert nanoseconds(0.57) == 570_000_000
    assert nanoseconds(2.9e-9) == 3
    assert Constant(0.57).draw(BITS(0, 1), 0).tolist() == [570_000_000]


def test_constant_and_replayed() -> None:
    assert Constant(0.25).draw(BITS(0, 3), 0).tolist() == [250_000_000] * 3
    trace = Replayed((1, 2, 3))
    assert trace.draw(BITS(5, 4), 5).tolist() == [3, 1, 2, 3]


@pytest.mark.parametrize(("first", "most"), [(8, 32), (8, 8), (8, 64), (1, 4)])
def test_blocks_of_draws_follow_each_other_and_grow(first: int, most: int) -> None:
    """Each draw lies in one block, blocks have no gaps, and no block is longer than what was drawn before it."""
    at = 0
    while at < 1000:
        start, count = block_of(at, first, most)
        assert start == at
        assert count <= min(most, max(first, at))
        assert all(block_of(n, first, most) == (start, count) for n in range(at, at + count))
        at += count
    assert count == most
