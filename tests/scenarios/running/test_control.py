"""Who holds time: a hand that pauses, paces and lets go."""

import math
import time

import pytest

from scenarios.running.control import Abreast, RunGovernor


def test_a_hand_that_nobody_holds_asks_nothing() -> None:
    assert RunGovernor().free
    assert not RunGovernor(speed=3.0).free
    governor = RunGovernor()
    governor.pause()
    assert not governor.free
    governor.resume()
    assert governor.free
    governor.hurry(edge=7)
    assert not governor.free


def test_between_two_entries_time_goes_on_at_its_pace() -> None:
    """It never falls, never reaches what is not served, stands while held, and goes on from there."""
    governor = RunGovernor(speed=1.0)
    served = 0
    governor.served = lambda: served
    assert governor.now == 0
    assert governor.allowance(10**9) > 0.9
    seen = [governor.now]
    for _ in range(5):
        time.sleep(0.002)
        seen.append(governor.now)
    assert seen == sorted(seen)
    assert 5 * 2_000_000 <= seen[-1] - seen[0] < 10**9
    governor.pause()
    held = governor.now
    assert held >= seen[-1]
    time.sleep(0.005)
    assert governor.now == held
    governor.pace(1e6)
    assert governor.now == held
    governor.resume()
    assert governor.now == held
    governor.allowance(10**9)
    time.sleep(0.002)
    assert governor.now == 10**9 - 1
    served = 10**9
    assert governor.now == 10**9
    governor.upcoming = math.inf
    assert governor.now == 10**9


def test_runs_abreast_have_one_time_and_none_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is asked first, whatever is ordered: neither has done anything for long."""
    wall = 50.0
    monkeypatch.setattr("scenarios.running.control.time.perf_counter", lambda: wall)
    one, other = RunGovernor(speed=1.0), RunGovernor(speed=1.0)
    Abreast([one, other], 10**12, lambda _: None)
    for first, second in ((one, other), (other, one)):
        for act in (
            first.set_out,
            lambda governor=second: governor.pace(2.0),
            first.pause,
            second.resume,
        ):
            for governor in (second, first):
                governor.allowance(10**11)
            wall += 0.5
            before = one.now
            assert other.now == before
            act()
            assert one.now == other.now == before
    assert one.now == 5e9  # two halves at one, four at two, and two while held
