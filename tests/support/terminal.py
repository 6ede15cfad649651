"""The real program on a pseudo-terminal, its screen read by a terminal emulator."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pyte

from tests.support.paths import ROOT

SYNC = (b"\x1b[?2026h", b"\x1b[?2026l")


class Terminal:
    """`hush` with some words, on a terminal of some size."""

    def __init__(
        self,
        columns: int,
        lines: int,
        *words: str,
        cwd: Path = ROOT,
        program: tuple[str, ...] = ("-m", "scenarios"),
        **env: str,
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._heard = 0
        self.master, self.slave = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.slave)
        known = {
            k: v for k, v in os.environ.items() if k not in {"CI", "NO_COLOR", "COLUMNS", "LINES"}
        }
        known |= {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT)} | env
        self.process = subprocess.Popen(
            [sys.executable, *program, *words],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=cwd,
            env=known,
            process_group=0 if program[0] == "-m" else None,
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        os.close(self.master)
        os.close(self.slave)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal, and of who reads it."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def read(self, seconds: float) -> str:
        """Read for a while, and return what stands on the screen."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if select.select([self.master], [], [], 0.02)[0]:
                data = os.read(self.master, 65536)
                self.raw += data
                for mode in SYNC:
                    data = data.replace(mode, b"")
                self._stream.feed(data)
        return self.shown

    @property
    def shown(self) -> str:
        """What stands on the screen."""
        return "\n".join(self.screen.display)

    def wait_for(self, words: str, seconds: float = 30.0) -> str:
        """Read until some words stand on the screen."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if words in self.shown:
                return self.shown
            self.read(0.05)
        raise AssertionError(f"{words!r} never came:\n{self.shown}")

    def hear(self, words: str, seconds: float = 30.0) -> None:
        """Read until some words were written after all that was heard before."""
        ends = time.monotonic() + seconds
        while (at := self.raw.find(words.encode(), self._heard)) < 0:
            assert time.monotonic() < ends, f"{words!r} never came:\n{self.shown}"
            self.read(0.05)
        self._heard = at + len(words.encode())

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            os.write(self.master, key.encode())

    def type(self, order: str) -> None:
        """Give an order on the command line of the screen."""
        self.press(f":{order}\r")

    def ends(self, seconds: float = 30.0) -> int:
        """Read until the program ends, and return its exit code."""
        limit = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > limit:
                raise AssertionError(f"never ended:\n{self.shown}")
            self.read(0.05)
        self.read(0.2)
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal's settings, its screen and its cursor are what they were."""
        settings: list[Any] = termios.tcgetattr(self.slave)
        left = self.raw.rfind(b"\x1b[?1049l") >= self.raw.rfind(b"\x1b[?1049h")
        seen = self.raw.rfind(b"\x1b[?25h") >= self.raw.rfind(b"\x1b[?25l")
        plain = self.raw.rfind(b"\x1b[?2004l") >= self.raw.rfind(b"\x1b[?2004h")
        return settings == self.before and left and seen and plain

    def send(self, number: int) -> None:
        """Send a signal to the program."""
        os.kill(self.process.pid, number)


UP, DOWN, LEFT, RIGHT, PAGE_DOWN, ESCAPE, ENTER, TAB = (
    "\x1b[A",
    "\x1b[B",
    "\x1b[D",
    "\x1b[C",
    "\x1b[6~",
    "\x1b",
    "\r",
    "\t",
)
STOP, CONTINUE = signal.SIGTSTP, signal.SIGCONT
