"""The screen itself: frames in Rich's Live, keys beside them, and a terminal that is always given back."""

import asyncio
import contextlib
import os
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style

from scenarios.console.drawing.palette import (
    AUTO,
    Theme,
    light_by_color,
    light_by_environment,
    theme_named,
)
from scenarios.console.drawing.styled_text import Line
from scenarios.console.screens.keyboard import Keyboard
from scenarios.records.file_guard import FolderError
from scenarios.records.whole_file import write_whole
from scenarios.running.control import Signals

_PLAIN = b"\x1b[?2026l\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[?1049l\x1b[?25h\x1b[0m"
"""What takes back all that a screen asked of the terminal: synchronised output, marked pastes, the mouse, a page of its own, no cursor."""
_FRAME_S, _REMOTE_S = 0.1, 0.25
_SHARE, _LONGEST_S = 200, 2.0
"""A run that goes as fast as it can gives one part in so many to the screen, and a frame every so often."""
_PATIENCE_S = 0.05
"""A terminal gets so long to tell its background."""
_MOUSE_ON, _MOUSE_OFF = "\x1b[?1000h\x1b[?1006h", "\x1b[?1006l\x1b[?1000l"


def styles_of(theme: Theme) -> dict[str, Style]:
    """Return the styles of a theme as Rich has them."""
    return {
        name: Style(color=ink.color, bgcolor=ink.back or None, bold=ink.bold or None)
        for name, ink in theme.inks.items()
    }


class Frame:
    """A renderable of ready lines: no layout, no measuring, no wrapping."""

    def __init__(self, lines: Sequence[Line], styles: Mapping[str, Style]) -> None:
        self._lines = lines
        self._styles = styles

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        last = len(self._lines) - 1
        for i, line in enumerate(self._lines):
            for text, style in line:
                yield Segment(text, self._styles[style])
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

    @property
    def heeds_mouse(self) -> bool:
        """Whether clicks come here; else the terminal selects text with them."""
        ...

    def interrupt(self, number: int = 0, frame: FrameType | None = None, /) -> None:
        """End: a signal, or the terminal is gone."""
        ...


class Screen:
    """Draws a subject and hands it the keys, while its work is done."""

    def __init__(self, subject: Subject, console: Console, theme: str = AUTO) -> None:
        """Draw a subject on a console; `theme` is a word of `--theme`."""
        self._subject = subject
        self._console = console
        self._word = theme
        self._styles = styles_of(self._theme(light=light_by_environment()))
        self._shown: tuple[tuple[int, int], list[Line]] = (0, 0), []
        """The size and the lines that stand on the screen; no lines where all must be written."""
        self._has_mouse = False
        self._woken = asyncio.Event()
        self._live: Live | None = None
        self._stamp: object = None
        self.drawn = 0
        self.spent_s = 0.0

    async def watch(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Await some work, drawing as it goes. A fault in drawing ends the work, and is raised."""
        asyncio.get_running_loop().set_exception_handler(_untold)
        keyboard = Keyboard(self._press, self._yield, self._enter, self._note_background)
        given_back = partial(self._abandon, keyboard)
        with Signals(self._subject, give_back=given_back), keyboard:
            if self._is_asked_for:
                keyboard.ask_background(self._console.file.fileno(), _PATIENCE_S)
            self._enter()
            doing = asyncio.ensure_future(work)
            drawing = asyncio.ensure_future(self._draw_on())
            try:
                await asyncio.wait({doing, drawing}, return_when=asyncio.FIRST_COMPLETED)
                if not doing.done():
                    self._subject.interrupt()
                outcome = await doing
                if keyboard.is_open:
                    await self._linger(drawing)
                return outcome
            finally:
                drawing.cancel()
                self._leave()
                if drawing.done() and not drawing.cancelled():
                    drawing.result()

    def _theme(self, *, light: bool | None) -> Theme:
        few = self._console.color_system in {None, "standard", "windows"}
        return theme_named(self._word, light=light, few_colors=few)

    @property
    def _is_asked_for(self) -> bool:
        """Whether the theme depends on the background, and the screen has colours."""
        return self._word in {AUTO, "ansi"} and not self._console.no_color

    def _note_background(self, red: float, green: float, blue: float) -> None:
        """Take the theme that fits the background that the terminal tells."""
        if self._is_asked_for:
            theme = self._theme(light=light_by_color(red, green, blue))
            self._styles = styles_of(theme)
            self._shown, self._stamp = ((0, 0), []), None
            self._woken.set()

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
        self._live, self._stamp, self._shown = live, None, ((0, 0), [])
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
            self._set_mouse(heeds=False)
            live.stop()

    def _set_mouse(self, *, heeds: bool) -> None:
        """Ask the terminal to tell clicks, or to keep them."""
        if heeds != self._has_mouse:
            self._has_mouse = heeds
            self._console.file.write(_MOUSE_ON if heeds else _MOUSE_OFF)

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
        lines = self._subject.draw(*size)
        out = self._console.file
        self._set_mouse(heeds=self._subject.heeds_mouse)
        out.write("\x1b[?2026h")  # synchronised output: the terminal shows whole frames only
        if self._shown[0] != size or len(self._shown[1]) != len(lines):
            live.update(Frame(lines, self._styles))
            live.refresh()
        else:
            out.write("".join(self._changed(lines)))
        self._shown = size, lines
        out.write("\x1b[?2026l")
        out.flush()
        self.drawn += 1

    def _changed(self, lines: Sequence[Line]) -> Iterator[str]:
        """Write the lines that differ from those that stand on the screen, each at its place."""
        system = self._console.color_system
        colors = None if self._console.no_color or system is None else _SYSTEMS[system]
        for at, (line, former) in enumerate(zip(lines, self._shown[1], strict=True), 1):
            if line != former:
                spans = (_rendered(text, self._styles[style], colors) for text, style in line)
                yield f"\x1b[{at};1H{''.join(spans)}"

    def size(self) -> tuple[int, int]:
        """Return how large the terminal is now."""
        try:
            size = os.get_terminal_size(self._console.file.fileno())
        except (OSError, ValueError, AttributeError):
            return self._console.size.width, self._console.size.height
        return max(1, size.columns), max(1, size.lines)


_SYSTEMS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


def _rendered(text: str, style: Style, colors: ColorSystem | None) -> str:
    """Return a text with its style; without colours bold and reverse are kept."""
    if colors is None:
        style = Style(bold=style.bold, reverse=bool(style.bgcolor) or None)
        colors = ColorSystem.STANDARD
    return style.render(text, color_system=colors)


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
    write_whole(path, text)
    return path


def console_for(color: str) -> Console:
    """Return where a screen is drawn: an explicit word beats the environment."""
    if color == "always":
        return Console(force_terminal=True, color_system="truecolor", no_color=False)
    return Console(no_color=True) if color == "never" else Console()


async def show(
    subject: Subject, work: Coroutine[Any, Any, Any], color: str, theme: str = AUTO
) -> Any:
    """Await some work while its subject is on the screen, in colours (`--color`) of a theme (`--theme`)."""
    return await Screen(subject, console_for(color), theme).watch(work)
