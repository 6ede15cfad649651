"""The live screen: a pure view that fits every size, and the real program in a pseudo-terminal."""

import math
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.observers.view import Model, Row, bar, frame, rows_that_fit, sparkline
from scenarios.result import open_run

ROOT = Path(__file__).parent.parent.parent


def row(i: int, **changes: Any) -> Row:
    base = Row(i, "up", 2.0, 8.0, 0.5, [0.7, 0.6, 0.5], 12, 3)
    return replace(base, **changes)


def model(count: int = 100, **changes: Any) -> Model:
    base = Model(
        name="small", mechanism="cd", seed=7, paused=False, speed=math.inf, now_s=12.5, share=0.4,
        events_per_s=9000.0, privacy="eavesdropper view, δ = 1e-05, gaussian", broken="", invariants=12,
        rows=[row(i) for i in range(count)], first=0, count=count, up=count, epsilon_worst=2.0, loss_mean=0.5,
        sent=100, delivered=90, lost=4, rejected=2, flying=4, copies=0, releases=7, charged=7, recorded_mb=1.0,
        recent=["one", "two"],
    )  # fmt: skip
    return replace(base, **changes)


def text(found: Model, width: int, height: int) -> list[str]:
    return ["".join(span for span, _ in line) for line in frame(found, width, height)]


@given(st.integers(20, 220), st.integers(7, 80), st.integers(1, 200), st.booleans())
def test_a_frame_fits_its_screen(width: int, height: int, rows: int, ascii_only: bool) -> None:  # noqa: FBT001
    lines = text(model(rows, ascii=ascii_only), width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    if ascii_only:
        assert all(ord(c) < 128 for line in lines[3 : 3 + rows_that_fit(height)] for c in line)


def test_every_number_stands_where_it_should() -> None:
    lines = text(model(3), 100, 30)
    assert lines[3].split() == ["0", "●", "up", "██▌·······", "2.00/8", "0.5000", "█▅▁", "12", "3"]
    assert "eavesdropper view, δ = 1e-05, gaussian" in lines[1]
    assert any("100 = delivered 90 + lost 4 + rejected 2 + in flight 4 ✓" in line for line in lines)
    assert any("an oracle's view, not a release" in line for line in lines)


def test_sums_that_do_not_balance_get_a_cross() -> None:
    assert any("in flight 5 ✕" in line for line in text(model(3, flying=5), 100, 30))
    copied = text(model(3, flying=7, copies=3), 100, 30)
    assert any("messages 100 + 3 copies = delivered 90" in line and "✓" in line for line in copied)


@pytest.mark.parametrize("state", ["up", "down", "spent", "left", "absent", "diverged"])
def test_a_state_has_a_glyph_a_word_and_a_style(state: str) -> None:
    plain = text(model(1, rows=[row(0, state=state)], ascii=True), 100, 30)[3]
    assert state in plain


def test_short_screens_drop_events_first_then_identities() -> None:
    tall, middle, short = (" ".join(text(model(), 100, h)) for h in (30, 20, 12))
    assert "events" in tall
    assert "events" not in middle
    assert "delivered" in middle
    assert "delivered" not in short
    assert "pause" in short


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


class Terminal:
    """The real program on a pseudo-terminal, its screen read by a terminal emulator."""

    def __init__(self, columns: int, lines: int, out: Path, *more: str) -> None:
        import fcntl
        import pty

        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        env = {k: v for k, v in os.environ.items() if k not in {"CI", "NO_COLOR"}} | {
            "TERM": "xterm-256color"
        }
        env |= {"COLUMNS": str(columns), "LINES": str(lines)}
        command = [sys.executable, "-m", "scenarios", "run", "quickstart", "--out", str(out), *more]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=env
        )

    def read(self, seconds: float) -> str:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if select.select([self.master], [], [], 0.05)[0]:
                data = os.read(self.master, 65536)
                self.raw += data
                for mode in (b"\x1b[?2026h", b"\x1b[?2026l"):
                    data = data.replace(mode, b"")
                self._stream.feed(data)
        return "\n".join(self.screen.display)

    def wait_for(self, words: str, seconds: float = 20.0) -> str:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            shown = self.read(0.2)
            if words in shown:
                return shown
        raise AssertionError(f"{words!r} never came:\n{shown}")

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (60, 15), (200, 60)])
def test_pause_step_go_on_and_quit_in_a_real_terminal(out: Path, columns: int, lines: int) -> None:
    terminal = Terminal(columns, lines, out, "--speed", "2")
    shown = terminal.wait_for("×2")
    assert "quickstart" in shown
    assert "● up" in shown
    terminal.press(b" ")
    terminal.wait_for("pause  ")

    def now(seconds: float) -> str:
        return terminal.read(seconds).splitlines()[0].split(" s ")[0]

    paused = now(0.5)
    assert now(0.5) == paused
    for _ in range(6):
        terminal.press(b".")
        terminal.read(0.15)
    assert now(0.3) != paused
    terminal.press(b"\x1b[B")
    terminal.press(b"+")
    terminal.press(b" ")
    terminal.wait_for("×4")
    terminal.press(b"q")
    terminal.read(2.0)
    assert terminal.process.wait(20) == 130
    assert termios.tcgetattr(terminal.slave) == terminal.before
    assert terminal.raw.rstrip().rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")
    assert open_run(out).status == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_terminal_back(out: Path, number: int) -> None:
    terminal = Terminal(100, 30, out, "--speed", "2")
    terminal.wait_for("● up")
    terminal.process.send_signal(number)
    terminal.read(2.0)
    assert terminal.process.wait(20) == 130
    assert termios.tcgetattr(terminal.slave) == terminal.before
    assert b"\x1b[?1049l" in terminal.raw
    assert b"Traceback" not in terminal.raw


def test_a_paused_run_can_be_quit(out: Path) -> None:
    terminal = Terminal(100, 30, out, "--speed", "2")
    terminal.wait_for("● up")
    terminal.press(b" ")
    terminal.wait_for("pause  ")
    terminal.press(b"q")
    terminal.read(2.0)
    assert terminal.process.wait(20) == 130
