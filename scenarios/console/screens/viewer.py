"""One run on the screen: its desk, its frames, its keys."""

import math
from dataclasses import replace
from pathlib import Path
from types import FrameType

from scenarios.console.assembly.playback import LiveDeck, Player
from scenarios.console.control import keys
from scenarios.console.control.command_target import Desk
from scenarios.console.drawing.crowd import places
from scenarios.console.drawing.frame import frame
from scenarios.console.drawing.layout import across, lay_out
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import furthest
from scenarios.console.drawing.styled_text import Line
from scenarios.console.screens.screen import save, show
from scenarios.console.screens.svg import svg
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.source import LiveSource
from scenarios.running.manual_faults import Steering
from scenarios.running.run import Outcome, Run

ENDED = 8
"""One line of so many may tell how it ended."""
_LASTS_NS = 40e9
"""A recording is over in so many nanoseconds, unless a speed is asked for."""


class Viewer:
    """Shows a run that goes on, or a recording."""

    def __init__(self, desk: Desk, *, ascii_only: bool = False) -> None:
        self.desk = desk
        self._ascii = ascii_only
        self.size = (100, 30)
        self._touched = False
        desk.save = self.save

    def model(self, width: int, height: int) -> Model:
        """Look at everything, for a screen of this size."""
        desk, look = self.desk, self.desk.look
        desk.hands.follow()
        ended = desk.source.ending()[: height // ENDED]
        height -= len(ended)
        size = desk.source.facts.size
        windows = len(desk.source.scene.windows.all(desk.source.now))
        found = lay_out(look.scale, width, height, size, windows)
        look.row = 1 if found.rows or look.scale == "crowd" else across(width, size)
        look.page, look.columns = found.rows or look.row, places(width)
        look.lines = max(1, height - 5 - found.sums)
        guide = keys.help_of(desk)
        if guide is not None:
            look.line = min(look.line, furthest(guide, width, height - 3 - found.sums))
            guide = replace(guide, first=look.line)
        return replace(
            desk.gather.model(look, ascii_only=self._ascii),
            prompt=keys.prompt_of(desk),
            menu=keys.menu_of(desk),
            help=guide,
            says=look.says,
            keys=keys.known(desk),
            ended=ended,
        )

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        return frame(self.model(width, height), width, height)

    def press(self, key: str) -> None:
        self._touched = True
        keys.press(self.desk, key)

    def set_out(self) -> None:
        self.desk.deck.set_out()
        self.desk.gather.tempo.set_out()

    def stamp(self) -> object:
        desk, look = self.desk, self.desk.look
        return (
            desk.source.seq,
            desk.source.now,
            desk.deck.paused,
            look.says,
            desk.gather.tempo.beats,
        )

    @property
    def rushes(self) -> bool:
        return not self.desk.deck.paused and self.desk.deck.speed == math.inf

    @property
    def lingers(self) -> bool:
        return self._touched and self.desk.stays

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        self.desk.leave()

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        facts, source = self.desk.source.facts, self.desk.source
        text = self.picture(*self.size)
        return save(text, path, f"{facts.name}-{source.now / 1e9:.3f}s")

    def picture(self, width: int, height: int) -> str:
        """Return what is shown, without a line that is being written, as SVG."""
        model = replace(self.model(width, height), prompt=None, says="")
        title = f"hush · {self.desk.source.facts.name}"
        return svg(frame(model, width, height), width, title)


def viewer_of(run: Run, *, ascii_only: bool = False) -> Viewer:
    """Make what shows a run, before it begins."""
    source = LiveSource(run)
    return Viewer(Desk(source, LiveDeck(source), Steering(run)), ascii_only=ascii_only)


def viewer_of_recording(
    folder: Path, speed: float | None, *, ascii_only: bool = False
) -> tuple[Viewer, Player]:
    """Make what shows a recording, and what plays it."""
    recording = Recording(folder)
    if speed is None:
        speed = max(recording.length, 1) / _LASTS_NS
    player = Player(recording, speed)
    return Viewer(Desk(recording, player, None), ascii_only=ascii_only), player


async def watch(run: Run, color: str, *, ascii_only: bool = False) -> Outcome:
    """Perform a run while it is shown."""
    outcome: Outcome = await show(viewer_of(run, ascii_only=ascii_only), run.perform(), color)
    return outcome
