"""An agent's own clock: exact in whole nanoseconds, and what is due when it is turned."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fault_state import LocalClock
from clocks.virtual import VirtualClock


class Hands(VirtualClock):
    """A clock that a test sets."""

    def go(self, to: int) -> None:
        self.now = to


def test_who_is_left_alone_shows_the_time() -> None:
    clock = Hands()
    local_clock = LocalClock(clock)
    for now in (0, 1, 10**9, 7 * 10**18):
        clock.go(now)
        assert local_clock.now == now
        assert local_clock.due(now + 5) == now + 5


@given(st.integers(-99, 999), st.integers(1, 10**12), st.integers(1, 10**12))
def test_a_drift_is_a_rate(percent: int, begin: int, lasts: int) -> None:
    clock, drift = Hands(), Fraction(percent, 100)
    local_clock = LocalClock(clock)
    clock.go(begin)
    local_clock.drift(drift, on=True)
    clock.go(begin + lasts)
    assert local_clock.now == int(begin + lasts * (1 + drift))
    local_clock.drift(drift, on=False)
    clock.go(begin + lasts + 1000)
    assert local_clock.now == int(begin + lasts * (1 + drift) + 1000)


@given(st.integers(-90, 500), st.integers(0, 10**15), st.integers(1, 10**13))
def test_what_is_due_is_the_first_instant_that_shows_it(percent: int, now: int, ahead: int) -> None:
    clock = Hands()
    local_clock = LocalClock(clock)
    clock.go(now)
    local_clock.drift(Fraction(percent, 100), on=True)
    wanted = now + ahead
    due = local_clock.due(wanted)
    assert due is not None
    clock.go(due)
    assert local_clock.now >= wanted
    clock.go(due - 1)
    assert local_clock.now < wanted


def test_steps_undo_each_other_and_drifts_multiply() -> None:
    clock = Hands()
    local_clock = LocalClock(clock)
    clock.go(10**9)
    local_clock.step(500)
    assert local_clock.now == 10**9 + 500
    local_clock.step(-500)
    assert local_clock.now == 10**9
    local_clock.drift(Fraction(1), on=True)
    local_clock.drift(Fraction(1, 2), on=True)
    assert local_clock.rate == 3
    local_clock.drift(Fraction(1), on=False)
    assert local_clock.rate == Fraction(3, 2)


def test_a_frozen_clock_shows_nothing_new_and_goes_on_from_there() -> None:
    clock = Hands()
    local_clock = LocalClock(clock)
    clock.go(100)
    local_clock.freeze(on=True)
    local_clock.freeze(on=True)
    clock.go(900)
    assert local_clock.now == 100
    assert local_clock.due(101) is None
    local_clock.freeze(on=False)
    assert local_clock.due(101) is None
    local_clock.freeze(on=False)
    assert local_clock.due(101) == 901


def test_it_never_shows_less_than_nothing() -> None:
    local_clock = LocalClock(Hands())
    local_clock.step(-5)
    assert local_clock.now == 0


@pytest.mark.parametrize("size", [1, 3])
def test_time_that_was_set_back_comes_again(size: int) -> None:
    clock = Hands()
    local_clock = LocalClock(clock)
    clock.go(50)
    local_clock.step(-size)
    assert local_clock.due(50) == 50 + size
