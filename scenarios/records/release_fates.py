"""What became of each release: whether it was sent, which agents received it, and which merged it.

From it follow which charges were in vain, and what each agent received directly. It is no measure of privacy: a release
that arrives late has been received.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from actors.events import Charged, Delivered, Event, Merged, Released, Sent


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
        release = self._ready.pop(event.cause, None) if event.cause is not None else None
        if release is not None:
            self._carries[release[0], event.version] = release[1]

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
        """Return, for each agent, the releases that were charged and never sent."""
        sent = {(node, k) for (node, _), k in self._carries.items()}
        return self._but(sent)

    def unheard(self) -> list[list[int]]:
        """Return, for each agent, the releases that were delivered to no agent."""
        return self._but({release for release, listeners in self._heard.items() if listeners})

    def unread(self) -> list[list[int]]:
        """Return, for each agent, the releases that no agent merged: they were lost, or superseded by the next."""
        return self._but(self._merged)

    def _but(self, known: set[tuple[int, int]]) -> list[list[int]]:
        return [
            [k for k in range(made) if (node, k) not in known]
            for node, made in enumerate(self._charged)
        ]

    def directly(self) -> dict[tuple[int, int], int]:
        """Return how many releases each agent heard from each sender itself, by (sender, listener)."""
        counts: dict[tuple[int, int], int] = defaultdict(int)
        for (node, _), listeners in self._heard.items():
            for listener in listeners:
                counts[node, listener] += 1
        return dict(counts)

    @property
    def made(self) -> list[int]:
        """The number of releases that each agent was charged for."""
        return list(self._charged)
