"""The real program in a pseudo-terminal: every key, every size, and a terminal that is always given back."""

import json
import signal
import textwrap
import time
from pathlib import Path

import pytest

from scenarios.folder import read_manifest
from scenarios.result import open_run
from tests.support.command import hush
from tests.support.terminal import CONTINUE, DOWN, ENTER, ESCAPE, PAGE_DOWN, STOP, TAB, Terminal

RING = """
    schema = 1
    name = "ring"
    [run]
    seed = 7
    horizon = "60s"
    [data]
    source = "blobs"
    dimension = 3
    points = 20
    [task]
    l2 = 0.1
    [network]
    topology = "complete"
    latency = "50ms"
    [[nodes]]
    name = "peers"
    count = {count}
    budget = {{ epsilon = 8.0, delta = 1e-5 }}
    [mechanism]
    kind = "cd"
    noise = "gaussian"
    releases = 40
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return write(tmp_path, 5)


def write(folder: Path, count: int) -> Path:
    file = folder / f"ring{count}.toml"
    text = textwrap.dedent(RING.format(count=count))
    file.write_text(text.replace('"complete"', '"ring"') if count > 100 else text)
    return file


def started(file: Path, columns: int = 100, lines: int = 30, *more: str) -> Terminal:
    words = ("run", str(file), "--out", str(file.parent / "run"), "--speed", "4", *more)
    return Terminal(columns, lines, *words, cwd=file.parent)


def instant(terminal: Terminal) -> str:
    return terminal.screen.display[0].partition(" t ")[2].split(" ")[0]


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


def test_ten_thousand_agents_are_a_histogram(tmp_path: Path) -> None:
    with started(write(tmp_path, 10_000), 100, 30) as terminal:
        terminal.wait_for("outliers", 60)
        terminal.wait_for("state  ● up 10,000", 60)
        for line in terminal.screen.display:
            assert len(line) <= 100
        terminal.press("g")
        terminal.wait_for("of 10000")
        terminal.press("g")
        terminal.wait_for("grid ε")
        terminal.send(signal.SIGTERM)
        assert terminal.ends(60) == 130
        assert terminal.is_as_before()


def test_every_key_does_what_the_help_says(ring: Path) -> None:
    with started(ring) as terminal:
        terminal.wait_for("● up")
        terminal.press("?")
        terminal.wait_for("twice the speed")
        terminal.press("?")
        terminal.wait_for("nodes")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("n", "\x15", "next released", ENTER)
        terminal.wait_for("BREAK at event")
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
        terminal.press("l", "fault", ENTER)
        terminal.wait_for("f:fault")
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


def test_a_fault_from_the_menu_is_journalled_exported_and_replayed(ring: Path) -> None:
    """Pause, crash, partition, heal, resume at a real terminal; then run the exported file."""
    with started(ring) as terminal:
        terminal.wait_for("● up")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("f")
        terminal.wait_for("faults at agent 0")
        terminal.press(ENTER)
        terminal.wait_for(":crash 0 for=10s")
        terminal.press(ENTER)
        terminal.wait_for("✕ down")
        terminal.type("partition 1,2|3,4")
        terminal.wait_for("partition 1,2|3,4 at")
        terminal.type("until +2s")
        terminal.read(0.5)
        terminal.press("h")
        terminal.wait_for("is undone at")
        terminal.type("crash 9")
        terminal.wait_for("no agent 9")
        terminal.press(ESCAPE, "e")
        terminal.wait_for("wrote ring-session-1.toml")
        terminal.type("speed max")
        terminal.press(" ")
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
        mine, theirs = (read_manifest(ring.parent / f)["digests"]["schedule"] for f in ("run", out))
        assert mine == theirs
    assert read_manifest(run)["steered_by_hand"]
    assert json.loads((run / "summary.json").read_text())["epsilon"]["covered"] is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("paused", [False, True])
def test_a_signal_gives_the_terminal_back(ring: Path, number: int, paused: bool) -> None:  # noqa: FBT001
    with started(ring) as terminal:
        terminal.wait_for("● up")
        if paused:
            terminal.press(" ")
            terminal.wait_for("❚❚ pause")
        terminal.send(number)
        assert terminal.ends() == 130
        assert terminal.is_as_before()
        assert b"Traceback" not in terminal.raw


def test_a_resize_is_followed(ring: Path) -> None:
    with started(ring) as terminal:
        terminal.wait_for("links")
        terminal.resize(60, 15)
        time.sleep(0.3)
        terminal.read(0.5)
        assert "links" not in terminal.shown
        assert max(len(line.rstrip()) for line in terminal.screen.display) <= 60
        terminal.resize(120, 40)
        terminal.wait_for("links")
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()


def test_a_suspended_run_gives_the_terminal_back_and_takes_it_again(ring: Path) -> None:
    with started(ring) as terminal:
        terminal.wait_for("● up")
        terminal.send(STOP)
        terminal.read(0.5)
        assert terminal.is_as_before()
        stopped = (
            Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        )
        assert stopped == "T"
        terminal.screen.reset()
        terminal.send(CONTINUE)
        terminal.wait_for("● up")
        assert not terminal.is_as_before()
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()


def test_an_exception_inside_a_run_gives_the_terminal_back(tmp_path: Path) -> None:
    """Code of the scenario's own raises at its third wake."""
    module = tmp_path / "bad_clock.py"
    module.write_text(
        textwrap.dedent(
            """
            from clocks.activation import Poisson

            class Breaking(Poisson):
                def __init__(self, rate=1.0):
                    super().__init__(rate)

                def instants(self, draws):
                    for number, instant in enumerate(super().instants(draws)):
                        if number == 3:
                            raise RuntimeError("it broke")
                        yield instant
            """
        )
    )
    file = write(tmp_path, 5)
    clock = 'clock = { kind = "bad_clock:Breaking" }'
    file.write_text(file.read_text().replace('name = "peers"', f'name = "peers"\n{clock}'))
    with started(file, 100, 30, "--allow-code") as terminal:
        assert terminal.ends() == 70
        assert b"it broke" in terminal.raw
        assert b"\x1b[?1049h" in terminal.raw
        assert terminal.is_as_before()


def test_no_color_keeps_shapes_and_words(ring: Path) -> None:
    words = ("run", str(ring), "--out", str(ring.parent / "run"), "--speed", "4")
    with Terminal(100, 30, *words, cwd=ring.parent, NO_COLOR="1") as terminal:
        terminal.wait_for("● up")
        assert b"38;5;" not in terminal.raw
        assert b"38;2;" not in terminal.raw
        terminal.press("q")
        terminal.ends()
    with Terminal(
        100,
        30,
        *words[:3],
        str(ring.parent / "b"),
        "--color",
        "always",
        "--ascii",
        cwd=ring.parent,
        NO_COLOR="1",
    ) as terminal:
        terminal.wait_for("o up")
        assert b"38;2;" in terminal.raw
        assert all(ord(c) < 128 for c in terminal.shown)
        terminal.press("q")
        terminal.ends()


def test_full_without_a_terminal_is_refused(ring: Path) -> None:
    done = hush("run", str(ring), "--live", "full", cwd=ring.parent)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
