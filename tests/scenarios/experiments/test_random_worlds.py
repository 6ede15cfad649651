"""Swarms: random worlds are scenario files like any other; what fails stays, and says how."""

from collections import Counter
from pathlib import Path

import pytest

from scenarios.api.runs import check, make_plan
from scenarios.experiments.random_worlds import Dice, small_world
from scenarios.experiments.scenario_tests import Case, attempt
from scenarios.language.writer import to_toml
from scenarios.planning.forecast import forecast
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.scenario import load
from tests.support.builders import private, scenario
from tests.support.command import hush


@pytest.mark.slow
def test_every_random_world_can_run() -> None:
    for number in range(200):
        found = check(small_world(Dice(1, number)))
        assert found.ok, found.problems


def test_a_random_world_is_a_file_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "world.toml"
    path.write_text(to_toml(small_world(Dice(4, 2))), encoding="utf-8")
    assert attempt(Case(str(path))).code == 0
    assert load(str(path)).read == load(small_world(Dice(4, 2))).read


@pytest.mark.slow
def test_the_command_counts_faults_and_keeps_only_what_fails(tmp_path: Path) -> None:
    ran = hush("test", "--swarm", "6", "--seeds", "3", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.splitlines()[-1] == "6 passed of 6"
    assert ran.stdout.splitlines()[-2].startswith("faults that happened: ")
    assert list((tmp_path / "swarm").iterdir()) == []
    kept = hush("test", "--swarm", "3", "--seeds", "3", "--keep", "--out", "all", cwd=tmp_path)
    assert kept.returncode == 0
    names = sorted(path.name for path in (tmp_path / "all").iterdir())
    assert names == [f"world-3-{number}.toml" for number in range(3)]


@pytest.mark.slow
def test_a_scenario_of_ones_own_is_tried_under_more_faults(tmp_path: Path) -> None:
    expect = [{"metric": "messages.lost", "equals": 0}]
    tree = scenario(expect=expect, fault=[{"at": 1.0, "for": 1.0, "pause": [0]}])
    (tmp_path / "mine.toml").write_text(to_toml(tree), encoding="utf-8")
    ran = hush("test", "mine.toml", "--swarm", "12", "--seeds", "0", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 1
    failed = sorted((tmp_path / "out").glob("*.toml"))
    assert failed
    for path in failed:
        faults = load(str(path)).read.fault
        assert len(faults) > 1
        assert hush("test", str(path), cwd=tmp_path).returncode == 1


@pytest.mark.slow
def test_what_goes_by_samples_is_not_audited_without_them(tmp_path: Path) -> None:
    """An audit runs a plan without an oracle: faults that ask one would happen otherwise, or never."""
    path = tmp_path / "asks.toml"
    for fault in (
        {"when": "updates.mean > 3", "crash": [0]},
        {"when": 'kind == "sampled"', "crash": [0]},
        {"when": "seq > 100", "crash": [0]},
        {"at": 1.0, "crash": {"highest": "updates"}},
    ):
        tree = private(fault=[fault])
        assert make_plan(tree).sampled
        path.write_text(to_toml(tree), encoding="utf-8")
        told = hush("audit", str(path), "--runs", "4", cwd=tmp_path)
        assert told.returncode == 2
        assert "a fault here goes by metrics or samples" in told.stderr
    assert not make_plan(private(fault=[{"when": 'kind == "released"', "crash": [0]}])).sampled
    expect = [{"metric": "epsilon.audited", "at_most": 9.0}]
    asks = private(fault=[{"when": "updates.mean > 3", "crash": [0]}], expect=expect)
    assert "runs the plan without an oracle" in check(asks).problems[0]


@pytest.mark.parametrize("expression", ["loss.mean > 0", "gap < 1"])
def test_a_run_that_an_oracle_steers_is_not_covered_and_says_so(expression: str) -> None:
    plan = make_plan(private(fault=[{"when": expression, "oracle": True, "pause": [0]}]))
    assert not plan.covered
    assert any(
        "only an oracle sees, so who takes part depends on data" in r for r in plan.uncovered
    )
    assert any(w == f"not covered: {plan.uncovered[0]}" for w in forecast(plan)["warnings"])


def test_a_world_of_one_agent_has_faults_that_fit_it() -> None:
    """A kind that one agent has alone is drawn, too: a fault may not ask for two agents."""
    kinds = Counter[str]()
    for number in range(300):
        world = small_world(Dice(2026, number))
        if sum(group["count"] for group in world["nodes"]) == 1:
            kinds[make_plan(world).kind] += 1
    assert set(kinds) == {kind.name for kind in MECHANISMS.values() if kind.pooled}
