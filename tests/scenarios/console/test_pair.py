"""Two runs in one screen: at the same simulated time, moved together, and each what it is alone."""

import asyncio
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import Sampled
from scenarios.console.assembly.differences import Figure, apart, differences, figures
from scenarios.console.control.commands import carry_out
from scenarios.console.control.run_control import RunControl
from scenarios.console.screens.pair import PairViewer, frame
from scenarios.console.screens.viewer import session_of
from scenarios.records.reader import RunRecord
from tests.support.builders import perform
from tests.support.command import hush
from tests.support.pairs import GROUP, POISSON, SHORT, SYNCHRONOUS, Pair, both
from tests.support.screens import model
from tests.support.terminal import Terminal


def test_runs_in_step_are_what_they_are_alone(tmp_path: Path) -> None:
    runs = both(tmp_path, POISSON, SYNCHRONOUS)
    asyncio.run(RunControl(runs).perform())
    for run, tree in zip(runs, (POISSON, SYNCHRONOUS), strict=True):
        alone = perform(tree, tmp_path / f"alone-{run.folder.path.name}").digests
        assert RunRecord(run.folder.path).manifest["digests"] == alone


def test_neither_run_is_more_than_a_stride_ahead(tmp_path: Path) -> None:
    runs = both(tmp_path, POISSON, SYNCHRONOUS)
    stride, worst = 20_000_000_000 // 400, 0

    def look() -> None:
        nonlocal worst
        ends = [run.governor.upcoming for run in runs]
        if math.inf not in ends:
            worst = max(worst, abs(runs[0].clock.now - runs[1].clock.now))

    for run in runs:
        run.between.append(look)
    asyncio.run(RunControl(runs).perform())
    gap = 1_200_000_000  # a synchronous run has nothing to do for a second
    assert 0 < worst <= stride + gap


def test_pausing_one_holds_both_at_one_time(tmp_path: Path) -> None:
    """Every entry before the later of the two has been served by both, none after it."""
    one, other = runs = both(tmp_path, POISSON, SYNCHRONOUS)
    control = RunControl(runs)
    session = session_of(control)
    panes = session.panes
    screen = PairViewer(session)

    looks = 0

    def look() -> None:
        nonlocal looks
        looks = looks + 1 if one.governor.paused and other.governor.paused else 0

    one.between.append(look)
    other.between.append(look)

    async def holding() -> None:
        """Wait until both hold, and have looked again and again whether they may go on."""
        nonlocal looks
        looks = 0
        for _ in range(20_000):
            if looks >= 8:
                return
            await asyncio.sleep(0.002)
        raise AssertionError("they never held")

    async def person() -> None:
        task = asyncio.ensure_future(control.perform())
        await asyncio.sleep(0)
        control.hold()
        await holding()
        carry_out(session, "until 7.3s")
        await holding()
        assert (
            max(one.clock.now, other.clock.now)
            <= 7_300_000_000
            < min(one.governor.upcoming, other.governor.upcoming)
        )
        carry_out(session, "crash 2")
        carry_out(session, "sort epsilon")
        await holding()
        assert [pane.source.run_state.state(2) for pane in panes] == ["down", "down"]
        assert [pane.view.sort for pane in panes] == ["epsilon", "epsilon"]
        at = {w.begun_s for pane in panes for w in pane.source.run_state.windows.lasting()}
        assert len(at) == 1
        seqs = one.log.seq, other.log.seq
        carry_out(session, "step")
        await holding()
        moved = [
            now > before for now, before in zip((one.log.seq, other.log.seq), seqs, strict=True)
        ]
        assert sorted(moved) == [False, True]
        lines = screen.draw(120, 40)
        assert {sum(len(text) for text, _ in line) for line in lines} == {120}
        carry_out(session, "speed max")
        carry_out(session, "play")
        await task

    asyncio.run(person())
    for run in runs:
        assert run.journal.steered
        assert RunRecord(run.folder.path).manifest["status"] == "finished"


def test_what_differs_is_what_the_summaries_say(tmp_path: Path) -> None:
    runs = both(tmp_path, POISSON, SYNCHRONOUS)
    control = RunControl(runs)
    one, other = (pane.source for pane in session_of(control).panes)
    asyncio.run(control.perform())
    found = {figure.name: figure for figure in figures(one, other)}
    told = [json.loads((run.folder.path / "summary.json").read_text()) for run in runs]
    assert found["releases"].one == told[0]["releases"]
    assert found["sent"].apart == told[1]["messages"]["sent"] - told[0]["messages"]["sent"]
    assert found["ε worst"].other == pytest.approx(told[1]["epsilon"]["max"])
    assert found["loss*"].one == pytest.approx(told[0]["loss"]["mean"])
    (node, _, _, gap), *_ = apart(one, other, 6)
    losses = [
        abs(a["loss"] - b["loss"]) for a, b in zip(told[0]["nodes"], told[1]["nodes"], strict=True)
    ]
    assert gap == pytest.approx(max(losses))
    assert losses[node] == max(losses)


