"""Where orders are carried out: on time, on the screen, and, in a run that goes on, on the world."""

from collections.abc import Callable, Sequence
from pathlib import Path

from actors.conditions import NoCondition
from scenarios.console.assembly.build_model import Gather
from scenarios.console.assembly.playback import Deck
from scenarios.console.control.fault_commands import Hands
from scenarios.console.control.time_commands import Timing
from scenarios.console.drawing.layout import FEW, SCALES, scale_for
from scenarios.console.sources.feed import Filter
from scenarios.console.sources.source import Source, is_over
from scenarios.console.sources.view_state import SORTS, Look, NotThere, chosen_by, numbers, only
from scenarios.language.problems import ScenarioError, nearest
from scenarios.records.file_guard import FolderError
from scenarios.running.manual_faults import Steering

Save = Callable[[Path | None], Path]


class Desk:
    """One run, one look at it, and the orders that a person gives."""

    def __init__(self, source: Source, deck: Deck, steering: Steering | None) -> None:
        self.source = source
        self.deck = deck
        self.steering = steering
        self.gather = Gather(source, deck)
        size = source.facts.size
        self.look = Look(scale_for(size), Filter("all" if size <= FEW else "notable"))
        self.hands = Hands(source, self.gather, self.look, steering)
        self.timing = Timing(source, deck, self.look, self.hands.note)
        self.save: Save = _nowhere
        self._left = False
        self.fellows: tuple[Desk, ...] = ()
        """Desks of runs beside this one: what is ordered here is done there, too."""

    def join(self, fellows: Sequence["Desk"]) -> None:
        """Work together with other desks."""
        self.fellows = tuple(fellows)
        self.hands.fellows = tuple(desk.hands for desk in fellows)
        self.timing.lead([desk.timing for desk in fellows])

    def do(self, act: Callable[[], str | None]) -> bool:
        """Carry an order out; what is wrong with it is said on the screen, and false returned."""
        look, fine = self.look, False
        try:
            said = act() or ""
            fine = True
        except ScenarioError as error:
            said = "; ".join(str(problem) for problem in error.problems)
        except (NotThere, NoCondition, FolderError) as error:
            said = str(error)
        look.says = " ".join(said.split())
        return fine

    def view(self, name: str) -> str:
        """Choose a scale: table, grid, crowd; without a name the next."""
        if self.fellows:
            raise NotThere("two runs are shown as tables")
        if name and name not in SCALES:
            raise NotThere(f"no view '{name}'; {nearest(name, SCALES)}")
        at = SCALES.index(self.look.scale)
        self.look.scale = name or SCALES[(at + 1) % len(SCALES)]
        return ""

    def sort(self, name: str) -> str:
        """Sort the agents; the same once more turns the order round."""
        look = self.look
        if not name:
            name = SORTS[(SORTS.index(look.sort) + 1) % len(SORTS)]
        name = only(name, SORTS) or name
        if name not in SORTS:
            raise NotThere(f"no column '{name}'; {nearest(name, SORTS)}")
        down = name in {"epsilon", "loss", "releases", "inbox", "stale"}
        look.descending = not look.descending if name == look.sort else down
        look.sort, look.cursor, look.first = name, 0, 0
        return f"sorted by {name}: a table shows it, g" if look.scale == "crowd" else ""

    def filter(self, text: str) -> str:
        """Show only agents in some states, of some groups, or with some ids."""
        text = "" if text == "all" else text
        chosen_by(text, self.source.facts)
        self.look.filter, self.look.cursor, self.look.first = text, 0, 0
        return ""

    def events(self, text: str) -> str:
        """Show only some events: all, notable, kinds, or a condition."""
        self.look.events = Filter(text or "notable")
        return ""

    def move(self, down: int, right: int = 0) -> None:
        """Move the cursor: in help, among the entries of a menu, links, outliers, or agents."""
        look, by = self.look, down + right
        if look.helps:
            look.line = max(0, look.line + by)
        elif look.choosing is not None:
            look.choosing.at = max(0, min(len(look.choosing.entries) - 1, look.choosing.at + by))
        elif look.opened is not None:
            look.link = max(0, min(look.link + by, len(self.gather.near[look.opened]) - 1))
        elif look.scale == "crowd":
            row, place = look.outlier
            look.outlier = max(0, row + down), max(0, place + right)
        else:
            look.cursor = max(0, look.cursor + down * look.row + right)

    def open(self, text: str) -> str:
        """Open an agent: its ledger, its neighbours, its last messages."""
        if text == "server":
            raise NotThere("the server holds no data and has no ledger: open an agent")
        size = self.source.facts.size
        node = numbers(text, size)[0] if text else self.gather.at_cursor(self.look)
        if node is None:
            raise NotThere("no agent is shown")
        self.look.opened, self.look.link = node, 0
        return ""

    def back(self) -> None:
        """Close what is open."""
        look = self.look
        if look.helps or look.choosing is not None:
            look.helps, look.choosing = False, None
        elif look.opened is not None:
            look.opened = None
        else:
            look.says = ""

    def help(self) -> None:
        """Show every key and order."""
        self.look.helps, self.look.line = not self.look.helps, 0

    def picture(self, text: str) -> str:
        """Write the screen as an SVG picture."""
        path = Path(text).expanduser() if text else None
        if path is not None and path.exists():
            raise NotThere(f"{path} exists: nothing was written")
        return f"wrote {self.save(path)}"

    def quit(self) -> None:
        """End the run here and keep it, or close the recording."""
        self.hands.note("quit")
        self.leave()

    def leave(self) -> None:
        """End what goes on, and look no longer."""
        self._left = True
        self.deck.stop()

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen any more, here or beside it."""
        return all(is_over(desk.source) for desk in (self, *self.fellows))

    @property
    def stays(self) -> bool:
        """Whether its person is still here, and ended nothing early."""
        return not (self._left or self.deck.interrupted)


def _nowhere(_: Path | None) -> Path:
    raise NotThere("nobody draws this")
