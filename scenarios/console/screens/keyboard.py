"""Keys from a terminal, without blocking: a terminal that is always given back as it was."""

import asyncio
import codecs
import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from scenarios.console.control.line_editor import PASTED

_LONE_S, _PASTE_S = 0.03, 1.0
"""How long what may follow an escape is waited for, and the end of what is pasted."""
_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x01": "home",
    "\x05": "end",
    "\x15": "clear",
    "\x17": "word",
}
_ESCAPES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    "OA": "up",
    "OB": "down",
    "OC": "right",
    "OD": "left",
    "[5~": "page-up",
    "[6~": "page-down",
    "[H": "home",
    "[F": "end",
    "OH": "home",
    "OF": "end",
    "[1~": "home",
    "[4~": "end",
    "[7~": "home",
    "[8~": "end",
    "[3~": "delete",
}
_PASTE = "\x1b[200~", "\x1b[201~"
_WHOLE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.)", re.DOTALL)


class Keyboard:
    """Reads single keys while open; where there is no POSIX terminal, it reads nothing.

    `leave` and `enter` are called around a suspension: the screen is given back, and taken again.
    """

    def __init__(
        self,
        press: Callable[[str], None],
        leave: Callable[[], None] = lambda: None,
        enter: Callable[[], None] = lambda: None,
    ) -> None:
        self._press = press
        self._leave, self._enter = leave, enter
        self._former: list[Any] | None = None
        self._file = -1
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._patience: asyncio.TimerHandle | None = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> None:
        try:
            import termios  # POSIX only
        except ImportError:
            return
        try:
            self._file = sys.stdin.fileno()
            self._former = termios.tcgetattr(self._file)
        except (termios.error, OSError, ValueError):
            self._former = None
            return
        self._take()
        try:
            self._handlers = {
                signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._suspend),
                signal.SIGCONT: signal.signal(signal.SIGCONT, self._resume),
            }
        except ValueError:  # not the main thread: it is not suspended
            self._handlers = {}

    def __exit__(self, *_: object) -> None:
        if self._former is None:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        asyncio.get_running_loop().remove_reader(self._file)
        if self._is_ours():
            self._give_back()

    def _take(self) -> None:
        import termios
        import tty

        try:
            tty.setcbreak(self._file)
        except termios.error:  # the terminal is gone
            return
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def _give_back(self) -> None:
        import termios

        assert self._former is not None, "only an open keyboard is given back"  # noqa: S101
        try:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._former)
        except termios.error:  # the terminal is gone
            return

    def give_back(self) -> None:
        """Give the terminal back as it was, whatever waits to be written; also from another thread."""
        if self._former is None or not self._is_ours():
            return
        import termios

        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self._file, termios.TCSANOW, self._former)

    def _suspend(self, _number: int, _frame: FrameType | None) -> None:
        """Give everything back, and stop like a process that is suspended."""
        self._leave()
        self._give_back()
        asyncio.get_running_loop().remove_reader(self._file)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        self._resume(
            signal.SIGCONT, None
        )  # also where nobody could have continued it, and nothing stopped

    def _resume(self, _number: int, _frame: FrameType | None) -> None:
        """Take everything again, also after a stop without a signal that could be handled; in the background, wait for `fg`."""
        signal.signal(signal.SIGTSTP, self._suspend)
        if self._is_ours():
            self._take()
            self._enter()

    def _is_ours(self) -> bool:
        """Whether the terminal is this process's: while it is in the background, it is not."""
        try:
            return os.tcgetpgrp(self._file) == os.getpgrp()
        except OSError:  # there is no job control here
            return True

    def _read(self) -> None:
        try:
            data = os.read(self._file, 1024)
        except OSError:
            data = b""
        if not data:  # the terminal is gone
            asyncio.get_running_loop().remove_reader(self._file)
            return
        self._pending += self._decoder.decode(data)
        self._drain()
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._pending:
            wait = _PASTE_S if self._pending.startswith(_PASTE[0]) else _LONE_S
            self._patience = asyncio.get_running_loop().call_later(wait, self._give_up)

    def _give_up(self) -> None:
        """Take an escape that nothing followed for a key of its own, and what was pasted for all of it."""
        self._patience = None
        if self._pending.startswith(_PASTE[0]):
            text, self._pending = self._pending.removeprefix(_PASTE[0]), ""
            self._press(PASTED + text)
        elif self._pending.startswith("\x1b"):
            self._pending = self._pending[1:]
            self._press("escape")
            self._drain()

    def _drain(self) -> None:
        while self._pending:
            if self._pending[0] != "\x1b":
                first, self._pending = self._pending[0], self._pending[1:]
                self._press(_NAMES.get(first, first))
                continue
            if self._pending.startswith(_PASTE[0]):
                text, end, rest = self._pending.removeprefix(_PASTE[0]).partition(_PASTE[1])
                if not end:
                    return
                self._pending = rest
                self._press(PASTED + text)
                continue
            whole = _WHOLE.match(self._pending)
            if whole is None:
                if self._pending[1:2] in {"", "[", "O"}:
                    return
                self._pending = self._pending[1:]
                self._press("escape")
                continue
            self._pending = self._pending[whole.end() :]
            name = _ESCAPES.get(whole[1])
            if name is not None:
                self._press(name)
