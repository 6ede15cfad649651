"""The tour on a screen: the quickstart with its captions, which wait for a person."""

from dataclasses import replace
from textwrap import wrap

from scenarios.console.control.run_control import RunControl
from scenarios.console.control.tour import Tour
from scenarios.console.drawing.model import Model
from scenarios.console.drawing.styled_text import HEAD
from scenarios.console.screens.screen import show
from scenarios.console.screens.viewer import Viewer, session_of
from scenarios.running.run import Outcome, Run

_MOST = 6
"""A caption takes at most so many lines."""
_ONWARDS = frozenset({" ", "enter"})


class TourViewer(Viewer):
    """Shows a run with captions above the keys."""

    def __init__(self, control: RunControl, *, ascii_only: bool = False) -> None:
        """Show a run that has not begun, from the first caption on."""
        super().__init__(session_of(control), ascii_only=ascii_only)
        self._control = control
        self.tour = Tour(self.session.pane.source, self._play_to)
        self.tour.go_on()

    def _play_to(self, instant: int) -> None:
        """Let the run go on to an instant (ns) and hold there; to its end without holding."""
        end = self.session.pane.source.end
        if end is not None and instant >= end:
            self._control.play()
        else:
            self._control.play_to(instant)

    def model(self, width: int, height: int) -> Model:
        caption = self.tour.look()
        if caption is not None:
            self.session.pane.change(scale=caption.scale, metric="", opened=None)
        words = wrap(self.tour.words, max(20, width - 2))[:_MOST]
        model = super().model(width, height - len(words))
        return replace(model, ended=[*((line, HEAD) for line in words), *model.ended])

    def press(self, key: str) -> None:
        session = self.session
        waits = session.control.paused and not session.is_over and self.tour.at >= 0
        if key in _ONWARDS and waits and session.editor is None and not session.is_covered:
            session.tell("")
            self.tour.go_on()
        else:
            super().press(key)

    def stamp(self) -> object:
        return super().stamp(), self.tour.at, self.tour.is_due


async def tour(run: Run, color: str, theme: str, *, ascii_only: bool = False) -> Outcome:
    """Perform a run while its tour is shown; return what came of it."""
    control = RunControl([run])
    viewer = TourViewer(control, ascii_only=ascii_only)
    (outcome,) = await show(viewer, control.perform(), color, theme)
    return outcome  # type: ignore[no-any-return] # a screen returns what its work returns
