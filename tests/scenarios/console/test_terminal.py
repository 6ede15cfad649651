"""The real program in a pseudo-terminal: every key, every size, and a terminal that is always given back."""

import json
import signal
from pathlib import Path

import pytest

from scenarios.api.result import open_run
from scenarios.records.reader import RunRecord
from tests.support.command import hush
from tests.support.rings import instant, started, write
from tests.support.terminal import DOWN, ENTER, ESCAPE, PAGE_DOWN, TAB


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return write(tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (60, 15), (200, 60)])
@pytest.mark.parametrize("count", [5, 100])
def test_pause_step_go_on_and_quit(tmp_path: Path, columns: int, lines: int, count: int) -> None:
    with started(write(tmp_path, count), columns, lines) as terminal:
        shown = terminal.wait_for("● up")
        assert "ring" in shown
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        paused = instant(terminal)
        terminal.read(0.3)
        assert instant(terminal) == paused
        for _ in range(4):
            terminal.press(".")
            terminal.read(0.1)
        assert instant(terminal) != paused
        terminal.press("+", "=", "-", " ")
        terminal.wait_for("▶ ×8")
        assert max(map(len, terminal.screen.display)) <= columns
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()
    assert open_run(tmp_path / "run").status == "interrupted"


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (60, 15), (200, 60)])
def test_ten_thousand_agents_are_a_histogram(tmp_path: Path, columns: int, lines: int) -> None:
    with started(write(tmp_path, 10_000), columns, lines) as terminal:
        terminal.wait_for("budget histogram", 60)
        shown = terminal.wait_for("q quit", 60)  # the last line of a frame
        assert ("outliers" in shown) == (lines > 15)
        if columns >= 100:
            terminal.wait_for("state  ● up 10,000", 60)
        terminal.press("g")
        terminal.wait_for("12 groups", 60)
        terminal.press("g")
        terminal.wait_for("of 10000", 60)
        terminal.press("g")
        terminal.wait_for("grid ε", 60)
        terminal.press(PAGE_DOWN, " ")
        terminal.wait_for("❚❚ pause")
        terminal.press(ENTER)
        terminal.wait_for("ledger")
        terminal.send(signal.SIGTERM)
        assert terminal.ends(60) == 130
        assert terminal.is_as_before()


@pytest.mark.slow
def test_every_key_does_what_the_help_says(ring: Path) -> None:
    with started(ring, 100, 36) as terminal:  # lower ones have no room for the links
        terminal.wait_for("● up")
        terminal.press("?")
        terminal.wait_for("states of an agent")
        terminal.press(*[PAGE_DOWN] * 2)
        terminal.wait_for("twice the speed")
        terminal.press("?")
        terminal.wait_for("agents")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("n", "\x15", "next released", ENTER)
        terminal.wait_for("reached at event")
        terminal.press(">", "+3s", ENTER)
        before = instant(terminal)
        terminal.read(0.5)
        assert instant(terminal) != before
        terminal.press("s")
        terminal.wait_for("sort:epsilon↓")
        terminal.press("/", "down", ENTER)
        terminal.wait_for("none of 5")
        terminal.press("/", ENTER)
        terminal.wait_for("1–5 of 5")
        terminal.press("L", "fault", ENTER)
        terminal.wait_for("L:fault")
        terminal.press("g")
        terminal.wait_for("network  5 agents")
        terminal.press("g")
        terminal.wait_for("grid ε")
        terminal.press("g", "g")
        terminal.wait_for("links")
        terminal.press("b", "kind == 'crashed'", ENTER)
        terminal.wait_for("holds when kind == 'crashed'")
        terminal.press(DOWN, PAGE_DOWN, ENTER)
        terminal.wait_for("ledger")
        terminal.press(ESCAPE)
        terminal.wait_for("links")
        terminal.press("t", "1h", ENTER)
        terminal.wait_for("after the end, at 60 s")
        terminal.press(ESCAPE, ":cra", TAB)
        terminal.wait_for(":crash")
        terminal.press(ESCAPE, ":nonsense", ENTER)
        terminal.wait_for("no order 'nonsense'")
        terminal.press(ESCAPE, "S")
        terminal.wait_for("wrote ring-")
        terminal.press("q")
        assert terminal.ends() in {0, 130}
        assert terminal.is_as_before()
    (picture,) = ring.parent.glob("ring-*.svg")
    assert picture.read_text().startswith("<svg")


@pytest.mark.slow
def test_a_fault_from_the_menu_is_journalled_exported_and_replayed(ring: Path) -> None:
    """Pause, crash, partition, heal, resume at a real terminal; then run the exported file."""
    with started(ring) as terminal:
        terminal.wait_for("● up")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("f")
        terminal.wait_for("faults at agent 0")
        terminal.press(DOWN, ENTER)  # a cut stands first
        terminal.wait_for(":crash 0 for=10s")
        terminal.press(ENTER)
        terminal.wait_for("✕ down")
        terminal.type("partition 1,2|3,4")
        terminal.wait_for("partition 1,2|3,4 at")
        terminal.type("until +2s")
        terminal.read(0.5)
        terminal.press("H")
        terminal.wait_for("is undone at")
        terminal.type("crash 9")
        terminal.wait_for("no agent 9")
        terminal.press(ESCAPE, "e", ENTER)
        terminal.wait_for("wrote ring-session-1.toml")
        terminal.type("speed max")
        terminal.press(" ")
        terminal.wait_for("■ over")  # it stays in sight until somebody leaves
        terminal.press(".")
        terminal.wait_for("the run is over")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()
    run = ring.parent / "run"
    done = [json.loads(line) for line in (run / "inputs.jsonl").read_text().splitlines()]
    assert [d["what"] for d in done if d["what"] in {"fault", "heal"}] == ["fault", "fault", "heal"]
    assert {"pause", "until", "export", "speed", "resume"} <= {d["what"] for d in done}
    assert all(isinstance(d["seq"], int) for d in done)
    for file, out in (
        (ring.parent / "ring-session-1.toml", "again"),
        (run / "resolved.toml", "too"),
    ):
        assert hush("run", str(file), "--out", str(ring.parent / out), "--quiet").returncode == 0
        mine, theirs = (
            RunRecord(ring.parent / f).manifest["digests"]["schedule"] for f in ("run", out)
        )
        assert mine == theirs
    assert RunRecord(run).manifest["steered_by_hand"]
    assert json.loads((run / "summary.json").read_text())["epsilon"]["covered"] is False
