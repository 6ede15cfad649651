"""The story: one axis of time for a metric and its faults, and values where a pencil puts them."""

import asyncio
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.api.runs import make_plan
from scenarios.console.assembly.story import metrics_of, story_of
from scenarios.console.drawing.curves import Axis, Curve, bounds, draw_curves, labels, row_of
from scenarios.console.drawing.model import Point, Window
from scenarios.console.drawing.story import story
from scenarios.console.drawing.styled_text import (
    CUT,
    DOTS,
    GOOD,
    STEPS,
    WARN,
    Line,
    brief,
    target_at,
    width_of,
)
from scenarios.console.sources import source as source_room
from scenarios.console.sources.histories import Histories
from scenarios.console.sources.references import References, from_summary
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import perform, private, scenario
from tests.support.looks import stood
from tests.support.screens import HEADER, STORY, model
from tests.worlds.test_divergence import explode


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


@given(st.floats(0, 1), st.integers(1, 12), st.integers(4, 60))
def test_what_is_compared_is_a_dashed_line_at_its_value_from_end_to_end(
    value: float, rows: int, size: int
) -> None:
    axis = Axis(1.0, 0.1, 0.0, 1.0)
    found = dots(draw_curves([], [(value, CUT)], axis, rows, size), CUT)
    assert found == {(x, row_of(value, axis, rows)) for x in range(2 * size) if x % 4 < 2}
    assert abs(row_of(value, axis, rows) - (1 - value) * (4 * rows - 1)) <= 0.5


@given(st.floats(0.1, 0.8), st.integers(8, 60))
def test_nothing_is_drawn_before_the_first_sample(first: float, size: int) -> None:
    curve = Curve(((first, 0.5), (1.0, 0.5)), GOOD)
    found = dots(draw_curves([curve], [], Axis(1.0, 1.0, 0.0, 1.0), 5, size), GOOD)
    wanted = {x for x in range(2 * size) if (x + 0.5) / (2 * size) >= first}
    assert {x for x, _ in found} == wanted


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


def _axis_cells(line: Line) -> dict[int, tuple[str, int]]:
    """The characters of a line that stand on the axis of time, by their cell, with how many cells it has."""
    found, column = {}, 0
    for text_, _ in line:
        for at, c in enumerate(text_):
            hit = target_at(line, column + at)
            if hit is not None and hit[0].kind == "time":
                found[hit[1]] = c, hit[0].width
        column += len(text_)
    return found


@given(
    st.lists(st.tuples(st.floats(0, 59), st.floats(0, 1)), min_size=1, max_size=8),
    st.floats(0, 60),
    st.integers(60, 200),
)
def test_budgets_are_steps_at_their_instants(
    spent: list[tuple[float, float]], now: float, width: int
) -> None:
    spent = sorted(spent)
    told, header = replace(STORY, spent=spent), replace(HEADER, now_s=now)
    drawn = story(model(story=told, windows=[], header=header), width, 14)
    (line,) = (line for line in drawn if any("% of cap" in text for text, _ in line))
    assert f" {math.floor(100 * spent[-1][1] + 1e-6)} % of cap" in line[1][0]
    for at, (c, size) in _axis_cells(line).items():
        t = 60.0 * (at + 0.5) / size
        shares = [share for when, share in spent if when <= t <= now]
        assert c == (STEPS[min(7, int(8 * shares[-1]))] if shares else " ")


@given(st.floats(0, 50), st.floats(1, 60), st.floats(0, 60), st.integers(60, 200))
def test_bars_and_the_mark_stand_at_their_instants(
    begun: float, lasts: float, now: float, width: int
) -> None:
    """Each edge lies within a cell of its instant; what is over is full, what is to come is not."""
    window = Window(0, "slow", "slow", (2,), begun, None, begun + lasts)
    header = replace(HEADER, now_s=now)
    drawn = story(model(story=STORY, windows=[window], header=header), width, 14)
    (line,) = (line for line in drawn if any("#0" in text for text, _ in line))
    cells = _axis_cells(line)
    bar = {at: c for at, (c, _) in cells.items() if c in "█░"}
    step = 60.0 / next(size for _, size in cells.values())
    assert abs(min(bar) * step - begun) <= step
    assert abs((max(bar) + 1) * step - min(60.0, begun + lasts)) <= step
    assert set(bar) == set(range(min(bar), max(bar) + 1))
    for at, c in bar.items():
        assert c == "█" or (at + 1) * step >= now
        assert c == "░" or at * step <= now
    (axis,) = (line for line in drawn if any("▲" in text for text, _ in line))
    marks = _axis_cells(axis)
    (mark,) = (at for at, (c, _) in marks.items() if c == "▲")
    assert abs((mark + 0.5) * step - now) <= step
    row = "".join(marks[at][0] for at in range(len(marks)))
    for name in re.finditer(r"([0-9.]+)s", row):
        assert abs((name.start() + name.end()) / 2 * step - float(name[1])) <= 1.5 * step


