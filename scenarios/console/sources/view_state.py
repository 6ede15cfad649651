"""How a person looks at a run: scale, order, filter, cursor, what is open. It changes nothing in the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scenarios.console.drawing.styled_text import STATES
from scenarios.language.problems import nearest
from scenarios.records.world_facts import Facts

if TYPE_CHECKING:
    from scenarios.console.sources.feed import Filter


AGENTS, FAULTS, LINKS = FOCUSES = ("agents", "faults", "links")
SORTS = ("id", "epsilon", "left", "loss", "releases", "inbox", "stale", "state")


class CommandError(ValueError):
    """A command cannot be carried out; the message says why, and what there is."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """How one run is looked at. Commands replace it, and so does each frame, by what it has room for."""

    scale: str
    events: Filter
    sort: str = "id"
    descending: bool = False
    filter: str = ""
    cursor: int = 0
    """A place in the list of agents, not an id."""
    first: int = 0
    """The first place of that list on the page that is shown."""
    page: int = 10
    """How many agents the last frame had room for."""
    row: int = 1
    """How many agents a line held."""
    columns: int = 8
    """How many outliers a line held."""
    opened: int | None = None
    """The agent that is open; None where none is."""
    link: int = 0
    """A place in the list of an opened agent's neighbours."""
    panel: str = ""
    """The panel that was chosen by its key; empty where none was."""
    metric: str = ""
    """What the chart shows; empty: the first metric that samples hold."""
    color: str = ""
    """What the colours of a network stand for; empty: ε over cap."""
    focus: str = AGENTS
    """Where the cursor is: among agents, faults, or links."""
    fault: int = 0
    """A place in the list of faults, in the order of time."""
    edge: int = 0
    """A place in the list of links."""
    outlier: tuple[int, int] = 0, 0
    """A row and a place among the outliers of a crowd."""

    def within(self, count: int) -> ViewState:
        """Return the view with its cursor in a list of `count` agents, and on the page that is shown."""
        cursor = max(0, min(self.cursor, count - 1))
        first = max(cursor - self.page + 1, min(self.first, cursor))
        return replace(self, cursor=cursor, first=max(0, min(first, count - self.page)))


def read_agents(text: str, facts: Facts) -> tuple[frozenset[str], frozenset[int]] | None:
    """Read a filter of agents: states, groups and ids; return states and ids, or None for all agents."""
    states, ids = set[str](), set[int]()
    for word in filter(None, (part.strip() for part in text.split(","))):
        if word in facts.members:
            ids |= set(facts.members[word])
        elif word in STATES:
            states.add(word)
        else:
            ids |= set(read_ids(word, facts.size, (*STATES, *facts.members)))
    return (frozenset(states), frozenset(ids)) if states or ids else None


def only_match(start: str, names: Iterable[str]) -> str:
    """Return the one name that begins with `start`; nothing where none does, or several do."""
    matches = [name for name in names if name.startswith(start)]
    return matches[0] if len(matches) == 1 else ""


def read_ids(word: str, size: int, known: tuple[str, ...] = ()) -> list[int]:
    """Read an id, or ids such as 3..7, of `size` agents; `known` are other words that a wrong one may mean."""
    first, dots, last = word.partition("..")
    if not first.isdecimal() or (dots and not last.isdecimal()):
        hint = nearest(word, known) if known else "give ids such as 3 or 3..7"
        raise CommandError(f"'{word}' is no agent; {hint}")
    low, high = int(first), int(last or first)
    if high >= size or low > high:
        raise CommandError(
            f"no agent {high if high >= size else word}: ids run from 0 to {size - 1}"
        )
    return list(range(low, high + 1))
