"""Counts of what happened in a run, from its events or from rows that stand for them."""

from collections import Counter

from actors.events import Diverged, Event, Sent
from actors.turns import Turns


class Counts:
    """How many events of each kind there were, and what the last ones said."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.sent = 0
        """Messages, one for each receiver."""
        self.ended = 0
        """The instant of the last event, in nanoseconds."""
        self.last = 0
        """The number of the last event."""
        self.diverged = set[int]()
        """The agents that diverged."""

    def add(self, event: Event) -> None:
        """Count one event."""
        self.kinds[str(type(event).__struct_config__.tag)] += 1
        self.ended, self.last = event.t, event.seq
        if isinstance(event, Sent):
            self.sent += len(event.to)
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
        self.last = int(turns.seq[-1] + turns.events[-1]) - 1

    @property
    def messages(self) -> dict[str, int]:
        """What became of messages, as a summary counts them: sent + duplicated = delivered + lost + rejected + in flight."""
        fates = {key: self.kinds[key] for key in ("delivered", "lost", "rejected", "duplicated")}
        arrived = fates["delivered"] + fates["lost"] + fates["rejected"]
        return {
            "sent": self.sent,
            "superseded": self.kinds["superseded"],
            "in_flight": self.sent + fates["duplicated"] - arrived,
            **fates,
        }
