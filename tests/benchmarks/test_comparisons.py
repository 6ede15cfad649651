"""Every comparison of the suite, at its tiniest size: it yields rows, and every goal has one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.comparisons import COMPARISONS, WORLDS, chosen
from benchmarks.targets import GOALS, LINES
from tests.support.paths import ROOT


def suite(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=ROOT,
        env=os.environ | {"HUSH_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def goals_of(name: str) -> set[str]:
    """Return the goals that a comparison has to measure: those of its own name, or below it."""
    return {goal for goal in GOALS if goal == name or goal.startswith(f"{name}/")}


def test_every_line_of_the_table_has_a_goal_and_every_goal_one_comparison() -> None:
    assert all(line.goals for line in LINES)
    for goal in GOALS:
        assert [one.name for one in COMPARISONS if goal in goals_of(one.name)] != [], goal


def test_names_of_comparisons_are_of_their_worlds_and_differ() -> None:
    names = [one.name for one in COMPARISONS]
    assert len(set(names)) == len(names)
    assert {one.world for one in COMPARISONS} == set(WORLDS)
    assert all(one.name.split("/")[0] == one.world for one in COMPARISONS)


def test_a_world_that_is_not_named_is_left_out_only_where_it_takes_minutes() -> None:
    left_out = set(COMPARISONS) - set(chosen([]))
    assert {one.world for one in left_out} == {"million", "paths"}
    assert set(chosen(["million", "paths"])) == left_out


@pytest.mark.slow
@pytest.mark.parametrize("one", COMPARISONS, ids=lambda one: one.name)
def test_a_comparison_yields_a_row_for_each_of_its_goals(one, tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = tmp_path / "found.json"
    done = suite(one.name, "--quick", "--repeat", "1", "--json", str(found), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    read = report.read(found)
    assert list(read.comparisons) == [one.name]
    measured = read.comparisons[one.name]
    assert measured.quick
    assert measured.world == one.world
    assert measured.cpu_s > 0
    assert measured.peak_mb > 10
    names = [row.name for row in measured.rows]
    assert len(set(names)) == len(names)
    assert all(name == one.name or name.startswith(f"{one.name}/") for name in names)
    assert goals_of(one.name) <= set(names)
    for row in measured.rows:
        assert (row.value is None) == bool(row.skipped), row
        if row.low is not None:
            assert row.high is not None
            assert row.value is not None
            assert row.low <= row.high


@pytest.mark.slow
def test_an_unknown_world_is_refused_with_the_names_that_there_are() -> None:
    done = suite("gossip")
    assert done.returncode == 2
    assert "no world is called 'gossip'" in done.stderr
    assert "gossipy" in done.stderr


@pytest.mark.slow
def test_a_file_that_is_no_report_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(b"[]")
    for option in ("--against", "--json"):
        done = suite("A", option, str(path))
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert str(path) in done.stderr
    assert path.read_bytes() == b"[]"
