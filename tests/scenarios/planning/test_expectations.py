"""Bounds and comparisons of expectations."""

import math

import pytest

from scenarios.planning.expectations import BOUNDS, Bound, Comparison, Expectation, Selection

HOLDS = {
    "above": [3.0],
    "below": [1.0],
    "at_most": [1.0, 2.0],
    "at_least": [2.0, 3.0],
    "equals": [2.0],
}


@pytest.mark.parametrize("key", BOUNDS)
def test_a_bound_holds_for_the_values_that_it_names(key: str) -> None:
    bound = Bound(key, 2.0)
    assert [value for value in (1.0, 2.0, 3.0) if bound.holds(value)] == HOLDS[key]
    assert not bound.holds(math.nan)


def test_equality_has_a_tolerance() -> None:
    assert Bound("equals", 2.0, 0.5).holds(2.5)
    assert not Bound("equals", 2.0, 0.5).holds(math.nextafter(2.5, 3.0))


def test_a_comparison_with_nothing_or_with_zero_has_no_value() -> None:
    ratio, difference = Comparison("other", "ratio"), Comparison("other", "difference")
    assert ratio.of(1.0, 4.0) == 0.25
    assert difference.of(1.0, 4.0) == -3.0
    for value, other in ((1.0, None), (math.inf, 1.0), (1.0, math.nan)):
        assert math.isnan(ratio.of(value, other))
        assert math.isnan(difference.of(value, other))
    assert math.isnan(ratio.of(1.0, 0.0))


def test_an_expectation_says_what_it_wants() -> None:
    late = Expectation(
        selection=Selection("loss.mean", group="phones"),
        bound=Bound("at_most", 0.5),
        when="eventually",
        within=30.0,
        after=1.0,
    )
    assert late.in_words() == "loss.mean of phones <= 0.5 (eventually within 30 s after 1 s)"
