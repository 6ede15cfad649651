"""Clients that act together: at one instant, with one call of NumPy for all, wherever nothing interferes.

A server's round is the same steps for every client. Where several of them are to act at one instant, and no fault, no
condition and no state of their own asks for more, the steps are done for all of them together: their answers are computed
as one matrix, and one array of integers holds the rows of their turns (`actors.turns`), with the very numbers that the
detailed steps give. Where the answers of all that were asked arrive at once, the server closes the round in the same call
and opens the next one. A client that may not act with the others does so by itself, in its order.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from actors.agent import UP, Agent
from actors.behaviours.ticks import Ticks
from actors.behaviours.wake import Members, Sleeping
from actors.events import KINDS, Diverged, Event, RoundClosed, RoundOpened, Sampled, Spent
from actors.links import Links, Policy
from actors.log import Log
from actors.mailbox import SharedMessage
from actors.messages import Message
from actors.release import admit, release_jointly
from actors.turns import (
    AGENT,
    BITS,
    CAUSE,
    DERIVED,
    HEAD,
    KIND,
    LATE,
    LOST_ARRIVAL,
    MERGED,
    NOTHING,
    RELEASED,
    SENT,
    SENT_,
    SEQ,
    SETTLED,
    SPEND,
    TAKEN,
    TURN_KINDS,
    VERSION,
    WOKE,
    K,
    Spends,
    T,
    Turns,
    Words,
    head_word,
    length_of,
    pack_receivers,
)
from clocks.clock import DELIVERY, Clock
from clocks.durations import Constant, Nanoseconds
from mechanisms.accounting.spend import Spend
from mechanisms.federated import Client, JointAnswers
from mechanisms.vectors import Matrix

if TYPE_CHECKING:
    from actors.behaviours.server import Rounds

_CHANGES = tuple(
    kind
    for kind in KINDS
    if kind not in TURN_KINDS and kind not in {RoundOpened, RoundClosed, Sampled}
)
"""Events after which an agent may be in another state than before."""
_SERVER = 0
"""The slot of a client's only neighbour."""
_HUGE = 1e300
"""Sums of squares below this are finite in whatever order they are added."""
_ANSWERED = WOKE | MERGED | RELEASED | SENT_
_MOST_GROUPS = 64
"""So many groups of clients are kept at most."""
_effects_of = attrgetter("effects")
_FIRST = np.zeros(1, np.int64)
"""Where a single row starts."""


class _Member(NamedTuple):
    """A client that can act with others, with what does not change."""

    agent: Agent
    client: Client
    place: int
    """Its place among all clients."""
    delay: int | None
    """How long every answer takes on its way, in nanoseconds; None where that is drawn, or it may be lost."""

    def spend_of(self, k: int) -> Spend | None:
        """Return what release k costs where it is planned, and the cap admits it after all before; None: it acts alone."""
        agent, spend = self.agent, self.client.spend_of(k)
        if spend is None or k >= self.planned:
            return None
        if agent.settings.cap is None:
            return spend
        table = agent.admissions
        return spend if table is not None and table.has(k, spend) and table.admits(k) else None

    @property
    def planned(self) -> int:
        """How many releases are planned; the largest integer where they have no end."""
        return sys.maxsize if self.client.planned is None else self.client.planned


class _Group:
    """Clients that answer together, with what is read of them at each answer."""

    __slots__ = (
        "agents",
        "are_alike",
        "blank",
        "boxes",
        "delays",
        "ends",
        "id_column",
        "ids",
        "links",
        "members",
        "numbers",
        "outboxes",
        "places",
        "stores",
    )

    def __init__(self, members: Sequence[_Member], everyone: int) -> None:
        """Take clients in the order of their ids, out of so many."""
        self.members = tuple(members)
        self.agents = [member.agent for member in members]
        self.ids = [agent.id for agent in self.agents]
        self.id_column = np.array(self.ids)
        self.numbers = np.arange(len(members))
        self.blank: Words | None = None
        """The rows of their answers with what never changes, once they are known."""
        self.boxes = [agent.inbox for agent in self.agents]
        self.stores = [agent.store for agent in self.agents]
        self.outboxes = [agent.outbox for agent in self.agents]
        self.links = [outbox.links for outbox in self.outboxes]
        places = [member.place for member in members]
        self.places = None if len(places) == everyone else places
        """Their places among all clients; None where they are all."""
        delays = [member.delay for member in members]
        self.delays = None if None in delays else [delay or 0 for delay in delays]
        """How long their answers take; None where that is drawn."""
        self.ends = min((member.planned for member in members), default=0)
        """After so many releases the first of them has none left."""
        schedules = {
            (id(a.admissions), id(m.client.spends), m.client.free)
            for a, m in zip(self.agents, members, strict=True)
        }
        self.are_alike = len(schedules) == 1
        """Whether release k costs all of them the same, and all caps say the same of it."""


