"""What a person at the screen works with: panes, what moves them, and the commands that they obey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actors.conditions import NoCondition
from scenarios.console.assembly.network import BUDGET
from scenarios.console.assembly.story import metrics_of
from scenarios.console.control.fault_commands import FaultCommands
from scenarios.console.control.line_editor import LineEditor, OpenMenu
from scenarios.console.control.time_commands import Control, TimeCommands
from scenarios.console.drawing.layout import NETWORK, SCALES, scale_for
from scenarios.console.drawing.styled_text import Target
from scenarios.console.sources.source import is_over
from scenarios.console.sources.view_state import AGENTS, FAULTS, LINKS, CommandError, read_ids
from scenarios.language.problems import ScenarioError, nearest
from scenarios.planning.metric_names import nearest_metric, per_agent
from scenarios.records.file_guard import FolderError

if TYPE_CHECKING:
    from scenarios.console.control.pane import Pane


SavePicture = Callable[[Path | None], Path]


_FOCUS_WORDS = {
    AGENTS: "the cursor is among the agents",
    LINKS: "the cursor is among the links of the agent: ↑↓ choose one, f a fault on it, Tab goes on",
    FAULTS: "the cursor is among the faults: ↑↓ scroll, H heals the one at the cursor, Tab goes on",
}
_WRONG = CommandError, NoCondition, FolderError, OSError
"""What a command raises, beside `ScenarioError`, where something is wrong with it, or the disk takes no more."""


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
        self.heeds_mouse = True
        """Whether clicks and the wheel come here; else the terminal selects text with them."""
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
        """Choose a scale by its name; without a name the next: the network first, then the others."""
        if len(self.panes) > 1:
            raise CommandError("two runs are shown as tables")
        if name and name not in SCALES:
            raise CommandError(f"no view '{name}'; {nearest(name, SCALES)}")
        usual = scale_for(self.pane.source.facts.size)
        cycle = [usual, NETWORK, *(s for s in SCALES if s not in {usual, NETWORK})]
        at = cycle.index(self.pane.view.scale)
        self.pane.change(scale=name or cycle[(at + 1) % len(cycle)], focus=AGENTS)

    def set_metric(self, name: str) -> str:
        """Choose what the chart shows by its name; without a name the next."""
        known = metrics_of(self.pane.source)
        if not known:
            raise CommandError("no sample was taken yet")
        if name and name not in known:
            raise CommandError(
                f"no metric '{name}' in the samples of this run; {nearest_metric(name, known, any_fold=False)}"
            )
        at = known.index(self.pane.view.metric) if self.pane.view.metric in known else 0
        chosen = name or known[(at + 1) % len(known)]
        for pane in self.panes:
            pane.change(metric=chosen)
        return ""

    def colors(self) -> list[str]:
        """Return what the colours of the network can stand for."""
        return [BUDGET, *(n for n in metrics_of(self.pane.source) if per_agent(n))]

    def set_color(self, name: str) -> str:
        """Choose what the colours of the network stand for by its name; without a name the next."""
        known = self.colors()
        if name and name not in known:
            hint = nearest_metric(name, known, any_fold=False)
            raise CommandError(f"the network has no colours for '{name}'; {hint}")
        at = known.index(self.pane.view.color) if self.pane.view.color in known else 0
        chosen = name or known[(at + 1) % len(known)]
        self.pane.change(color=chosen)
        shown = "" if self.pane.view.scale == NETWORK else ": g shows it"
        return f"the network is coloured by {chosen}{shown}"

    def set_focus(self) -> str:
        """Take the cursor from agents to links, to faults, and back to agents."""
        pane, view = self.pane, self.pane.view
        agent = pane.builder.at_cursor(view)
        near = [] if agent is None or view.opened is not None else pane.builder.near[agent]
        windows = pane.source.run_state.windows.all(pane.source.now)
        there = [AGENTS, *([LINKS] if near else []), *([FAULTS] if windows else [])]
        at = there.index(view.focus) if view.focus in there else 0
        focus = there[(at + 1) % len(there)]
        pane.change(focus=focus, link=0)
        return _FOCUS_WORDS[focus]

    def set_mouse(self) -> str:
        """Heed the mouse, or leave it to the terminal, which can then select text."""
        self.heeds_mouse = not self.heeds_mouse
        return "the mouse chooses" if self.heeds_mouse else "the mouse is the terminal's"

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
        elif view.opened is not None or view.focus == LINKS:
            agent = pane.builder.at_cursor(view)
            last = len(pane.builder.near[agent]) - 1 if agent is not None else 0
            pane.change(link=max(0, min(view.link + by, last)))
        elif view.focus == FAULTS:
            pane.change(fault=max(0, view.fault + by))
        elif view.scale == NETWORK:
            pane.move_in_network(down, right)
        elif view.scale == "crowd":
            row, place = view.outlier
            pane.change(outlier=(max(0, row + down), max(0, place + right)))
        else:
            pane.change(cursor=max(0, view.cursor + down * view.row + right))

    def fault_at_cursor(self) -> str:
        """Return the number of the fault under the cursor, as text; empty where the cursor is elsewhere."""
        view, source = self.pane.view, self.pane.source
        if view.focus != FAULTS:
            return ""
        windows = sorted(
            source.run_state.windows.all(source.now), key=lambda w: (w.begun_s, w.number)
        )
        return str(windows[min(view.fault, len(windows) - 1)].number) if windows else ""

    def click(self, target: Target, column: int) -> None:
        """Do what a click on a target means; `column` is the column of the target that was hit."""
        pane, view = self.pane, self.pane.view
        match target.kind, target.value:
            case "agent", int(agent):
                if view.opened is not None or view.scale == "crowd":
                    self.do(lambda: self.open(str(agent)))
                elif pane.builder.at_cursor(view) == agent and view.focus == AGENTS:
                    self.do(lambda: self.open(""))
                elif pane.go_to(agent):
                    pane.change(focus=AGENTS)
            case "link", (int(one), int(other)):
                if pane.go_to(one) and other in pane.builder.near[one]:
                    pane.change(focus=LINKS, link=pane.builder.near[one].index(other))
            case "fault", int(number):
                self._choose_fault(number)
            case "time", (float(first), float(last)):
                share = (column + 0.5) / max(1, target.width)
                self.do(lambda: self.time.seek(f"{first + share * (last - first):.9f}"))
            case _:
                raise NotImplementedError(
                    f"a click on {target.kind} {target.value!r} means nothing"
                )

    def _choose_fault(self, number: int) -> None:
        source = self.pane.source
        windows = sorted(
            source.run_state.windows.all(source.now), key=lambda w: (w.begun_s, w.number)
        )
        places = [at for at, window in enumerate(windows) if window.number == number]
        if places:
            self.pane.change(focus=FAULTS, fault=places[-1])

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
    def pops_up(self) -> bool:
        """Whether help or a menu is open."""
        return self.shows_help or self.menu is not None

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
        elif self.pane.view.focus != AGENTS:
            self.pane.change(focus=AGENTS)
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
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return str(error)


def _nowhere(_: Path | None) -> Path:
    raise CommandError("nobody draws this")
