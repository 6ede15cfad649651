"""A terminal is always given back: after signals, suspension, resizes, exceptions; and colours can be left out."""

import asyncio
import os
import signal
import textwrap
import time
from pathlib import Path

import pytest
from rich.console import Console

from scenarios.api.runs import make_plan
from scenarios.console.screens.screen import Screen
from scenarios.console.screens.viewer import viewer_of
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.command import hush
from tests.support.rings import started, write
from tests.support.terminal import CONTINUE, ENTER, STOP, Terminal


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return write(tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
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


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, 0])
def test_a_terminal_that_goes_away_ends_the_run_and_keeps_it(ring: Path, number: int) -> None:
    """With a hangup, as a window that is closed sends it, or without."""
    terminal = started(ring)
    terminal.wait_for("● up")
    os.close(terminal.master)
    os.close(terminal.slave)
    if number:
        terminal.send(number)
    assert terminal.process.wait(30) == 130
    assert RunRecord(ring.parent / "run").manifest["status"] == "interrupted"


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, signal.SIGINT])
def test_the_end_stays_in_sight_of_whoever_pressed_a_key(ring: Path, number: int) -> None:
    """Until q, or a signal: the run is over and well either way."""
    with started(ring) as terminal:
        terminal.wait_for("● up")
        terminal.press("s")
        terminal.type("speed max")
        terminal.wait_for("■ over")
        assert read_manifest_soon(ring.parent / "run") == "finished"
        for key in (".", " ", "+"):
            terminal.press(key)
            terminal.wait_for("the run is over: q leaves")
        terminal.press(ENTER)
        terminal.wait_for("ledger")
        if number:
            terminal.send(number)
        else:
            terminal.press("q")  # what is open is closed first
            terminal.wait_for("q leave")
            terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()
        assert b"ring \xc2\xb7 seed 7 \xc2\xb7 finished" in terminal.raw


def read_manifest_soon(folder: Path) -> str:
    ends = time.monotonic() + 10
    while (found := RunRecord(folder).manifest["status"]) == "running" and time.monotonic() < ends:
        time.sleep(0.05)
    return str(found)


def test_a_screen_stays_when_its_run_is_over_unless_it_was_to_exit(ring: Path) -> None:
    with started(ring, 100, 30, "--until", "2s") as terminal:
        terminal.wait_for("finished at 2 s")
        terminal.read(0.5)
        assert terminal.process.poll() is None
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()
    with started(ring, 100, 30, "--until", "2s", "--exit", out="again") as terminal:
        assert terminal.ends() == 0
        assert b"\x1b[?1049h" in terminal.raw
        assert terminal.is_as_before()
        assert b"finished at 2 s" in terminal.raw


@pytest.mark.slow
def test_what_is_pasted_orders_nothing(ring: Path) -> None:
    with started(ring) as terminal:
        terminal.wait_for("● up")
        assert terminal.raw.rfind(b"\x1b[?2004h") > terminal.raw.rfind(b"\x1b[?2004l")
        terminal.press("\x1b[200~quit\rq")
        terminal.read(0.2)  # what is pasted can come in pieces
        terminal.press("?s\x1b[201~")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press(":", "\x1b[200~sort ", "loss\x1b[201~", ENTER)
        terminal.wait_for("sort:loss↓")
        terminal.press("\x1b[200~the end never comes", "q")
        terminal.read(1.3)
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()


