"""How wakes are computed is asked for in one place, reaches every plan, and changes nothing else of it."""

import sys
from pathlib import Path

import pytest

from scenarios.api.runs import make_plan
from scenarios.command.main import main
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning.wake_paths import AUTO, FAST, PATHS, checked_path
from scenarios.running.compared_runs import other_plan
from tests.support.builders import scenario


def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python find no numba, as where it is not installed."""
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.mark.parametrize("path", [path for path in PATHS if path != FAST])
def test_a_plan_has_the_path_that_was_asked_for_and_is_the_same_scenario(path: str) -> None:
    plan = make_plan(scenario(), path=path)
    assert plan.path == path
    assert plan.resolved == make_plan(scenario()).resolved


def test_a_plan_without_a_wish_chooses_by_itself() -> None:
    assert make_plan(scenario()).path == AUTO


def test_a_run_that_is_compared_with_takes_the_same_path() -> None:
    plan = make_plan("quickstart", path="detailed")
    assert other_plan(plan, "ring5-dropout", []).path == "detailed"


@pytest.mark.parametrize("path", ["plane", "", "FAST", None, 3])
def test_no_other_path_is_known(path: object) -> None:
    with pytest.raises(ScenarioError, match="auto, detailed"):
        checked_path(path)


def test_the_nearest_path_is_named() -> None:
    with pytest.raises(ScenarioError, match="did you mean 'plain'"):
        make_plan(scenario(), path="plane")


def test_fast_without_numba_says_in_one_sentence_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_compiler(monkeypatch)
    (tmp_path / "x.toml").write_text(to_toml(scenario()))
    out = tmp_path / "run"
    words = ["run", str(tmp_path / "x.toml"), "--path", FAST, "--out", str(out)]
    assert main(words) == 2
    said = "path: fast needs numba, which is not installed: pip install 'hush-sim[fast]'\n"
    assert capsys.readouterr() == ("", said)
    assert not out.exists()


def test_without_numba_every_other_path_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler(monkeypatch)
    assert [checked_path(path) for path in PATHS if path != FAST] == [AUTO, "detailed", "plain"]
