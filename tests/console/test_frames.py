"""A frame is a function of a model and a size: it fits every screen, and what it leaves out, in which order, is stated."""

import math
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.frame import frame
from scenarios.console.ink import (
    STATES,
    STEPS,
    as_ascii,
    bar,
    fit,
    plain,
    span,
    sparkline,
    watch,
    width_of,
    within,
)
from scenarios.console.layout import SCALES, lay_out, scale_for
from scenarios.console.model import Help, Menu, Messages, Model, Opened, Prompt, Window
from scenarios.console.svg import svg
from tests.support.screens import HEADER, model, row, text

OVERLAYS: tuple[dict[str, Any], ...] = (
    {},
    {"help": Help([("x", "does something " * 9)] * 40, 7)},
    {"menu": Menu("faults", [("crash", "stops")] * 18, 17)},
    {"opened": Opened(row(3), "peers", ["a", "b"], ["x"] * 30, [(1, "down", 0.02, -1.0)] * 9, [("m", "plain")] * 30, 8, 20)},
    {"prompt": Prompt("crash 2 for=10s" * 9, 70, ["for="] * 8, "")},
    {"windows": []},
)  # fmt: skip


@given(
    st.integers(1, 230), st.integers(1, 90), st.sampled_from([1, 5, 100, 399, 5000]), st.sampled_from(SCALES),
    st.booleans(), st.sampled_from(OVERLAYS),
)  # fmt: skip
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


def test_every_number_of_an_agent_stands_where_it_should() -> None:
    (found,) = [line for line in text(model(3)) if " 0 ● up" in line]
    assert found.strip("│ ").split() == [
        "0", "●", "up", "████············", "2.00/8", "0.5000", "█▅▁", "12", "3", "1.5s"
    ]  # fmt: skip


@given(
    st.floats(0, 1e9), st.sampled_from([None, 0.5, 8.0, 12.25]), st.floats(0, 1e15), st.integers(0, 10**9),
    st.integers(0, 10**9), st.floats(0, 1e8), st.integers(56, 200),
)  # fmt: skip
def test_columns_stand_where_they_stand_whatever_is_in_them(
    epsilon: float, cap: float | None, loss: float, releases: int, inbox: int, stale: float, width: int
) -> None:  # fmt: skip
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


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_state_has_a_glyph_a_word_and_a_style(state: str, scale: str) -> None:
    glyph, ascii_glyph, style = STATES[state]
    found = model(30, scale)
    nodes = replace(found.nodes, states=[state] * 30, rows=[row(0, state=state)])
    drawn = text(replace(found, nodes=nodes))
    if state != "up" or scale != "grid":
        assert any(f"{glyph} {state}" in line for line in drawn)
    assert ascii_glyph.isascii()
    assert style


def test_glyphs_of_bad_states_differ_even_in_ascii() -> None:
    for at in (0, 1):
        shown = [STATES[s][at] for s in ("up", "slow", "paused", "spent", "down", "diverged")]
        assert len(set(shown)) == len(shown)


