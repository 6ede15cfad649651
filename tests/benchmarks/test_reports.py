"""Ratios, goals and reports: facts that a pencil can check."""

from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.measuring import Skip, Times, interleaved, machine, ratio
from benchmarks.report import Measured, Report, ReportError, Row
from benchmarks.targets import GOALS, Goal


def report_of(*rows: Row) -> Report:
    """Return a report with one comparison."""
    measured = Measured("A", "A", "1.0.0", "abc", False, 3, 1.0, 50.0, machine(), rows)
    return Report(report.SUITE, {"A": measured})


def test_cases_are_measured_in_turns() -> None:
    order: list[str] = []

    def case(name: str) -> float:
        order.append(name)
        return float(len(order))

    times = interleaved({"a": lambda: case("a"), "b": lambda: case("b")}, 3)
    assert order == ["a", "b"] * 3
    assert times["a"].seconds == (1.0, 3.0, 5.0)
    assert times["b"].best == 2.0


def test_a_case_that_cannot_be_measured_leaves_the_others_as_they_are() -> None:
    def refuse() -> float:
        raise Skip("no compiler")

    times = interleaved({"a": refuse, "b": lambda: 2.0}, 2)
    assert times["a"] == Times((), "no compiler")
    row = ratio("r", "", times["a"], times["b"])
    assert (row.value, row.skipped) == (None, "no compiler")


def test_a_ratio_is_best_over_best_with_the_range_of_the_turns() -> None:
    over, under = Times((4.0, 6.0)), Times((2.0, 1.0))
    row = ratio("r", "", over, under)
    assert (row.value, row.low, row.high) == (4.0, 2.0, 6.0)
    turned = ratio("r", "", over, under, turned=True)
    assert (turned.value, turned.low, turned.high) == (1 / 4, 1 / 6, 1 / 2)


@pytest.mark.parametrize("goal", GOALS.values(), ids=lambda goal: goal.name)
def test_a_goal_is_met_at_its_bound_and_missed_beyond_by_the_share(goal: Goal) -> None:
    worse = goal.bound / 1.25 if goal.at_least else goal.bound * 1.25
    better = goal.bound * 1.25 if goal.at_least else goal.bound / 1.25
    assert goal.met(goal.bound)
    assert goal.met(better)
    assert not goal.met(worse)
    assert goal.missed_by(worse) == pytest.approx(0.25)
    row = Row(goal.name, "", "×", worse)
    assert report.verdict(row, quick=False).said == "missed by 25%"
    assert report.verdict(row, quick=True).said == ""


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    found = report_of(Row("A/plain", "what", "×", 1.5, 1.0, 2.0, detail={"µs": 3.0}))
    report.write(path, found)
    assert report.read(path) == found
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"suite": 99}', b'{"suite": 1, "comparisons": 3}', b"\x00\xff", b"null"],
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(text)
    with pytest.raises(ReportError, match=r"other\.json"):
        report.read(path)


def test_a_report_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b" " * 5_000_000)
    with pytest.raises(ReportError, match="at most"):
        report.read(path)
    with pytest.raises(ReportError, match="No such file"):
        report.read(tmp_path / "nothing.json")


def test_the_detailed_path_of_a_baseline_stands_for_the_paths_that_it_lacks() -> None:
    old = report_of(Row("A/1000/100/detailed", "", "×", 3.0), Row("A/1/1/events", "", "×", 0.5))
    assert report.former("A/1000/100/columns", old) == 3.0
    assert report.former("A/1/1/events", old) == 0.5
    assert report.former("A/1000/100/columns:limit", old) is None
    assert report.former("A/1000/100/bare", old) is None
