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
from actors.log import Batch
from actors.turns import BYTES_OF_NUMBER, OLD, Turns, expand, fates_of, senders_of, versions_of
from mechanisms.vectors import Vector

_COUNTED: dict[type[Event], str] = {
    Delivered: "delivered",
    Superseded: "superseded",
    Lost: "lost",
    Rejected: "rejected",
    Duplicated: "duplicated",
}
REMEMBERED = 4
"""So many of the last messages of each agent are remembered."""
_PAID, _MANY = 64, 400
"""So many of the last releases of each agent are remembered, in worlds of at most so many agents."""

_SHIFT = 32
_LOW = (1 << _SHIFT) - 1


def _pair(agent: int, other: int) -> int:
    """Return an agent and another one, or a version, as one number."""
    return agent << _SHIFT | other


class _Told:
    """What a turn sent: its event is made when it is asked for."""

    __slots__ = ("_event", "_row", "_spends")

    def __init__(self, turns: Turns, place: int, batch: Batch) -> None:
        start = int(turns.starts[place])
        self._row = turns.words[start : start + int(turns.lengths[place])].copy()
        self._spends = batch.spends
        self._event: Sent | None = None

    @property
    def event(self) -> Sent:
        if self._event is None:
            events = expand(self._row.tolist(), self._spends)
            self._event = next(event for event in events if isinstance(event, Sent))
        return self._event


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
        self._published: dict[int, int] = {}
        """When each sender published each version, by `_pair` of the two."""
        self._newest: dict[int, int] = {}
        self._held: dict[int, int] = {}
        """The version that each agent holds of each sender, by `_pair` of the two."""
        self._sent_last: list[deque[Sent | _Told]] = (
            [deque(maxlen=REMEMBERED) for _ in present] if follow else []
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
        self._kinds = self._routes.keys() | _COUNTED.keys()

    @property
    def in_flight(self) -> int:
        """What was sent and is neither delivered, lost nor rejected: conservation defines it."""
        counts = self.counts
        arrived = counts["delivered"] + counts["lost"] + counts["rejected"]
        return counts["sent"] + counts["duplicated"] - arrived

    def fold(self, batch: Batch) -> None:
        """Count what happened, in order."""
        loose = list[Event]()
        for part in batch.parts_of(self._kinds):
            if isinstance(part, Turns):
                self.note(loose)
                loose.clear()
                self._note_turns(part)
                if self._follow:
                    self._follow_turns(part, batch)
            else:
                loose.append(part)
        self.note(loose)

    def _note_turns(self, turns: Turns) -> None:
        """Count what turns tell."""
        counts, receivers = self.counts, turns.receivers
        counts["sent"] += int(receivers.sum())
        counts["delivered"] += int(turns.settled.sum())
        counts["superseded"] += int(turns.superseded.sum())
        counts["lost"] += int(turns.lost.sum())
        self.bytes_sent += BYTES_OF_NUMBER * int((turns.numbers * receivers).sum())
        if turns.derived.any():
            np.add.at(self.derived, turns.agent[turns.derived], 1)

    def _follow_turns(self, turns: Turns, batch: Batch) -> None:
        """Note what was merged, published and sent."""
        self._follow_merged(turns)
        holds = turns.sent & (turns.numbers > 0) & ~turns.resent
        nodes, versions = turns.agent[holds], turns.version[holds]
        pairs = (nodes << _SHIFT | versions).tolist()
        self._published.update(zip(pairs, turns.t[holds].tolist(), strict=True))
        self._newest.update(zip(nodes.tolist(), versions.tolist(), strict=True))
        agents = turns.agent.tolist()
        made_by = (
            turns.seq + turns.settled + turns.superseded + turns.woke + turns.merged
        ).tolist()
        released, derived = turns.released.tolist(), turns.derived.tolist()
        for place in np.flatnonzero(turns.sent | turns.released).tolist():
            node = agents[place]
            if released[place]:
                self._made[node] = made_by[place] + 2
            if not turns.sent[place]:
                continue
            told = _Told(turns, place, batch)
            self._sent_last[node].append(told)
            if not self._paid or derived[place]:
                continue
            if released[place] or told.event.cause == self._made[node]:
                self._paid[node].append(int(turns.version[place]))

    def _follow_merged(self, turns: Turns) -> None:
        """Note which versions agents hold from now on: what they carried, then what they settled, turn by turn."""
        rows, words = turns.settled_rows, turns.settled_words[:, 2]
        taken = turns.merged[rows] & (fates_of(words) != OLD)
        rows, words = rows[taken], words[taken]
        senders, versions = senders_of(words), versions_of(words)
        if (turns.carried[turns.merged] > 0).any():
            early, carried = turns.carried_rows, turns.carried_words
            kept = turns.merged[early]
            early, carried = early[kept], carried[kept]
            order = np.argsort(np.concatenate([early, rows]), kind="stable")
            rows = np.concatenate([early, rows])[order]
            senders = np.concatenate([carried >> _SHIFT, senders])[order]
            versions = np.concatenate([carried & _LOW, versions])[order]
        pairs = (turns.agent[rows] << _SHIFT | senders).tolist()
        self._held.update(zip(pairs, versions.tolist(), strict=True))

    def note(self, events: Sequence[Event]) -> None:
        """Count events, in order."""
        for kind, amount in Counter(map(type, events)).items():
            word = _COUNTED.get(kind)
            if word is not None:
                self.counts[word] += amount
        for event in events:
            act = self._routes.get(type(event))
            if act is not None:
                act(event)

    def _note_merged(self, event: Merged) -> None:
        assert event.node is not None, "an agent merges"  # noqa: S101
        for sender, version in zip(event.senders, event.versions, strict=True):
            self._held[_pair(event.node, sender)] = version

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
            self._published[_pair(event.node, event.version)] = event.t
            self._newest[event.node] = event.version

    def _note_released(self, event: Released) -> None:
        self._made[event.node] = event.seq  # type: ignore[index] # an agent releases

    def is_paid(self, sender: int, version: int) -> bool:
        """Whether a message, one of the last of its sender, is known to be a release that was charged."""
        return bool(self._paid) and version in self._paid[sender]

    def last_sent(self, sender: int) -> list[Sent]:
        """Return the last messages of an agent that are remembered, the newest first."""
        last = reversed(self._sent_last[sender])
        return [told if isinstance(told, Sent) else told.event for told in last]

    def last_to(self, sender: int, receiver: int) -> Sent | None:
        """Return the last message from one agent to another that is remembered; None where there is none."""
        for told in reversed(self._sent_last[sender]):
            sent = told if isinstance(told, Sent) else told.event
            if receiver in sent.to:
                return sent
        return None

    def _note_presence(self, event: Event) -> None:
        node = event.node
        assert node is not None, "membership is of agents"  # noqa: S101
        if isinstance(event, (Joined, Restarted)):
            self._since[node] = event.t
            if self._joined[node] < 0:
                self._joined[node] = event.t
        elif self._since[node] >= 0:
            if isinstance(event, Crashed) and event.lost != "nothing":
                for sender in range(len(self._since)):
                    self._held.pop(_pair(node, sender), None)
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
            lambda i, j: self._age(i, j, now) / 1e9,
        )

    def stale(self, node: int, others: Sequence[int], now: int) -> float:
        """Return the staleness of one agent, in seconds, as the mean over `others`; NaN without any."""
        ages = [self._age(node, j, now) for j in others]
        return sum(ages) / len(ages) / 1e9 if ages else np.nan

    def lag(self, agents: Sequence[Agent]) -> Vector:
        """Return how many messages each neighbour published since the one that is held."""
        return self._over_neighbours(
            agents, lambda i, j: self._newest.get(j, -1) - self._held.get(_pair(i, j), -1)
        )

    def _age(self, node: int, sender: int, now: int) -> int:
        """Return how long ago was published what an agent holds of a sender; since the beginning where that is nothing."""
        version = self._held.get(_pair(node, sender))
        published = 0 if version is None else self._published.get(_pair(sender, version), 0)
        return now - published

    @staticmethod
    def _over_neighbours(agents: Sequence[Agent], of: Callable[[int, int], float]) -> Vector:
        means = []
        for agent in agents:
            live = [j for j in agent.neighbours if agents[j].status in {UP, DOWN}]
            means.append(float(np.mean([of(agent.id, j) for j in live])) if live else np.nan)
        return np.array(means)
