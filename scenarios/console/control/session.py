"""What a person at the screen works with: panes, what moves them, and the commands that they obey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actors.conditions import NoCondition
from scenarios.console.control.fault_commands import FaultCommands
from scenarios.console.control.line_editor import LineEditor, OpenMenu
from scenarios.console.control.time_commands import Control, TimeCommands
from scenarios.console.drawing.layout import SCALES
from scenarios.console.sources.source import is_over
from scenarios.console.sources.view_state import CommandError, read_ids
from scenarios.language.problems import ScenarioError, nearest
from scenarios.records.file_guard import FolderError

if TYPE_CHECKING:
    from scenarios.console.control.pane import Pane


SavePicture = Callable[[Path | None], Path]


_WRONG = CommandError, NoCondition, FolderError
"""What a command raises, beside `ScenarioError`, where something is wrong with it."""


class Session:
    """Carries out commands on one pane, or on two side by side; the first hears the keys."""

    def __init__(self, panes: Sequence[Pane], control: Control) -> None:
        """Work with panes that one control moves."""
        self.panes = tuple(panes)
        self.pane = self.panes[0]
        self.control = control
        self.message = ""
        """What was answered last."""
        self.editor: LineEditor | None = None
        """The command line; None while none is written."""
        self.menu: OpenMenu | None = None
        self.shows_help = False
        self.help_line = 0
        """The first line of help that is shown."""
        self.lines = 10
        """How many lines of help, or of a menu, the last frame had room for."""
        self.history: list[str] = []
        self.save_picture: SavePicture = _nowhere
        self._left = False
        self.time = TimeCommands(self.panes, control, self.tell)
        self.faults = FaultCommands(self.panes)

    def tell(self, message: str) -> None:
        """Show an answer."""
        self.message = message

    def do(self, act: Callable[[], str | None]) -> bool:
        """Carry out a command and show its answer; where something is wrong show that, and return false."""
        try:
            answer, fine = act() or "", True
        except (ScenarioError, *_WRONG) as error:
            answer, fine = _words(error), False
        self.message = " ".join(answer.split())
        return fine

    def in_panes(self, act: Callable[[Pane, str], str | None], text: str) -> str:
        """Do something in each pane, and return the answers that differ; raise them where it is wrong in the first."""
        answers, fine = list[str](), True
        for pane in self.panes:
            try:
                answer = act(pane, text) or ""
            except (ScenarioError, *_WRONG) as error:
                answer, fine = _words(error), fine and pane is not self.pane
            if not answers or answer not in {*answers, ""}:
                answers.append(answer)
        if not fine:
            raise CommandError("  |  ".join(answers))
        return "  |  ".join(answers)

    def set_scale(self, name: str) -> None:
        """Choose a scale: table, grid, crowd; without a name the next."""
        if len(self.panes) > 1:
            raise CommandError("two runs are shown as tables")
        if name and name not in SCALES:
            raise CommandError(f"no view '{name}'; {nearest(name, SCALES)}")
        at = SCALES.index(self.pane.view.scale)
        self.pane.change(scale=name or SCALES[(at + 1) % len(SCALES)])

    def toggle_panel(self, name: str) -> None:
        """Show a panel beside the events, or those again that stand there by themselves."""
        if len(self.panes) > 1:
            raise CommandError("two runs are shown as tables")
        self.pane.change(panel="" if self.pane.view.panel == name else name)

    def move(self, down: int, right: int = 0) -> None:
        """Move the cursor: in help, among the entries of a menu, links, outliers, or agents."""
        pane, view, by = self.pane, self.pane.view, down + right
        if self.shows_help:
            self.help_line = max(0, self.help_line + by)
        elif self.menu is not None:
            self.menu.at = max(0, min(len(self.menu.entries) - 1, self.menu.at + by))
        elif view.opened is not None:
            last = len(pane.builder.near[view.opened]) - 1
            pane.change(link=max(0, min(view.link + by, last)))
        elif view.scale == "crowd":
            row, place = view.outlier
            pane.change(outlier=(max(0, row + down), max(0, place + right)))
        else:
            pane.change(cursor=max(0, view.cursor + down * view.row + right))

    def open(self, text: str) -> None:
        """Open an agent: its ledger, its neighbours, its last messages."""
        if text == "server":
            raise CommandError("the server holds no data and has no ledger: open an agent")
        pane = self.pane
        agent = read_ids(text, pane.source.facts.size)[0] if text else pane.agent_at_cursor()
        pane.change(opened=agent, link=0)

    def open_menu(self) -> None:
        """Open the menu of faults."""
        self.menu = self.faults.menu()

    @property
    def is_covered(self) -> bool:
        """Whether help, a menu or an opened agent stands in place of the rest."""
        return self.shows_help or self.menu is not None or self.pane.view.opened is not None

    def back(self) -> None:
        """Close what is open."""
        if self.shows_help or self.menu is not None:
            self.shows_help, self.menu = False, None
        elif self.pane.view.opened is not None:
            self.pane.change(opened=None)
        else:
            self.message = ""

    def help(self) -> None:
        """Show every key and command, or close that."""
        self.shows_help, self.help_line = not self.shows_help, 0

    def picture(self, text: str) -> str:
        """Write the screen as an SVG picture."""
        path = Path(text).expanduser() if text else None
        if path is not None and path.exists():
            raise CommandError(f"{path} exists: nothing was written")
        return f"wrote {self.save_picture(path)}"

    def quit(self) -> None:
        """End the run here and keep it, or close the recording."""
        self.pane.note("quit")
        self.leave()

    def leave(self) -> None:
        """End what goes on, and leave the screen."""
        self._left = True
        self.control.stop()

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen any more in any pane."""
        return all(is_over(pane.source) for pane in self.panes)

    @property
    def stays(self) -> bool:
        """Whether the person is still here, and ended nothing early."""
        return not (self._left or self.control.interrupted)


def _words(error: Exception) -> str:
    if isinstance(error, ScenarioError):
        return "; ".join(str(problem) for problem in error.problems)
    return str(error)


def _nowhere(_: Path | None) -> Path:
    raise CommandError("nobody draws this")
