"""What a person looks at is on the screen: the cursor is seen, and ⏎ opens what it stands on."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scenarios.console.control.keys import press
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.styled_text import PICK
from scenarios.console.screens.viewer import Viewer
from tests.support.builders import private
from tests.support.sessions import session_for

CROWD = private(
    network={"topology": {"kind": "ring"}, "latency": 0.1},
    nodes=[
        {"name": "phones", "count": 60, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        {"name": "hubs", "count": 40, "budget": {"epsilon": 8.0, "delta": 1e-5}},
    ],
    fault=[{"at": float(t), "for": 1.0, "crash": [t]} for t in range(1, 9)],
)
MOVES = ("up", "down", "left", "right", "page-up", "page-down", "home", "end", "s")


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """A hundred agents, some seconds after the beginning."""
    run, session = session_for(tmp_path_factory.mktemp("crowd"), CROWD)
    run.clock.at(4_000_000_500, 4 << 32, session.control.stop)
    asyncio.run(run.perform())
    yield Viewer(session)
    run.recorder.close()


def picked(viewer: Viewer, width: int, height: int) -> list[str]:
    """What stands under the cursor."""
    lines = viewer.draw(width, height)
    return [
        text.strip() for line in lines for text, style in line if style == PICK and text.strip()
    ]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@example("crowd", 100, 25, [], "")
@given(
    st.sampled_from(SCALES),
    st.integers(60, 200),
    st.integers(15, 70),
    st.lists(st.sampled_from(MOVES), max_size=25),
    st.sampled_from(["", "hubs", "down", "7..30"]),
)
def test_the_cursor_is_always_seen(
    viewer: Viewer, scale: str, width: int, height: int, moves: list[str], passing: str
) -> None:
    """Wherever it went, at every size: in a table by its id, in a grid by its cell, in a network by both."""
    pane = viewer.session.pane
    pane.change(scale=scale, opened=None, sort="id", descending=False)
    pane.filter(passing)
    for key in moves:
        press(viewer.session, key)
        viewer.draw(width, height)
    viewer.session.tell("")
    seen = picked(viewer, width, height)
    node = pane.builder.at_cursor(pane.view)
    if scale == "crowd":
        assert seen in ([str(node)], [])  # a low screen shows a histogram only
        assert seen or height - len(viewer.session.pane.source.ending()) <= 24
    elif node is None:
        assert seen == []
    elif scale == "network":
        assert seen
        assert any(f"cursor [{node}]" in line for line in _text(viewer, width, height))
    elif scale == "table" or width >= 80:
        assert str(node) in seen
    else:
        assert len(seen) >= 1
    press(viewer.session, "enter")
    assert pane.view.opened == node


def test_building_a_frame_leaves_the_view_that_it_reads(viewer: Viewer) -> None:
    """What a frame makes of the view is returned: built twice from one view, it is the same twice."""
    pane = viewer.session.pane
    for scale in SCALES:
        pane.change(scale=scale, opened=None, cursor=10**6, outlier=(99, 99), page=7)
        view = pane.view
        one, other = (pane.builder.build(view) for _ in range(2))
        assert pane.view is view
        assert (view.cursor, view.outlier) == (10**6, (99, 99))
        assert one.view == other.view
        if scale == "crowd":
            assert one.view.outlier != view.outlier
        else:
            assert one.view.cursor < 100


def test_a_crowd_is_of_those_who_pass_the_filter(viewer: Viewer) -> None:
    viewer.session.pane.change(scale="crowd", opened=None)
    for passing, count in (("", 100), ("hubs", 40), ("7..30", 24), ("hubs,7..30", 64)):
        viewer.session.pane.filter(passing)
        crowd = viewer.model(120, 40).crowd
        assert crowd is not None
        assert sum(found for _, found in crowd.bins) == count
        assert sum(cohort.count for cohort in crowd.cohorts) == count
    viewer.session.pane.filter("hubs")
    crowd = viewer.model(120, 40).crowd
    assert crowd is not None
    assert all(node >= 60 for _, row in crowd.outliers for node, _, _ in row)
    epsilons = viewer.session.pane.source.epsilons()[60:]
    assert crowd.quantiles[0][1][-1] == epsilons.max() == crowd.outliers[0][1][0][2]


def test_help_scrolls_to_its_end_and_no_further(viewer: Viewer) -> None:
    session = viewer.session
    session.pane.change(opened=None)
    press(viewer.session, "?")
    text = "\n".join(_text(viewer, 80, 24))
    assert "states of an agent" in text  # the legend is the first page
    assert "partition" not in text
    for _ in range(30):
        press(viewer.session, "page-down")
        viewer.draw(80, 24)
    text = "\n".join(_text(viewer, 80, 24))
    assert "partition" in text
    furthest = session.help_line
    press(viewer.session, "up")
    _text(viewer, 80, 24)
    assert session.help_line == furthest - 1
    press(viewer.session, "escape")
    assert not session.shows_help


def _text(viewer: Viewer, width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in viewer.draw(width, height)]
