"""Runs that tests share: one for each plan."""

from tests.support.builders import private
from tests.support.finished_runs import finished


def test_one_plan_is_one_run_however_its_scenario_is_written() -> None:
    run = finished(private())
    assert finished(dict(reversed(private().items()))) is run
    assert finished(private(run={"seed": 6, "horizon": 20.0})) is not run
    assert finished(private(seeds={"noise": 99})) is not run
