"""What governs a run: it is held, paced and let go, alone or beside another."""

import math
import time
from pathlib import Path

import pytest

from scenarios.console.control.run_control import RunControl
from scenarios.running.control import RunGovernor
from tests.support.pairs import POISSON, both


def test_a_governor_that_holds_nothing_asks_nothing() -> None:
    assert RunGovernor().free
    assert not RunGovernor(speed=3.0).free
    governor = RunGovernor()
    governor.hold()
    assert not governor.free
    governor.go()
    assert governor.free
    governor.go(hurries=True, edge=7)
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
    governor.hold()
    held = governor.now
    assert held >= seen[-1]
    time.sleep(0.005)
    assert governor.now == held
    governor.pacing.restart()
    governor.pacing.speed = 1e6
    assert governor.now == held
    governor.go()
    assert governor.now == held
    governor.allowance(10**9)
    time.sleep(0.002)
    assert governor.now == 10**9 - 1
    served = 10**9
    assert governor.now == 10**9
    governor.upcoming = math.inf
    assert governor.now == 10**9


def test_runs_side_by_side_have_one_time_and_none_goes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whichever is asked first, whatever is commanded: neither has done anything for long."""
    wall = 50.0
    monkeypatch.setattr("scenarios.running.control.time.perf_counter", lambda: wall)
    runs = both(tmp_path, POISSON, POISSON, speed=1.0)
    control = RunControl(runs)
    one, other = (run.governor for run in runs)
    for first, second in ((one, other), (other, one)):
        for act in (
            control.restart_pace,
            lambda: control.set_speed(2.0),
            control.hold,
            control.play,
        ):
            for governor in (second, first):
                governor.allowance(10**11)
            wall += 0.5
            before = one.now
            assert other.now == before
            act()
            assert one.now == other.now == before
    assert one.now == 5e9  # two halves at one, four at two, and two while held
    for run in runs:
        run.recorder.close()
