"""Performs live runs while they are shown."""

from collections.abc import Sequence

from scenarios.console.control.run_control import RunControl
from scenarios.console.screens.pair import PairViewer
from scenarios.console.screens.screen import show
from scenarios.console.screens.viewer import Viewer, session_of
from scenarios.running.run import Outcome, Run


async def watch(
    runs: Sequence[Run],
    color: str,
    theme: str,
    *,
    ascii_only: bool = False,
    stays_open: bool = True,
) -> list[Outcome]:
    """Perform one run, or two side by side, while they are shown; return what came of each.

    `stays_open` keeps the screen when everything is over, until a person leaves it.
    """
    control = RunControl(runs)
    session = session_of(control)
    if len(runs) == 1:
        viewer = Viewer(session, ascii_only=ascii_only, stays_open=stays_open)
    else:
        viewer = pair = PairViewer(session, ascii_only=ascii_only, stays_open=stays_open)
        control.met = pair.meet
    outcomes: list[Outcome] = await show(viewer, control.perform(), color, theme)
    return outcomes