MARKS = {
    "links": "links ",
    "axis": "▲",
    "faults": "faults ",
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


@given(st.floats(-1e300, 1e300), st.integers(5, 9))
def test_a_number_loses_digits_but_never_its_size(value: float, room: int) -> None:
    told = within(value, room)
    assert len(told) <= room or "e" in told
    unit = {"k": 1e3, "M": 1e6, "G": 1e9}.get(told[-1], 1.0)
    meant = float(told.rstrip("kMG")) * unit
    assert meant == pytest.approx(value, rel=0.5, abs=1e-300)
    if 1e-3 <= abs(value) < 1e4 and room >= 8:
        assert meant == pytest.approx(value, rel=6e-4)


def test_links_say_their_unit_at_every_size() -> None:
    """In words where there is room; else as shares of the longest, which the title says."""
    few, many = model(5), model(16, "table")
    for found in (few, many):
        known = {(i, j): 0.012 * (i + 1) for i in range(5) for j in range(5) if i != j}
        known |= {(0, 1): -1.0, (1, 0): -2.0}
        shown = text(replace(found, pulse=replace(found.pulse, links=known)), 100, 60)
        (head,) = [line for line in shown if "links  last" in line]
        assert ("60ms" in head) == (found is many)
        drawn = "\n".join(line[:42] for line in shown)
        assert drawn.count("╳") == 2  # one of them in the title
        assert drawn.count("‖") == 2
        assert ("24ms" in drawn) == (found is few)


def test_panels_are_left_out_in_the_order_that_is_stated() -> None:
    """Links, then the axis of the faults, then events, then the faults' line, then the identities."""
    assert panels(100, 30) == set(MARKS)
    assert panels(79, 30) == set(MARKS) - {"links"}
    assert panels(60, 30) == {"axis", "faults", "events"}  # identities are written shorter
    assert panels(100, 22) == set(MARKS) - {"links", "axis"}
    assert panels(100, 14) == {"faults", "sums", "trend"}
    assert panels(100, 12) == {"sums", "trend"}
    assert panels(100, 11) == {"trend"}


@given(st.integers(6, 80), st.sampled_from([(3, 0), (5, 2), (24, 9)]))
def test_a_taller_screen_leaves_out_nothing_that_a_lower_one_has(
    height: int, world: tuple[int, int]
) -> None:
    count, faults = world
    for scale in SCALES:
        low, high = (lay_out(scale, 100, h, count, faults) for h in (height, height + 1))
        assert high.sums >= low.sums
        assert bool(high.middle) >= bool(low.middle)
        assert high.sides >= low.sides
        assert min(high.faults, 4) >= min(low.faults, 4)
        assert high.rows >= min(low.rows, count, 3)


@given(st.integers(24, 80), st.integers(1, 24), st.integers(0, 20))
def test_everybody_has_a_row_before_events_and_faults_have_more_than_they_need(
    height: int, count: int, faults: int
) -> None:
    found = lay_out("table", 100, height, count, faults)
    if found.rows < count:
        assert found.middle <= 6
        assert found.faults <= 5


def test_faults_that_are_not_shown_are_counted() -> None:
    windows = [Window(i, "crash", "crash", (i,), 1.0, None, 20.0) for i in range(9)]
    shown = text(model(windows=windows), 100, 30)
    (head,) = [line for line in shown if "faults  " in line]
    drawn = sum(" crash " in line and "█" in line for line in shown)
    assert 1 < drawn < 9
    assert f"9 active, 9 known, {9 - drawn} not shown" in head


def test_the_server_is_called_so() -> None:
    windows = [Window(0, "crash", "crash", (5, 2), 1.0, None, 20.0)]
    assert any("0 crash server,2" in line for line in text(model(5, windows=windows), 100, 30))


@given(
    st.integers(1, 250), st.integers(1, 120), st.sampled_from(SCALES), st.integers(1, 20_000), st.integers(0, 40)
)  # fmt: skip
def test_what_is_shared_out_is_the_screen(
    width: int, height: int, scale: str, count: int, faults: int
) -> None:
    """Two lines of heads, one of keys, and no line is given away twice."""
    found = lay_out(scale, width, height, count, faults)
    given_away = found.sums + found.cells + found.agents + found.middle + found.faults
    assert given_away == max(0, height - 3) or height < 5
    assert min(found.sums, found.cells, found.agents, found.middle, found.faults) >= 0
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
        ("0–20%", "1"), ("20–40%", "5"), ("40–60%", "9"), ("60–80%", "13"), ("80–100%", "17"), ("spent", "1"),
    ]  # fmt: skip


def test_faults_stand_at_their_time() -> None:
    """An axis of 60 s: a window from 20 to 40 s begins at a third and ends at two thirds of it."""
    window = Window(3, "crash", "crash", (2,), 20.0, None, 40.0)
    lines = text(model(windows=[window], header=replace(HEADER, now_s=30.0)), 130, 40)
    (axis,) = [line for line in lines if "▲" in line]
    (drawn,) = [line for line in lines if "3 crash 2" in line]
    first, size = axis.index("─"), axis.count("─", 0, axis.index("60.0s")) + 1
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


