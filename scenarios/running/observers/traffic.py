"""Counts messages, and the time that each agent was up."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from actors.agent import DOWN, UP, Agent
from actors.events import (
    Crashed,
    Delivered,
    Derived,
    Duplicated,
    Event,
    Joined,
    Left,
    Lost,
    Merged,
    Rejected,
    Released,
    Restarted,
    Sent,
    Superseded,
)
from mechanisms.vectors import Vector

_COUNTED: dict[type[Event], str] = {
    Delivered: "delivered",
    Superseded: "superseded",
    Lost: "lost",
    Rejected: "rejected",
    Duplicated: "duplicated",
}
_REMEMBERED, _PAID, _MANY = 4, 64, 400
"""So many of the last messages and releases of each agent are remembered, in worlds of at most so many agents."""


class Traffic:
    """A fold over messages and membership.

    With `follow`, it also knows which version of its neighbours' models each agent holds, and the last messages of each.
    """

    def __init__(self, present: Sequence[bool], *, follow: bool = False) -> None:
        self._follow = follow
        self.counts = dict.fromkeys(
            ("sent", "delivered", "superseded", "lost", "rejected", "duplicated"), 0
        )
        self.bytes_sent = 0
        self.derived = np.zeros(len(present), dtype=np.int64)
        self._published: list[dict[int, int]] = [{} for _ in present]
        """When each sender published each version."""
        self._newest: dict[int, int] = {}
        self._held: list[dict[int, int]] = [{} for _ in present]
        """For each agent, the version that it holds of each sender."""
        self._sent_last: list[deque[Sent]] = (
            [deque(maxlen=_REMEMBERED) for _ in present] if follow else []
        )
        self._made = [-1] * len(present)
        """The number of the event of each agent's last release."""
        pays = follow and len(present) <= _MANY
        self._paid: list[deque[int]] = [deque(maxlen=_PAID) for _ in present] if pays else []
        """Versions that a ledger was charged for; not followed for thousands of agents, where that is costly."""
        self._since = np.array([0 if here else -1 for here in present])
        self._joined = self._since.copy()
        self._up = np.zeros(len(present))
        routes: dict[type[Event], Callable[[Any], None]] = dict.fromkeys(
            (Joined, Left, Crashed, Restarted), self._note_presence
        )
        self._routes = routes | {Sent: self._note_sent, Derived: self._note_derived}
        if follow:
            self._routes[Merged] = self._note_merged
        if pays:
            self._routes[Released] = self._note_released

    @property
    def in_flight(self) -> int:
        """What was sent and is neither delivered, lost nor rejected: conservation defines it."""
        counts = self.counts
        arrived = counts["delivered"] + counts["lost"] + counts["rejected"]
        return counts["sent"] + counts["duplicated"] - arrived

    def fold(self, batch: list[Event]) -> None:
        """Count a batch of events, in order."""
        for kind, amount in Counter(map(type, batch)).items():
            word = _COUNTED.get(kind)
            if word is not None:
                self.counts[word] += amount
        for event in batch:
            act = self._routes.get(type(event))
            if act is not None:
                act(event)

    def _note_merged(self, event: Merged) -> None:
        held = self._held[event.node]  # type: ignore[index] # an agent merges
        held.update(zip(event.senders, event.versions, strict=True))

    def _note_derived(self, event: Derived) -> None:
        self.derived[event.node] += 1  # an agent derives

    def _note_sent(self, event: Sent) -> None:
        self.counts["sent"] += len(event.to)
        self.bytes_sent += event.bytes * len(event.to)
        if not self._follow or event.node is None:
            return
        self._sent_last[event.node].append(event)
        if self._paid and event.cause == self._made[event.node]:
            self._paid[event.node].append(event.version)
        if event.bytes and not event.resent:
            self._published[event.node][event.version] = event.t
            self._newest[event.node] = event.version

    def _note_released(self, event: Released) -> None:
        self._made[event.node] = event.seq  # type: ignore[index] # an agent releases

    def is_paid(self, sender: int, version: int) -> bool:
        """Whether a message, one of the last of its sender, is known to be a release that was charged."""
        return bool(self._paid) and version in self._paid[sender]

    def last_to(self, sender: int, receiver: int) -> Sent | None:
        """Return the last message from one agent to another that is remembered; None where there is none."""
        return next(
            (sent for sent in reversed(self._sent_last[sender]) if receiver in sent.to), None
        )

    def _note_presence(self, event: Event) -> None:
        node = event.node
        assert node is not None, "membership is of agents"  # noqa: S101
        if isinstance(event, (Joined, Restarted)):
            self._since[node] = event.t
            if self._joined[node] < 0:
                self._joined[node] = event.t
        elif self._since[node] >= 0:
            if isinstance(event, Crashed) and event.lost != "nothing":
                self._held[node].clear()
            self._up[node] += event.t - self._since[node]
            self._since[node] = -1

    def count(self, name: str) -> int:
        """Return one count of messages."""
        return self.counts[name]

    def availability(self, now: int) -> Vector:
        """Return the share of the time since joining that each agent was up; NaN before it joins."""
        up = self._up + np.where(self._since >= 0, now - self._since, 0)
        lasted = np.where(self._joined >= 0, now - self._joined, 0)
        return np.where(lasted > 0, up / np.maximum(lasted, 1), np.nan)

    def staleness(self, agents: Sequence[Agent], now: int) -> Vector:
        """Return now minus the publication time of what each agent holds: in seconds, mean over live neighbours."""
        return self._over_neighbours(
            agents,
            lambda i, j: (now - self._published[j].get(self._held[i].get(j, -1), 0)) / 1e9,
        )

    def stale(self, node: int, others: Sequence[int], now: int) -> float:
        """Return the staleness of one agent, in seconds, as the mean over `others`; NaN without any."""
        published, held = self._published, self._held[node]
        ages = [now - published[j].get(held.get(j, -1), 0) for j in others]
        return sum(ages) / len(ages) / 1e9 if ages else np.nan

    def lag(self, agents: Sequence[Agent]) -> Vector:
        """Return how many messages each neighbour published since the one that is held."""
        return self._over_neighbours(
            agents, lambda i, j: self._newest.get(j, -1) - self._held[i].get(j, -1)
        )

    @staticmethod
    def _over_neighbours(agents: Sequence[Agent], of: Callable[[int, int], float]) -> Vector:
        means = []
        for agent in agents:
            live = [j for j in agent.neighbours if agents[j].status in {UP, DOWN}]
            means.append(float(np.mean([of(agent.id, j) for j in live])) if live else np.nan)
        return np.array(means)