@pytest.mark.slow
def test_an_epsilon_is_compared_only_in_one_view_for_one_delta(tmp_path: Path) -> None:
    nodes = [GROUP | {"budget": {"epsilon": 4.0, "delta": 1e-6}}]
    for other, alike in ((POISSON, True), (POISSON | {"nodes": nodes}, False)):
        runs = both(tmp_path / str(alike), POISSON, other)
        control = RunControl(runs)
        session = session_of(control)
        asyncio.run(control.perform())
        found = figures(*(pane.source for pane in session.panes))
        of_epsilon = [f for f in found if f.name.startswith(("ε", "epsilon"))]
        assert len(of_epsilon) == 3
        assert {math.isnan(f.apart) for f in of_epsilon} == {not alike}
        assert not any(math.isnan(f.apart) for f in found if f.name.startswith(("loss", "sent")))
        shown = ["".join(t for t, _ in line) for line in PairViewer(session).draw(120, 40)]
        assert ("ε IN OTHER TERMS" in shown[2]) == (not alike)
        assert shown[0].startswith(" A small")
        assert shown[0][60:].startswith(" B small")


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12), st.integers(40, 200))
def test_figures_of_two_never_touch(one: float, other: float, width: int) -> None:
    lines = differences([Figure("accuracy.train*", one, other)], [], 0.0, width, 6)
    shown = "".join(text for text, _ in lines[2])
    pieces = shown.strip("│ ").split()
    assert len(pieces) == 4, shown
    assert float(_plain(pieces[1])) == pytest.approx(one, rel=0.5, abs=1e-300)
    assert float(_plain(pieces[2])) == pytest.approx(other, rel=0.5, abs=1e-300)


def _plain(number: str) -> str:
    for unit, power in (("k", "e3"), ("M", "e6"), ("G", "e9")):
        number = number.replace(unit, power)
    return number


def test_two_runs_are_tables(tmp_path: Path) -> None:
    session = session_of(RunControl(both(tmp_path, POISSON, SYNCHRONOUS)))
    screen = PairViewer(session)
    screen.press("g")
    assert "two runs are shown as tables" in session.message
    assert [pane.view.scale for pane in session.panes] == ["table", "table"]


@given(st.integers(20, 200), st.integers(4, 70))
def test_a_frame_of_two_is_exactly_as_large_as_its_screen(width: int, height: int) -> None:
    found = [Figure(f"figure {i}", 1.0 * i, 2.0) for i in range(20)]
    lines = frame((model(), model(100)), found, [(3, "up", "down", 0.5)], 7.0, width, height)
    assert len(lines) == height
    assert {sum(len(text) for text, _ in line) for line in lines} == {width}


@pytest.mark.slow
def test_two_scenarios_side_by_side_in_a_terminal(tmp_path: Path) -> None:
    with Terminal(
        120,
        40,
        "run",
        "ring5-dropout",
        "ring5-dropout",
        "--live",
        "--speed",
        "4",
        "--out",
        str(tmp_path / "both"),
    ) as terminal:
        terminal.wait_for("differences")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("?")
        terminal.wait_for("keys")
        terminal.press("?", "q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()
    assert {p.name for p in (tmp_path / "both").iterdir()} == {"ring5-dropout", "ring5-dropout-b"}


@pytest.mark.slow
def test_two_scenarios_on_a_pipe_are_told_by_name(tmp_path: Path) -> None:
    done = hush(
        "run",
        "ring5-dropout",
        "stragglers-barrier",
        "--until",
        "2s",
        "--out",
        str(tmp_path / "both"),
        "--live",
        "lines",
    )
    assert done.returncode in {0, 1, 4}, done.stderr
    assert "ring5-dropout: " in done.stdout
    assert "stragglers-barrier: " in done.stdout
    third = hush("run", "quickstart", "quickstart", "quickstart")
    assert third.returncode == 2
    assert "two side by side, got 3" in third.stderr
    assert hush("run", "quickstart", "quickstart", "--twice").returncode == 2


@pytest.mark.slow
def test_runs_are_compared_at_one_instant(tmp_path: Path) -> None:
    """Two runs of one scenario never differ, whenever somebody looks; where one is over, it is at its end."""
    pair = Pair(tmp_path / "same", POISSON, POISSON, speed=100.0)
    looked = 0

    async def person() -> None:
        nonlocal looked
        while not all(run.governor.ended for run in pair.runs):
            await asyncio.sleep(0.01)
            pair.screen._due = 0.0  # compare at every meeting
            pair.screen.draw(120, 40)
            _, found, far = pair.screen.compared
            apart = [f for f in found if f.apart != 0 and not math.isnan(f.apart)]
            assert apart == []
            assert far == []
            looked += 1

    pair.play(person, held=False)
    assert looked > 5
    pair = Pair(tmp_path / "short", POISSON, SHORT)
    sent: list[float] = []

    def note(event: Sampled) -> None:
        if event.t == 1_000_000_000:
            sent.append(event.values["messages.sent"])

    pair.runs[0].log.watch(note, (Sampled,))

    async def later() -> None:
        pair.order("until 9s")
        await pair.rest()
        pair.screen.draw(120, 40)
        instant, found, _ = pair.screen.compared
        assert 1_000_000_000 <= instant <= 1_000_000_000 + 2 * 20_000_000_000 // 400
        assert next(f.other for f in found if f.name == "sent") == sent[0]

    pair.play(later)


def test_the_end_of_both_is_told(tmp_path: Path) -> None:
    expecting = {"expect": [{"metric": "loss.mean", "below": 0.001}]}
    pair = Pair(tmp_path, POISSON, SHORT | expecting)
    asyncio.run(pair.control.perform())
    lines = ["".join(text for text, _ in line).strip() for line in pair.screen.draw(160, 40)]
    assert lines[-4].startswith("A finished at 20 s (horizon)")
    assert lines[-3].startswith("B finished at 1 s (horizon)")
    assert lines[-2].startswith("B ✕ expected loss.mean < 0.001")
    assert lines[-1].startswith("q leave")
