"""The members of a run: which agents are up, away or down, and the actions that change it."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from actors.agent import ABSENT, DOWN, LEFT, UP, Agent
from actors.behaviours.wake import Life, WakeCount, run_life
from actors.events import Crashed, Joined, Left, Paused, Restarted, Resumed, Spent
from actors.fault_state import NONE
from actors.log import Log
from clocks.clock import Clock
from mechanisms.abilities import HasSpends, offers
from mechanisms.accounting.admissions import AdmissionTables
from mechanisms.duals import forget, standing


class Behaviour(Protocol):
    """What an agent does while it is up."""

    def __call__(self, agent: Agent, log: Log, members: "Membership") -> tuple[Life, ...]:
        """Return the actors to start: the first is its life, the others end with it.

        None where something else lets the agent wake: that calls `end_life` when it has no more wakes.
        """
        ...


class Membership:
    """The agents of a run. Neighbours know at once when an agent joins or leaves; of a crash they notice only the silence."""

    def __init__(
        self,
        agents: Sequence[Agent],
        clock: Clock,
        log: Log,
        behave: Behaviour,
        *,
        updates: int | None = None,
        until_spent: bool = False,
        finish: Callable[[str], None],
    ) -> None:
        self.agents = list(agents)
        self.wakes = WakeCount(updates, finish)
        self._admissions = AdmissionTables()
        self.pending = 0
        """Faults of the scenario that may still bring an agent back: the run waits for them."""
        self.settle_all: Callable[[Sequence[Agent], int], None] | None = None
        """Settles the mailboxes of all agents together, in their order; None: one by one."""
        self.takes_over: Callable[[Agent], bool] | None = None
        """Lets something else compute the wakes of an agent, where that is possible; None: nothing does."""
        self._clock = clock
        self._log = log
        self._behave = behave
        self._until_spent = until_spent
        self._finish = finish
        self._running = 0
        self._lives = Counter[int]()
        self._paused: set[int] = set()
        self._waiting: set[int] = set()
        self._unspent: set[int] = set()
        log.watch(self._note_spent, (Spent,))

    @property
    def updates(self) -> int:
        """How many wakes all agents had."""
        return self.wakes.count

    def open(self, present: Sequence[bool]) -> None:
        """Start the agents that are present from the beginning."""
        agents = self.agents
        for agent, here in zip(agents, present, strict=True):
            agent.status = UP if here else ABSENT
        for agent in agents:
            for j in agent.neighbours:
                if agents[j].status == ABSENT or not shares_edge(agent, agents[j]):
                    agent.set_present(j, present=False)
        for agent in agents:
            if agent.status == UP:
                self._start(agent)

    def settle(self, until: int) -> None:
        """Settle what has arrived everywhere: before samples, and at the end."""
        if self.settle_all is not None:
            self.settle_all(self.agents, until)
            return
        for agent in self.agents:
            if agent.status == UP:
                agent.inbox.settle_at_once(until)
            else:
                agent.inbox.settle(until, up=False)

    def crash(self, node: int, lose: str, cause: int) -> bool:
        """Crash an agent: it sends no goodbye. False when it was not up."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        agent.leave_columns()
        agent.inbox.settle(self._clock.now - 1)
        self._stop(agent, DOWN)
        agent.store.crash()
        self._log.emit(Crashed, node, cause, lose)
        match lose:
            case "nothing":
                pass
            case "volatile" | "all":
                agent.lose_memory(everything=lose == "all")
            case _:
                raise NotImplementedError(f"nothing is written that a crash loses by {lose!r}")
        return True

    def restart(self, node: int, cause: int) -> bool:
        """Bring a crashed agent back: the ledger and the release counter are what they were."""
        agent = self.agents[node]
        if agent.status != DOWN:
            return False
        agent.inbox.settle(self._clock.now - 1, up=False)
        restarted = self._log.emit(Restarted, node, cause, len(agent.store.ledger))
        agent.status = UP
        agent.fault_state.down_by = NONE
        agent.store.recover()
        self._catch_up(agent)
        if agent.store.published is None:
            for j in self._members_around(agent):
                reset_edge(agent, self.agents[j])
        self._resend_to(agent, restarted)
        self._start(agent)
        return True

    def leave(self, node: int, cause: int) -> bool:
        """Let an agent leave gracefully; its neighbours stop counting it. False for one that is not up."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        agent.leave_columns()
        agent.inbox.settle(self._clock.now - 1)
        self._stop(agent, LEFT)
        self._depart(agent, cause)
        return True

    def pause(self, node: int, cause: int) -> bool:
        """Let an agent stand still; false when it is not up."""
        agent = self.agents[node]
        if agent.status != UP:
            return False
        agent.leave_columns()
        if not agent.fault_state.paused:
            self._log.emit(Paused, node, cause)
        agent.fault_state.pause()
        self._paused.add(node)
        self._check_idle()
        return True

    def resume(self, node: int, cause: int) -> bool:
        """Take a pause away, also from an agent that is gone meanwhile; true when no other pause holds it."""
        last = self.agents[node].fault_state.resume()
        if last:
            self._paused.discard(node)
            self._log.emit(Resumed, node, cause)
        return last

    def retire(self, agent: Agent, cause: int) -> None:
        agent.inbox.settle(self._clock.now - 1)
        agent.status = LEFT
        for task in agent.tasks[1:]:  # the first is what it is doing now: it ends of itself
            task.cancel()
        self._depart(agent, cause)

    def join(self, node: int, cause: int, edges: frozenset[int] | None = None) -> bool:
        """Let an agent join, for the first time or again; its neighbours resend what they last published.

        It takes the edges that the topology gives it, or those that are named.
        """
        agent = self.agents[node]
        if agent.status not in {ABSENT, LEFT}:
            return False
        agent.inbox.settle(self._clock.now - 1, up=False)
        joined = self._log.emit(Joined, node, cause)
        agent.status = UP
        agent.fault_state.away_by = NONE
        self._catch_up(agent)
        if edges is not None:
            agent.fault_state.without_edge = frozenset(agent.neighbours) - edges
        here = []
        for j in agent.neighbours:
            other = self.agents[j]
            if edges is not None:
                if j in edges:
                    other.fault_state.without_edge -= {node}
                else:
                    other.fault_state.without_edge |= {node}
            here.append(other.status in {UP, DOWN} and shares_edge(agent, other))
        agent.attend(here)
        for j, member in zip(agent.neighbours, here, strict=True):
            if member:
                self.agents[j].set_present(node, present=True)
                reset_edge(agent, self.agents[j])
        self._resend_to(agent, joined)
        self._start(agent)
        return True

    def faults_done(self) -> None:
        """One scripted fault has nothing more to do."""
        self.pending -= 1
        self._check_idle()
        self._check_spent()

    def conclude(self, agent: Agent) -> None:
        self._waiting.add(agent.id)
        self._check_idle()

    def end(self, reason: str) -> None:
        self._finish(reason)

    def _members_around(self, agent: Agent) -> list[int]:
        return [
            j
            for j in agent.neighbours
            if self.agents[j].status in {UP, DOWN} and shares_edge(agent, self.agents[j])
        ]

    def _catch_up(self, agent: Agent) -> None:
        """Let an agent that comes to a barrier take part in the newest round; the rounds it missed are not made up."""
        if agent.settings.has_barrier:
            around = [self.agents[j].rounds for j in self._members_around(agent)]
            agent.rounds = max([agent.rounds, *(rounds - 1 for rounds in around)])

    def _depart(self, agent: Agent, cause: int) -> None:
        self._log.emit(Left, agent.id, cause)
        for j in agent.neighbours:
            self.agents[j].set_present(agent.id, present=False)
            self.agents[j].inbox.recheck()
        self._forget_unspent(agent.id)

    def _resend_to(self, agent: Agent, cause: int) -> None:
        for j in agent.neighbours:
            neighbour = self.agents[j]
            is_here = neighbour.status == UP and not neighbour.fault_state.paused
            if is_here and shares_edge(agent, neighbour):
                neighbour.resend(agent.id, cause)
            if agent.detector is not None:
                agent.detector.restart(j)

    def _start(self, agent: Agent) -> None:
        self._running += 1
        self._lives[agent.id] += 1
        if not agent.spent:
            self._unspent.add(agent.id)
        self._share_admissions(agent)
        self.enliven(agent, self._behave(agent, self._log, self))

    def _share_admissions(self, agent: Agent) -> None:
        """Let agents under one cap, whose releases follow one schedule, ask that cap once for all of them."""
        cap, kind = agent.settings.cap, agent.mechanism
        # an agent that left its schedule once must not come back to the table: its ledger is another one
        is_new = agent.admissions is None and not len(agent.store.ledger)
        if cap is None or not is_new or not offers(kind, HasSpends):
            return
        spends = kind.spends  # type: ignore[attr-defined] # `offers` says so
        if isinstance(spends, tuple) and spends:
            agent.admissions = self._admissions.of(cap, spends)

    def enliven(self, agent: Agent, lives: Sequence[Life]) -> None:
        if not lives:
            agent.tasks = ()  # what moves it says itself when its life ends
            return
        life, *listeners = lives
        others = tuple(self._clock.spawn(partial(run_life, each, _nothing)) for each in listeners)
        ended = partial(self.end_life, agent.id)
        agent.tasks = (self._clock.spawn(partial(run_life, life, ended)), *others)

    def end_life(self, node: int) -> None:
        self._running -= 1
        self._lives[node] -= 1
        self._waiting.discard(node)
        self._check_idle()

    def _stop(self, agent: Agent, status: str) -> None:
        agent.status = status
        for task in agent.tasks:
            task.cancel()

    def _check_idle(self) -> None:
        """End a run in which no agent can wake any more, or no round can be opened."""
        if self.pending:
            return
        still = sum(1 for i in self._paused - self._waiting if self._lives[i] > 0)
        if self._running - still <= len(self._waiting):
            done = self._waiting or any(_has_had_all_rounds(agent) for agent in self.agents)
            self._finish("rounds" if done else "no wake can come")
        server = self.agents[-1]
        gone = server.status != UP or server.fault_state.paused
        if server.settings.round_rules is not None and server.settings.rounds is not None and gone:
            self._finish("no round can be opened")

    def _note_spent(self, event: Spent) -> None:
        if event.node is not None:
            self._forget_unspent(event.node)

    def _forget_unspent(self, node: int) -> None:
        self._unspent.discard(node)
        self._check_spent()

    def _check_spent(self) -> None:
        """End a run that is to end with the budgets; a fault that is still to come may bring an agent with budget."""
        if self._until_spent and not self._unspent and self.pending == 0:
            self._finish("spent")


def _nothing() -> None:
    """Do nothing where an actor ends that is not an agent's life."""


