"""One run on the screen: its session, its frames, its keys."""

import math
from dataclasses import replace
from pathlib import Path
from types import FrameType

from scenarios.console.control import keys
from scenarios.console.control.pane import Pane
from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.control.run_control import RunControl
from scenarios.console.control.session import Session
from scenarios.console.drawing.crowd import places
from scenarios.console.drawing.frame import frame, width_beside
from scenarios.console.drawing.layout import NETWORK, across, lay_out
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import HALVED, furthest, popup_room
from scenarios.console.drawing.palette import THEMES
from scenarios.console.drawing.styled_text import Line, target_at
from scenarios.console.screens.keyboard import CLICK
from scenarios.console.screens.screen import save
from scenarios.console.screens.svg import svg
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.source import LiveSource
from scenarios.records.reader import RunRecord
from scenarios.running.manual_faults import Steering
from scenarios.running.run import Run

ENDED = 8
"""One line of so many may tell how a run ended."""
_LASTS_NS = 40e9
"""A recording is over in so many nanoseconds, unless a speed is asked for."""


class Viewer:
    """Shows a session with one run that goes on, or with a recording; it stores what each frame makes of the view."""

    def __init__(
        self, session: Session, *, ascii_only: bool = False, stays_open: bool = True
    ) -> None:
        """Show a session, with ASCII only where that is asked for; `stays_open` once everything is over."""
        self.session = session
        self.stays_open = stays_open
        self.size = (100, 30)
        self._ascii = ascii_only
        self.lines: list[Line] = []
        """What the last frame shows."""
        session.save_picture = self.save
        self.theme = THEMES["dark"]
        """The colours of pictures."""

    def build(self, pane: Pane) -> Model:
        """Build the model of a pane, and keep the view that it shows."""
        built = pane.builder.build(pane.view, ascii_only=self._ascii)
        pane.view = built.view
        return replace(built.model, breaks=pane.breaks)

    def with_controls(self, model: Model, width: int, room: int) -> Model:
        """Return a model with keys, the command line, answers and what is open over the rest, in `room` lines."""
        session = self.session
        room = popup_room(model, width, room)
        session.lines = max(1, room - 2)
        guide = keys.help_of(session)
        if guide is not None:
            across_ = width - width_beside(width) if width >= HALVED else width
            session.help_line = min(session.help_line, furthest(guide, across_, room))
            guide = replace(guide, first=session.help_line)
        return replace(
            model,
            prompt=keys.prompt_of(session),
            menu=keys.menu_of(session),
            help=guide,
            says=session.message,
            keys=keys.known(session),
        )

    def model(self, width: int, height: int) -> Model:
        """Return the model of a frame of this size, as of now."""
        session, pane = self.session, self.session.pane
        session.message = session.faults.follow_up(session.message)
        ended = pane.source.ending()[: height // ENDED]
        height -= len(ended)
        size = pane.source.facts.size
        windows = len(pane.source.run_state.windows.all(pane.source.now))
        shown = width_beside(width) if session.pops_up and width >= HALVED else width
        layout = lay_out(pane.view.scale, shown, height, size, windows)
        lone = pane.view.scale in {"crowd", NETWORK}
        row = 1 if layout.rows or lone else across(shown, size)
        pane.change(row=row, page=layout.rows or row, columns=places(width))
        model = replace(self.build(pane), ended=ended)
        return self.with_controls(model, width, height - 3 - layout.sums)

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        self.lines = frame(self.model(width, height), width, height)
        return self.lines

    def press(self, key: str) -> None:
        if key.startswith(CLICK):
            column, line = map(int, key.removeprefix(CLICK).split())
            self._click(column, line)
        else:
            keys.press(self.session, key)

    def _click(self, column: int, line: int) -> None:
        """Do what a click means on what the last frame shows there."""
        session = self.session
        hit = target_at(self.lines[line], column) if 0 <= line < len(self.lines) else None
        if hit is None or session.editor is not None:
            return
        target, at = hit
        if target.kind == "key":
            keys.press(session, keys.pressed_by(str(target.value)))
        elif target.kind == "entry" and session.menu is not None:
            chosen = session.menu.at == target.value
            session.menu.at = int(str(target.value))
            if chosen:
                keys.choose(session)
        else:
            session.click(target, at)

    @property
    def heeds_mouse(self) -> bool:
        return self.session.heeds_mouse

    def restart_pace(self) -> None:
        self.session.control.restart_pace()
        for pane in self.session.panes:
            pane.builder.pace.restart()

    def stamp(self) -> object:
        session = self.session
        figures = [(p.source.seq, p.source.now, p.builder.pace.beats) for p in session.panes]
        return figures, session.control.paused, session.message

    @property
    def rushes(self) -> bool:
        control = self.session.control
        return not (control.paused or self.session.is_over) and control.speed == math.inf

    @property
    def lingers(self) -> bool:
        return self.stays_open and self.session.stays

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        self.session.leave()

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        source = self.session.pane.source
        text = self.picture(*self.size)
        return save(text, path, f"{source.facts.name}-{source.now / 1e9:.3f}s")

    def still(self, width: int, height: int) -> list[Line]:
        """Return what is shown, without a line that is being written, and without an answer."""
        model = replace(self.model(width, height), prompt=None, says="")
        return frame(model, width, height)

    def moving(self, width: int, height: int, speed: float) -> list[Line]:
        """Return what is shown as a frame of a picture that moves at a speed: nothing in it depends on this machine."""
        model = replace(self.model(width, height), prompt=None, says="")
        goes = "over" if model.ended else "plays"
        header = replace(model.header, goes=goes, speed=speed, events_per_s=0.0)
        return frame(
            replace(model, header=header, feed=replace(model.feed, upcoming="")), width, height
        )

    def picture(self, width: int, height: int) -> str:
        """Return what is shown as SVG."""
        return svg(self.still(width, height), width, self.title, self.theme)

    @property
    def title(self) -> str:
        """What a picture is called."""
        return f"hush · {self.session.pane.source.facts.name}"


def session_of(control: RunControl) -> Session:
    """Return a session with the runs of a control, one or two side by side, before they begin."""
    runs = control.runs
    marks = [""] if len(runs) == 1 else "AB"
    panes = [
        Pane(LiveSource(run), control, Steering(run), mark)
        for run, mark in zip(runs, marks, strict=True)
    ]
    return Session(panes, control)


def viewer_of(run: Run, *, ascii_only: bool = False) -> Viewer:
    """Return what shows a run, before it begins."""
    return Viewer(session_of(RunControl([run])), ascii_only=ascii_only)


def viewer_of_recording(
    record: RunRecord, speed: float | None, *, ascii_only: bool = False
) -> tuple[Viewer, ReplayControl]:
    """Return what shows a recording, and what plays it; without a speed it is over in 40 s."""
    recording = Recording(record)
    if speed is None:
        speed = max(recording.length, 1) / _LASTS_NS
    control = ReplayControl(recording, speed)
    session = Session([Pane(recording, control)], control)
    return Viewer(session, ascii_only=ascii_only), control
