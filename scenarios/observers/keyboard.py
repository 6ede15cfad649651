"""Keys from a terminal, without blocking: a terminal that is always given back as it was."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

_ESCAPES = {
    "[A": "up",
    "[B": "down",
    "[5~": "page-up",
    "[6~": "page-down",
    "OA": "up",
    "OB": "down",
}
_LONE_S = 0.03


class Keyboard:
    """Reads single keys while open; POSIX terminals only, elsewhere it reads nothing."""

    def __init__(self, press: Callable[[str], None]) -> None:
        self._press = press
        self._former: list[Any] | None = None
        self._file = -1
        self._pending = ""

    def __enter__(self) -> None:
        try:
            import termios  # POSIX only
            import tty
        except ImportError:
            return
        try:
            self._file = sys.stdin.fileno()
            self._former = termios.tcgetattr(self._file)
        except (termios.error, OSError, ValueError):
            self._former = None
            return
        tty.setcbreak(self._file)
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def __exit__(self, *_: object) -> None:
        if self._former is None:
            return
        import termios

        asyncio.get_running_loop().remove_reader(self._file)
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._former)

    def _read(self) -> None:
        data = os.read(self._file, 1024)
        if not data:
            asyncio.get_running_loop().remove_reader(self._file)
            return
        self._pending += data.decode("utf-8", "replace")
        self._drain()
        if self._pending:
            asyncio.get_running_loop().call_later(_LONE_S, self._give_up)

    def _give_up(self) -> None:
        """An escape that nothing followed is a key of its own; nobody asked for it yet."""
        self._pending = ""

    def _drain(self) -> None:
        while self._pending:
            if self._pending[0] != "\x1b":
                self._press(self._pending[0])
                self._pending = self._pending[1:]
                continue
            for code, name in _ESCAPES.items():
                if self._pending.startswith(code, 1):
                    self._press(name)
                    self._pending = self._pending[1 + len(code) :]
                    break
            else:
                return
