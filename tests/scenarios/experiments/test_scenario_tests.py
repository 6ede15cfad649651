"""Scenario files as tests: the verb, the pytest plugin, verdicts over seeds, and what a failure says to who did not write it."""

import math
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.command.test import write_first
from scenarios.experiments.scenario_tests import (
    Case,
    attempt,
    cases_of,
    collect,
    over_seeds,
)
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.records.intervals import interval
from tests.support.builders import perform, scenario
from tests.support.command import hush
from tests.support.paths import ROOT


def written(folder: Path, name: str, **sections: Any) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(to_toml(scenario(**sections)), encoding="utf-8")
    return path


GOOD = [{"metric": "loss.mean", "below": 10.0}]
BAD = [{"name": "far too good", "metric": "loss.mean", "below": 1e-6}]


@pytest.mark.slow
def test_a_failure_says_where_what_and_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path, "test_bad", expect=BAD, fault=[{"at": 2.0, "crash": [0]}])
    line = path.read_text().splitlines().index("[[expect]]") + 1
    ran = hush("test", "test_bad.toml", cwd=tmp_path)
    assert ran.returncode == 1
    said = ran.stdout
    assert f"test_bad.toml:{line}: wanted loss.mean < 1e-06 (end), got " in said
    assert "(far too good)" in said
    assert "faults that happened: crash 1×" in said
    replay = next(x for x in said.splitlines() if "replay:" in x).split("replay:")[1].split()
    again = hush(*replay[1:], cwd=tmp_path)
    assert again.returncode == 1
    then = next(x for x in said.splitlines() if "then:" in x).split("then:")[1]
    for command in then.split(";"):
        assert hush(*command.split()[1:], cwd=tmp_path).returncode == 0
    smaller = next(x for x in said.splitlines() if "smaller:" in x).split("smaller:")[1].split()
    shrunk = hush(*smaller[1:], cwd=tmp_path)
    assert "faults 1 → 0" in shrunk.stdout
    assert hush("test", "small.shrunk.toml", cwd=tmp_path).returncode == 1


@pytest.mark.slow
def test_what_passes_says_so_and_seeds_are_cases(tmp_path: Path) -> None:
    written(tmp_path, "test_one", expect=GOOD)
    written(tmp_path, "other", expect=BAD)
    ran = hush("test", ".", "--seeds", "3..5", cwd=tmp_path)
    assert ran.returncode == 0
    assert [line for line in ran.stdout.splitlines() if line.startswith("✓")] == [
        f"✓ test_one.toml[{seed}]: passed" for seed in (3, 4, 5)
    ]
    assert ran.stdout.splitlines()[-1] == "3 passed of 3"


