"""Wakes in columns, between the entries of the engine, in their exact order.

`ColumnPath` takes agents over when they start, serves their wakes ahead of the engine's next entry, and gives an agent back
where a fault is about to act on it, or all of them where an observer asks for single events.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members, tell_charge
from actors.columns.agent import ColumnAgent
from actors.columns.learning import Differs
from actors.columns.table import ELSEWHERE, HAS_DIVERGED, HAS_ENDED, HAS_SPENT, LAST_WAKE, STATE
from actors.columns.world import ColumnWorld, WakeFailed
from actors.events import Diverged
from actors.log import Log
from actors.turns import Turns
from clocks.clock import WAKE
from clocks.virtual import VirtualClock

_LAST = 1 << 40

Behave = Callable[[Agent, Log, Any], tuple[Life, ...]]


class ColumnPath:
    """The agents of a world whose wakes are computed in columns, as far as they can be.

    `behave` is what agents do that are outside the columns.
    """

    def __init__(self, world: ColumnWorld, clock: VirtualClock, log: Log, behave: Behave) -> None:
        self.world = world
        self._clock, self._log = clock, log
        self._behave = behave
        self._members: Members | None = None
        self._agents: Sequence[ColumnAgent] = ()
        self._waiting: list[int] = []
        """Agents that are in the columns and have no wake yet."""
        self._alive = np.zeros(world.size, bool)
        clock.ahead = self

    def lay_out(self, agents: Sequence[Agent]) -> None:
        """Write down what does not change of all agents."""
        self._agents = [agent for agent in agents if isinstance(agent, ColumnAgent)]
        self.world.lay_out(self._agents)

    def behave(self, agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
        """Take an agent over that starts, or let it do what others do."""
        self._members = members
        self._alive[agent.id] = True
        return () if self.take_over(agent) else self._behave(agent, log, members)

    def take_over(self, agent: Agent) -> bool:
        """Let an agent enter the columns, if nothing keeps it out; its task is to end then."""
        assert isinstance(agent, ColumnAgent), "all agents of such a world are"  # noqa: S101
        is_refused = self._log.needs_all_events or not self.world.is_worth_it
        if is_refused or agent.id in self.world.reasons or agent.obstacle:
            return False
        agent.tasks = ()
        agent.enter_columns(self._resume_task)
        self._waiting.append(agent.id)
        return True

    def _resume_task(self, agent: ColumnAgent) -> None:
        """Let a task compute the wakes of an agent that was in the columns."""
        if agent.id in self._waiting:
            self._waiting.remove(agent.id)
        if self._alive[agent.id]:
            members = self._known_members
            members.enliven(agent, self._behave(agent, self._log, members))

    @property
    def _known_members(self) -> Members:
        assert self._members is not None, "agents have started"  # noqa: S101
        return self._members

    def leave_all(self) -> None:
        """Give all agents back."""
        for agent in self._agents:
            agent.leave_columns()

    # what the engine asks

    @property
    def count(self) -> int:
        """How many wakes are due."""
        return len(self._waiting) + self.world.awake

    @property
    def upcoming(self) -> tuple[int, int] | None:
        """The instant and the priority of the next wake; None without one."""
        if self._waiting:
            self._schedule_waiting()
        first = self.world.first
        if first is None:
            return None
        if self._log.needs_all_events or not self.world.is_worth_it:
            self.leave_all()
            return None
        return first[0], WAKE | first[1]

    def _schedule_waiting(self) -> None:
        ids = np.array(self._waiting, np.int64)
        self._waiting = []
        after = np.maximum(self.world.agents[ids, LAST_WAKE] + 1, self._clock.now)
        for i in self.world.schedule(ids, after):
            self._end(i)

    def _end(self, i: int) -> None:
        self._alive[i] = False
        self._known_members.end_life(i)

    def serve(self, until: int, priority: int, most: int) -> None:
        """Serve wakes that come before an instant and a priority: at most `most`, and no more than take a few milliseconds."""
        clock, wakes = self._clock, self._known_members.wakes
        if wakes.left == 0:
            self._refuse()
            return
        before = min(max(priority - WAKE, 0), _LAST)
        try:
            served = self.world.serve(until, before, min(most, wakes.left))
        except WakeFailed as failure:
            clock.move_to(failure.now)
            wakes.add(failure.wakes)
            if failure.k >= 0:
                spend = self._agents[failure.agent].store.ledger.at(failure.k)
                tell_charge(self._log, failure.agent, failure.woke, failure.k, spend)
            raise failure.cause from None
        if served.wakes:
            clock.move_to(served.now)
            wakes.add(served.wakes)
            taken = Turns.joined(self.world.taken)
            self._log.pull_triggers(taken, first=len(taken) - 1)
        if served.says:
            self._tell(served.says, served.agent, served.cause, served.woke)
        if served.differs is not None:
            self._go_on(self._agents[served.agent], served.cause, served.differs)

    def _go_on(self, agent: ColumnAgent, woke: int, differs: Differs) -> None:
        """Let an agent take a step that was not forecast, event by event; a task computes its next wake."""
        agent.surprises += 1
        agent.leave_columns()
        agent.take(differs.step, differs.state, differs.heard, woke)
        if agent.wants_to_leave:
            task = agent.tasks[0]
            self._known_members.retire(agent, woke)
            task.cancel()

    def _tell(self, says: int, i: int, cause: int, woke: int) -> None:
        """Tell what a row cannot say of the last wake."""
        agent = self._agents[i]
        if says & HAS_DIVERGED:
            agent.diverged = True
            self._log.emit(Diverged, i, cause)
        if says & HAS_SPENT:
            agent.check_planned(woke)
        if says & HAS_ENDED:
            self._end(i)

    def _refuse(self) -> None:
        """Let the next agent notice what has arrived, though the run has had all its wakes: then it has no more."""
        first = self.world.first
        assert first is not None, "a wake is due"  # noqa: S101
        t, i = first
        self._clock.move_to(t)
        self.world.drop_wake(i)
        self.world.settle(i, i + 1, t - 1, t)
        self._end(i)

    def settle(self, agents: Sequence[Agent], until: int) -> None:
        """Settle what has arrived at each of all agents, in their order."""
        is_here = self.world.agents[:, STATE] & ELSEWHERE == 0
        edges = np.flatnonzero(np.diff(is_here, prepend=False, append=False)).tolist()
        at = 0
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            _settle_each(agents[at:first], until)
            self.world.settle(first, last, until, self._clock.now)
            at = last
        _settle_each(agents[at:], until)


def _settle_each(agents: Sequence[Agent], until: int) -> None:
    for agent in agents:
        agent.inbox.settle(until, up=agent.status == UP)