@given(st.floats(0, 1), st.integers(1, 40))
def test_a_bar_is_as_long_as_its_share(share: float, width: int) -> None:
    drawn = bar(share, width)
    assert len(drawn) == width
    filled = drawn.count("█") + sum("▏▎▍▌▋▊▉".index(c) / 8 + 1 / 8 for c in drawn if c in "▏▎▍▌▋▊▉")
    assert filled == pytest.approx(share * width, abs=1 / 16 + 1e-9)


@given(st.lists(st.floats(-1e6, 1e6), max_size=20), st.integers(1, 12))
def test_a_sparkline_keeps_its_width_and_its_order(values: list[float], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == width
    shown = values[-width:]
    for i, a in enumerate(shown):
        for j, b in enumerate(shown):
            assert not a < b or drawn[i] <= drawn[j]


@given(st.lists(st.tuples(st.text(max_size=9), st.just("plain")), max_size=5), st.integers(0, 30))
def test_fitting_cuts_or_fills(line: list[tuple[str, str]], width: int) -> None:
    assert width_of(fit(line, width)) == width
    if width_of(line) <= width:
        assert "".join(t for t, _ in fit(line, width)).startswith("".join(t for t, _ in line))


@given(st.text(max_size=30))
def test_names_can_do_no_harm(name: str) -> None:
    shown = plain(name)
    assert len(shown) == len(name)
    assert shown.isprintable()
    (text_, _) = as_ascii([(shown, "plain")])[0]
    assert text_.isascii()
    assert len(text_) == len(name)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0s"),
        (0.0123, "12ms"),
        (1.26, "1.3s"),
        (99.97, "100s"),
        (361.4, "361s"),
        (7200.0, "2.0h"),
        (864000.0, "10d"),
        (math.nan, "—"),
    ],
)
def test_lengths_of_time_are_short(seconds: float, said: str) -> None:
    assert span(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "00:00.000"), (42.137, "00:42.137"), (59.9996, "01:00.000"), (3723.5, "1:02:03.500")],
)
def test_instants_are_read_like_a_watch(seconds: float, said: str) -> None:
    assert watch(seconds) == said


@given(
    st.lists(
        st.lists(
            st.tuples(st.text(max_size=9), st.sampled_from(["plain", "bad", "pick", "dim"])),
            max_size=4,
        ),
        max_size=6,
    )
)
def test_a_picture_says_what_the_frame_says(lines: list[list[tuple[str, str]]]) -> None:
    """Well-formed whatever is in a name; every span stands in its column, as wide as it is."""
    safe = [[(plain(text), style) for text, style in line] for line in lines]
    tree = ET.fromstring(svg(safe, 40, "a < b & c"))  # noqa: S314 # our own
    space = "{http://www.w3.org/2000/svg}"
    drawn = [node for node in tree.iter(f"{space}text") if node.get("textLength")]
    spans = [
        (width_of(line[:at]), text)
        for line in safe
        for at, (text, _) in enumerate(line)
        if text.strip() and not "\u2800" <= max(text.strip()) <= "\u28ff"
    ]
    assert len(drawn) == len(spans)
    for node, (column, said) in zip(drawn, spans, strict=True):
        lead = len(said) - len(said.lstrip())
        assert (node.text or "").replace("\u00a0", " ") == said.strip().replace("\u00a0", " ")
        assert float(node.get("x", "0")) == pytest.approx(12 + (column + lead) * 8.43, abs=0.06)
        assert float(node.get("textLength", "0")) == pytest.approx(
            len(said.strip()) * 8.43, abs=0.06
        )


def test_dots_are_drawn_as_dots() -> None:
    """A cell of eight dots has eight of them, in two columns and four rows; a blank has none."""
    (path,) = [
        line
        for line in svg([[("\u28ff ", "good"), ("\u2801", "bad")]], 9, "x").splitlines()
        if "<path" in line
    ][:1]
    places = re.findall(r"M([\d.]+) ([\d.]+)h2v2h-2z", path)
    assert len(places) == 8
    assert len({x for x, _ in places}) == 2
    assert len({y for _, y in places}) == 4


def styled(found: Model, width: int = 100, height: int = 30) -> list[list[tuple[str, str]]]:
    return [list(line) for line in frame(found, width, height)]


