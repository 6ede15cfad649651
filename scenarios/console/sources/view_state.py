"""How a person looks at a run: scale, order, filter, cursor, what is open. It changes nothing in the run."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from scenarios.console.drawing.styled_text import STATES
from scenarios.console.sources.feed import Filter
from scenarios.language.problems import nearest
from scenarios.records.world_facts import Facts

SORTS = ("id", "epsilon", "left", "loss", "releases", "inbox", "stale", "state")


class NotThere(ValueError):
    """What was asked for is not there; the message says what is."""


@dataclass(slots=True)
class Writing:
    """A command that is being written."""

    text: str = ""
    at: int = 0
    error: str = ""
    back: int = 0
    """How many lines ago what is shown was written."""

    def put(self, text: str) -> None:
        """Write at the cursor."""
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)
        self.error = ""

    def erase(self) -> None:
        """Take the character before the cursor away."""
        if self.at:
            self.text = self.text[: self.at - 1] + self.text[self.at :]
            self.at -= 1
        self.error = ""

    def edit(self, key: str) -> bool:
        """Do what a key of an editor does; whether it is one."""
        text, at = self.text, self.at
        begun = len(text[:at].rstrip().rpartition(" ")[0])
        edits = {
            "left": (text, max(0, at - 1)),
            "right": (text, min(len(text), at + 1)),
            "home": (text, 0),
            "end": (text, len(text)),
            "clear": ("", 0),
            "delete": (text[:at] + text[at + 1 :], at),
            "word": (text[:begun] + text[at:], begun),
        }
        if key in edits:
            self.text, self.at = edits[key]
        return key in edits

    def replace(self, text: str) -> None:
        """Write something else."""
        self.text, self.at, self.error = text, len(text), ""


@dataclass(slots=True)
class Choosing:
    """A menu that is open: what may be chosen, and the command that each becomes."""

    title: str
    entries: list[tuple[str, str, str]]
    """Name, what it does, and the command."""
    at: int = 0


@dataclass(slots=True)
class Look:
    """The state of a screen."""

    scale: str
    events: Filter
    sort: str = "id"
    descending: bool = False
    filter: str = ""
    cursor: int = 0
    """A place in the list of agents, not an id."""
    first: int = 0
    page: int = 10
    opened: int | None = None
    link: int = 0
    """A place in the list of an opened agent's neighbours."""
    outlier: tuple[int, int] = 0, 0
    """A row and a place among those who stand out of a crowd."""
    columns: int = 8
    """How many of those a row shows."""
    row: int = 1
    """How many agents a line holds."""
    lines: int = 10
    """How many lines of help, or of a menu, are shown."""
    line: int = 0
    """The first line of the help that is shown."""
    writing: Writing | None = None
    choosing: Choosing | None = None
    helps: bool = False
    says: str = ""
    history: list[str] = field(default_factory=list)
    breaks: list[str] = field(default_factory=list)

    def follow(self, count: int) -> None:
        """Keep the cursor within the list of so many agents, and on the page that is shown."""
        self.cursor = max(0, min(self.cursor, count - 1))
        self.first = max(self.cursor - self.page + 1, min(self.first, self.cursor))
        self.first = max(0, min(self.first, count - self.page))


def chosen_by(text: str, facts: Facts) -> tuple[frozenset[str], frozenset[int]] | None:
    """Read a filter of agents: states, groups and ids, any of them; None is everybody."""
    states, ids = set[str](), set[int]()
    for word in filter(None, (part.strip() for part in text.split(","))):
        if word in facts.members:
            ids |= set(facts.members[word])
        elif word in STATES:
            states.add(word)
        else:
            ids |= set(numbers(word, facts.size, (*STATES, *facts.members)))
    return (frozenset(states), frozenset(ids)) if states or ids else None


def only(start: str, known: Iterable[str]) -> str:
    """Return the one name that begins so, or nothing."""
    found = [name for name in known if name.startswith(start)]
    return found[0] if len(found) == 1 else ""


def numbers(word: str, size: int, known: tuple[str, ...] = ()) -> list[int]:
    """Read an id, or ids such as 3..7."""
    first, dots, last = word.partition("..")
    if not first.isdecimal() or (dots and not last.isdecimal()):
        hint = nearest(word, known) if known else "give ids such as 3 or 3..7"
        raise NotThere(f"'{word}' is no agent; {hint}")
    low, high = int(first), int(last or first)
    if high >= size or low > high:
        raise NotThere(f"no agent {high if high >= size else word}: ids run from 0 to {size - 1}")
    return list(range(low, high + 1))
