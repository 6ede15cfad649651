"""The screen itself: frames in Rich's Live, keys beside them, and a terminal that is always given back."""

import asyncio
import contextlib
import os
import time
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style

from scenarios.console.drawing.styled_text import Line
from scenarios.console.screens.keyboard import Keyboard
from scenarios.records.file_guard import FolderError
from scenarios.running.control import Signals

_PLAIN = b"\x1b[?2026l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m"
"""What takes back all that a screen asked of the terminal: synchronised output, marked pastes, a page of its own, no cursor."""
_FRAME_S, _REMOTE_S = 0.1, 0.25
_SHARE, _LONGEST_S = 200, 2.0
"""A run that goes as fast as it can gives one part in so many to the screen, and a frame every so often."""
STYLES = {
    "good": Style.parse("#56b4e9"),
    "warn": Style.parse("#f0e442"),
    "bad": Style.parse("bold #d55e00"),
    "dim": Style.parse("dim"),
    "plain": Style.null(),
    "head": Style.parse("bold"),
    "pick": Style.parse("reverse"),
}


class Frame:
    """A renderable of ready lines: no layout, no measuring, no wrapping."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        last = len(self._lines) - 1
        for i, line in enumerate(self._lines):
            for text, style in line:
                yield Segment(text, STYLES[style])
            if i < last:
                yield Segment.line()


class Subject(Protocol):
    """What a screen shows, and what hears its keys."""

    def draw(self, width: int, height: int) -> list[Line]:
        """Return a frame of this size, as of now."""
        ...

    def press(self, key: str) -> None: ...

    def restart_pace(self) -> None:
        """Begin the pace anew: time that was spent away does not count."""
        ...

    def stamp(self) -> object:
        """What a frame depends on: while it stays the same, none is drawn."""
        ...

    @property
    def rushes(self) -> bool:
        """Whether the run goes as fast as it can: then frames may not slow it down."""
        ...

    @property
    def lingers(self) -> bool:
        """Whether what is over stays in sight: a person works at this screen, and has not left it."""
        ...

    def interrupt(self, number: int = 0, frame: FrameType | None = None, /) -> None:
        """End: a signal, or the terminal is gone."""
        ...


class Screen:
    """Draws a subject and hands it the keys, while its work is done."""

    def __init__(self, subject: Subject, console: Console) -> None:
        self._subject = subject
        self._console = console
        self._woken = asyncio.Event()
        self._live: Live | None = None
        self._stamp: object = None
        self.drawn = 0
        self.spent_s = 0.0

    async def watch(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Await some work, drawing as it goes. A fault in drawing ends the work, and is raised."""
        asyncio.get_running_loop().set_exception_handler(_untold)
        keyboard = Keyboard(self._press, self._yield, self._enter)
        given_back = partial(self._abandon, keyboard)
        with Signals(self._subject, give_back=given_back), keyboard:
            self._enter()
            doing = asyncio.ensure_future(work)
            drawing = asyncio.ensure_future(self._draw_on())
            try:
                await asyncio.wait({doing, drawing}, return_when=asyncio.FIRST_COMPLETED)
                if not doing.done():
                    self._subject.interrupt()
                outcome = await doing
                await self._linger(drawing)
                return outcome
            finally:
                drawing.cancel()
                self._leave()
                if drawing.done() and not drawing.cancelled():
                    drawing.result()

    async def _linger(self, drawing: asyncio.Future[None]) -> None:
        """Keep what is over in sight, until the person leaves."""
        self._stamp = None
        self._woken.set()
        while self._subject.lingers and not drawing.done():  # noqa: ASYNC110 # signals end it, too
            await asyncio.sleep(_FRAME_S / 2)

    def _enter(self) -> None:
        """Take the whole screen, anew where it was taken already."""
        self._leave()
        live = Live(console=self._console, auto_refresh=False, screen=True, transient=True)
        live.start()
        self._console.file.write("\x1b[?2004h")  # what is pasted comes as such, not as keys
        self._live, self._stamp = live, None
        self._subject.restart_pace()
        self._woken.set()

    def _yield(self) -> None:
        """Give the screen back for a while: the time until it is taken again does not count."""
        self._subject.restart_pace()
        self._leave()

    def _leave(self) -> None:
        """Give the screen back."""
        live, self._live = self._live, None
        if live is not None:
            self._console.file.write("\x1b[?2004l")
            live.stop()

    def _abandon(self, keyboard: Keyboard) -> None:
        """Give the terminal back from another thread, whatever this one is doing."""
        keyboard.give_back()
        with contextlib.suppress(OSError, ValueError):
            os.write(self._console.file.fileno(), _PLAIN)

    def _press(self, key: str) -> None:
        self._subject.press(key)
        self._stamp = None
        self._woken.set()

    async def _draw_on(self) -> None:
        pause = _REMOTE_S if os.environ.get("SSH_CONNECTION") else _FRAME_S
        while True:
            begun = time.perf_counter()
            self._woken.clear()
            try:
                self._draw()
            except OSError:  # the terminal is gone
                return
            spent = time.perf_counter() - begun
            self.spent_s += spent
            rushed = min(_LONGEST_S, _SHARE * spent)
            await self._wait(max(pause, rushed if self._subject.rushes else 2 * spent), pause)

    async def _wait(self, seconds: float, pause: float) -> None:
        """Wait for the next frame: at most so long, less where a key was pressed, or where a run no longer rushes."""
        ends, rushed = time.perf_counter() + seconds, self._subject.rushes
        while rushed == self._subject.rushes and (left := ends - time.perf_counter()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), min(left, pause))
                return

    def _draw(self) -> None:
        size = self.size()
        stamp = (self._subject.stamp(), size)
        live = self._live
        if live is None or stamp == self._stamp:
            return
        self._stamp = stamp
        self._console.size = size
        live.update(Frame(self._subject.draw(*size)))
        out = self._console.file
        out.write("\x1b[?2026h")  # synchronised output: the terminal shows whole frames only
        live.refresh()
        out.write("\x1b[?2026l")
        out.flush()
        self.drawn += 1

    def size(self) -> tuple[int, int]:
        """Return how large the terminal is now."""
        try:
            size = os.get_terminal_size(self._console.file.fileno())
        except (OSError, ValueError, AttributeError):
            return self._console.size.width, self._console.size.height
        return max(1, size.columns), max(1, size.lines)


def _untold(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell what tasks raised and nothing retrieved, but for the second signal, which surfaces by itself."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def written(lines: Sequence[Line]) -> list[str]:
    """Return a frame as plain text."""
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def save(text: str, path: Path | None, stem: str) -> Path:
    """Write a picture to a file; without a name to one that does not exist yet, in this folder."""
    if path is None:
        stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in stem)
        path = next(p for n in range(1, 10**6) if not (p := Path(f"{stem}-{n}.svg")).exists())
    if path.suffix != ".svg":
        raise FolderError(f"{path} must end in .svg")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FolderError(f"{path} cannot be written: {error.strerror}") from None
    return path


def console_for(color: str) -> Console:
    """Return where a screen is drawn: an explicit word beats the environment."""
    if color == "always":
        return Console(force_terminal=True, color_system="truecolor", no_color=False)
    return Console(no_color=True) if color == "never" else Console()


async def show(subject: Subject, work: Coroutine[Any, Any, Any], color: str) -> Any:
    """Await some work while its subject is on the screen."""
    return await Screen(subject, console_for(color)).watch(work)
