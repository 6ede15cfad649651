"""Keys from a terminal, without blocking: a terminal that is always given back as it was."""

import asyncio
import codecs
import contextlib
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from scenarios.console.control.line_editor import PASTED

_LONE_S, _PASTE_S = 0.03, 1.0
"""How long what may follow an escape is waited for, and the end of what is pasted."""
_SLOW_S = 0.1
"""A key that takes more of the processor's time to be carried out does not count again until it is."""
_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x01": "home",
    "\x05": "end",
    "\x04": "half-down",
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
_WHOLE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|\][^\x07\x1b]*(?:\x07|\x1b\\))", re.DOTALL)
"""A key, a report of the mouse, or an answer of the terminal."""
_MOUSE = re.compile(r"\[<(\d+);(\d+);(\d+)M")
_BUTTONS = {"0": "click", "64": "wheel-up", "65": "wheel-down"}
_BACKGROUND = re.compile(r"\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_ASK = "\x1b]11;?\x1b\\"
CLICK = "click "
"""The beginning of a click: its column and its line follow, counted from 0."""


class Keyboard:
    """Reads single keys while open: of a POSIX terminal here, of Windows by `ConsoleKeys`; elsewhere it reads nothing.

    `leave` and `enter` are called around a suspension: the screen is given back, and taken again. `on_background` is told
    the background of the terminal, three parts between 0 and 1, when the terminal answers.
    """

    def __init__(
        self,
        press: Callable[[str], None],
        leave: Callable[[], None] = lambda: None,
        enter: Callable[[], None] = lambda: None,
        on_background: Callable[[float, float, float], None] = lambda _r, _g, _b: None,
    ) -> None:
        self._press = press
        self._on_background = on_background
        self._console_keys: ConsoleKeys | None = None
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
            self._console_keys = ConsoleKeys.start(self._press)
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
        if self._console_keys is not None:
            self._console_keys.stop()
        if self._former is None:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        asyncio.get_running_loop().remove_reader(self._file)
        if self._is_ours():
            self._give_back()

    @property
    def is_open(self) -> bool:
        """Whether keys can be read: else no person can end what waits for one."""
        return self._former is not None or self._console_keys is not None

    def ask_background(self, output: int, patience_s: float) -> None:
        """Ask the terminal for its background, and wait so long for the answer. What else comes is kept as keys.

        An answer that comes later is told to `on_background`, too.
        """
        if self._former is None or not self._is_ours():
            return
        try:
            os.write(output, _ASK.encode())
        except OSError:
            return
        ends = time.monotonic() + patience_s
        while (left := ends - time.monotonic()) > 0:
            if not select.select([self._file], [], [], left)[0]:
                return
            data = os.read(self._file, 1024)
            if not data:
                return
            self._pending += self._decoder.decode(data)
            if _BACKGROUND.search(self._pending):
                break
        self._drain()

    def _take(self) -> None:
        import termios
        import tty

        try:
            tty.setcbreak(self._file)
            modes = termios.tcgetattr(self._file)
            modes[0] &= ~termios.IXON  # else Ctrl-S stops the screen, and every key seems dead
            termios.tcsetattr(self._file, termios.TCSANOW, modes)
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
                begun = time.process_time()
                self._press(_NAMES.get(first, first))
                if time.process_time() - begun > _SLOW_S:
                    self._forget_repeats(first)
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
                if self._pending[1:2] in {"", "[", "O"} or _ANSWER.fullmatch(self._pending):
                    return
                self._pending = self._pending[1:]
                self._press("escape")
                continue
            self._pending = self._pending[whole.end() :]
            self._sequence(whole[1])

    def _forget_repeats(self, key: str) -> None:
        """Drop what a key that is held has repeated while it was carried out.

        Going back in a long recording takes longer than a keyboard takes to repeat: the screen would stand still, and
        whatever is pressed next, Ctrl-C too, would wait for all of them.
        """
        with contextlib.suppress(OSError):  # the terminal is gone
            while select.select([self._file], [], [], 0)[0] and (data := os.read(self._file, 1024)):
                self._pending += self._decoder.decode(data)
        self._pending = self._pending.lstrip(key)

    def _sequence(self, text: str) -> None:
        """Press what a sequence stands for: a key, a click, a turn of the wheel; take an answer of the terminal."""
        mouse, background = _MOUSE.fullmatch(text), _BACKGROUND.match(text)
        if background is not None:
            parts = [int(part, 16) / (16 ** len(part) - 1) for part in background.groups()]
            self._on_background(*parts)
        elif mouse is not None:
            button = _BUTTONS.get(mouse[1])
            if button == "click":
                self._press(f"{CLICK}{int(mouse[2]) - 1} {int(mouse[3]) - 1}")
            elif button is not None:
                self._press(button)
        elif text in _ESCAPES:
            self._press(_ESCAPES[text])


_ANSWER = re.compile(r"\x1b\](?:1|11|11;[^\x07]*)?\x1b?")
"""The beginning of an answer of the terminal, of which more is to come."""
_WINDOWS = {
    "H": "up",
    "P": "down",
    "K": "left",
    "M": "right",
    "I": "page-up",
    "Q": "page-down",
    "G": "home",
    "O": "end",
    "S": "delete",
}
"""The second character of keys that Windows tells by two."""


class ConsoleKeys:
    """Reads the keys of a Windows console in a thread of its own, because no loop can wait for them there."""

    def __init__(self, press: Callable[[str], None], read: Callable[[], str]) -> None:
        """Press what `read` returns, a character at a time, in the loop that runs now."""
        self._press, self._read = press, read
        self._loop = asyncio.get_running_loop()
        self._stopped = False

    @classmethod
    def start(cls, press: Callable[[str], None]) -> "ConsoleKeys | None":
        """Read keys from now on; None where there is no Windows console."""
        try:
            import msvcrt
        except ImportError:
            return None
        keys = cls(press, msvcrt.getwch)  # type: ignore[attr-defined,unused-ignore]
        threading.Thread(target=keys.perform, daemon=True).start()
        return keys

    def stop(self) -> None:
        """Press nothing any more; the thread ends with the process."""
        self._stopped = True

    def perform(self) -> None:
        """Read keys until it is stopped."""
        while not self._stopped:
            first = self._read()
            name = _NAMES.get(first, first)
            if first in {"\x00", "\xe0"}:
                name = _WINDOWS.get(self._read(), "")
            elif first == "\x1b":
                name = "escape"
            if name and not self._stopped:
                self._loop.call_soon_threadsafe(self._press, name)