class _Acts(NamedTuple):
    """What several clients are about to do at this instant: all wake, and some of them answer a question."""

    waking: Sequence[_Member]
    places: list[int]
    """The places among `waking` of those that answer; the others find nothing to read."""
    group: _Group
    """Those that answer."""
    question: Message
    arrived: Sequence[tuple[int, int]]
    """For each that answers, when the question arrived, and the number of the event that sent it; or one for all."""
    made: list[int]
    """For each that answers, how many releases it made before."""
    spends: list[Spend]
    """For each that answers, what the answer costs."""
    is_known: bool
    """Whether the question was settled at an earlier instant: by a sample."""

    @property
    def events(self) -> int:
        """How many events an answer is: [delivered], woke, merged, proposed, charged, released, sent."""
        return 6 if self.is_known else 7

    @property
    def lengths(self) -> tuple[int, int]:
        """The lengths of the row of an answer, and of one that is not finite and so not sent."""
        of = (1, 0) if self.is_known else (0, 1)
        return length_of(*of, 1), length_of(*of, 0)


class _Question:
    """A question to certain clients: what is the same of it in every round."""

    __slots__ = ("_slots", "_steady", "blank", "boxes", "receivers")

    def __init__(self, server: Agent, receivers: list[int]) -> None:
        links, n = server.outbox.links, len(receivers)
        self.receivers = receivers
        self._slots = [server.slots[j] for j in receivers]
        self.boxes = [links.mailboxes[slot] for slot in self._slots]
        delays = [_steady_delay(links.policy_of(slot)) for slot in self._slots]
        self._steady = None if None in delays else np.array(delays)
        self.blank = np.zeros(length_of(0, 0, n), np.int64)
        """The row of the server that sends it."""
        self.blank[KIND] = head_word(DERIVED | SENT_, len(self.blank))
        self.blank[AGENT] = server.id
        self.blank[[K, SPEND]] = NOTHING
        self.blank[HEAD : len(self.blank) - n] = pack_receivers(receivers)

    def delays(self, links: Links, version: int) -> Nanoseconds:
        """Return how long a version takes to each of them; negative where it is lost."""
        if self._steady is not None:
            return self._steady
        drawn: Nanoseconds = links.verdict_row(version)[self._slots]
        return drawn


def _steady_delay(policy: Policy) -> int | None:
    """Return how long every message of a link takes; None where that is drawn, or one may be lost."""
    steady = isinstance(policy.latency, Constant) and not policy.loss
    return policy.latency.shortest if steady else None


