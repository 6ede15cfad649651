"""One agent of a recorded run at one instant: its state and why, its ε, its last sample, its messages. A fold over events."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from actors.agent import ABSENT, DOWN, LEFT, UP
from actors.events import (
    Charged,
    Crashed,
    Delivered,
    Derived,
    Diverged,
    Duplicated,
    Event,
    FaultBegan,
    FaultEnded,
    Finished,
    Joined,
    Left,
    Lost,
    Merged,
    Paused,
    Proposed,
    Refused,
    Rejected,
    Released,
    Restarted,
    Resumed,
    RoundAborted,
    RoundClosed,
    RoundOpened,
    Sampled,
    Sent,
    Spent,
    Superseded,
    Woke,
)
from scenarios.planning.fault_kinds import FAULTS, state_of
from scenarios.planning.metric_names import names_of_agents
from scenarios.records.budget import Budget
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.recorded_plan import Remembered
from scenarios.records.run_folder import WORLD
from scenarios.records.sent_messages import SentMessages

DONE, SPENT, SLOW, PAUSED, DIVERGED = "done", "spent", "slow", "paused", "diverged"
"""States of an agent beside those of its membership. It is done where it made all its planned releases, spent where its cap
refused one: both go on without data."""


@dataclass(frozen=True, slots=True)
class Since:
    """A state of an agent: by which event it began, and the event that caused that, where it is known."""

    state: str
    event: Event | None = None
    """None: it was so at the start."""
    cause: Event | None = None


@dataclass(slots=True)
class Received:
    """One message that an agent looked at."""

    event: Delivered | Rejected
    sent: Sent | None
    """The event of its sending; None where a fault made the copy."""
    became: Event | None = None
    """By which event it was merged or superseded; None where it was rejected, or waits."""


@dataclass(slots=True)
class Accounts:
    """The ledger of an agent; ε in the view, at the δ and by the accountant that stand beside it."""

    epsilon: float
    accountant: str
    view: str
    delta: float
    cap: float | None
    left: float | None
    """What its filter leaves of the cap; None without a cap."""
    planned: int | None
    """How many releases the plan means to make; None where it names none."""
    covered: bool


@dataclass(slots=True)
class Moment:
    """What is known of one agent at one instant (ns)."""

    agent: int
    instant: int
    seq: int
    """The number of the last event that is counted in."""
    group: str
    states: list[Since]
    """What the agent is, the word for it first; others hold beside it."""
    accounts: Accounts | None
    """None for a server, which has no ledger."""
    counts: dict[str, int]
    sample: Sampled | None
    values: dict[str, Any]
    """The metrics of the agent at the last sample."""
    neighbours: dict[int, str]
    """Whether each neighbour is up, by id: its membership, in a word."""
    sent: SentMessages
    received: list[Received]
    """All messages that it looked at, in order."""
    coming: int
    """How many copies are on their way to it, or lie in its mailbox and were not looked at."""

    @property
    def state(self) -> str:
        """What the agent is, in one word."""
        return self.states[0].state


@dataclass(slots=True)
class _Membership:
    """Which agents are up."""

    status: list[str]
    by: dict[int, Event] = field(default_factory=dict)
    """The event that put each agent into its status."""

    def note(self, event: Event) -> None:
        word = _STATUS.get(type(event))
        if word is not None and event.node is not None:
            self.status[event.node] = word
            self.by[event.node] = event


_STATUS: Mapping[type[Event], str] = {Joined: UP, Restarted: UP, Left: LEFT, Crashed: DOWN}


class AgentFold:
    """Folds a record up to an instant, for one agent."""

    def __init__(self, record: RunRecord, agent: int) -> None:
        """Take a record and an agent, or the server; raise `FolderError` for an agent that it has not."""
        facts = record.facts
        if not 0 <= agent < facts.seats:
            server = f"; {facts.size} is the server" if facts.seats > facts.size else ""
            problem = f"{record.path} has no agent {agent}: ids run from 0 to {facts.size - 1}"
            raise FolderError(f"{problem}{server}")
        self._record, self._facts, self.agent = record, facts, agent
        absent = set(facts.absent)
        self._members = _Membership([ABSENT if i in absent else UP for i in range(facts.seats)])
        self.sent = SentMessages(agent)
        self.own: dict[int, Event] = {}
        """What the agent itself did, by number, but for what it looked at in its mailbox."""
        self.faults: dict[int, FaultBegan] = {}
        """Every fault that began, by the number of its event."""
        self._paused: Event | None = None
        self._spent: Spent | None = None
        self._diverged: Event | None = None
        self._slowing: dict[int, FaultBegan] = {}
        self._received: list[Received] = []
        self._looked: dict[int, Received] = {}
        self._sendings: dict[int, Sent] = {}
        self._sample: Sampled | None = None
        self._coming = 0
        self._counts = dict.fromkeys(("wakes", "charged", "refused", "derived"), 0)
        self.plan = _plan(record)
        self._budget = None if agent >= facts.size else Budget(self.plan, live=facts.numerical)
        self.spends = record.proof.spends().get(agent, [])
        """What each of its releases was charged."""
        self.now = self.seq = 0
        self._routes: Mapping[type[Event], Callable[[Any], None]] = {
            Woke: self._note_woke,
            Proposed: self._note_own,
            Released: self._note_own,
            RoundOpened: self._note_own,
            RoundClosed: self._note_own,
            RoundAborted: self._note_own,
            Refused: self._note_refused,
            Charged: self._note_charged,
            Derived: self._note_derived,
            Merged: self._note_merged,
            Paused: self._note_paused,
            Resumed: self._note_resumed,
            Spent: self._note_spent,
            Diverged: self._note_diverged,
            Crashed: self._note_crashed,
            FaultBegan: self._note_begun,
            FaultEnded: self._note_ended,
            Sampled: self._note_sampled,
            Sent: self._note_sent,
            Duplicated: self._note_doubled,
            Lost: self._note_lost,
            Delivered: self._note_looked,
            Rejected: self._note_looked,
            Superseded: self._note_superseded,
            Finished: self._note_finished,
        }

    def until(self, instant: int | None) -> Moment:
        """Fold every event at or before an instant (ns), None: all, and return what is known then."""
        events = self._record.typed_events()
        rest = _up_to(events, instant)
        try:
            for event in rest:
                self._fold(event)
        except (IndexError, KeyError, TypeError) as error:
            problem = f"event {self.seq} of {self._record.path} does not fit its {WORLD}"
            raise FolderError(f"{problem}: one of them is damaged ({error!r})") from None
        if instant is None and self._budget is not None:
            for spend in self.spends[int(self._budget.counts[self.agent]) :]:
                self._budget.charge(self.agent, spend)  # the ledger of a killed run is ahead
        self.now = self._record.length if instant is None else instant
        return self._moment()

    def _fold(self, event: Event) -> None:
        self.seq = event.seq
        self._members.note(event)
        self.sent.note(event)
        act = self._routes.get(type(event))
        if act is not None:
            act(event)

    # what happens to it

    def _note_own(self, event: Event) -> None:
        if event.node == self.agent:
            self.own[event.seq] = event

    def _note_woke(self, event: Woke) -> None:
        if event.node == self.agent:
            self.own[event.seq] = event
            self._counts["wakes"] += 1

    def _note_refused(self, event: Refused) -> None:
        if event.node == self.agent:
            self.own[event.seq] = event
            self._counts["refused"] += 1

    def _note_charged(self, event: Charged) -> None:
        if event.node == self.agent:
            self.own[event.seq] = event
            self._counts["charged"] += 1
            if self._budget is not None:
                self._budget.charge(self.agent, self.spends[event.k])

    def _note_derived(self, event: Derived) -> None:
        if event.node == self.agent:
            self.own[event.seq] = event
            self._counts["derived"] += 1

    def _note_merged(self, event: Merged) -> None:
        if event.node != self.agent:
            return
        self.own[event.seq] = event
        versions = dict(zip(event.senders, event.versions, strict=True))
        for seq, received in list(self._looked.items()):
            if versions.get(received.event.sender) == received.event.version:
                received.became = event
                del self._looked[seq]

    def _note_paused(self, event: Paused) -> None:
        if event.node == self.agent:
            self._paused = event

    def _note_resumed(self, event: Resumed) -> None:
        if event.node == self.agent:
            self._paused = None

    def _note_spent(self, event: Spent) -> None:
        if event.node == self.agent:
            self._spent = event

    def _note_diverged(self, event: Diverged) -> None:
        if event.node == self.agent:
            self._diverged = event
            if self._budget is not None:
                self._budget.fold([event])

    def _note_crashed(self, event: Crashed) -> None:
        if event.node == self.agent and event.lost != "nothing":
            self._diverged = None
            self._looked.clear()

    def _note_begun(self, event: FaultBegan) -> None:
        self.faults[event.seq] = event
        if state_of(event.action) == SLOW and self.agent in event.targets:
            self._slowing[event.seq] = event

    def _note_ended(self, event: FaultEnded) -> None:
        if event.cause is not None:
            self._slowing.pop(event.cause, None)

    def _note_sampled(self, event: Sampled) -> None:
        self._sample = event

    def _note_finished(self, _: Finished) -> None:
        if self._budget is not None:
            self._budget.last = True

    # what comes to it

    def _note_sent(self, event: Sent) -> None:
        if self.agent in event.to:
            self._coming += list(event.to).count(self.agent)
            self._sendings[event.seq] = event

    def _note_doubled(self, event: Duplicated) -> None:
        self._coming += event.receiver == self.agent

    def _note_lost(self, event: Lost) -> None:
        self._coming -= event.receiver == self.agent

    def _note_looked(self, event: Delivered | Rejected) -> None:
        if event.node != self.agent:
            return
        self._coming -= 1
        received = Received(event, self._sendings.get(-1 if event.cause is None else event.cause))
        self._received.append(received)
        if isinstance(event, Delivered):
            self._looked[event.seq] = received

    def _note_superseded(self, event: Superseded) -> None:
        if event.node != self.agent:
            return
        superseded = [
            seq
            for seq, one in self._looked.items()
            if (one.event.sender, one.event.version) == (event.sender, event.version)
        ]
        late = event.cause in superseded  # the one that arrived was the older one
        seq = event.cause if late else next(iter(superseded), -1)
        received = self._looked.pop(-1 if seq is None else seq, None)
        if received is not None:
            received.became = event

    # what it is

    def _moment(self) -> Moment:
        facts, i = self._facts, self.agent
        groups = facts.members.items()
        group = next((name for name, members in groups if i in members), "server")
        near = facts.neighbours()[i]
        return Moment(
            agent=i,
            instant=self.now,
            seq=self.seq,
            group=group,
            states=self._states(),
            accounts=self._accounts(),
            counts=dict(self._counts),
            sample=self._sample,
            values=self._values(),
            neighbours={j: self._members.status[j] for j in near},
            sent=self.sent,
            received=self._received,
            coming=self._coming,
        )

    def _states(self) -> list[Since]:
        """Return what the agent is: the same order as a live screen's, and all that hold beside the first."""
        states = []
        status, began = self._members.status[self.agent], self._members.by.get(self.agent)
        if self._diverged is not None:
            states.append(Since(DIVERGED, self._diverged))
        if status != UP:
            states.append(Since(status, began, self._cause(began)))
        if self._paused is not None:
            states.append(Since(PAUSED, self._paused, self._cause(self._paused)))
        if self._spent is not None:
            state = DONE if self._spent.reason == "planned" else SPENT
            states.append(Since(state, self._spent))
        states += [Since(SLOW, event, event) for event in self._slowing.values()]
        if status == UP:
            states.append(Since(UP, began, self._cause(began)))
        return states

    def _cause(self, event: Event | None) -> Event | None:
        """Return the fault that caused an event; None where it was none."""
        return None if event is None or event.cause is None else self.faults.get(event.cause)

    def _accounts(self) -> Accounts | None:
        budget, facts, i = self._budget, self._facts, self.agent
        if budget is None:
            return None
        node = self.plan.nodes[i]
        epsilon, accountant = budget.stated(i)
        left = float(budget.left()[i])
        return Accounts(
            epsilon=epsilon,
            accountant=accountant,
            view=facts.view,
            delta=node.delta,
            cap=facts.cap_of(i),
            left=None if math.isnan(left) else left,
            planned=None if node.planned is None else len(node.planned),
            covered=not facts.not_covered,
        )

    def _values(self) -> dict[str, Any]:
        """Return the agent's own metrics at the last sample."""
        if self._sample is None or self.agent >= self._facts.size:
            return {}
        names, values = set(names_of_agents()), self._sample.values
        return {
            name: value[self.agent]
            for name, value in values.items()
            if name in names and isinstance(value, list) and self.agent < len(value)
        }


