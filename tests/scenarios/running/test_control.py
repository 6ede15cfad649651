"""Who holds time: a hand that pauses, paces and lets go."""

import math
import time

import pytest

from scenarios.running.control import Abreast, Hand


def test_a_hand_that_nobody_holds_asks_nothing() -> None:
    assert Hand().free
    assert not Hand(speed=3.0).free
    hand = Hand()
    hand.pause()
    assert not hand.free
    hand.resume()
    assert hand.free
    hand.hurry(edge=7)
    assert not hand.free


def test_between_two_entries_time_goes_on_at_its_pace() -> None:
    """It never falls, never reaches what is not served, stands while held, and goes on from there."""
    hand = Hand(speed=1.0)
    served = 0
    hand.served = lambda: served
    assert hand.now == 0
    assert hand.allowance(10**9) > 0.9
    seen = [hand.now]
    for _ in range(5):
        time.sleep(0.002)
        seen.append(hand.now)
    assert seen == sorted(seen)
    assert 5 * 2_000_000 <= seen[-1] - seen[0] < 10**9
    hand.pause()
    held = hand.now
    assert held >= seen[-1]
    time.sleep(0.005)
    assert hand.now == held
    hand.pace(1e6)
    assert hand.now == held
    hand.resume()
    assert hand.now == held
    hand.allowance(10**9)
    time.sleep(0.002)
    assert hand.now == 10**9 - 1
    served = 10**9
    assert hand.now == 10**9
    hand.upcoming = math.inf
    assert hand.now == 10**9


def test_runs_abreast_have_one_time_and_none_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is asked first, whatever is ordered: neither has done anything for long."""
    wall = 50.0
    monkeypatch.setattr("scenarios.running.control.time.perf_counter", lambda: wall)
    one, other = Hand(speed=1.0), Hand(speed=1.0)
    Abreast([one, other], 10**12, lambda _: None)
    for first, second in ((one, other), (other, one)):
        for act in (first.set_out, lambda hand=second: hand.pace(2.0), first.pause, second.resume):
            for hand in (second, first):
                hand.allowance(10**11)
            wall += 0.5
            before = one.now
            assert other.now == before
            act()
            assert one.now == other.now == before
    assert one.now == 5e9  # two halves at one, four at two, and two while held
