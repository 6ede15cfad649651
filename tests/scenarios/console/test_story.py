"""The story: one axis of time for a metric and its faults, and values where a pencil puts them."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.assembly.story import metrics_of, story_of
from scenarios.console.drawing.curves import Axis, Curve, bounds, draw_curves, labels, row_of
from scenarios.console.drawing.model import Point, Window
from scenarios.console.drawing.story import story
from scenarios.console.drawing.styled_text import DOTS, GOOD, brief, target_at, width_of
from scenarios.console.sources.histories import Histories
from scenarios.console.sources.references import References, from_summary
from tests.support.builders import perform, private
from tests.support.looks import stood
from tests.support.screens import HEADER, STORY, model


def dots(lines: list[list[tuple[str, str]]], style: str) -> set[tuple[int, int]]:
    """The dots of one style: column and row of dots, from above."""
    found = set()
    for row, line in enumerate(lines):
        column = 0
        for text, ink in line:
            for at, c in enumerate(text):
                bits = ord(c) - 0x2800 if "\u2800" <= c <= "\u28ff" and ink == style else 0
                for y, pair in enumerate(DOTS):
                    found |= {
                        (2 * (column + at) + x, 4 * row + y)
                        for x, bit in enumerate(pair)
                        if bits & bit
                    }
            column += len(text)
    return found


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(1, 20), st.integers(4, 60))
def test_a_constant_is_a_straight_line(value: float, spread: float, rows: int, size: int) -> None:
    axis = Axis(10.0, 10.0, value - spread, value + spread)
    drawn = draw_curves([Curve(((0.0, value), (10.0, value)), GOOD)], [], axis, rows, size)
    found = dots(drawn, GOOD)
    assert {y for _, y in found} == {row_of(value, axis, rows)}
    assert {x for x, _ in found} == set(range(2 * size))
    assert abs(row_of(value, axis, rows) - (4 * rows - 1) / 2) <= 0.5  # in the middle


@given(st.integers(2, 20), st.integers(8, 60))
def test_a_rising_line_goes_from_corner_to_corner_without_gaps(rows: int, size: int) -> None:
    axis = Axis(1.0, 1.0, 0.0, 1.0)
    found = dots(draw_curves([Curve(((0.0, 0.0), (1.0, 1.0)), GOOD)], [], axis, rows, size), GOOD)
    columns = {x: sorted(y for at, y in found if at == x) for x, _ in found}
    assert set(columns) == set(range(2 * size))
    for x, ys in columns.items():
        assert ys == list(range(ys[0], ys[-1] + 1))
        expected = (1 - (x + 0.5) / (2 * size)) * (4 * rows - 1)
        assert ys[0] - 0.51 <= expected <= ys[-1] + 0.51


@given(st.floats(0.1, 0.9), st.integers(8, 60))
def test_nothing_is_drawn_behind_now(share: float, size: int) -> None:
    axis = Axis(1.0, share, 0.0, 1.0)
    found = dots(draw_curves([Curve(((0.0, 0.2), (1.0, 0.9)), GOOD)], [], axis, 5, size), GOOD)
    assert max(x for x, _ in found) <= 2 * size * share + 1


def test_stairs_keep_a_value_until_the_next() -> None:
    axis = Axis(10.0, 10.0, 0.0, 1.0)
    curve = Curve(((0.0, 0.0), (5.0, 1.0)), GOOD, is_step=True)
    found = dots(draw_curves([curve], [], axis, 5, 20), GOOD)
    assert {y for x, y in found if x < 20} == {19}
    assert {y for x, y in found if x > 20} == {0}


def test_bounds_hold_all_that_is_compared() -> None:
    low, high = bounds([Curve(((0.0, 0.4), (1.0, 0.6)), GOOD)], [0.9, math.nan])
    assert low < 0.4
    assert 0.9 < high < 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4), st.integers(4, 12))
def test_labels_never_share_a_line_and_stand_in_the_order_of_their_values(
    values: list[float], rows: int
) -> None:
    axis = Axis(1.0, 1.0, 0.0, 1.0)
    placed = labels([(v, f"{v}", GOOD) for v in values], axis, rows)
    assert len(placed) == len(values)
    shown = [float(placed[row][0]) for row in sorted(placed)]
    assert shown == sorted(values, reverse=True)
    assert all(0 <= row < rows for row in placed)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_metric_budget_faults_and_axis_stand_under_each_other(width: int) -> None:
    """What is clicked in one column means one instant, in whichever line."""
    windows = [Window(0, "crash", "x", (2,), 20.0, None, 40.0)]
    drawn = story(model(story=STORY, windows=windows, header=HEADER), width, 14)
    instants: dict[int, set[float]] = {}
    for line in drawn:
        for column in range(width):
            hit = target_at(line, column)
            if hit is not None and hit[0].kind == "time":
                target, at = hit
                assert isinstance(target.value, tuple)
                assert target.value == (0.0, 60.0)
                instants.setdefault(column, set()).add(60.0 * (at + 0.5) / target.width)
    assert len(instants) > 10
    assert all(len(each) == 1 for each in instants.values())
    assert max(map(width_of, drawn)) == width


def test_the_headline_and_both_lines_are_said() -> None:
    told = replace(STORY, references=[("alone", 0.45), ("central", 0.35)])
    shown = "\n".join(
        "".join(text for text, _ in line) for line in story(model(story=told), 100, 16)
    )
    for words in (
        "gain +0.05 over alone",
        "alone 0.45",
        "central 0.35",
        "now 0.4",
        "loss*",
        "mean ε / cap",
    ):
        assert words in shown, words


@pytest.mark.parametrize("width", range(40, 201, 7))
@pytest.mark.parametrize(
    ("low", "mean", "high"), [(0.5023, 0.5637, 0.8617), (-0.0021, 0.0546, 1.23456e-05)]
)
def test_no_figure_beside_the_chart_is_cut(
    width: int, low: float, mean: float, high: float
) -> None:
    """The beginning of 0.5637 is 0.56, and that of "0.5 to 0.86" says that all is below 0."""
    points = [Point(float(t), mean, low, high) for t in range(3)]
    told = replace(STORY, points=points, references=[("alone", 1.23456e-05), ("central", -0.85631)])
    told = replace(told, headline="")
    whole = {brief(v) for v in (low, mean, high, 1.23456e-05, -0.85631)}
    for line in story(model(story=told), width, 16)[1:7]:
        shown = "".join(text for text, _ in line)
        for figure in re.findall(r"(?<![\w.])-?\d[\d.]*(?:e-\d*)?", shown.replace("80 %", "")):
            assert figure in whole, shown


# where its numbers come from


def test_a_history_is_thinned_and_keeps_its_ends_in_order() -> None:
    kept = Histories(2)
    for t in range(3000):
        kept.add(t * 10**9, {"loss": [float(t), float(t + 2)], "objective": 2.0 * t, "name": "x"})
    points = kept.series("loss")
    assert 150 < len(points) <= 400
    assert [p.t_s for p in points] == sorted({p.t_s for p in points})
    assert all(p.mean == p.t_s + 1 for p in points)
    assert kept.names == ["loss", "objective"]
    assert all(math.isnan(p.low) and p.mean == 2 * p.t_s for p in kept.series("objective"))
    assert kept.of_agents("loss", [1])[0][1] == [kept.of_agents("loss", [0])[0][1][0] + 2]


def test_a_crowd_folds_to_the_same_as_few() -> None:
    few, many = Histories(400), Histories(401)
    values = [float(i % 7) for i in range(401)]
    few.add(0, {"loss": values[:400]})
    many.add(0, {"loss": values})
    (one,), (other,) = few.series("loss"), many.series("loss")
    assert isinstance(one, Point)
    assert one.low == other.low
    assert one.mean == pytest.approx(other.mean, rel=0.01)


def test_shares_of_budgets_are_means_of_shares() -> None:
    kept = Histories(2)
    kept.add(0, {"epsilon": [1.0, 1.0]})
    kept.add(10**9, {"epsilon": [2.0, 3.0]})
    assert kept.shares("epsilon", np.array([4.0, 4.0])) == [(0.0, 0.25), (1.0, 0.625)]
    assert kept.shares("epsilon", np.array([2.0, 4.0])) == [(0.0, 0.375), (1.0, 0.875)]


def test_references_are_those_of_the_summary_live_and_replayed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    ran = perform(private(), tmp_path_factory.mktemp("ran"))
    _, control = stood(ran, 20.0)
    known = control.source.references()
    summary = ran.outcome.summary
    assert known.alone.get("loss") == summary["local"]["loss"]
    assert known.central.get("accuracy.test") == summary["central"]["accuracy"]
    assert known == from_summary(summary)
    facts = control.source.facts
    assert known.of("gain", facts) == [("alone", 0.0)]
    assert ("cap", facts.cap_of(0)) in known.of("epsilon", facts)
    assert References({}, {}).of("loss", facts) == []


def test_the_headline_names_its_score_beside_another_metric(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    _, control = stood(perform(private(), tmp_path_factory.mktemp("ran")), 20.0)
    metrics = metrics_of(control.source)
    assert {"accuracy.test", "loss"} <= set(metrics)
    for metric in metrics:
        headline = story_of(
            control.source, metric, np.full(control.source.facts.size, 4.0)
        ).headline
        bare = metric in {"accuracy.test", "gain"}
        assert headline.startswith("gain " if bare else "accuracy gain "), metric
