"""What became of each release: sent or not, delivered to whom, merged by whom.

It says what was paid for in vain, and who heard what directly. It is no privacy: whoever hears a release late hears it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from actors.events import Charged, Delivered, Event, Merged, Released, Sent

_KINDS: tuple[type[Event], ...] = (Charged, Released, Sent, Delivered, Merged)


class Fates:
    """A fold over charges, releases and messages; resent bits are the release that they were."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._charged = [0] * size
        self._ready: dict[int, tuple[int, int]] = {}
        self._carries: dict[tuple[int, int], int] = {}
        self._heard: dict[tuple[int, int], set[int]] = defaultdict(set)
        self._merged = set[tuple[int, int]]()
        self._routes: Mapping[type[Event], Callable[[Any], None]] = {
            Charged: self._note_charged,
            Released: self._note_released,
            Sent: self._note_sent,
            Delivered: self._note_delivered,
            Merged: self._note_merged,
        }

    def fold(self, batch: Iterable[Event]) -> None:
        """Take a batch of events, in order."""
        for event in batch:
            act = self._routes.get(type(event))
            if act is not None:
                act(event)

    def _note_charged(self, event: Charged) -> None:
        self._charged[event.node] += 1  # type: ignore[index] # an agent is charged

    def _note_released(self, event: Released) -> None:
        self._ready[event.seq] = event.node, event.k  # type: ignore[assignment] # an agent releases

    def _note_sent(self, event: Sent) -> None:
        found = self._ready.pop(event.cause, None) if event.cause is not None else None
        if found is not None:
            self._carries[found[0], event.version] = found[1]

    def _note_delivered(self, event: Delivered) -> None:
        k = self._carries.get((event.sender, event.version))
        if k is not None:
            self._heard[event.sender, k].add(event.node)  # type: ignore[arg-type]

    def _note_merged(self, event: Merged) -> None:
        for sender, version in zip(event.senders, event.versions, strict=True):
            k = self._carries.get((sender, version))
            if k is not None:
                self._merged.add((sender, k))

    def unsent(self) -> list[list[int]]:
        """The releases of each agent that were charged and never left."""
        sent = {(node, k) for (node, _), k in self._carries.items()}
        return self._but(sent)

    def unheard(self) -> list[list[int]]:
        """Those that were delivered to nobody."""
        return self._but({release for release, whom in self._heard.items() if whom})

    def unread(self) -> list[list[int]]:
        """Those that nobody merged: they were lost, or overtaken by the next."""
        return self._but(self._merged)

    def _but(self, known: set[tuple[int, int]]) -> list[list[int]]:
        return [
            [k for k in range(made) if (node, k) not in known]
            for node, made in enumerate(self._charged)
        ]

    def directly(self) -> dict[tuple[int, int], int]:
        """How many releases of an agent each other agent heard from itself."""
        found: dict[tuple[int, int], int] = defaultdict(int)
        for (node, _), whom in self._heard.items():
            for listener in whom:
                found[node, listener] += 1
        return dict(found)

    @property
    def made(self) -> list[int]:
        """How many releases each agent was charged for."""
        return list(self._charged)
