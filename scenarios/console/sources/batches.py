"""The last events of batches, without making those that are not shown: rows of turns become events only at the end."""

from collections import deque
from typing import Any

import numpy as np

from actors.events import Event, Lost
from actors.log import Batch
from actors.turns import Spends, Turns, Words, expand

_MOST = 1000
"""So many lost messages are kept."""


def last_of(batch: Batch, count: int) -> list[Event]:
    """Return the last events of a batch, at most so many."""
    last = list[list[Event]]()
    for part in reversed(batch.parts):
        if count <= 0:
            break
        if not isinstance(part, Turns):
            last.append([part])
            count -= 1
            continue
        for place in range(len(part) - 1, -1, -1):
            events = events_of(part, place, batch.spends)
            last.append(events)
            count -= len(events)
            if count <= 0:
                break
    flat = [event for events in reversed(last) for event in events]
    return flat[max(0, -count) :]


def last_about(batch: Batch, agent: int, most: int = 200) -> list[Event]:
    """Return the last events of a batch that concern an agent; of its turns, and of those that send to it, at most `most`."""
    found = list[Event]()
    for part in batch.parts:
        if isinstance(part, Turns):
            about = part.agent == agent
            about[part.sent_rows[part.sent_to == agent]] = True
            for place in np.flatnonzero(about)[-most:].tolist():
                found += [e for e in events_of(part, place, batch.spends) if concerns(e, agent)]
        elif concerns(part, agent):
            found.append(part)
    return found


def concerns(event: Any, agent: int) -> bool:
    """Whether an event is about an agent, or names it."""
    return bool(
        event.node == agent
        or getattr(event, "receiver", -1) == agent
        or agent in getattr(event, "to", ())
        or agent in getattr(event, "targets", ())
    )


def events_of(turns: Turns, place: int, spends: Spends) -> list[Event]:
    """Return the events of one turn."""
    start = int(turns.starts[place])
    return expand(turns.words[start : start + int(turns.lengths[place])].tolist(), spends)


class Losses:
    """The last messages that turns lost: their events are made when they are asked for."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Turns, Words, Spends]] = deque()
        self.waiting = 0
        """How many wait to be asked for."""

    def note(self, turns: Turns, spends: Spends) -> None:
        """Take the losses of turns."""
        rows = np.flatnonzero(turns.lost)
        if not len(rows):
            return
        self._waiting.append((turns, rows, spends))
        self.waiting += int(turns.lost.sum())
        while len(self._waiting) > 1 and self.waiting - self._lost_in(0) >= _MOST:
            self.waiting -= self._lost_in(0)
            self._waiting.popleft()

    def _lost_in(self, place: int) -> int:
        turns, rows, _ = self._waiting[place]
        return int(turns.lost[rows].sum())

    def take(self) -> list[Event]:
        """Return those that wait, and keep them no longer."""
        lost = list[Event]()
        for turns, rows, spends in self._waiting:
            for place in rows[-_MOST:].tolist():
                events = events_of(turns, place, spends)
                lost += [event for event in events if isinstance(event, Lost)]
        self._waiting.clear()
        self.waiting = 0
        return lost[-_MOST:]
