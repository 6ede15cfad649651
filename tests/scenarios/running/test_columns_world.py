"""Which runs are computed in columns: those that ask for it, and by themselves those that can be."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.planning.wake_paths import path_taken, why_events
from tests.support.builders import perform, private, scenario

SERVER = {"mechanism": {"kind": "fedavg"}, "run": {"seed": 3, "rounds": 4}, "network": {}}
REFUSED: dict[str, Any] = {
    "agents talk to a server": scenario(**SERVER),
    "agents talk in pairs": scenario(mechanism={"kind": "collaborative-admm"}),
    "agents wake at barriers": scenario(
        nodes=[{"count": 6, "clock": "barrier"}], run={"seed": 1, "rounds": 4}
    ),
    "agents take time to compute": scenario(nodes=[{"count": 6, "compute": 0.2}]),
    "suspect neighbours": scenario(network={"silence": 3.0}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_run_that_columns_cannot_compute_says_why(reason: str, tmp_path: Path) -> None:
    plan = make_plan(REFUSED[reason], path="columns")
    with pytest.raises(ScenarioError, match=f"path: columns cannot be taken here: .*{reason}"):
        perform(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("reason", REFUSED)
def test_it_takes_another_path_by_itself(reason: str) -> None:
    plan = make_plan(REFUSED[reason])
    assert path_taken(plan) == "events"
    assert reason in why_events(plan)


@pytest.mark.parametrize(("count", "path"), [(3, "events"), (60, "columns")])
def test_all_others_are_computed_in_columns_where_many_wakes_come_between_samples(
    count: int, path: str
) -> None:
    plan = make_plan(scenario(nodes=[{"count": count}], run={"seed": 1, "horizon": 4.0}))
    assert path_taken(plan) == path
    assert bool(why_events(plan)) is (path == "events")


@pytest.mark.parametrize("path", ["events", "columns"])
def test_the_manifest_names_the_path_and_digests_are_equal(path: str, tmp_path: Path) -> None:
    wanted = perform(make_plan(private(), path="auto"), tmp_path / "auto")
    ran = perform(make_plan(private(), path=path), tmp_path / "run")
    assert ran.result.manifest["path"] == path
    assert ran.digests == wanted.digests
    assert ran.events() == wanted.events()
    assert ran.result.summary["messages"] == wanted.result.summary["messages"]
