"""How wakes are computed is asked for in one place, reaches every plan, and changes nothing else of it."""

import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.wake_paths import AUTO, PATHS, checked_path
from scenarios.running.compared_runs import other_plan
from tests.support.builders import scenario


@pytest.mark.parametrize("path", PATHS)
def test_a_plan_has_the_path_that_was_asked_for_and_is_the_same_scenario(path: str) -> None:
    plan = make_plan(scenario(), path=path)
    assert plan.path == path
    assert plan.resolved == make_plan(scenario()).resolved


def test_a_plan_without_a_wish_chooses_by_itself() -> None:
    assert make_plan(scenario()).path == AUTO


def test_a_run_that_is_compared_with_takes_the_same_path() -> None:
    plan = make_plan("quickstart", path="events")
    assert other_plan(plan, "ring5-dropout", []).path == "events"


@pytest.mark.parametrize("path", ["event", "", "COLUMNS", None, 3])
def test_no_other_path_is_known(path: object) -> None:
    with pytest.raises(ScenarioError, match="must be one of auto, events, columns"):
        checked_path(path)


def test_the_nearest_path_is_named() -> None:
    with pytest.raises(ScenarioError, match="did you mean 'events'"):
        make_plan(scenario(), path="event")


@pytest.mark.parametrize(
    ("former", "now"), [("detailed", "events"), ("plain", "columns"), ("fast", "columns")]
)
def test_a_former_name_says_the_new_one(former: str, now: str) -> None:
    with pytest.raises(ScenarioError, match=f"got '{former}'; {former} is {now} now"):
        make_plan(scenario(), path=former)
