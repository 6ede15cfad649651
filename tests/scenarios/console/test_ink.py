"""Glyphs, styles, bars, numbers and pictures: what a line is made of."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.drawing.frame import frame
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.palette import THEMES
from scenarios.console.drawing.styled_text import (
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
)
from scenarios.console.screens.svg import svg
from scenarios.language.visible_text import is_visible, visible
from tests.support.screens import model, row, text


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_state_has_a_glyph_a_word_and_a_style(state: str, scale: str) -> None:
    glyph, ascii_glyph, style = STATES[state]
    found = model(30, scale)
    nodes = replace(found.nodes, states=[state] * 30, rows=[row(0, state=state)])
    crowd = found.crowd and replace(found.crowd, states={state: 30})
    drawn = text(replace(found, nodes=nodes, crowd=crowd))
    if scale != "network" and (state != "up" or scale != "grid"):
        assert any(f"{glyph} {state}" in line for line in drawn)
    assert ascii_glyph.isascii()
    assert style


def test_glyphs_of_bad_states_differ_even_in_ascii() -> None:
    for at in (0, 1):
        shown = [
            STATES[s][at] for s in ("up", "slow", "paused", "done", "spent", "down", "diverged")
        ]
        assert len(set(shown)) == len(shown)


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


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(max_size=9), st.just("plain")), max_size=5), st.integers(0, 30))
def test_fitting_cuts_or_fills(line: list[tuple[str, str]], width: int) -> None:
    assert width_of(fit(line, width)) == width
    spelled = "".join(visible(t) for t, _ in line)
    if len(spelled) <= width:
        assert "".join(t for t, _ in fit(line, width)).startswith(spelled)


@given(st.text(max_size=30))
def test_names_can_do_no_harm(name: str) -> None:
    shown = plain(name)
    assert len(shown) == len(visible(name))
    assert is_visible(shown)
    (text_, _) = as_ascii([(shown, "plain")])[0]
    assert text_.isascii()
    assert len(text_) == len(shown)


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
    tree = ET.fromstring(svg(safe, 40, "a < b & c", THEMES["dark"]))  # noqa: S314 # our own
    space = "{http://www.w3.org/2000/svg}"
    drawn = [node for node in tree.iter(f"{space}text") if not node.get("text-anchor")]
    spans = [
        (width_of(line[:at]) + part.start(), part[0])
        for line in safe
        for at, (text, _) in enumerate(line)
        for part in re.finditer("[\u2800-\u28ff]+|[^\u2800-\u28ff]+", text)
        if part[0].strip() and not "\u2800" <= part[0].strip()[0] <= "\u28ff"
    ]
    assert len(drawn) == len(spans)
    for node, (column, said) in zip(drawn, spans, strict=True):
        lead = len(said) - len(said.lstrip())
        assert (node.text or "").replace("\u00a0", " ") == said.strip().replace("\u00a0", " ")
        assert float(node.get("x", "0")) == pytest.approx(12 + (column + lead) * 8.43, abs=0.06)
        wide = float(node.get("textLength", "8.43"))  # one character is as wide as it is
        assert wide == pytest.approx(len(said.strip()) * 8.43, abs=0.06)


def test_dots_are_drawn_as_dots() -> None:
    """A cell of eight dots has eight of them, in two columns and four rows; a blank has none."""
    picture = svg([[("\u28ff ", "good"), ("\u2801", "bad")]], 9, "x", THEMES["dark"])
    path = next(line for line in picture.splitlines() if "<path" in line)
    runs = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path)
    assert len(runs) == len({y for _, y, _ in runs}) == 4
    pitch, dot = 8.43 / 2, 2.0
    for _, _, length in runs:  # two dots: a dash, a gap, a dash
        assert float(length) == pytest.approx(pitch + dot, abs=0.06)
    assert f"stroke-dasharray:{dot:g} {pitch - dot:.3f}" in picture


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


def test_in_ascii_every_cell_of_a_grid_is_itself() -> None:
    """Eight levels and eight states, none of them like another."""
    levels = ["".join(t for t, _ in as_ascii([(c, "plain")])) for c in STEPS]
    states = [
        ascii_ for name, (_, ascii_, _) in STATES.items() if name not in {"up", "absent", "done"}
    ]
    assert len({*levels, *states}) == len(levels) + len(states)
    for glyph, ascii_glyph, _ in STATES.values():
        assert as_ascii([(glyph, "plain")])[0][0] == ascii_glyph
