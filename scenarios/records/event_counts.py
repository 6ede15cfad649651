"""Counts of what happened in a run, from its events or from rows that stand for them."""

from collections import Counter
from typing import Any

from actors.events import Diverged, Event, Sampled, Sent
from actors.turns import Turns


class Counts:
    """How many events of each kind there were, and what the last ones said."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.sent = 0
        """Messages, one for each receiver."""
        self.ended = 0
        """The instant of the last event, in nanoseconds."""
        self.sampled: dict[str, Any] = {}
        """The metrics of the last sample; empty where there was none."""
        self.diverged = set[int]()
        """The agents that diverged."""

    def add(self, event: Event) -> None:
        """Count one event."""
        self.kinds[str(type(event).__struct_config__.tag)] += 1
        self.ended = event.t
        if isinstance(event, Sent):
            self.sent += len(event.to)
        elif isinstance(event, Sampled):
            self.sampled = event.values
        elif isinstance(event, Diverged) and event.node is not None:
            self.diverged.add(event.node)

    def add_turns(self, turns: Turns) -> None:
        """Count what some rows stand for."""
        released = int(turns.released.sum())
        self.kinds.update(
            woke=int(turns.woke.sum()),
            merged=int(turns.merged.sum()),
            proposed=released,
            charged=released,
            released=released,
            derived=int(turns.derived.sum()),
            sent=int(turns.sent.sum()),
            delivered=int(turns.settled.sum()),
            superseded=int(turns.superseded.sum()),
            lost=int(turns.lost.sum()),
        )
        self.sent += int(turns.receivers.sum())
        self.ended = int(turns.t[-1])