def _up_to(events: Iterator[Event], instant: int | None) -> Iterator[Event]:
    for event in events:
        if instant is not None and event.t > instant:
            return
        yield event


def _plan(record: RunRecord) -> Any:
    """Return the part of the plan that a budget needs."""
    try:
        return Remembered(record.facts)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise FolderError(f"{record.path}: {WORLD} is damaged: {error!r}") from None


def moment_of(record: RunRecord, agent: int, instant: int | None = None) -> Moment:
    """Return an agent at an instant (ns), None: at the end. Raises `FolderError` for an instant after it."""
    end = record.length
    if instant is not None and instant > end:
        raise FolderError(
            f"{record.path} ends at {end / 1e9:.9g} s: there is no instant {instant / 1e9:.9g} s in it"
        )
    return AgentFold(record, agent).until(instant)


def fault_names(record: RunRecord) -> list[str]:
    """Return what the scenario of a run calls its faults, in their order; its kind where it names none."""
    try:
        tree = record.resolved
    except FolderError:
        return []
    names = []
    for fault in tree.get("fault", []):
        action = next((a for a in FAULTS if a in fault), "?")
        kind = fault[action].get("kind") if isinstance(fault.get(action), dict) else None
        names.append(str(fault.get("name") or kind or action))
    return names
