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
from scenarios.console.drawing.frame import frame
from scenarios.console.drawing.layout import across, lay_out
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.overlays import furthest
from scenarios.console.drawing.styled_text import Line
from scenarios.console.screens.screen import save
from scenarios.console.screens.svg import svg
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.source import LiveSource
from scenarios.running.manual_faults import Steering
from scenarios.running.run import Run

ENDED = 8
"""One line of so many may tell how a run ended."""
_LASTS_NS = 40e9
"""A recording is over in so many nanoseconds, unless a speed is asked for."""


class Viewer:
    """Shows a session with one run that goes on, or with a recording; it stores what each frame makes of the view."""

    def __init__(self, session: Session, *, ascii_only: bool = False) -> None:
        """Show a session, with ASCII only where that is asked for."""
        self.session = session
        self.size = (100, 30)
        self._ascii = ascii_only
        self._touched = False
        session.save_picture = self.save

    def build(self, pane: Pane) -> Model:
        """Build the model of a pane, and keep the view that it shows."""
        built = pane.builder.build(pane.view, ascii_only=self._ascii)
        pane.view = built.view
        return replace(built.model, breaks=pane.breaks)

    def with_controls(self, model: Model, width: int, room: int) -> Model:
        """Return a model with keys, the command line, answers and what is open over the rest, in `room` lines."""
        session = self.session
        session.lines = max(1, room - 2)
        guide = keys.help_of(session)
        if guide is not None:
            session.help_line = min(session.help_line, furthest(guide, width, room))
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
        layout = lay_out(pane.view.scale, width, height, size, windows)
        row = 1 if layout.rows or pane.view.scale == "crowd" else across(width, size)
        pane.change(row=row, page=layout.rows or row, columns=places(width))
        model = replace(self.build(pane), ended=ended)
        return self.with_controls(model, width, height - 3 - layout.sums)

    def draw(self, width: int, height: int) -> list[Line]:
        self.size = width, height
        return frame(self.model(width, height), width, height)

    def press(self, key: str) -> None:
        self._touched = True
        keys.press(self.session, key)

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
        return self._touched and self.session.stays

    def interrupt(self, _number: int = 0, _frame: FrameType | None = None, /) -> None:
        self.session.leave()

    def save(self, path: Path | None) -> Path:
        """Write what is shown as a picture."""
        source = self.session.pane.source
        text = self.picture(*self.size)
        return save(text, path, f"{source.facts.name}-{source.now / 1e9:.3f}s")

    def picture(self, width: int, height: int) -> str:
        """Return what is shown, without a line that is being written, as SVG."""
        model = replace(self.model(width, height), prompt=None, says="")
        title = f"hush · {self.session.pane.source.facts.name}"
        return svg(frame(model, width, height), width, title)


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
    folder: Path, speed: float | None, *, ascii_only: bool = False
) -> tuple[Viewer, ReplayControl]:
    """Return what shows a recording, and what plays it; without a speed it is over in 40 s."""
    recording = Recording(folder)
    if speed is None:
        speed = max(recording.length, 1) / _LASTS_NS
    control = ReplayControl(recording, speed)
    session = Session([Pane(recording, control)], control)
    return Viewer(session, ascii_only=ascii_only), control
