"""The page of performance is what its report says."""

import importlib.util
from types import ModuleType

import pytest

from benchmarks import report
from benchmarks.report import Report, Row
from benchmarks.targets import GOALS, LINES
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    """Return the program that writes the page."""
    spec = importlib.util.spec_from_file_location("drawing", ROOT / "docs/draw_performance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_was_measured(drawing: ModuleType) -> None:
    text = drawing.PAGE.read_text("utf-8")
    found, baseline = report.read(drawing.MEASURED), report.read(drawing.BASELINE)
    assert drawing.page(text, found, baseline) == text, "run docs/draw_performance.py"


def test_no_figure_of_the_page_is_of_tiny_sizes(drawing: ModuleType) -> None:
    for path in (drawing.MEASURED, drawing.BASELINE):
        assert not any(measured.quick for measured in report.read(path).comparisons.values())


def test_every_goal_has_a_line_of_the_table(drawing: ModuleType) -> None:
    empty = Report(report.SUITE)
    lines = drawing.table(empty, empty)[2:]
    assert len(lines) == len(GOALS)
    assert all(f"`{goal}`" in line for goal, line in zip(GOALS, lines, strict=True))
    assert all(line.what in "".join(lines) for line in LINES)
    assert all(line.count("|") == 7 for line in lines)
    assert all("not measured" in line for line in lines)


def test_a_line_tells_by_how_much_its_goal_is_missed(drawing: ModuleType) -> None:
    line, empty = LINES[0], Report(report.SUITE)
    row = Row(line.goals[0].name, "", "×", 1.5 * line.goals[0].bound)
    assert "missed by 50%" in drawing._line(line, line.goals[0], row, empty, first=True)
    share = next(line for line in LINES if "gossipy" in line.goals[0].name)
    row = Row(share.goals[0].name, "", "×", 1 / 15)
    told = drawing._line(share, share.goals[0], row, empty, first=True)
    assert "≤ 1/12 | **1/15.0** | met |" in told