def of_agent(lines: list[list[tuple[str, str]]], i: int) -> list[tuple[str, str]]:
    """The row of one agent, in spans."""
    rows = [line for line in lines if any("/8" in said for said, _ in line)]
    (found,) = [line for line in rows if line[1][0].strip() == str(i)]
    return found


@pytest.mark.parametrize(("stale", "style"), [(1.5 * 2.99, "plain"), (1.5 * 3.01, "warn")])
def test_who_is_three_times_as_stale_as_the_median_is_late(stale: float, style: str) -> None:
    """Of those who are up: who is down is not late."""
    found = model(5)
    rows = [row(0), row(1), row(2), row(3, stale_s=stale), row(4, stale_s=99.0, state="down")]
    lines = styled(replace(found, nodes=replace(found.nodes, rows=rows)))
    for i, seconds, expected in ((3, stale, style), (4, 99.0, "plain")):
        drawn = [s for t, s in of_agent(lines, i) if t.strip() == span(seconds)]
        assert drawn == [expected]


@pytest.mark.parametrize(("epsilon", "style"), [(6.3, "good"), (6.5, "warn"), (8.0, "warn")])
def test_a_bar_turns_yellow_above_four_fifths(epsilon: float, style: str) -> None:
    found = model(2)
    rows = [row(0, epsilon=epsilon), row(1)]
    lines = styled(replace(found, nodes=replace(found.nodes, rows=rows)))
    bars = [s for t, s in of_agent(lines, 0) if "██" in t]
    assert bars == [style]


@pytest.mark.parametrize("cursor", [0, 57, 200, 399])
def test_the_cursor_is_in_sight_in_a_grid_that_is_cut(cursor: int) -> None:
    found = model(400)
    nodes = replace(found.nodes, cursor=cursor, rows=[])
    lines = styled(replace(found, nodes=nodes), 60, 24)
    picked = [(line, at) for line in lines for at, (_, style) in enumerate(line) if style == "pick"]
    ((line, at),) = picked
    cells = [place for place, (said, _) in enumerate(line) if place > 1 and said != " "]
    assert int(line[1][0]) + cells.index(at) == cursor
    title = next(said for said in text(replace(found, nodes=nodes), 60, 24) if "grid ε" in said)
    low, high = map(int, re.findall(r"(\d+)–(\d+) of 400", title)[0])
    assert low <= cursor <= high


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
    size = axis.count("─") + 1
    full, hollow = drawn.count("█"), drawn.count("░")
    assert full + hollow == pytest.approx((ends - begun) / 60 * size, abs=1.01)
    done = min(max(now, begun), ends) - begun if now >= begun else 0.0
    assert full == pytest.approx(done / 60 * size, abs=2)
    assert ("1 active" in head) == (begun <= now <= ends and window.ended_s is None)


def test_where_faults_began_is_marked_under_the_losses() -> None:
    """Losses from 0 to 10 s: what began at 5 s stands in the middle, what is to come nowhere."""
    history = [(float(t), 0.4, 0.5, 0.6) for t in range(11)]
    windows = [
        Window(i, action, "x", (2,), at, None, None)
        for i, (action, at) in enumerate((("crash", 5.0), ("", 8.0)))
    ]
    found = model(100, windows=windows)
    lines = text(replace(found, pulse=replace(found.pulse, history=history)), 100, 40)
    (axis,) = [line for line in lines if "┴" in line and "└0s" in line]
    (title,) = [line for line in lines if "loss*  p10" in line]
    drawn = axis[axis.index("0s") : axis.index("10.0s") + len("10.0s")]
    assert drawn.count("┴") == 1
    assert drawn.index("┴") == pytest.approx((len(drawn) - 1) / 2, abs=1)
    assert "┴ fault" in title


def test_in_ascii_every_cell_of_a_grid_is_itself() -> None:
    """Eight levels and eight states, none of them like another."""
    levels = ["".join(t for t, _ in as_ascii([(c, "plain")])) for c in STEPS]
    states = [ascii_ for name, (_, ascii_, _) in STATES.items() if name not in {"up", "absent"}]
    assert len({*levels, *states}) == len(levels) + len(states)
    for glyph, ascii_glyph, _ in STATES.values():
        assert as_ascii([(glyph, "plain")])[0][0] == ascii_glyph
