"""Panels beside the events: one record each, and at every scale one that stands whatever the size."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.console.assembly.panels import PANELS, Panel, candidates
from scenarios.console.control.commands import COMMANDS
from scenarios.console.control.keys import KEYS, Key, by_key
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.model import SidePanel
from scenarios.console.drawing.styled_text import box, words
from scenarios.console.screens.viewer import Viewer
from scenarios.console.sources.feed import Filter
from scenarios.console.sources.view_state import CommandError
from tests.support.builders import perform, private
from tests.support.looks import stood, told
from tests.support.pairs import POISSON, SYNCHRONOUS, Pair
from tests.support.paths import ROOT
from tests.support.screens import model, text
from tests.support.sessions import session_for, watched

PROBE = Panel(
    name="probe",
    shows="how many agents there are",
    build=lambda inputs: len(inputs.near),
    draw=lambda part, _, width, height: box(
        words("probe"), [words(f"{part} of them")], width, height
    ),
    key="p",
)


def test_panels_of_a_scale_have_an_order() -> None:
    for scale in SCALES:
        orders = [panel.order for panel in candidates(scale, "")]
        assert len(set(orders)) == len(orders)


def test_a_panel_with_a_key_is_a_command_and_without_one_it_is_none() -> None:
    keys = {key.key: key.command for key in KEYS}
    for name, panel in PANELS.items():
        assert (name in COMMANDS) == bool(panel.key)
        assert not panel.key or keys[panel.key] == name


def test_a_panel_cannot_take_a_key_that_is_taken() -> None:
    with pytest.raises(ValueError, match="the key 'e' of 'probe' is that of 'export …' already"):
        by_key((*KEYS, Key("e", "probe", "probe")))


@pytest.mark.parametrize("scale", SCALES)
def test_a_key_that_a_title_names_does_what_stands_beside_it(scale: str) -> None:
    """`L:notable`: the key before the colon writes or gives the order that the title shows the state of."""
    orders = {"view": "view", "color": "color", "metric": "metric", "all": "events"}
    commands = {key.key: key.command.partition(" ")[0] for key in KEYS}
    shown = " ".join(text(model(40, scale), 120, 50))
    hints = re.findall(r" (\S):(view|color|metric|all)\b", shown)
    assert hints
    assert all(commands.get(key) == orders[word] for key, word in hints), hints


@given(st.sampled_from(SCALES), st.integers(20, 200), st.integers(8, 70))
def test_a_chosen_panel_stands_beside_the_events_or_in_their_place(
    scale: str, width: int, height: int
) -> None:
    found = model(40, scale)
    chosen = SidePanel(PROBE.name, 40, PROBE.draw, PROBE.fits)
    drawn = text(replace(found, sides=[chosen, *found.sides], chosen_side=True), width, height)
    assert {len(line) for line in drawn} == {width}
    assert len(drawn) == height
    before, after = "\n".join(text(found, width, height)), "\n".join(drawn)
    if "events  L:" in before and scale != "crowd":
        beside = width >= 80 and height >= 24 and scale != "network"
        assert "probe" in after
        assert ("events  L:" in after) == beside


def test_a_panel_is_built_shown_and_hidden_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PANELS._loaded, "probe", PROBE)
    run, session = session_for(tmp_path)
    viewer = Viewer(session)
    watched(run, session, "until 2s")
    for shown in (False, True, False):
        lines = "\n".join(told(viewer, 100, 40))
        assert ("┌ probe" in lines) == ("6 of them" in lines) == shown
        session.toggle_panel("probe")


def test_two_runs_have_no_panels_beside_the_events(tmp_path: Path) -> None:
    pair = Pair(tmp_path, POISSON, SYNCHRONOUS)
    with pytest.raises(CommandError, match="two runs are shown as tables"):
        pair.session.toggle_panel("losses")
    for run in pair.runs:
        run.recorder.close()


_LOOK = """
import sys
from pathlib import Path
from scenarios.console.screens.viewer import viewer_of_recording
from scenarios.records.reader import RunRecord

viewer, control = viewer_of_recording(RunRecord(Path(sys.argv[1])), 1.0)
control.source.seek(control.source.length)
viewer.press("p")
print("\\n".join("".join(text for text, _ in line) for line in viewer.draw(100, 40)))
viewer.press("?")
print("\\n".join("".join(text for text, _ in line) for line in viewer.draw(200, 140)))
"""


@pytest.mark.slow
def test_the_recipe_for_a_panel_adds_it(tmp_path: Path) -> None:
    """The two files of docs/architecture.md, and nothing else: its key shows it, and help names it."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    recipe = page.partition("## How to add a panel")[2].partition("\n## ")[0]
    for package in ("actors", "clocks", "mechanisms", "scenarios"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    files = re.findall(r"^```python\n# (\S+)\n(.*?)^```", recipe, re.MULTILINE | re.DOTALL)
    assert len(files) == 2
    for path, code in files:
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(code, encoding="utf-8")
    folder = perform(private(), tmp_path).outcome.folder
    command = [sys.executable, "-c", _LOOK, str(folder)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "budgets  largest ε / cap of a group" in done.stdout
    assert re.search(r"peers +█+·* +\d+%", done.stdout)
    assert re.search(r"p +budgets: the largest spent share", done.stdout)


def test_a_line_of_losses_counts_all_of_its_second_or_says_that_it_does_not(tmp_path: Path) -> None:
    """A thousand notable events are remembered: of the oldest second a part may be missing."""
    clock = {"kind": "poisson", "rate": 2.0}
    nodes = [{"count": 20, "clock": clock, "budget": {"epsilon": 4.0, "delta": 1e-5}}]
    network = {"topology": "complete", "loss": 0.7}
    ran = perform(private(nodes=nodes, network=network, run={"seed": 2, "horizon": 6.0}), tmp_path)
    lost = [event["t"] for event in ran.events("lost")]
    marked = set()
    for at in (0.8, 1.5, 3.0, 4.4, 5.9):
        viewer, _ = stood(ran, at)
        viewer.session.pane.change(events=Filter("notable"))
        for line, _ in viewer.model(120, 36).feed.lines:
            found = re.match(r" *(\d+)…\d+ +messages +(\d+)(\+?) lost", line)
            if found is None:
                continue
            second, count, more = int(found[1]), int(found[2]), found[3]
            true = sum(second <= t / 1e9 < second + 1 and t <= at * 1e9 for t in lost)
            assert count <= true if more else count == true
            marked.add(more)
    assert marked == {"", "+"}
