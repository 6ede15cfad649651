"""Pictures that move: in every frame stands what that frame shows, nothing is loaded, and no motion is forced on a reader."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.drawing.palette import THEMES
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