def test_the_headline_is_said_where_there_is_no_room_for_a_chart() -> None:
    windows = [Window(0, "crash", "x", (2,), 1.0, None, 20.0)]
    (line,) = story(model(story=STORY, windows=windows, header=HEADER), 60, 1)
    assert "".join(text for text, _ in line).startswith(" gain +0.05 over alone  faults  #0 crash")


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


@pytest.mark.parametrize("width", [50, 60, 80, 120, 200])
@pytest.mark.parametrize("value", [0.9506, -0.12346, 1.2345e-5, -12345.6, math.inf])
def test_no_number_is_cut(width: int, value: float) -> None:
    """A number stands there in full, or not at all: 0.9506 is never 0.950, and 80–99 never 80."""
    points = [Point(0.0, 0.1, value, value), Point(10.0, value, value, value)]
    references = [("alone", value), ("central", value)]
    windows = [
        Window(0, "partition", "the laptops are cut off", (*range(80, 100),), 8.0, None, 18.0)
    ]
    told = replace(STORY, points=points, references=references)
    for goes_on in (12.5, 15.0, 29.0, 30.0, 31.0):
        header = replace(HEADER, now_s=goes_on)
        shown = "\n".join(
            "".join(text for text, _ in line)
            for line in story(model(100, story=told, windows=windows, header=header), width, 16)
        )
        numbers = re.findall(r"[-−]?[∞\d][\d.e-]*", shown)
        whole = {
            brief(value),
            brief(value).lstrip("-−"),
            "80",
            "0",
            "99",
            "18.0",
            "15",
            "30",
            "45",
            "60.0",
        }
        assert set(numbers) <= whole | {"25", "1", "0.05", "+0.05", "2"}
        assert ("80–99" in shown) == ("80" in shown.replace("80 %", ""))
        assert "the lap" in shown


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


@pytest.mark.parametrize("size", [2, 401, 4001])
def test_the_last_sample_is_always_shown(size: int) -> None:
    """A chart, its headline and a page of an agent end with what the summary says, however long a run was."""
    kept = Histories(size)
    for t in range(900):
        kept.add(t, {"epsilon": [float(t)] * size, **({"gain": [1.0] * size} if t == 899 else {})})
        if t % 100 == 99:
            assert kept.series("epsilon")[-1].mean == t
            assert kept.shares("epsilon", np.full(size, 1e4))[-1][1] == pytest.approx(t / 1e4)
            rows = kept.of_agents("epsilon", [1])
            assert rows == [] if size > 4000 else rows[-1] == (t / 1e9, [t])
    assert len(kept.series("epsilon")) <= 402
    assert kept.names == ["epsilon", "gain"]
    assert [p.mean for p in kept.series("gain")] == [1.0]
    instants = [p.t_s for p in kept.series("epsilon")]
    assert instants == sorted(set(instants))


def test_infinity_is_a_value_and_what_is_unknown_is_none() -> None:
    kept = Histories(3)
    kept.add(
        0, {"epsilon": ["inf", 1.0, 1.0], "loss": [None, 1.0, 3.0], "gain": [None] * 3, "gap": 1.0}
    )
    kept.add(
        1, {"epsilon": [math.inf] * 3, "loss": [None, 1.0, 3.0], "gain": [None] * 3, "gap": "inf"}
    )
    first, last = kept.series("epsilon")
    assert (first.mean, first.low, last.mean) == (math.inf, 1.0, math.inf)
    assert [p.mean for p in kept.series("loss")] == [2.0, 2.0]
    assert kept.series("gain") == []
    assert [p.mean for p in kept.series("gap")] == [1.0, math.inf]
    assert kept.names == ["epsilon", "loss", "gain", "gap"]


def test_an_infinite_mean_is_said_and_not_drawn_as_the_last_finite_one() -> None:
    points = [Point(0.0, 0.0, 0.0, 0.0), Point(6.0, math.inf, math.inf, math.inf)]
    told = replace(STORY, metric="epsilon", points=points, references=[], spent=[])
    drawn = story(model(story=told), 100, 16)
    shown = "\n".join("".join(text for text, _ in line) for line in drawn)
    assert "mean ∞" in shown
    assert "∞ to ∞" in shown
    assert "now 0" not in shown
    assert len({x for x, _ in dots(drawn, GOOD)}) <= 2  # the first sample alone


