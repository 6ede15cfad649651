"""A verdict is an interval against a bound: what can be checked with a pencil."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.records.intervals import interval
from scenarios.reproduction.judgement import (
    CONFIDENCE,
    FAILS,
    HOLDS,
    UNDECIDED,
    Absent,
    Part,
    differences,
    judged,
    within,
)

VALUES = st.lists(st.floats(-10, 10), min_size=3, max_size=8).filter(
    lambda v: max(v) - min(v) > 1e-3
)


@given(VALUES, st.floats(-12, 12))
def test_a_part_is_its_interval_against_its_bound(values: list[float], bound: float) -> None:
    low, _, high = interval(values, CONFIDENCE)
    above = judged([Part("x", tuple(values), above=bound)]).verdict
    below = judged([Part("x", tuple(values), below=bound)]).verdict
    assert above == (HOLDS if low > bound else FAILS if high <= bound else UNDECIDED)
    assert below == (HOLDS if high < bound else FAILS if low >= bound else UNDECIDED)
    assert {above, below} in ({HOLDS, FAILS}, {UNDECIDED})


@given(VALUES, st.floats(-10, 10), st.floats(0.1, 12))
def test_equal_is_an_interval_inside_of_two_bounds(
    values: list[float], around: float, bound: float
) -> None:
    """Two one-sided tests: numbers that differ too much to say are undecided, and never equal."""
    low, _, high = interval(values, CONFIDENCE)
    verdict = judged([within("x", tuple(values), bound, around=around)]).verdict
    inside = around - bound < low and high < around + bound
    outside = high <= around - bound or low >= around + bound
    assert verdict == (HOLDS if inside else FAILS if outside else UNDECIDED)


@given(VALUES, st.floats(-12, 12), st.floats(-5, 5))
def test_moving_numbers_and_bound_together_moves_no_verdict(
    values: list[float], bound: float, by: float
) -> None:
    one = judged([Part("x", tuple(values), above=bound)]).verdict
    low, _, high = interval(values, CONFIDENCE)
    if min(abs(low - bound), abs(high - bound)) > 1e-6:  # not where rounding decides
        moved = tuple(v + by for v in values)
        assert judged([Part("x", moved, above=bound + by)]).verdict == one


@given(VALUES)
def test_more_parts_need_wider_intervals(values: list[float]) -> None:
    """The intervals of k parts hold together with 95 %: each alone with 1 − 0.05/k (Bonferroni)."""
    low, _, _ = interval(values, CONFIDENCE)
    between = (low + interval(values, 1 - (1 - CONFIDENCE) / 5)[0]) / 2
    part = Part("x", tuple(values), above=between)
    assert judged([part]).verdict == HOLDS
    assert judged([part] * 5).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ((HOLDS, HOLDS), HOLDS),
        ((HOLDS, UNDECIDED), UNDECIDED),
        ((FAILS, UNDECIDED), FAILS),
        ((HOLDS, FAILS), FAILS),
    ],
)
def test_a_claim_holds_where_all_its_parts_do(verdicts: tuple[str, str], together: str) -> None:
    values = {HOLDS: (1.0,), FAILS: (-1.0,), UNDECIDED: (math.nan,)}
    assert judged(Part("x", values[v], above=0, exact=True) for v in verdicts).verdict == together


def test_one_number_decides_only_where_it_is_exact() -> None:
    for values in ((0.5,), (0.5, 0.5)):
        assert judged([Part("x", values, above=0.4)]).verdict == UNDECIDED
        assert judged([Part("x", values, above=0.4, below=0.6, exact=True)]).verdict == HOLDS
        assert judged([Part("x", values, above=0.5, exact=True)]).verdict == FAILS
    assert judged([Part("x", (0.5,) * 3, above=0.4)]).verdict == HOLDS  # no seed changed it


def test_what_is_no_number_decides_nothing() -> None:
    for values in ((), (math.nan, 1.0), (math.inf, 1.0)):
        judgement = judged([Part("x", values, above=0)])
        assert judgement.verdict == UNDECIDED
        assert "no value" in judgement.found[0]


def test_a_part_without_a_bound_and_a_claim_without_a_part_are_errors() -> None:
    with pytest.raises(ValueError, match="bound"):
        Part("x", (1.0,))
    with pytest.raises(ValueError, match="part"):
        judged([])


def test_differences_are_paired_by_seed() -> None:
    assert differences({1: 1.0, 2: 2.0, 3: 0.0}, {3: 5.0, 2: 7.0}) == (5.0, 5.0)
    with pytest.raises(Absent):
        differences({1: 1.0}, {2: 1.0})