def _has_had_all_rounds(agent: Agent) -> bool:
    """Whether an agent has had all its rounds."""
    return agent.settings.rounds is not None and agent.rounds >= agent.settings.rounds > 0


def shares_edge(one: Agent, other: Agent) -> bool:
    """Whether two neighbours of the graph have an edge: neither chose other edges when it joined."""
    return (
        other.id not in one.fault_state.without_edge
        and one.id not in other.fault_state.without_edge
    )


def reset_edge(one: Agent, other: Agent) -> None:
    """Begin an edge with duals anew, at both ends: what was accounted before it does not count on it."""
    if not (one.balanced and other.balanced):
        return
    for end in (one, other):
        end.leave_columns()  # what it holds of the other is about to be forgotten
    d, now = len(one.model), max(one.ticks, other.ticks)
    gap = standing(one.store.published, d, now) - standing(other.store.published, d, now)
    for end, peer, offset in ((one, other, gap), (other, one, -gap)):
        slot, heard = end.slots[peer.id], end.heard
        if heard.offsets is None:
            heard.offsets = np.zeros((len(end.neighbours), d))
        heard.offsets[slot] = offset
        if peer.store.published is None:
            end.inbox.ignore_before(peer.id, peer.store.version)
        if peer.store.published is not None or np.isfinite(heard.values[slot, -1]):
            forget(heard.values[slot : slot + 1])
