"""One run or recording on the screen: its source, how a person looks at it, and its breakpoints."""

from dataclasses import replace
from typing import Any

from scenarios.console.assembly.build_model import ModelBuilder
from scenarios.console.assembly.pace import Motion
from scenarios.console.control.breakpoints import Breakpoint
from scenarios.console.drawing.layout import FEW, scale_for
from scenarios.console.sources.feed import Filter
from scenarios.console.sources.source import Source
from scenarios.console.sources.view_state import (
    SORTS,
    CommandError,
    ViewState,
    only_match,
    read_agents,
)
from scenarios.language.problems import nearest
from scenarios.running.manual_faults import Steering

_DOWN_FIRST = frozenset({"epsilon", "loss", "releases", "inbox", "stale"})
"""Columns whose largest values stand first."""


class Pane:
    """Shows one run or recording."""

    def __init__(
        self, source: Source, motion: Motion, steering: Steering | None = None, mark: str = ""
    ) -> None:
        """Show a source that a control moves; `mark` is its letter where two runs are shown, else empty."""
        self.source = source
        self.steering = steering
        """What acts on the run; None for a recording."""
        self.mark = mark
        self.builder = ModelBuilder(source, motion)
        size = source.facts.size
        self.view = ViewState(scale_for(size), Filter("all" if size <= FEW else "notable"))
        self.breakpoints: tuple[Breakpoint, ...] = ()

    @property
    def breaks(self) -> list[str]:
        """Conditions of the breakpoints that hold every time."""
        return [stop.text for stop in self.breakpoints if not stop.once]

    def change(self, **changes: Any) -> None:
        """Look at the run in another way."""
        self.view = replace(self.view, **changes)

    def note(self, what: str, **more: object) -> None:
        """Write a command into the journal of the run, where there is one."""
        if self.steering is not None:
            self.steering.note(what, **more)

    def sort(self, name: str) -> str:
        """Sort the agents; the same column once more turns the order round."""
        view = self.view
        if not name:
            name = SORTS[(SORTS.index(view.sort) + 1) % len(SORTS)]
        name = only_match(name, SORTS) or name
        if name not in SORTS:
            raise CommandError(f"no column '{name}'; {nearest(name, SORTS)}")
        descending = not view.descending if name == view.sort else name in _DOWN_FIRST
        self.change(sort=name, descending=descending, cursor=0, first=0)
        return f"sorted by {name}: a table shows it, g" if view.scale == "crowd" else ""

    def filter(self, text: str) -> None:
        """Show only agents in some states, of some groups, or with some ids."""
        text = "" if text == "all" else text
        read_agents(text, self.source.facts)
        self.change(filter=text, cursor=0, first=0)

    def events(self, text: str) -> None:
        """Show only some events: all, notable, kinds, or a condition."""
        self.change(events=Filter(text or "notable"))

    def agent_at_cursor(self) -> int:
        """Return the agent under the cursor; raise `CommandError` where none is shown."""
        agent = self.builder.at_cursor(self.view)
        if agent is None:
            raise CommandError("no agent is shown")
        return agent

    def move_in_network(self, down: int, right: int) -> None:
        """Move the cursor to the nearest agent in a direction."""
        agent = self.builder.at_cursor(self.view)
        if agent is not None:
            self.go_to(self.builder.networks.agent_beside(agent, down, right))

    def go_to(self, agent: int) -> bool:
        """Put the cursor on an agent; return False where the filter hides it."""
        place = self.builder.place_of(self.view, agent)
        if place is not None:
            self.change(cursor=place)
        return place is not None