class Together:
    """The server and the clients of one world, as far as they may act together."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._wakes: Members | None = None
        self._clients: dict[int, Agent] = {}
        self._members: dict[int, _Member] | None = None
        """All clients by id; None until they are asked for the first time, empty where they never act together."""
        self._joint: JointAnswers | None = None
        self._rounds: Rounds | None = None
        self._has_barrier = False
        self._held = np.zeros((0, 1, 0))
        """What clients hold of the server, a row for each."""
        self._question: _Question | None = None
        self._groups: dict[tuple[int, ...], _Group] = {}
        self._last: tuple[_Group, list[int]] | None = None
        """Who answered last, all that were to act, and how many releases each has made since; None where one may differ."""
        self._ticks = Ticks(clock, self)
        self._calm: dict[int, bool] = {}
        self._blanks: dict[tuple[int, int], Words] = {}
        log.watch(self._note_change, _CHANGES)

    def _note_change(self, _: Event) -> None:
        self._calm.clear()
        self._last = None

    def act_alone(self) -> None:
        """Look at every client anew: one of them is about to act by itself."""
        self._last = None

    def serve(self, rounds: Rounds) -> None:
        """Take the rounds of the server, which begins (anew)."""
        self._rounds = rounds
        self._calm.clear()
        self._last = None

    def join(self, agent: Agent, members: Members) -> Sleeping | None:
        """Take a client, which begins (anew); return how it sleeps, or None where it does so by itself."""
        self._clients[agent.id], self._wakes = agent, members
        self._has_barrier = self._has_barrier or agent.settings.has_barrier
        self._calm.clear()
        self._last = None
        if agent.compute_time is not None or type(agent.mechanism) is not Client:
            return None
        return self._ticks.sleep_of(agent)

    # who may act with others

    def _all_members(self) -> dict[int, _Member]:
        if self._members is None:
            self._members = self._make_members()
        return self._members

    def _make_members(self) -> dict[int, _Member]:
        server = self._rounds
        if server is None or set(self._clients) != set(server.agent.neighbours):
            return {}  # not all of them have begun: later
        agents = [self._clients[i] for i in sorted(self._clients)]
        clients = [a.mechanism for a in agents if type(a.mechanism) is Client]
        if len(clients) < len(agents) or any(len(a.neighbours) != 1 for a in agents):
            return {}
        try:
            self._joint = JointAnswers(clients)
        except ValueError:
            return {}
        self._held = np.array([agent.heard.values for agent in agents])
        for agent, values in zip(agents, self._held, strict=True):
            agent.heard.values = values  # the same numbers in one array: all are written at once
        members = dict[int, _Member]()
        for place, (agent, client) in enumerate(zip(agents, clients, strict=True)):
            delay = _steady_delay(agent.outbox.links.policy_of(_SERVER))
            members[agent.id] = _Member(agent, client, place, delay)
        return members

    def _is_calm(self, agent: Agent) -> bool:
        """Whether an agent is in no state that asks for the detailed steps; kept until something changes."""
        calm = self._calm.get(agent.id)
        if calm is None:
            state = agent.fault_state
            calm = self._calm[agent.id] = (
                agent.status == UP
                and not (state.paused or agent.diverged or agent.busy or agent.is_watched)
                and state.twin_state is None
                and state.local_clock is None
                and agent.compute_time is None
                and agent.detector is None
                and agent.outbox.first_messages is None
                and agent.store.trusted
                and agent.adopted
                and agent.heard.degree > 0
            )
        return calm and not agent.outbox.links.effects and not agent.fault_state.paused

    @property
    def listening(self) -> int:
        """The last priority that an agent other than the server acts with: only at barriers do clients wait for messages."""
        return DELIVERY if self._has_barrier else DELIVERY - 1

    @property
    def is_off(self) -> bool:
        """Whether every client acts by itself now."""
        return self._log.needs_events or self._rounds is None or not self._all_members()

    def _repeat(self, agents: list[Agent], until: int) -> _Acts | None:
        """Return what these clients are about to do, where they are those that answered last and do so again."""
        if self._last is None or self._log.needs_events or self._wakes is None:
            return None
        group, made = self._last
        shared, k = group.boxes[0].shared, made[0]
        if agents != group.agents or shared is None or shared.arrival > until:
            return None
        if shared.mailboxes != group.boxes or not group.are_alike or made.count(k) < len(made):
            return None
        spend = group.members[0].spend_of(k)
        if spend is None or any(map(_effects_of, group.links)):
            return None
        if not self._wakes.wakes.admit_together(len(made)):
            return None
        arrived = [(shared.arrival, shared.sent)]
        places, spends = list(range(len(made))), [spend] * len(made)
        return _Acts(
            group.members, places, group, shared.message, arrived, made, spends, is_known=False
        )

    def _prepare(
        self, agents: Sequence[Agent], until: int, *, all_of_them: bool
    ) -> _Acts | list[_Member]:
        """Return what the first of these clients are about to do, or those that only wake; none where the first acts alone.

        With `all_of_them`, none where any acts alone.
        """
        if self.is_off or self._wakes is None:
            return []
        members, question, is_known = self._all_members(), None, False
        waking, answering, places = list[_Member](), list[_Member](), list[int]()
        arrived, made, spends = list[tuple[int, int]](), list[int](), list[Spend]()
        for agent in agents:
            if not self._is_calm(agent):
                break
            member = members[agent.id]
            try:
                due = agent.inbox.only_message(until)
            except LookupError:
                break
            if due is not None:
                arrival, sent, message = due
                known = sent == 0
                if question is not None and (message is not question or known != is_known):
                    break
                if not _asks(agent, message, known=known):
                    break
                k = len(agent.store.ledger)
                spend = member.spend_of(k)
                if spend is None:
                    break
                question, is_known = message, known
                places.append(len(waking))
                answering.append(member)
                arrived.append((arrival, sent))
                made.append(k)
                spends.append(spend)
            waking.append(member)
        few = all_of_them and len(waking) < len(agents)
        if few or not waking or not self._wakes.wakes.admit_together(len(waking)):
            return []
        if question is None:
            return waking
        group = self._group(answering)
        return _Acts(waking, places, group, question, arrived, made, spends, is_known=is_known)

    def _group(self, members: list[_Member]) -> _Group:
        places = tuple([member.place for member in members])
        group = self._groups.get(places)
        if group is None:
            if len(self._groups) >= _MOST_GROUPS:
                self._groups.clear()
            group = self._groups[places] = _Group(members, len(self._all_members()))
        return group

    # what they do

    def goes_on(self, agent: Agent) -> bool:
        """Whether a client that acted here sleeps until the next tick: its clock has no end, and it did not leave."""
        return agent.status == UP

    def act(self, agents: list[Agent], until: int, *, all_of_them: bool = False) -> int:
        """Let the first of these clients act, in their order, and return how many did so; the others act by themselves.

        They read what has arrived by `until`. With `all_of_them`, either all act or none.
        """
        acts = self._repeat(agents, until)
        if acts is None:
            prepared = self._prepare(agents, until, all_of_them=all_of_them)
            if isinstance(prepared, list):
                self._only_wake(prepared)
                return len(prepared)
            acts = prepared
        self._last = None
        if len(acts.places) < len(acts.waking):
            answering = set(acts.places)
            for place, member in enumerate(acts.waking):
                if place not in answering:
                    member.agent.updates += 1
                    member.agent.last_wake = self._clock.now
        self._answer(acts, are_last=len(acts.waking) == len(agents))
        return len(acts.waking)

    def _only_wake(self, waking: list[_Member]) -> None:
        """Let clients wake that find nothing to read."""
        if not waking:
            return
        now = self._clock.now
        for member in waking:
            member.agent.updates += 1
            member.agent.last_wake = now
        rows = _idle_rows(waking, self._log.seq, now, self._clock.late)
        self._log.add_turns(_turns_of(rows), len(rows))

    def _answer(self, acts: _Acts, *, are_last: bool) -> None:
        """Let the clients answer; `are_last` says that no other client is to act at this instant before the server."""
        group, question, now = acts.group, acts.question, self._clock.now
        theta = question.vector
        assert theta is not None, "a question has a model"  # noqa: S101
        assert self._joint is not None, "members are known"  # noqa: S101
        was_shared = _read(group, question)
        admit(list(zip(group.agents, acts.spends, strict=True)))
        vectors_of, made, places = self._joint.vectors, acts.made, group.places
        vectors = release_jointly(
            group.agents, acts.spends, lambda draws: vectors_of(theta, made, draws, places)
        )
        leaves = _finite(vectors)
        versions = [store.version for store in group.stores]
        self._keep(acts, vectors, leaves)
        delays = group.delays
        if delays is None:
            drawn = zip(group.links, versions, strict=True)
            delays = [int(links.verdict_row(version)[_SERVER]) for links, version in drawn]
        width, last = vectors.shape[1], max(acts.made) + 1 >= group.ends
        are_alike = not (acts.is_known or last or group.delays is None)
        if are_alike and len(group.ids) == len(acts.waking) and all(leaves):
            sent = self._add_alike(acts, versions, width)
        else:
            sent = self._add_rows(acts, versions, delays, width, leaves)
        rounds = self._rounds
        assert rounds is not None, "clients have a server"  # noqa: S101
        if are_last and not any(delays) and all(leaves) and rounds.may_go_on(group.ids):
            self._add_reading(rounds, group, versions, sent)
            if was_shared and len(acts.places) == len(acts.waking):
                self._last = group, [k + 1 for k in acts.made]
            rounds.go_on(group.ids, vectors)
            return
        inbox = rounds.agent.inbox
        posts = zip(group.ids, versions, delays, vectors, sent, leaves, strict=True)
        for sender, version, delay, vector, event, finite in posts:
            if finite and delay >= 0:
                message = Message(sender, version, question.round, vector, event)
                inbox.post(now + delay, event, message)

    def _keep(self, acts: _Acts, vectors: Matrix, leaves: list[bool]) -> None:
        """Let each client hold the model it read, and what it is about to send."""
        group, theta, now = acts.group, acts.question.vector, self._clock.now
        self._held[slice(None) if group.places is None else group.places] = theta
        each = zip(group.agents, group.stores, group.outboxes, vectors, strict=True)
        for agent, store, outbox, vector in each:
            agent.state, agent.rounds = theta, acts.question.round
            agent.updates += 1
            agent.last_wake = now
            store.publish(vector, agent.rounds, _SERVER)
            outbox.outgoing = vector
        if not all(leaves):
            for store, outbox, finite in zip(group.stores, group.outboxes, leaves, strict=True):
                if not finite:
                    store.published = outbox.outgoing = None  # it is never sent

    def _add_alike(self, acts: _Acts, versions: list[int], width: int) -> list[int]:
        """Do as `_add_rows` does, where all that wake answer, none for the last time, and no answer can be lost."""
        log, now, group, question = self._log, self._clock.now, acts.group, acts.question
        assert group.delays is not None, "none is drawn"  # noqa: S101
        if group.blank is None:
            group.blank = np.empty((len(group.ids), acts.lengths[0]), np.int64)
            group.blank[:] = self._blank(acts, width, question.sender)
            group.blank[:, AGENT] = group.id_column
            group.blank[:, -1] = group.delays
        rows = group.blank.copy()
        rows[:, SEQ] = firsts = group.numbers * acts.events + (log.seq + 1)
        rows[:, T] = now
        rows[:, LATE] = self._clock.late
        rows[:, K] = acts.made
        rows[:, SPEND] = _places(log.spends, acts.spends)
        rows[:, VERSION] = versions
        rows[:, HEAD : HEAD + 2] = acts.arrived
        rows[:, HEAD + 2] = question.sender << 34 | question.version << 2 | TAKEN
        rows[:, -1] += now
        log.add_turns(_turns_of(rows), acts.events * len(rows))
        sent: list[int] = (firsts + (acts.events - 1)).tolist()
        return sent

    def _add_rows(
        self,
        acts: _Acts,
        versions: list[int],
        delays: list[int],
        width: int,
        leaves: list[bool],
    ) -> list[int]:
        """Add the rows of all that wake; return, for each that answers, the number of the event that sent its answer."""
        log, now, late, wakes = self._log, self._clock.now, self._clock.late, len(acts.waking)
        group, question = acts.group, acts.question
        taken = np.array(delays)
        lost = (taken < 0) & leaves
        ends = [
            k + 1 >= member.planned and not member.agent.spent
            for k, member in zip(acts.made, group.members, strict=True)
        ]
        apart = any(ends) or not all(leaves)
        events = np.ones(wakes, np.int64)
        events[acts.places] = acts.events + lost
        if apart:
            events[acts.places] += np.array(ends) * 1
        firsts = log.seq + 1 + np.cumsum(events) - events
        rows = np.empty((len(acts.places), acts.lengths[0]), np.int64)
        rows[:] = self._blank(acts, width, question.sender)
        own = firsts[acts.places]
        rows[:, SEQ] = own
        rows[:, T], rows[:, LATE] = now, late
        rows[:, AGENT] = group.id_column
        rows[:, K], rows[:, VERSION] = acts.made, versions
        rows[:, SPEND] = _places(log.spends, acts.spends)
        rows[:, SENT] += lost.astype(np.int64) << BITS
        if acts.is_known:
            rows[:, HEAD] = question.sender << 32 | question.version
        else:
            rows[:, HEAD : HEAD + 2] = acts.arrived
            rows[:, HEAD + 2] = question.sender << 34 | question.version << 2 | TAKEN
        rows[:, -1] = np.where(lost, LOST_ARRIVAL, now + taken)
        if apart:
            self._add_apart(acts, rows, ends, leaves)
        elif len(rows) == wakes:
            log.add_turns(_turns_of(rows), int(events.sum()))
        else:
            log.add_turns(self._mixed(acts, rows, firsts), int(events.sum()))
        sent: list[int] = (own + acts.events - 1).tolist()
        return sent

    def _mixed(self, acts: _Acts, rows: Words, firsts: Words) -> Turns:
        """Return the rows of clients of which some answer and the others only wake, in their order."""
        idle = np.ones(len(acts.waking), bool)
        idle[acts.places] = False
        others = [member for member, only in zip(acts.waking, idle, strict=True) if only]
        short = _idle_rows(others, 0, self._clock.now, self._clock.late)
        short[:, SEQ] = firsts[idle]
        length = rows.shape[1]
        lengths = np.where(idle, HEAD, length)
        starts = np.cumsum(lengths) - lengths
        words = np.empty(int(lengths.sum()), np.int64)
        words[starts[idle][:, None] + np.arange(HEAD)] = short
        words[starts[~idle][:, None] + np.arange(length)] = rows
        return Turns(words, starts)

    def _add_apart(self, acts: _Acts, rows: Words, ends: list[bool], leaves: list[bool]) -> None:
        """Add the same rows one by one, with what happens between them: an agent diverges, or its budget is spent."""
        log, answers = self._log, dict(zip(acts.places, range(len(rows)), strict=True))
        for place, member in enumerate(acts.waking):
            agent, at = member.agent, answers.get(place)
            if at is None:
                row = _idle_rows([member], log.seq, self._clock.now, self._clock.late)[0]
                log.add_turn(row.tolist(), 1)
                continue
            row = rows[at]
            released = int(row[SEQ]) + acts.events - 2
            if leaves[at]:
                log.add_turn(row.tolist(), acts.events + (int(row[SENT]) >> BITS & 1))
            else:
                unsent = acts.lengths[1]
                row[KIND] = head_word(WOKE | MERGED | RELEASED, unsent)
                row[VERSION], row[SENT] = NOTHING, 0
                log.add_turn(row[:unsent].tolist(), acts.events - 1)
                agent.diverged = True
                log.emit(Diverged, agent.id, released)
            if ends[at]:
                agent.spent = True
                log.emit(Spent, agent.id, released, "planned")

    def _blank(self, acts: _Acts, width: int, server: int) -> Words:
        """Return the row of an answer of so many numbers, with what is the same for all of them."""
        length = acts.lengths[0]
        blank = self._blanks.get((width, length))
        if blank is None:
            blank = self._blanks[width, length] = np.zeros(length, np.int64)
            blank[KIND] = head_word(_ANSWERED, length)
            blank[SETTLED] = 1 if acts.is_known else 1 << BITS
            blank[SENT] = 1 | width << 2 * BITS
            blank[length - 2] = pack_receivers([server])[0]
        return blank

    def _add_reading(
        self, rounds: Rounds, group: _Group, versions: list[int], sent: list[int]
    ) -> None:
        """Add the row of the server that settles and merges answers of this instant."""
        log, now, n = self._log, self._clock.now, len(group.ids)
        row = np.empty(length_of(0, n, 0), np.int64)
        row[:HEAD] = (
            head_word(MERGED, len(row)),
            log.seq + 1,
            now,
            rounds.agent.id,
            self._clock.late,
            n << BITS,
            NOTHING,
            NOTHING,
            NOTHING,
            0,
            rounds.opened,
        )
        words = row[HEAD:].reshape(n, 3)
        words[:, 0], words[:, 1] = now, sent
        words[:, 2] = group.id_column << 34 | np.array(versions) << 2 | TAKEN
        log.add_turns(Turns(row, _FIRST), n + 1)
        rounds.agent.inbox.read_at_once(dict(zip(group.ids, versions, strict=True)))

    # questions

    def ask(self, receivers: list[int]) -> bool:
        """Send the server's model to clients, as `Agent.send_model` does; False where that has to do it."""
        rounds, log = self._rounds, self._log
        if self.is_off or rounds is None or not receivers:
            return False
        agent, now = rounds.agent, self._clock.now
        outbox, model, n = agent.outbox, agent.model, len(receivers)
        if agent.diverged or outbox.links.effects or outbox.first_messages is not None:
            return False
        if not isfinite(float(model @ model)):
            return False
        version = agent.store.publish(model, agent.rounds)
        if self._question is None or self._question.receivers != receivers:
            self._question = _Question(agent, receivers)
        question = self._question
        delays = question.delays(outbox.links, version)
        lost = int(np.count_nonzero(delays < 0))
        words = question.blank.copy()
        words[SEQ], words[T], words[LATE] = log.seq + 1, now, self._clock.late
        words[VERSION], words[CAUSE] = version, rounds.opened
        words[SENT] = n | lost << BITS | len(model) << 2 * BITS
        words[len(words) - n :] = delays + now
        if lost:
            words[len(words) - n :][delays < 0] = LOST_ARRIVAL
        sent = log.seq + 2
        log.add_turns(Turns(words, _FIRST), 2 + lost)
        outbox.outgoing = model
        message = Message(agent.id, version, agent.rounds, model, sent, asks=True)
        boxes, first = question.boxes, now + int(delays[0])
        # clients that answer again have read all they had: `_read` left nothing in their mailboxes
        are_empty = self._last is not None and self._last[0].boxes == boxes
        same = not lost and bool((delays == delays[0]).all())
        # a client that begins to wait later reads the question after those that wait now: each waits by itself then
        waiting = sum(box.is_awaited for box in boxes) if self._has_barrier else 0
        alike = same and waiting in {0, n}
        if alike and (are_empty or all(box.is_empty for box in boxes)):
            shared = SharedMessage(boxes, first, sent, message)
            if waiting:
                self._clock.at(first, DELIVERY, partial(self._arrive, shared, receivers))
            return True
        for box, delay in zip(boxes, delays.tolist(), strict=True):
            if delay >= 0:
                box.post(now + delay, sent, message)
        return True

    def _arrive(self, shared: SharedMessage, receivers: list[int]) -> None:
        """Let clients that wait for a question read it: together where all of them can, and nothing else is due before."""
        if not shared.posted:
            upcoming, now = self._clock.upcoming, self._clock.now
            alone = upcoming is None or upcoming > (now, DELIVERY)
            agents = [self._clients[j] for j in receivers]
            ready = alone and all(box.is_awaited for box in shared.mailboxes)
            if ready and self.act(agents, now, all_of_them=True):
                return
            shared.post()
        self._last = None
        shared.wake_owners()


