"""The checks of what agents do: of rows of turns, many at once, and of single events that are in no row."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.agent import Agent
from actors.events import (
    Charged,
    Delivered,
    Derived,
    Event,
    Lost,
    Released,
    Restarted,
    Sent,
    Woke,
)
from actors.turns import Spends, Turns, Words, expand
from mechanisms.vectors import distinct
from scenarios.running.observers.fault_checks import Break, FaultChecks

Mask = NDArray[np.bool_]


class Told:
    """What events and turns have told of each agent so far."""

    def __init__(self, seats: int) -> None:
        self.charged = np.zeros(seats, np.int64)
        """How many releases were charged."""
        self.ready = np.full(seats, -1, np.int64)
        """The number of the event that made what may be sent next; −1 where there is nothing."""
        self.version = np.full(seats, -1, np.int64)
        """The last version that was published: of what was sent, or made while no neighbour was present."""
        self.paid: dict[int, tuple[int, int]] = {}
        """The last charge that no release has followed: its number, and that of its event."""
        self.released = 0
        """How many releases there were in all."""


class TurnChecks:
    """Checks turns and single events, in order; `break_` is told of the first event that is wrong.

    They are looked at some time after they happened. Who was up then, and which faults were open, is looked up by the
    numbers of events; of agents themselves only what stays is compared: ledgers, noise, and what was published last.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        told: Told,
        faults: FaultChecks,
        spends: Spends,
        break_: Break,
    ) -> None:
        self._agents = agents
        self._kind = type(agents[0])
        """Which kind of agents they are: it knows how to look at many of them."""
        self._told = told
        self._faults = faults
        self._spends = spends
        self._break = break_
        self.singles: dict[type[Event], Callable[[Any], None]] = {
            Woke: self._one_woke,
            Charged: self._one_charged,
            Released: self._one_released,
            Derived: self._one_derived,
            Sent: self._one_sent,
            Lost: self._one_lost,
            Delivered: self._one_delivered,
            Restarted: self._restarted,
        }
        """What to call with an event that is in no row."""

    # events in no row

    def _one_woke(self, event: Woke) -> None:
        self._is_there(event, "woke")

    def _is_there(self, event: Event, what: str) -> None:
        """Check that an agent that did something was up, and not paused."""
        agents, seq = np.array([event.node]), np.array([event.seq])
        if self._faults.has_acted and self._faults.are_idle(agents, seq)[0]:
            self._break("silence", event, f"agent {event.node} {what} while it was not there")

    def _one_charged(self, event: Charged) -> None:
        """Check that charges are numbered without gaps: number k is charged once."""
        node, told = _agent_of(event), self._told
        made = self._agents[node].store.made
        if event.k != told.charged[node] or made <= event.k:
            expected = min(int(told.charged[node]), made)
            said = f"agent {node} was charged for release {event.k}, not {expected}"
            self._break("charged once", event, said)
        told.charged[node] = event.k + 1
        told.paid[node] = event.k, event.seq

    def _one_released(self, event: Released) -> None:
        """Check that a release follows its own charge, once, and that its noise was drawn for no other."""
        node, told = _agent_of(event), self._told
        if told.paid.pop(node, None) != (event.k, event.cause):
            said = f"release {event.k} of agent {node} has no charge of its own"
            self._break("charged before sent", event, said)
        redrawn = self._agents[node].redrawn
        if redrawn is not None:
            said = f"agent {node} drew the noise of release {redrawn[0]} after that of {redrawn[1]}"
            self._break("noise once", event, said)
        told.released += 1
        told.ready[node] = event.seq
        told.version[node] += 1

    def _one_derived(self, event: Derived) -> None:
        node = _agent_of(event)
        self._told.ready[node] = event.seq
        self._told.version[node] = event.version

    def _one_sent(self, event: Sent) -> None:
        """Check that a message was just released or derived, or is a resend of the last, or holds nothing."""
        node, told = _agent_of(event), self._told
        self._is_there(event, "sent")
        self._touched(event, event.by)
        if event.bytes:
            self._is_published(node, event.version, lambda: event)
        if event.resent:
            if event.version > told.version[node]:
                said = f"agent {node} resent {event.version}, which it never sent"
                self._break("only releases", event, said)
            return
        if event.bytes and event.cause != told.ready[node]:
            said = f"agent {node} sent what is neither release nor derived"
            self._break("only releases", event, said)
        told.ready[node] = -1
        told.version[node] = event.version

    def _one_lost(self, event: Lost) -> None:
        self._touched(event, event.by)

    def _touched(self, event: Event, faults: Sequence[int]) -> None:
        """Check that faults touch messages only in their windows."""
        for fault in faults:
            if self._faults.first_outside(fault, np.array([event.seq])) is not None:
                said = f"fault {fault} touched a message outside of its window"
                self._break("declared faults", event, said)

    def _one_delivered(self, event: Delivered) -> None:
        """Check that the receiver was up at the arrival, and noticed the message no earlier."""
        if event.arrived > event.t:
            said = f"noticed at {event.t} ns, arrives at {event.arrived} ns"
            self._break("time", event, said)
        agents, seq = np.array([event.node]), np.array([event.seq])
        is_down = self._faults.are_down(agents, seq)[0]
        if is_down or event.arrived < self._faults.up_since(agents, seq)[0]:
            said = f"a message reached agent {event.node} while it was not up"
            self._break("silence", event, said)

    def _restarted(self, event: Restarted) -> None:
        """Check that the ledger after a crash is the ledger before it."""
        node = _agent_of(event)
        charged = int(self._told.charged[node])
        if event.releases != charged:
            said = f"agent {node} had {charged} releases, now {event.releases}"
            self._break("ledger survives", event, said)

    # rows

    def take(self, turns: Turns) -> None:
        """Check turns in the order in which their events happened: settled, woke, charged, released, sent."""
        self._settled(turns)
        self._woke(turns)
        self._charged(turns)
        self._sent(turns)

    def events(self, turns: Turns, place: int) -> list[Event]:
        """Return the events of one turn."""
        start = int(turns.starts[place])
        row = turns.words[start : start + (int(turns.words[start]) >> 16)].tolist()
        return expand(row, self._spends)

    def _event(self, turns: Turns, place: int, kind: type[Event], number: int = 0) -> Any:
        """Return an event of a turn: the so-manieth of its kind."""
        return [event for event in self.events(turns, place) if type(event) is kind][number]

    def _settled(self, turns: Turns) -> None:
        """Check that receivers were up at each arrival, and noticed the messages no earlier."""
        rows = turns.settled_rows
        if not len(rows):
            return
        arrived, t, agents = turns.settled_words[:, 0], turns.t[rows], turns.agent[rows]
        for wrong in self._first(arrived > t):
            event = self._settled_event(turns, wrong)
            said = f"noticed at {event.t} ns, arrives at {event.arrived} ns"
            self._break("time", event, said)
        faults = self._faults
        if faults.has_acted:
            seq = turns.seq[rows]
            up_since = faults.up_since(agents, seq)
            for wrong in self._first(faults.are_down(agents, seq) | (arrived < up_since)):
                event = self._settled_event(turns, wrong)
                said = f"a message reached agent {event.node} while it was not up"
                self._break("silence", event, said)

    def _settled_event(self, turns: Turns, message: int) -> Delivered:
        place = int(turns.settled_rows[message])
        first = int(np.searchsorted(turns.settled_rows, place))
        event: Delivered = self._event(turns, place, Delivered, message - first)
        return event

    def _woke(self, turns: Turns) -> None:
        """Check that only agents that are up, and not paused, wake and send."""
        faults, woke = self._faults, turns.woke
        if faults.has_acted:
            idle = faults.are_idle(turns.agent, turns.seq)
            for place in self._first(idle & (woke | turns.sent)):
                kind, what = (Woke, "woke") if woke[place] else (Sent, "sent")
                event = self._event(turns, place, kind)
                self._break("silence", event, f"agent {event.node} {what} while it was not there")

    def _charged(self, turns: Turns) -> None:
        """Check that charges are numbered without gaps, that each release has one, and that no noise is drawn twice."""
        told, places = self._told, np.flatnonzero(turns.released)
        if not len(places):
            return
        agents, k = turns.agent[places], turns.k[places]
        expected = told.charged[agents] + _ranks(agents)
        for wrong in self._first(k != expected):
            node, number = int(agents[wrong]), int(k[wrong])
            said = f"agent {node} was charged for release {number}, not {int(expected[wrong])}"
            self._break("charged once", self._event(turns, places[wrong], Charged), said)
        np.add.at(told.charged, agents, 1)
        told.released += len(places)
        spend = turns.spend[places]
        for wrong in self._first((spend < 0) | (spend >= len(self._spends.table))):
            said = f"release {int(k[wrong])} of agent {int(agents[wrong])} has no charge of its own"
            self._break("charged before sent", None, said)
        made = self._kind.releases_of(self._agents, agents)
        for wrong in self._first(made < told.charged[agents]):
            place = places[np.flatnonzero(agents == agents[wrong])[-1]]
            said = (
                f"agent {agents[wrong]} was charged for release {turns.k[place]}, not {made[wrong]}"
            )
            self._break("charged once", self._event(turns, place, Charged), said)
        if told.paid:
            for node in agents.tolist():
                told.paid.pop(node, None)
        self._drawn_once(turns, places)

    def _drawn_once(self, turns: Turns, places: Words) -> None:
        """Check that no noise was drawn twice."""
        agents = turns.agent[places]
        for node in dict.fromkeys(agents.tolist()):
            redrawn = self._agents[node].redrawn
            if redrawn is not None:
                own = places[agents == node]
                event = self._event(turns, own[-1], Released) if len(own) else None
                said = f"agent {node} drew the noise of release {redrawn[0]} after that of {redrawn[1]}"
                self._break("noise once", event, said)

    def _sent(self, turns: Turns) -> None:
        """Check that what is sent was just released or derived, or is a resend of the last, or holds nothing."""
        told, sent = self._told, turns.sent
        for fault in distinct(turns.faults).tolist() if turns.touched.any() else ():
            places = turns.fault_rows[turns.faults == fault]
            outside = self._faults.first_outside(fault, turns.seq[places])
            if outside is not None:
                said = f"fault {fault} touched a message outside of its window"
                self._break("declared faults", self._event(turns, int(places[outside]), Sent), said)
        made = turns.released | turns.derived
        if turns.resent.any() or (sent != made).any():
            self._sent_in_order(turns)
            return
        agents = turns.agent
        told.ready[agents[sent]] = -1
        told.version[agents[sent]] = turns.version[sent]
        self._published(turns, np.flatnonzero(sent & (turns.numbers > 0)))

    @staticmethod
    def _made_by(turns: Turns) -> Words:
        """Return the number of the event that made what a turn sends: of `released`, or of `derived`."""
        before = turns.settled + turns.superseded + turns.woke + turns.merged
        made: Words = turns.seq + before + 2 * turns.released
        return made

    def _sent_in_order(self, turns: Turns) -> None:
        """Do the same turn by turn, where some send what no release or derived vector stands before in the same turn."""
        told, made_by = self._told, self._made_by(turns)
        for place in np.flatnonzero(turns.sent | turns.released | turns.derived).tolist():
            node, version = int(turns.agent[place]), int(turns.version[place])
            if turns.released[place] or turns.derived[place]:
                told.ready[node] = made_by[place]
                told.version[node] += 1
            if not turns.sent[place]:
                continue
            holds = bool(turns.numbers[place])
            if holds:
                self._published(turns, np.array([place]))
            if turns.resent[place]:
                if version > told.version[node]:
                    said = f"agent {node} resent {version}, which it never sent"
                    self._break("only releases", self._event(turns, place, Sent), said)
                continue
            cause = made_by[place]
            if not (turns.released[place] or turns.derived[place]):
                cause = self._event(turns, place, Sent).cause
            if holds and cause != told.ready[node]:
                said = f"agent {node} sent what is neither release nor derived"
                self._break("only releases", self._event(turns, place, Sent), said)
            told.ready[node] = -1
            told.version[node] = version

    def _published(self, turns: Turns, places: Words) -> None:
        """Check that what each agent sent last is what it had published."""
        agents = turns.agent[places]
        last = dict(zip(agents.tolist(), places.tolist(), strict=True))
        for node in dict.fromkeys(self._kind.by_task(self._agents, agents)):
            place = last[node]
            version = int(turns.version[place])
            self._is_published(node, version, partial(self._event, turns, place, Sent))

    def _is_published(self, node: int, version: int, event: Callable[[], Event]) -> None:
        """Check that a version that an agent sent is what it had published, where it has published nothing since."""
        store, outgoing = self._agents[node].store, self._agents[node].outbox.outgoing
        if outgoing is None or store.published is None or outgoing is store.published:
            return  # what was sent since holds no data, or a crash took what was published
        if store.published_version == version:
            said = f"agent {node} sent what it had not published"
            self._break("only releases", event(), said)

    @staticmethod
    def _first(wrong: Mask) -> Iterator[int]:
        """Yield the place of the first that is wrong, if there is one."""
        if wrong.any():
            yield int(np.argmax(wrong))


def _agent_of(event: Event) -> int:
    """Return the agent of an event that has one."""
    if event.node is None:
        raise ValueError(f"event {event.seq} has no agent")
    return event.node


def _ranks(agents: Words) -> Words:
    """Return how many of the same agent stand before each."""
    order = np.argsort(agents, kind="stable")
    ordered = agents[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(ordered)))
    ranks = np.empty(len(agents), np.int64)
    ranks[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return ranks