def test_files_folders_and_the_library_are_collected(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    one = written(tmp_path / "deep", "test_one")
    two = written(tmp_path, "two")
    assert collect([str(tmp_path)]) == [str(one)]
    assert collect([str(two), str(two)]) == [str(two)]
    assert "partition-heals" in collect(["library:"])
    assert "adult" not in collect(["library:"])  # its data set is not part of hush
    assert collect(["library:adult"]) == ["adult"]
    assert collect(["library:quickstart", "quickstart"]) == ["quickstart"]
    with pytest.raises(ScenarioError, match="no file, no folder and no scenario"):
        collect(["nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ScenarioError, match="holds no test_"):
        collect([str(tmp_path / "empty")])


@pytest.mark.slow
def test_exit_codes_are_the_worst(tmp_path: Path) -> None:
    written(tmp_path, "good", expect=GOOD)
    written(tmp_path, "bad", expect=BAD)
    written(tmp_path, "unknown", expect=[{"metric": "rounds.survivors", "above": 0}])
    (tmp_path / "broken.toml").write_text("schema = 2\n")
    for names, code in (
        (["good"], 0),
        (["good", "bad"], 1),
        (["good", "unknown"], 4),
        (["unknown", "bad"], 1),
        (["bad", "broken"], 2),
    ):
        assert hush("test", *(f"{name}.toml" for name in names), cwd=tmp_path).returncode == code
    assert hush("test").returncode == 2


# what happens at least once


def test_what_must_happen_sometimes_fails_where_it_never_does(tmp_path: Path) -> None:
    expect = [{"sometimes": 'kind == "crashed"'}]
    never = perform(scenario(expect=expect), tmp_path)
    assert never.outcome.code == 1
    assert "never happened" in never.outcome.summary["expectations"][0]["note"]
    once = perform(scenario(expect=expect, fault=[{"at": 3.0, "crash": [1]}]), tmp_path)
    assert once.outcome.code == 0
    crash = once.events("crashed")[0]
    assert once.outcome.summary["expectations"][0]["first"] == crash["seq"]


def test_a_metric_that_holds_does_not_pass_without_its_fault(tmp_path: Path) -> None:
    expect = [{"metric": "loss.mean", "below": 10.0, "sometimes": 'kind == "lost"'}]
    assert perform(scenario(expect=expect), tmp_path).outcome.code == 1
    lossy = {"topology": "ring", "loss": 0.5}
    assert perform(scenario(expect=expect, network=lossy), tmp_path).outcome.code == 0


# over seeds


def test_an_interval_is_students() -> None:
    """Two values a and b: mean ± t·|a−b|/2, and t of one degree of freedom at 95 % is tan(0.475 π)."""
    low, mean, high = interval([1.0, 3.0], 0.95)
    assert mean == 2.0
    assert high - mean == pytest.approx(math.tan(0.475 * math.pi))
    assert mean - low == pytest.approx(high - mean)


def test_intervals_cover_as_often_as_they_say() -> None:
    """2,000 samples of five normals: a 90 % interval misses more than 13 % with a probability below 1e-5."""
    rng = np.random.Generator(np.random.PCG64(1))
    missed = 0
    for sample in rng.standard_normal((2000, 5)):
        low, _, high = interval(sample.tolist(), 0.9)
        missed += not low <= 0 <= high
    assert 0.07 < missed / 2000 < 0.13


@pytest.mark.parametrize(
    ("bound", "word"),
    [
        ({"above": 0.0}, "passed"),
        ({"above": 5.0}, "failed"),
        ({"equals": 0.65, "tolerance": 1e-9}, "unknown"),
    ],
)
def test_the_mean_over_seeds_is_judged_by_its_interval(
    tmp_path: Path, bound: Any, word: str
) -> None:
    expect = [{"metric": "loss.mean", "over": "seeds", "confidence": 0.9, **bound}]
    path = written(tmp_path, "over", expect=expect)
    verdicts = [attempt(Case(str(path), seed)) for seed in range(4)]
    assert {verdict.code for verdict in verdicts} == {0}  # one run cannot judge it
    values = [verdict.values[0] for verdict in verdicts]
    bounds = interval(values, 0.9)
    if "equals" in bound:
        expect[0]["equals"] = float(np.mean(bounds))
        written(tmp_path, "over", expect=expect)
    found = over_seeds(verdicts)
    assert [verdict.word for verdict in found] == [word]
    assert f"over 4 seeds: mean {bounds[1]:.4g}" in found[0].lines[0]


@pytest.mark.slow
def test_one_seed_is_not_many(tmp_path: Path) -> None:
    expect = [{"metric": "loss.mean", "over": "seeds", "above": 0.0}]
    path = written(tmp_path, "over", expect=expect)
    found = over_seeds([attempt(Case(str(path), 1))])
    assert found[0].code == 4
    assert "at least two seeds" in found[0].lines[1]
    swept = written(tmp_path, "swept", expect=expect, sweep={"seeds": "0..3"})
    assert hush("test", str(swept)).stdout.splitlines()[-1] == "5 passed of 5"


# under pytest


def under_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )


@pytest.mark.slow
def test_the_plugin_collects_files_and_seeds(tmp_path: Path) -> None:
    written(tmp_path, "test_good", expect=GOOD, tags=["drop-out"])
    written(tmp_path, "other", expect=BAD)
    ran = under_pytest(tmp_path, "--scenario-seeds", "0..2", "--strict-markers", "-vv")
    assert ran.returncode == 0, ran.stdout
    assert [f"test_good.toml::seed-{seed} PASSED" in ran.stdout for seed in range(3)] == [True] * 3
    assert "3 passed" in ran.stdout
    assert "1 deselected" in under_pytest(tmp_path, "-m", "not drop_out", "--strict-markers").stdout
    assert under_pytest(tmp_path, "other.toml").returncode == 1


@pytest.mark.slow
def test_a_failure_under_pytest_shows_lines_and_no_traceback(tmp_path: Path) -> None:
    written(tmp_path, "test_bad", expect=BAD)
    ran = under_pytest(tmp_path, "--junitxml=out.xml")
    assert ran.returncode == 1
    assert "test_bad.toml:" in ran.stdout
    assert "wanted loss.mean < 1e-06 (end), got " in ran.stdout
    assert "replay:  hush run test_bad.toml --seed 5" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "wanted loss.mean" in (tmp_path / "out.xml").read_text()


@pytest.mark.slow
def test_a_broken_scenario_under_pytest_says_so(tmp_path: Path) -> None:
    (tmp_path / "test_broken.toml").write_text("schema = 1\nnodes = []\nnetwrk = 3\n")
    ran = under_pytest(tmp_path)
    assert ran.returncode == 1
    assert "unknown key 'netwrk'; did you mean 'network'" in ran.stdout


@pytest.mark.slow
def test_a_tag_that_is_no_identifier_is_an_error_of_its_scenario(tmp_path: Path) -> None:
    """Pytest takes no marker that begins with an underscore: one file stopped a whole session."""
    for at, tag in enumerate(("__x", "_x", "two words", "1st", "", "a.b", "x;y")):
        written(tmp_path, f"test_tagged_{at}", expect=GOOD, tags=["early", tag])
    written(tmp_path, "test_good", expect=GOOD)
    ran = under_pytest(tmp_path)
    assert "7 failed, 1 passed" in ran.stdout
    assert ran.stdout.count("tags.1: must be a tag of letters, digits") >= 7
    assert "INTERNALERROR" not in ran.stdout + ran.stderr


@pytest.mark.slow
def test_an_identifier_selects_by_its_marker(tmp_path: Path) -> None:
    tags = ["privacy", "in-the-dark", "früh", "名前", "x1", "a_b"]
    written(tmp_path, "test_tagged", expect=GOOD, tags=tags)
    written(tmp_path, "test_good", expect=GOOD)
    marked = " and ".join(tag.replace("-", "_") for tag in tags)
    assert "1 passed, 1 deselected" in under_pytest(tmp_path, "-m", marked).stdout


@pytest.mark.slow
def test_what_is_judged_over_seeds_is_an_item_of_its_own(tmp_path: Path) -> None:
    expect = [{"metric": "loss.mean", "over": "seeds", "above": 5.0}]
    written(tmp_path, "test_over", expect=expect)
    ran = under_pytest(tmp_path, "--scenario-seeds", "0..2")
    assert "1 failed, 3 passed" in ran.stdout
    assert "over 3 seeds: mean" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", collect(["library:"]))
def test_every_scenario_of_the_library_passes(name: str) -> None:
    verdicts = [attempt(case) for case in cases_of(name)]
    verdicts += over_seeds(verdicts)
    assert {v.case.name: v.lines for v in verdicts if v.code} == {}


@pytest.mark.slow
def test_seeds_that_were_not_run_are_not_judged(tmp_path: Path) -> None:
    expect = [{"metric": "loss.mean", "over": "seeds", "above": 5.0}]
    written(tmp_path, "test_over", expect=expect)
    ran = under_pytest(tmp_path, "test_over.toml::over-seeds", "--scenario-seeds", "0..2")
    assert ran.returncode == 1
    assert "no seed was run" in ran.stdout


@pytest.mark.slow
def test_bad_files_and_bad_seeds_do_not_stop_the_others(tmp_path: Path) -> None:
    written(tmp_path, "test_good", expect=GOOD)
    scenario = (tmp_path / "test_good.toml").read_text()
    (tmp_path / "test_syntax.toml").write_text(scenario + "\n[run\n")
    (tmp_path / "test_twice.toml").write_text('schema = 1\nextends = "library:x"\n' * 2)
    ran = under_pytest(tmp_path)
    assert "2 failed, 1 passed" in ran.stdout
    assert "Traceback" not in ran.stdout
    wrong = under_pytest(tmp_path, "--scenario-seeds", "3..0")
    assert wrong.returncode == 4
    assert "--scenario-seeds must be such as" in wrong.stderr


@pytest.mark.slow
def test_what_was_set_is_in_the_command_that_replays(tmp_path: Path) -> None:
    written(tmp_path, "test_set")
    changes = 'expect=[{metric="loss.mean",at_most=0.01}]'
    ran = hush("test", "test_set.toml", "--set", changes, "--set", "network.loss=0.1", cwd=tmp_path)
    assert ran.returncode == 1
    replay = next(x for x in ran.stdout.splitlines() if "replay:" in x).split("replay:")[1]
    again = hush(*shlex.split(replay)[1:], cwd=tmp_path)
    assert again.returncode == 1
    assert "expected loss.mean <= 0.01" in again.stdout


@pytest.mark.slow
def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, "small", expect=BAD)
    before = path.read_text()
    refused = hush("test", "small.toml", "--shrink", "--out", "small.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert path.read_text() == before
    for name in ("small.shrunk.toml", "small.shrunk-1.toml"):
        hush("test", "small.toml", "--shrink", cwd=tmp_path)
        assert (tmp_path / name).exists()
    assert not list(tmp_path.glob("*trial*"))
    mine = tmp_path / "swarm" / "world-0-1.toml"
    mine.parent.mkdir()
    mine.write_text(before)
    assert hush("test", "--swarm", "2", cwd=tmp_path).returncode == 2
    assert mine.read_text() == before


@pytest.mark.slow
def test_shrinking_leaves_every_file_that_is_there_as_it_is(tmp_path: Path) -> None:
    """Also those whose names it would take for its trials, and those that came while it ran."""
    written(tmp_path, "small", expect=BAD)
    names = ["small.shrunk.toml.trial.toml", "small.shrunk.toml", "small.shrunk-1.toml"]
    for name in names:
        (tmp_path / name).write_text("mine")
    assert hush("test", "small.toml", "--shrink", cwd=tmp_path).returncode == 1
    assert [(tmp_path / name).read_text() for name in names] == ["mine"] * 3
    assert (tmp_path / "small.shrunk-2.toml").exists()
    names = ["small.toml", "small.shrunk.toml", "new.toml"]
    assert write_first(tmp_path, names, "schema = 1\n") == tmp_path / "new.toml"
    with pytest.raises(ScenarioError, match="exists already"):
        write_first(tmp_path, ["new.toml"], "")
    assert (tmp_path / "new.toml").read_text() == "schema = 1\n"


def test_one_run_cannot_tell_what_is_judged_over_seeds(tmp_path: Path) -> None:
    expect = [{"metric": "loss.mean", "over": "seeds", "above": 0.0}]
    assert perform(scenario(expect=expect), tmp_path).outcome.code == 4
    assert attempt(Case(str(written(tmp_path, "one", expect=expect)))).code == 0


@pytest.mark.slow
def test_names_that_are_nearly_right_are_told(tmp_path: Path) -> None:
    for word in ("quickstrt", "library:quickstrt"):
        told = hush("test", word, cwd=tmp_path)
        assert told.returncode == 2
        assert "did you mean 'quickstart'?" in told.stderr