def _asks(agent: Agent, message: Message, *, known: bool) -> bool:
    """Whether a message, settled before or not, is a question that the agent has not answered yet."""
    store = agent.store
    return (
        message.asks
        and message.vector is not None
        and not message.corrupt
        and (known or not agent.inbox.has_seen(message.sender, message.version))
        and (store.published is None or store.published_round != message.round)
    )


def _read(group: _Group, question: Message) -> bool:
    """Let the clients that answer have read the question; return whether nothing else is on its way to any of them."""
    shared = group.boxes[0].shared
    if shared is not None and shared.message is question and shared.mailboxes == group.boxes:
        shared.read()
        return True
    for box in group.boxes:
        if box.shared is not None:
            box.shared.post()
        box.read_only_message()
    return False


def _places(known: Spends, spends: list[Spend]) -> list[int]:
    """Return the places of spends in the table of the log."""
    first = spends[0]
    if spends.count(first) == len(spends):
        return [known.place(first)] * len(spends)
    return [known.place(spend) for spend in spends]


def _finite(vectors: Matrix) -> list[bool]:
    """Say of each vector whether its square is finite, as an agent asks it."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    if bool((squares < _HUGE).all()):
        return [True] * len(vectors)
    return [isfinite(float(vector @ vector)) for vector in vectors]


def _idle_rows(waking: Sequence[_Member], last: int, now: int, late: int) -> Words:
    """Return rows of clients that wake and do nothing; the events are numbered from `last` + 1 on."""
    rows = np.zeros((len(waking), HEAD), np.int64)
    rows[:, KIND] = head_word(WOKE, HEAD)
    rows[:, SEQ] = np.arange(last + 1, last + 1 + len(waking))
    rows[:, T], rows[:, LATE] = now, late
    rows[:, AGENT] = [member.agent.id for member in waking]
    rows[:, [K, SPEND, VERSION]] = NOTHING
    return rows


def _turns_of(rows: Words) -> Turns:
    """Return rows of one length as turns."""
    return Turns(rows.ravel(), np.arange(len(rows)) * rows.shape[1])
