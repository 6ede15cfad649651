"""Which runs are compiled: those that ask for it, and by themselves those that can be and are long enough."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.running.arena_world import is_compiled, path_taken
from tests.support.arenas import needs_numba
from tests.support.builders import perform, private, scenario

pytestmark = needs_numba
SERVER = {"mechanism": {"kind": "fedavg"}, "run": {"seed": 3, "rounds": 4}, "network": {}}
REFUSED: dict[str, Any] = {
    "agents talk to a server": scenario(**SERVER),
    "the kind is not cd": scenario(mechanism={"kind": "local"}),
    "agents wake at barriers": scenario(
        nodes=[{"count": 6, "clock": "barrier"}], run={"seed": 1, "rounds": 4}
    ),
    "agents take time to compute": scenario(nodes=[{"count": 6, "compute": 0.2}]),
    "suspect neighbours": scenario(network={"silence": 3.0}),
    "a link has a rate": scenario(network={"rate": 100.0}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_run_that_cannot_be_compiled_says_why(reason: str, tmp_path: Path) -> None:
    plan = make_plan(REFUSED[reason], path="fast")
    with pytest.raises(ScenarioError, match=f"path: fast cannot be taken here: .*{reason}"):
        perform(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("reason", REFUSED)
def test_it_takes_another_path_by_itself(reason: str) -> None:
    plan = make_plan(REFUSED[reason] | {"name": "long"}, allow_large=True)
    assert path_taken(plan) == "plain"


@pytest.mark.parametrize(("updates", "compiled"), [(1_000, False), (300_000, True)])
def test_only_a_long_run_is_compiled_by_itself(updates: int, *, compiled: bool) -> None:
    plan = make_plan(scenario(run={"seed": 1, "updates": updates}), allow_large=True)
    assert is_compiled(plan) is compiled


@pytest.mark.slow
@pytest.mark.parametrize("path", ["detailed", "plain", "fast"])
def test_the_manifest_names_the_path_and_digests_are_equal(path: str, tmp_path: Path) -> None:
    wanted = perform(make_plan(private(), path="detailed"), tmp_path / "detailed")
    ran = perform(make_plan(private(), path=path), tmp_path / "run")
    assert ran.result.manifest["path"] == path
    assert ran.digests["schedule"] == wanted.digests["schedule"]
    assert ran.events() == wanted.events()
    assert ran.result.summary["messages"] == wanted.result.summary["messages"]
