"""A frame is a function of a model and a size: it fits every screen, and what it leaves out, in which order, is stated."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenarios.console.drawing.agent_details import details
from scenarios.console.drawing.layout import SCALES, lay_out, scale_for
from scenarios.console.drawing.model import AgentDetails, Help, Menu, Messages, Prompt, Window
from scenarios.console.drawing.story import story
from scenarios.console.drawing.styled_text import (
    within,
)
from tests.support.screens import HEADER, model, row, sides, text

OVERLAYS: tuple[dict[str, Any], ...] = (
    {},
    {"help": Help([("x", "does something " * 9, "head")] * 40, 7)},
    {"menu": Menu("faults", [("crash", "stops")] * 18, 17)},
    {
        "opened": AgentDetails(
            row(3),
            "peers",
            ["a", "b"],
            ["x"] * 30,
            [(1, "down", 0.02, -1.0)] * 9,
            [("m", "plain")] * 30,
            [(0.0, 0.0), (5.0, 1.5)],
            [(0.0, 0.7, 0.6), (5.0, 0.4, math.nan)],
            8,
            20,
        )
    },
    {"prompt": Prompt("crash 2 for=10s" * 9, 70, ["for="] * 8)},
    {"windows": []},
)


@given(
    st.integers(1, 230),
    st.integers(1, 90),
    st.sampled_from([1, 5, 100, 399, 5000]),
    st.sampled_from(SCALES),
    st.booleans(),
    st.sampled_from(OVERLAYS),
)
def test_a_frame_is_exactly_as_large_as_its_screen(
    width: int,
    height: int,
    count: int,
    scale: str,
    ascii_only: bool,  # noqa: FBT001
    more: dict[str, Any],
) -> None:
    lines = text(model(count, scale, ascii=ascii_only, **more), width, height)
    assert len(lines) == height
    assert {len(line) for line in lines} == {width}
    if ascii_only:
        assert all(line.isascii() for line in lines)


@given(st.integers(20, 200), st.integers(4, 60))
def test_no_panel_of_an_opened_agent_is_an_empty_frame(width: int, height: int) -> None:
    """A ledger without a line would say that nothing was released."""
    opened = OVERLAYS[3]["opened"]
    drawn = details(opened, HEADER, width, height)
    assert len(drawn) == height
    shown = ["".join(span for span, _ in line) for line in drawn]
    tops = [at for at, line in enumerate(shown) if line.startswith("┌")]
    assert tops[0] == 0
    assert all(not shown[at + 1].startswith("└") for at in tops), shown


def test_every_number_of_an_agent_stands_where_it_should() -> None:
    (found,) = [line for line in text(model(3)) if " 0 ● up" in line]
    assert found.strip("│ ").split() == [
        "0",
        "●",
        "up",
        "███████·····················",
        "2.00/8",
        "0.5000",
        "█▅▁",
        "12",
        "3",
        "1.5s",
    ]


@given(
    st.floats(0, 1e9),
    st.sampled_from([None, 0.5, 8.0, 12.25]),
    st.floats(0, 1e15),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.floats(0, 1e8),
    st.integers(56, 200),
)
def test_columns_stand_where_they_stand_whatever_is_in_them(
    epsilon: float,
    cap: float | None,
    loss: float,
    releases: int,
    inbox: int,
    stale: float,
    width: int,
) -> None:
    found = model(2)
    other = row(
        1, epsilon=epsilon, cap=cap, loss=loss, releases=releases, inbox=inbox, stale_s=stale
    )
    lines = text(replace(found, nodes=replace(found.nodes, rows=[row(0), other])), width)
    heads, *rows = [line.rstrip(" │") for line in lines[3:6]]
    assert {len(line) for line in rows} == {len(heads)}


def test_what_stands_with_an_epsilon_is_in_the_head() -> None:
    lines = text(model())
    assert "eavesdropper view, δ = 1e-05, gaussian" in lines[1]
    for width in (40, 60, 100, 200):
        assert any("* an oracle's" in line for line in text(model(), width))
    steered = text(model(header=replace(HEADER, steered=True, covered=False)))
    assert "BY HAND" in steered[1]
    assert "ε NOT COVERED" in steered[1]
    narrow = text(model(header=replace(HEADER, steered=True, covered=False)), 60, 15)[1]
    assert "BY HAND ε NOT COVERED  ε: eavesdropper, δ=1e-05, gaussian" in narrow


def test_sums_that_do_not_balance_get_a_cross() -> None:
    def shown(*found: int) -> str:
        return " ".join(text(model(messages=Messages(*found))))

    assert "100 = delivered 90 + lost 4 + rejected 2 + in flight 4 ✓" in shown(
        100, 0, 90, 4, 2, 4, 7, 7
    )
    assert "in flight 5 ✕" in shown(100, 0, 90, 4, 2, 5, 7, 7)
    assert "messages 100 + copies 3 = delivered 90 + lost 4 + rejected 2 + in flight 7 ✓" in shown(
        100, 3, 90, 4, 2, 7, 7, 7
    )
    assert "in flight -4 ✕" in shown(100, 0, 98, 4, 2, -4, 7, 7)
    assert "releases 7 = charged 7 ✓" in shown(100, 0, 90, 4, 2, 4, 7, 7)
    assert "releases 6 ≤ charged 7 ✓" in shown(100, 0, 90, 4, 2, 4, 6, 7)  # a crash in between
    assert "releases 8 > charged 7 ✕" in shown(100, 0, 90, 4, 2, 4, 8, 7)
    assert "✕ budget" in text(model(header=replace(HEADER, broken="budget")))[0]


MARKS = {
    "links": "links ",
    "story": "mean of the agents",
    "axis": "▲",
    "faults": "faults",
    "events": "events ",
    "sums": "delivered 90",
    "trend": "trend",
}


def panels(width: int, height: int) -> set[str]:
    """Which panels stand on a screen of five agents."""
    shown = "\n".join(text(model(), width, height))
    return {name for name, mark in MARKS.items() if mark in shown}


@given(st.integers(24, 200), st.lists(st.integers(0, 10**8), min_size=5, max_size=5))
def test_a_mark_is_never_cut_off(width: int, counts: list[int]) -> None:
    delivered, lost, rejected, flying, copies = counts
    sent = max(0, delivered + lost + rejected + flying - copies)
    copies = delivered + lost + rejected + flying - sent
    messages = Messages(sent, copies, delivered, lost, rejected, flying, 10**7, 10**7)
    shown = " ".join(text(model(messages=messages), width)[-3:])
    assert shown.count("✓") == 2 or width < 46


@example(100.5, 8)
@given(st.floats(-1e300, 1e300), st.integers(5, 9))
def test_a_number_loses_digits_but_never_its_size(value: float, room: int) -> None:
    told = within(value, room)
    assert len(told) <= room or "e" in told
    unit = {"k": 1e3, "M": 1e6, "G": 1e9}.get(told[-1], 1.0)
    meant = float(told.rstrip("kMG")) * unit
    assert meant == pytest.approx(value, rel=0.5, abs=1e-300)
    if 1e-3 <= abs(value) < 1e4 and room >= 9:  # a sign, "0.00" and four digits
        assert meant == pytest.approx(value, rel=6e-4)


def test_links_say_their_unit_at_every_size() -> None:
    """In words where there is room; else as shares of the longest, which the title says."""
    few, many = model(5), model(16, "table")
    for found in (few, many):
        known = {(i, j): 0.012 * (i + 1) for i in range(5) for j in range(5) if i != j}
        known |= {(0, 1): -1.0, (1, 0): -2.0}
        shown = text(replace(found, sides=sides("table", links=known)), 100, 60)
        (head,) = [line for line in shown if "links  last" in line]
        assert ("60ms" in head) == (found is many)
        drawn = "\n".join(line[:42] for line in shown)
        assert drawn.count("╳") == 2  # one of them in the title
        assert drawn.count("‖") == 2
        assert ("24ms" in drawn) == (found is few)


def test_panels_are_left_out_in_the_order_that_is_stated() -> None:
    """Links, then events, then the story, of which a line on faults remains, then that line, then the identities."""
    assert panels(100, 34) == set(MARKS)
    assert panels(79, 34) == set(MARKS) - {"links"}
    assert panels(60, 34) == {"story", "axis", "events"}  # identities are written shorter
    assert panels(100, 30) == set(MARKS) - {"links"}
    assert panels(100, 26) == set(MARKS) - {"links", "events"}
    assert panels(100, 19) == {"faults", "sums", "trend"}
    assert panels(100, 13) == {"sums", "trend"}
    assert panels(100, 11) == {"trend"}


@given(st.integers(6, 80), st.sampled_from([(3, 0), (5, 2), (24, 9)]))
def test_a_taller_screen_leaves_out_nothing_that_a_lower_one_has(
    height: int, world: tuple[int, int]
) -> None:
    count, faults = world
    for scale in SCALES:
        low, high = (lay_out(scale, 100, h, count, faults) for h in (height, height + 1))
        assert high.sums >= low.sums
        if bool(high.story > 1) == bool(low.story > 1):
            assert bool(high.middle) >= bool(low.middle)
        assert high.sides >= low.sides
        assert min(high.story, 9) >= min(low.story, 9)
        assert high.rows >= min(low.rows, count, 3)


@given(st.integers(24, 80), st.integers(1, 24), st.integers(0, 20))
def test_every_agent_has_a_row_before_events_have_more_than_they_need(
    height: int, count: int, faults: int
) -> None:
    found = lay_out("table", 100, height, count, faults)
    if found.rows < count:
        assert found.middle <= 5
        assert found.story <= 9 + 2  # two faults, and two lines more of the chart


@given(st.integers(1, 250), st.integers(6, 30), st.integers(0, 20))
def test_a_story_is_as_large_as_it_is_told(width: int, height: int, faults: int) -> None:
    windows = [Window(i, "crash", "", (i,), float(i), None, 20.0) for i in range(faults)]
    drawn = story(model(windows=windows), width, height)
    assert len(drawn) == height


def test_faults_that_are_not_shown_are_counted() -> None:
    windows = [Window(i, "crash", "crash", (i,), 1.0, None, 20.0) for i in range(9)]
    shown = text(model(windows=windows), 130, 30)
    (head,) = [line for line in shown if "faults: " in line]
    drawn = sum(" crash " in line and "█" in line for line in shown)
    assert 1 < drawn < 9
    assert f"9 active, 9 known, {9 - drawn} not shown" in head
    chosen = text(model(windows=windows, fault=8), 130, 30)  # the list scrolls to the cursor
    assert any("#8 crash" in line for line in chosen)
    assert not any("#0 crash" in line for line in chosen)


def test_the_server_is_called_so() -> None:
    windows = [Window(0, "crash", "crash", (5, 2), 1.0, None, 20.0)]
    assert any("0 crash server,2" in line for line in text(model(5, windows=windows), 100, 30))


@given(
    st.integers(1, 250),
    st.integers(1, 120),
    st.sampled_from(SCALES),
    st.integers(1, 20_000),
    st.integers(0, 40),
)
def test_what_is_shared_out_is_the_screen(
    width: int, height: int, scale: str, count: int, faults: int
) -> None:
    """Two lines of heads, one of keys, and no line is given away twice."""
    found = lay_out(scale, width, height, count, faults)
    given_away = found.sums + found.cells + found.agents + found.middle + found.story
    assert given_away == max(0, height - 3) or height < 5
    assert min(found.sums, found.cells, found.agents, found.middle, found.story) >= 0
    assert found.rows <= max(0, found.agents)


@pytest.mark.parametrize(
    ("count", "scale"), [(1, "table"), (24, "table"), (25, "grid"), (400, "grid"), (401, "crowd")]
)
def test_the_scale_is_chosen_by_size(count: int, scale: str) -> None:
    assert scale_for(count) == scale


def test_a_histogram_is_as_long_as_its_counts() -> None:
    crowd = model(5000).crowd
    assert crowd is not None
    lines = text(
        model(5000, crowd=replace(crowd, bins=[("0–10%", 40), ("10–20%", 20), ("20–30%", 0)]))
    )
    lengths = [line.partition("│")[2].partition("│")[0].count("█") for line in lines[4:7]]
    assert lengths[0] == 2 * lengths[1] > 0
    assert lengths[2] == 0


def test_a_low_histogram_puts_two_bins_into_one_and_loses_nobody() -> None:
    shown = [line.strip("│ ").split() for line in text(model(5000), 60, 15)[3:11]]
    assert [(words[0], words[-1]) for words in shown[1:7]] == [
        ("0–20%", "1"),
        ("20–40%", "5"),
        ("40–60%", "9"),
        ("60–80%", "13"),
        ("80–100%", "17"),
        ("spent", "1"),
    ]


def columns(axis: str) -> tuple[int, int]:
    """Return the first column of an axis of 60 s, and how many it has."""
    found = re.search(r" 0 ([─▲ 0-9.s]+) 60\.0s", axis)
    assert found is not None
    return found.start(1), len(found[1])


def test_faults_stand_at_their_time() -> None:
    """An axis of 60 s: a window from 20 to 40 s begins at a third and ends at two thirds of it."""
    window = Window(3, "crash", "crash", (2,), 20.0, None, 40.0)
    lines = text(model(windows=[window], header=replace(HEADER, now_s=30.0)), 130, 40)
    (axis,) = [line for line in lines if "▲" in line]
    (drawn,) = [line for line in lines if "3 crash 2" in line]
    first, size = columns(axis)
    assert drawn.index("█") - first == pytest.approx(size / 3, abs=1)
    assert drawn.rindex("░") + 1 - first == pytest.approx(2 * size / 3, abs=1)
    assert axis.index("▲") - first == pytest.approx(size / 2, abs=1)
    assert drawn.rindex("█") == pytest.approx(axis.index("▲"), abs=1)
    over = text(
        model(windows=[replace(window, ended_s=25.0)], header=replace(HEADER, now_s=30.0)), 130, 40
    )
    (drawn,) = [line for line in over if "3 crash 2" in line]
    assert "░" not in drawn
    assert drawn.count("█") == pytest.approx(size / 12, abs=1)


@pytest.mark.parametrize("width", [100, 130, 200])
def test_beside_each_other_nothing_is_cut(width: int) -> None:
    """The legend of a grid, and every column of the table beside it."""
    lines = text(model(100), width, 40)
    shown = "\n".join(lines)
    for words in ("ε used / cap", "● up 100", "cursor [0]", "ε 2.00/8", "ε spent / cap", "loss*"):
        assert words in shown, words
    (heads,) = [line for line in lines if "id state" in line]
    assert "…" not in heads


@given(st.floats(0, 50), st.floats(0.1, 30), st.floats(0, 60), st.sampled_from([100, 130, 200]))
def test_a_window_is_as_long_as_it_lasts(
    begun: float, lasts: float, now: float, width: int
) -> None:
    """To a cell; full up to now, hollow after it; and active in between."""
    ends = min(60.0, begun + lasts)
    window = Window(3, "loss", "loss", (2,), begun, None if now < ends else ends, ends)
    lines = text(model(windows=[window], header=replace(HEADER, now_s=now)), width, 40)
    (head,) = [line for line in lines if "known" in line]
    (axis,) = [line for line in lines if "▲" in line]
    (drawn,) = [line for line in lines if "#3 loss 2" in line]
    _, size = columns(axis)
    full, hollow = drawn.count("█"), drawn.count("░")
    assert full + hollow == pytest.approx((ends - begun) / 60 * size, abs=1.01)
    done = min(max(now, begun), ends) - begun if now >= begun else 0.0
    assert full == pytest.approx(done / 60 * size, abs=2)
    assert ("1 active" in head) == (begun <= now <= ends and window.ended_s is None)