def test_beside_what_is_no_number_there_is_a_gap() -> None:
    axis = Axis(4.0, 4.0, 0.0, 1.0)
    values = (0.0, 0.5), (1.0, 0.5), (2.0, math.nan), (3.0, 0.5), (4.0, 0.5)
    for is_step, until in ((False, 9), (True, 19)):
        found = dots(draw_curves([Curve(values, GOOD, is_step=is_step)], [], axis, 5, 20), GOOD)
        assert {x for x, _ in found} == {*range(until + 1), *range(30, 40)}


def test_a_crowd_folds_to_the_same_as_few() -> None:
    few, many = Histories(400), Histories(401)
    values = [float(i % 7) for i in range(401)]
    few.add(0, {"loss": values[:400]})
    many.add(0, {"loss": values})
    (one,), (other,) = few.series("loss"), many.series("loss")
    assert isinstance(one, Point)
    assert one.low == other.low
    assert one.mean == pytest.approx(other.mean, rel=0.01)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60))
def test_a_point_is_the_mean_and_where_80_percent_lie(values: list[float]) -> None:
    kept = Histories(len(values))
    kept.add(0, {"loss": values})
    (point,) = kept.series("loss")
    ranked = sorted(values)
    assert point.mean == pytest.approx(math.fsum(values) / len(values), abs=1e-9)
    for share, found in ((0.1, point.low), (0.9, point.high)):
        place = share * (len(values) - 1)
        under, over = ranked[math.floor(place)], ranked[math.ceil(place)]
        assert found == pytest.approx(under + (place % 1) * (over - under), abs=1e-9)


@pytest.mark.parametrize("size", [2, 400, 401, 4000])
def test_caps_of_a_crowd_may_differ(size: int) -> None:
    kept, caps = Histories(size), np.arange(1.0, size + 1)
    for t in range(3):
        kept.add(t, {"epsilon": [t / 4 * cap for cap in caps]})
    found = kept.shares("epsilon", caps)
    assert [t for t, _ in found] == [t / 1e9 for t in range(3)]
    assert [share for _, share in found] == pytest.approx([t / 4 for t in range(3)], rel=1e-6)


def test_shares_of_budgets_are_means_of_shares() -> None:
    kept = Histories(2)
    kept.add(0, {"epsilon": [1.0, 1.0]})
    kept.add(10**9, {"epsilon": [2.0, 3.0]})
    assert kept.shares("epsilon", np.array([4.0, 4.0])) == [(0.0, 0.25), (1.0, 0.625)]
    assert kept.shares("epsilon", np.array([2.0, 4.0])) == [(0.0, 0.375), (1.0, 0.875)]


def test_caps_that_differ_have_no_line_and_count_as_shares(tmp_path: Path) -> None:
    caps = [4.0] * 4 + [9.0] * 2
    nodes = [
        {"name": f"of-{cap:g}", "count": count, "budget": {"epsilon": cap, "delta": 1e-5}}
        for cap, count in ((4.0, 4), (9.0, 2))
    ]
    ran = perform(private(nodes=nodes), tmp_path)
    viewer, control = stood(ran, 20.0)
    assert control.source.references().of("epsilon", control.source.facts) == []
    (last,) = (e for e in ran.events("sampled") if e["t"] == 20 * 10**9)
    shares = [epsilon / cap for epsilon, cap in zip(last["values"]["epsilon"], caps, strict=True)]
    told = viewer.model(120, 36).story
    last_t, last_share = told.spent[-1]
    assert last_t == 20.0
    assert last_share == pytest.approx(sum(shares) / len(shares))
    assert told.references == [
        ("alone", ran.outcome.summary["local"]["accuracy"]),
        ("central", ran.outcome.summary["central"]["accuracy"]),
    ]