@pytest.mark.slow
def test_a_resize_is_followed(ring: Path) -> None:
    with started(ring, 100, 36) as terminal:
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        assert terminal.ends() == 2
        assert (
            b"bad_clock.py:11: code of the scenario's own failed: RuntimeError: it broke"
            in terminal.raw
        )
        assert b"\x1b[?1049h" in terminal.raw
        assert terminal.is_as_before()


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_a_terminal_cannot_write_is_drawn_with_ascii(ring: Path) -> None:
    words = ("run", str(ring), "--out", str(ring.parent / "run"), "--speed", "4")
    with Terminal(100, 30, *words, cwd=ring.parent, PYTHONIOENCODING="ascii") as terminal:
        terminal.wait_for("o up")
        assert terminal.raw.isascii()
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()
    done = hush("replay", str(ring.parent / "run"), PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.slow
def test_full_without_a_terminal_is_refused(ring: Path) -> None:
    done = hush("run", str(ring), "--live", "full", cwd=ring.parent)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr


@pytest.mark.slow
def test_a_run_without_a_horizon_goes_as_time_does(tmp_path: Path) -> None:
    """Where the end is not known, a person can still follow."""
    words = ("run", "federated-dropout", "--out", str(tmp_path / "run"))
    with Terminal(100, 30, *words) as terminal:
        terminal.wait_for("▶ ×1 ")
        terminal.press("q")
        assert terminal.ends() == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "times", "code", "status"),
    [
        (signal.SIGTERM, 1, 0, {"finished"}),
        (signal.SIGHUP, 1, 0, {"finished"}),
        (signal.SIGINT, 2, 130, {"running", "interrupted"}),
    ],
)
def test_a_signal_while_a_run_is_judged_gives_the_terminal_back(
    tmp_path: Path, number: int, times: int, code: int, status: set[str]
) -> None:
    """What is found at the end takes its time: one signal lets it be finished, the second does not."""
    words = ("run", "errata/e07-lipschitz-norm", "--speed", "max", "--out", str(tmp_path / "run"))
    with Terminal(100, 30, *words) as terminal:
        terminal.wait_for("■ ending")
        terminal.read(0.6)  # it says so, and then it judges
        for _ in range(times):
            terminal.send(number)
            terminal.read(0.1)
        assert terminal.ends(60) == code
        assert terminal.is_as_before()
    assert RunRecord(tmp_path / "run").manifest["status"] in status


@pytest.mark.slow
def test_a_run_in_the_background_waits_for_the_terminal(ring: Path) -> None:
    """Ctrl-Z, bg, fg, as a shell does it: a job of its own, and who has the terminal."""
    shell = textwrap.dedent(
        """
        import os, signal, sys, time
        os.setsid()
        import fcntl, termios
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(sys.executable, [sys.executable, "-m", "scenarios", *sys.argv[1:]])
        os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        os.kill(job, signal.SIGCONT)
        time.sleep(0.5)
        stopped, _ = os.waitpid(job, os.WNOHANG | os.WUNTRACED)
        print("IN THE BACKGROUND", "stopped" if stopped else "goes on", flush=True)
        os.tcsetpgrp(0, job)
        os.kill(job, signal.SIGCONT)
        _, status = os.waitpid(job, 0)
        os.tcsetpgrp(0, os.getpgrp())
        print("ENDED", os.waitstatus_to_exitcode(status), flush=True)
        """
    )
    file = ring.parent / "shell.py"
    file.write_text(shell)
    words = ("run", str(ring), "--out", str(ring.parent / "run"), "--speed", "4")
    with Terminal(100, 30, *words, cwd=ring.parent, program=(str(file),)) as terminal:
        terminal.wait_for("● up")
        terminal.press("\x1a")
        terminal.hear("IN THE BACKGROUND goes on")
        terminal.hear("\x1b[?1049h")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("q")
        terminal.hear("ENDED 130")
        terminal.ends()
        assert terminal.is_as_before()
        assert b"Traceback" not in terminal.raw


def test_a_screen_without_a_keyboard_ends_with_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who cannot press a key cannot leave: nothing waits for one."""
    run = Run(
        make_plan("ring5-dropout"), tmp_path / "run", RunGovernor(watched=True, looks=True), 1.0
    )
    with (tmp_path / "sink").open("w", encoding="utf-8") as sink, Path("/dev/null").open() as empty:
        monkeypatch.setattr("sys.stdin", empty)
        screen = Screen(
            viewer_of(run), Console(file=sink, force_terminal=True, width=100, height=30)
        )
        outcome = asyncio.run(asyncio.wait_for(screen.watch(run.perform()), 60))
    assert outcome.status == "finished"
    assert screen.drawn > 0
