"""Pictures that move: in every frame stands what that frame shows, nothing is loaded, and no motion is forced on a reader."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.drawing.palette import THEMES
from scenarios.console.drawing.styled_text import DOTS
from scenarios.console.screens.svg import animation, svg
from tests.support.builders import perform, private
from tests.support.command import hush

SPACE = "{http://www.w3.org/2000/svg}"
HOLD_S = 3.0

texts = st.text("abc █⣿", min_size=1, max_size=6)
lines = st.lists(
    st.lists(st.tuples(texts, st.sampled_from(["plain", "good", "pick"])), max_size=3),
    min_size=2,
    max_size=2,
)


def visible(picture: str, count: int) -> list[set[str]]:
    """What stands in each frame, as elements: the animation carried out with a pencil."""
    tree = ET.fromstring(picture)  # noqa: S314 # our own
    style = tree.find(f"{SPACE}style")
    assert style is not None
    frames = [set[str]() for _ in range(count)]
    rules = {
        name: sorted(
            (float(percent.rstrip("%")), word)
            for listed, word in re.findall(r"([\d.%,]+)\{visibility:(\w+)\}", body)
            for percent in listed.split(",")
        )
        for name, body in re.findall(
            r"@keyframes (k\d+)\{((?:[^{}]*\{[^{}]*\})+)\}", style.text or ""
        )
    }
    total = _total(style.text or "", count)
    for node in list(tree)[4:]:  # behind title, style, background and heading
        if node.tag != f"{SPACE}g":
            for frame in frames:
                frame.add(ET.tostring(node, encoding="unicode"))
            continue
        (name,) = [word for word in (node.get("class") or "").split() if word.startswith("k")]
        for at, frame in enumerate(frames):
            state = "hidden"
            for percent, word in rules[name]:
                if percent <= 100 * at / total + 0.006:
                    state = word
            if state == "visible":
                frame |= {ET.tostring(child, encoding="unicode") for child in node}
    return frames


def _total(style: str, count: int) -> float:
    found = re.search(r"animation-duration:([\d.]+)s", style)
    assert found is not None
    return float(found[1]) * count / (float(found[1]) - HOLD_S)


@given(st.lists(lines, min_size=1, max_size=6))
def test_every_frame_shows_what_it_shows_alone(frames: list[list[list[tuple[str, str]]]]) -> None:
    picture = animation(frames, 2.0, 30, "x", THEMES["dark"])
    for shown, alone in zip(visible(picture, len(frames)), frames, strict=True):
        single = ET.fromstring(svg(alone, 30, "x", THEMES["dark"]))  # noqa: S314
        assert shown == {ET.tostring(node, encoding="unicode") for node in list(single)[4:]}


CELL, HIGH, EDGE, HEAD = 8.43, 18.0, 12.0, 34.0
"""A cell of a picture, its margin, and what stands above the first line."""


@given(
    st.lists(st.tuples(st.text("abcdef", min_size=1, max_size=9), st.integers(0, 9)), max_size=4)
)
def test_a_text_stands_in_its_columns_whatever_the_font(spans: list[tuple[str, int]]) -> None:
    line, places, column = list[tuple[str, str]](), list[tuple[str, int]](), 0
    for text, blanks in spans:
        line += [(text, "good"), (" " * blanks, "plain")]
        places.append((text, column))
        column += len(text) + blanks
    tree = ET.fromstring(svg([[("first", "plain")], line], 80, "x", THEMES["dark"]))  # noqa: S314
    _, _, wide, high = map(float, (tree.get("viewBox") or "").split())
    assert wide == round(80 * CELL + 2 * EDGE)
    assert high == round(2 * HIGH + HEAD + EDGE)
    nodes = [n for n in tree.iter(f"{SPACE}text") if n.get("class") == "good"]
    for node, (text, at) in zip(nodes, places, strict=True):
        assert node.text == text
        assert float(node.get("x") or 0) == pytest.approx(EDGE + at * CELL, abs=0.06)
        assert float(node.get("y") or 0) == pytest.approx(HEAD + 1.75 * HIGH, abs=0.06)
        if len(text) > 1:
            assert float(node.get("textLength") or 0) == pytest.approx(len(text) * CELL, abs=0.06)


@given(st.text([chr(0x2800 + bits) for bits in range(1, 256)], min_size=1, max_size=12))
def test_dots_of_a_picture_are_those_of_its_characters(text: str) -> None:
    """Each dot is a dash that begins where the dot stands: two in a cell, four rows of them."""
    picture = svg([[("  ", "plain"), (text, "good")]], 40, "x", THEMES["dark"])
    (path,) = ET.fromstring(picture).iter(f"{SPACE}path")  # noqa: S314
    found = set()
    for x, y, length in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path.get("d") or ""):
        first = (float(x) - EDGE - 2 * CELL - 0.2 * CELL) / (CELL / 2)
        row = (float(y) - HEAD) / (HIGH / 4) - 0.45
        assert first == pytest.approx(round(first), abs=0.03)
        assert row == pytest.approx(round(row), abs=0.03)
        count = (float(length) - 2.0) / (CELL / 2) + 1
        assert count == pytest.approx(round(count), abs=0.03)
        found |= {(round(first) + k, round(row)) for k in range(round(count))}
    assert found == {
        (2 * at + across, row)
        for at, c in enumerate(text)
        for row, pair in enumerate(DOTS)
        for across, bit in enumerate(pair)
        if (ord(c) - 0x2800) & bit
    }


@pytest.mark.parametrize(("count", "per_s"), [(1, 1.0), (9, 2.0), (81, 2.0), (600, 10.0)])
def test_frames_follow_each_other_at_their_pace_and_the_last_one_stays(
    count: int, per_s: float
) -> None:
    frames = [[[(f"frame {k}", "good")]] for k in range(count)]
    picture = animation(frames, per_s, 30, "x", THEMES["dark"])
    if count == 1:
        assert "@keyframes" not in picture
        return
    (seconds,) = map(float, re.findall(r"animation-duration:([\d.]+)s", picture))
    assert seconds == pytest.approx(count / per_s + HOLD_S, abs=1e-3)
    for k in range(count):
        (name,) = re.findall(rf'class="m (k\d+)(?: z)?">\s*<text[^>]*>frame\u00a0{k}<', picture)
        (body,) = re.findall(rf"@keyframes {name}\{{(.*?\}})\}}", picture)
        begins = [float(at) for at in re.findall(r"([\d.]+)%\{visibility:visible", body)]
        ends = [float(at) for at in re.findall(r"([\d.]+)%\{visibility:hidden", body)]
        assert [at * seconds / 100 for at in begins] == pytest.approx([k / per_s], abs=0.01)
        expected = [] if k + 1 == count else [(k + 1) / per_s]
        assert [at * seconds / 100 for at in ends] == pytest.approx(expected, abs=0.01)


def test_what_never_changes_is_written_once() -> None:
    frames = [[[("the same", "plain"), (f" {k}", "good")]] for k in range(9)]
    picture = animation(frames, 2.0, 30, "x", THEMES["dark"])
    assert picture.count(">the\u00a0same<") == 1
    with pytest.raises(ValueError, match="a frame at least"):
        animation([], 2.0, 30, "x", THEMES["dark"])


def test_a_replay_is_written_as_one_picture_without_scripts_and_twice_the_same(
    tmp_path: Path,
) -> None:
    folder = perform(private(), tmp_path).outcome.folder
    words = ("--from", "2s", "--to", "6s", "--fps", "2", "--view", "network", "--theme", "light")
    pictures = []
    for name in ("one.svg", "other.svg"):
        done = hush("replay", str(folder), "--svg", name, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "9 frames, 4.5 s" in done.stdout
        pictures.append((tmp_path / name).read_text("utf-8"))
    assert pictures[0] == pictures[1]
    for word in ("<script", "href", "url(", "@import", "http:", "https:"):
        assert word not in pictures[0].replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "prefers-reduced-motion" in pictures[0]
    assert f'fill="{THEMES["light"].background}"' in pictures[0]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--fps", "0"), "--fps must be a number from 0.1 to 60, got 0"),
        (("--fps", "x"), "--fps must be a number from 0.1 to 60, got x"),
        (("--from", "8s", "--to", "2s"), "--to 2 s is before --from 8 s"),
        (("--to", "1h"), "--to 1h is after the end"),
        (("--fps", "60", "--speed", "0.0001"), "frames are more than 2,000"),
        (("--speed", "max", "--fps", "2"), "--speed max shows no picture that moves"),
        (("--at", "2s", "--fps", "2"), "--at is one moment"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    folder = perform(private(), tmp_path).outcome.folder
    done = hush("replay", str(folder), "--svg", "x.svg", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (tmp_path / "x.svg").exists()


def test_a_picture_that_moves_needs_a_file(tmp_path: Path) -> None:
    folder = perform(private(), tmp_path).outcome.folder
    done = hush("replay", str(folder), "--fps", "2", cwd=tmp_path)
    assert done.returncode == 2
    assert "--fps goes with --svg FILE" in done.stderr
