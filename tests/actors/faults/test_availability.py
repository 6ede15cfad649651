"""The daily curve: whole numbers, exact to the nanosecond."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.faults.availability import UNIT, Availability, DailyCurve
from scenarios.planning.faults.availability import _bias
from scenarios.planning.seeds import draws

DAY = 24 * 3600 * 10**9
SHORT = st.builds(
    DailyCurve, st.integers(0, 30), st.integers(0, 60), st.integers(1, 40), st.integers(-50, 50)
)


def test_a_day_rises_and_falls_in_straight_lines() -> None:
    """From a tenth at midnight to six tenths at noon: 0.225 at three, 0.35 at six, and the same at eighteen."""
    low, high = round(0.1 * UNIT), round(0.6 * UNIT)
    curve = DailyCurve(low, high - low, DAY)
    hour = DAY // 24
    for t, share in ((0, 0.1), (3, 0.225), (6, 0.35), (12, 0.6), (18, 0.35), (24, 0.1), (36, 0.6)):
        assert curve.at(t * hour) / UNIT == pytest.approx(share, abs=1e-9)
    late = DailyCurve(low, high - low, DAY, phase=5 * hour)
    assert all(late.at((t + 5) * hour) == curve.at(t * hour) for t in range(48))


@given(SHORT, st.integers(-3, 100), st.integers(0, 120))
def test_the_next_change_is_the_first_nanosecond_that_differs(
    curve: DailyCurve, luck: int, instant: int
) -> None:
    """Looked at one by one, over two periods."""
    after = range(instant + 1, instant + 2 * curve.period + 2)
    online = curve.at(instant) > luck
    first = next((t for t in after if (curve.at(t) > luck) != online), None)
    assert curve.crosses_after(instant, luck) == first


@given(SHORT, st.integers(0, 200))
def test_the_lowest_point_is_the_lowest(curve: DailyCurve, instant: int) -> None:
    lowest = curve.lowest_after(instant)
    assert instant < lowest <= instant + curve.period
    assert curve.at(lowest) == curve.low == min(map(curve.at, range(curve.period)))


@given(st.integers(0, UNIT), st.integers(0, UNIT), st.integers(0, UNIT - 1))
def test_a_whole_day_is_exact_too(low: int, high: int, luck: int) -> None:
    """A nanosecond before it comes, and a nanosecond after it goes, an agent is not there."""
    curve = DailyCurve(min(low, high), abs(high - low), DAY)
    comes = curve.crosses_after(0, luck)
    if comes is None:
        assert (curve.at(0) > luck) == (curve.at(DAY // 2) > luck)
        return
    assert curve.at(comes - 1) <= luck < curve.at(comes)
    goes = curve.crosses_after(comes, luck)
    assert goes is not None
    assert curve.at(goes) <= luck < curve.at(goes - 1)
    assert comes + goes == DAY + 1  # it is there from x to period − x


def test_a_bias_is_a_beta() -> None:
    """Beta(2, 5): mean 2/7, variance 10/392, within five standard errors of 20,000 agents; and a beta of one's own."""
    n = 20_000
    law = _bias("beta")
    assert law is not None
    drawn = law.draw(draws(3, "test/bias")(0, n), 0) / 1e9
    assert drawn.mean() == pytest.approx(2 / 7, abs=5 * math.sqrt(10 / 392 / n))
    assert drawn.var() == pytest.approx(10 / 392, rel=0.05)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    even = _bias([1.0, 1.0])
    assert even is not None
    points = np.array([1 << 62, 1 << 63, 3 << 62], dtype=np.uint64)
    assert even.draw(points, 0).tolist() == pytest.approx([25e7, 5e8, 75e7], abs=1)
    assert _bias(None) is None


def test_an_agent_has_the_part_of_the_rise_that_its_bias_draws() -> None:
    curve = DailyCurve(UNIT // 10, UNIT // 2, DAY)
    stream = draws(7, "test/agent")
    free = Availability(curve, {4: 11}).curve_of(4, stream)
    assert free == DailyCurve(curve.low, curve.rise, DAY, 11)
    bias = _bias("beta")
    assert bias is not None
    part = int(bias.draw(stream(0, 1), 0)[0])
    held = Availability(curve, {}, bias).curve_of(4, stream)
    assert held.rise == curve.rise * part // 10**9
    assert (held.low, held.period) == (curve.low, DAY)
    assert 0 <= held.phase < DAY