def test_the_page_of_an_agent_shows_its_samples_and_the_median_of_its_neighbours(
    tmp_path: Path,
) -> None:
    """On a ring that is the mean of two: the agent itself is not among them."""
    ran = perform(private(), tmp_path)
    viewer, _ = stood(ran, 15.0)
    sampled = [e for e in ran.events("sampled") if e["t"] <= 15 * 10**9]
    for agent in range(6):
        viewer.session.pane.change(opened=agent)
        page = viewer.model(120, 40).opened
        assert page is not None
        assert len(page.losses) == len(page.epsilons) - 1 == len(sampled)
        for (t, own, near), (at, epsilon), e in zip(
            page.losses, page.epsilons, sampled, strict=False
        ):
            losses = e["values"]["loss"]
            assert t == at == e["t"] / 1e9
            assert own == losses[agent]
            assert near == pytest.approx((losses[agent - 1] + losses[(agent + 1) % 6]) / 2)
            assert epsilon == e["values"]["epsilon"][agent]


def test_less_error_is_a_gain(tmp_path: Path) -> None:
    """The score of regression is an error: the gain is what it is less than that of learning alone."""
    ran = perform(scenario(task={"loss": "squared", "l2": 0.1}), tmp_path)
    local, gains = ran.outcome.summary["local"]["rmse"], set()
    for at in (1.0, 10.0, 20.0):
        viewer, _ = stood(ran, at)
        told = viewer.model(120, 36).story
        assert told.metric == "rmse.test*"
        gain = local - told.points[-1].mean
        assert told.headline == f"gain {'+' if gain >= 0 else '−'}{brief(abs(gain))} over alone"
        assert told.gains == (gain > 0)
        gains.add(told.gains)
    assert gains == {False, True}


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_gain_has_the_colour_of_what_it_is(sign: float) -> None:
    told = replace(STORY, gains=sign > 0)
    (title, *_) = story(model(story=told), 120, 14)
    styles = {style for text, style in title if "gain" in text}
    assert styles == {GOOD if sign > 0 else WARN}


@pytest.mark.parametrize("hit", [0, 2])
def test_the_headline_is_the_gain_of_the_summary(tmp_path: Path, hit: int) -> None:
    """Over the agents that have a score: the mean of those, less the mean of all alone, compares two sets of agents."""
    data = {"source": "separators", "dimension": 3, "points": 8}
    ran = explode(tmp_path, hit, data=data) if hit else perform(private(data=data), tmp_path)
    viewer, control = stood(ran, 20.0)
    gain = ran.outcome.summary["gain"]
    sign = "+" if gain >= 0 else "−"
    told = viewer.model(120, 36).story
    assert told.headline == f"gain {sign}{brief(abs(gain))} over alone"
    assert told.gains == (gain > 0)
    sample = next(e for e in ran.events("sampled") if e["t"] == 10 * 10**9)
    scores = sample["values"]["accuracy.test"]
    control.source.seek(10 * 10**9)
    headline = viewer.model(120, 36).story.headline
    if None in scores:
        assert headline == ""
    else:
        gain = float(np.mean(scores)) - ran.outcome.summary["local"]["accuracy"]
        sign = "+" if gain >= 0 else "−"
        assert headline == f"gain {sign}{brief(abs(gain))} over alone"


def test_a_fault_that_a_recording_did_not_reach_has_no_bar() -> None:
    """A bar at the end of the axis would say that it began there."""
    windows = [
        Window(0, "crash", "x", (2,), 20.0, 30.0, 30.0),
        Window(1, "", "later", (), 61.0, None, 70.0),
    ]
    drawn = story(model(story=STORY, windows=windows, header=HEADER), 120, 16)
    shown = ["".join(text for text, _ in line) for line in drawn]
    (early,) = (line for line in shown if "#0" in line)
    (late,) = (line for line in shown if "#1" in line)
    assert "█" in early or "░" in early
    assert "later" in late
    assert "not reached" in late
    assert not set("█░") & set(late)


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
    losses = [summary[name]["loss"] for name in ("local", "central")]
    assert losses[0] != losses[1]
    assert known.of("loss", facts) == [("alone", losses[0]), ("central", losses[1])]
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


@pytest.mark.parametrize("most", [0, 1000])
def test_a_live_run_is_compared_with_what_its_summary_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """While it goes on where there are few agents, and in any case when it is over."""
    monkeypatch.setattr(source_room, "_JUDGED_LIVE", most)
    run = Run(make_plan(private()), tmp_path / "run", RunGovernor(looks=True), 1e12)
    live = source_room.LiveSource(run)
    assert live.references() == References({}, {})
    outcome = asyncio.run(run.perform())
    known, summary = live.references(), outcome.summary
    assert known.alone["accuracy.test"] == pytest.approx(summary["local"]["accuracy"])
    assert known.alone["loss"] == pytest.approx(summary["local"]["loss"])
    assert known.central["accuracy.test"] == pytest.approx(summary["central"]["accuracy"])
