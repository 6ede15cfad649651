"""Compiled wakes between the entries of the engine, in their exact order.

A `Flight` takes agents over when they start, serves their wakes ahead of the engine's next entry, and gives an agent back
where a fault is about to act on it, or all of them where an observer asks for single events.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from actors.agent import UP, Agent
from actors.behaviours.wake import Life, Members
from actors.compiled import kernel
from actors.compiled.agent import CompiledAgent
from actors.compiled.arena import Arena
from actors.compiled.columns import (
    AGENT,
    AWAKE,
    CAUSE,
    ELSEWHERE,
    EVENT,
    HAS_DIVERGED,
    HAS_ENDED,
    HAS_SPENT,
    LAST_WAKE,
    NOW,
    SERVED,
    STATE,
)
from actors.compiled.enrolment import Catalogue, NotCompiled
from actors.events import Diverged
from actors.links import Links
from actors.log import Log
from clocks.clock import WAKE
from clocks.virtual import VirtualClock
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.vectors import Vector

_EFFORT = 1 << 21
"""A call does about so many multiplications: a few milliseconds, so that a screen and signals are served in between."""
_MOST = 1 << 10
_LAST = 1 << 40

Behave = Callable[[Agent, Log, Any], tuple[Life, ...]]


class Flight:
    """The agents of a world whose wakes are compiled, as far as they can be.

    `behave` is what agents do that are not aboard.
    """

    def __init__(self, arena: Arena, clock: VirtualClock, log: Log, behave: Behave) -> None:
        self.arena = self._arena = arena
        self._clock, self._log = clock, log
        self._behave = behave
        self._members: Members | None = None
        self._agents: Sequence[CompiledAgent] = ()
        self._schedules: dict[int, tuple[Spend, ...]] = {}
        self.reasons: dict[int, str] = {}
        """Why agents are not compiled, in words."""
        self._waiting: list[int] = []
        """Agents that are aboard and have no wake yet."""
        self._alive = np.zeros(arena.size, bool)
        self._most = _MOST
        clock.ahead = self

    def lay_out(self, agents: Sequence[Agent], starts: Sequence[Vector]) -> None:
        """Write down what does not change of all agents; `starts` are their public starts."""
        arena, catalogue = self._arena, Catalogue()
        agents = self._agents = [agent for agent in agents if isinstance(agent, CompiledAgent)]
        numbers = np.zeros((len(agents), 8))
        policies: list[int] = []
        for agent in agents:
            row = arena.agents[agent.id]
            try:
                catalogue.enrol(agent, row, numbers[agent.id])
                policies += _policies(agent.outbox.links, catalogue)
            except NotCompiled as reason:
                self.reasons[agent.id] = str(reason)
                policies += [0] * len(agent.neighbours)
            else:
                self._schedules[agent.id] = _schedule(agent)
        arena.lay_out(
            starts,
            [agent.neighbours for agent in agents],
            _keys(agents),
            np.array(policies, np.int64),
            catalogue,
        )
        arena.numbers[:] = numbers[:, : arena.numbers.shape[1]]
        for agent in agents:
            arena.open_links(agent.id, agent.heard)
        points = max((len(agent.neighbours) for agent in agents), default=1)
        self._most = max(1, min(_MOST, _EFFORT // (arena.dimension * (points + 64))))

    def behave(self, agent: Agent, log: Log, members: Members) -> tuple[Life, ...]:
        """Take an agent over that starts, or let it do what others do."""
        self._members = members
        assert isinstance(agent, CompiledAgent), "all agents of such a world are"  # noqa: S101
        self._alive[agent.id] = True
        schedule = self._schedules.get(agent.id)
        if schedule is None or log.needs_events or agent.obstacle:
            return self._behave(agent, log, members)
        agent.board(schedule, self._relive)
        self._waiting.append(agent.id)
        return ()

    def _relive(self, agent: CompiledAgent) -> None:
        """Let a task compute the wakes of an agent that was aboard."""
        if agent.id in self._waiting:
            self._waiting.remove(agent.id)
        if self._alive[agent.id]:
            members = self._known_members
            members.enliven(agent, self._behave(agent, self._log, members))

    @property
    def _known_members(self) -> Members:
        assert self._members is not None, "agents have started"  # noqa: S101
        return self._members

    def land_all(self) -> None:
        """Give all agents back."""
        for agent in self._agents:
            agent.land()

    # what the engine asks

    @property
    def count(self) -> int:
        """How many wakes are due."""
        return len(self._waiting) + (
            int(self._arena.arrays.counters[AWAKE]) if self._arena.is_laid_out else 0
        )

    @property
    def upcoming(self) -> tuple[int, int] | None:
        """The instant and the priority of the next wake; None without one."""
        if self._waiting:
            self._schedule_waiting()
        arrays = self._arena.arrays
        if not arrays.counters[AWAKE]:
            return None
        if self._log.needs_events:
            self.land_all()
            return None
        return int(arrays.due_at[0]), WAKE | int(arrays.due[0])

    def _schedule_waiting(self) -> None:
        ids = np.array(self._waiting, np.int64)
        self._waiting = []
        after = np.maximum(self._arena.agents[ids, LAST_WAKE] + 1, self._clock.now)
        ended = np.zeros(len(ids), bool)
        kernel.schedule_wakes(self._arena.arrays, after, ids, ended)
        for i in ids[ended].tolist():
            self._end(i)

    def _end(self, i: int) -> None:
        self._alive[i] = False
        self._known_members.end_life(i)

    def serve(self, until: int, priority: int, most: int) -> None:
        """Serve wakes that come before an instant and a priority: at most `most`, and no more than take a few milliseconds."""
        arena, clock, wakes = self._arena, self._clock, self._known_members.wakes
        if wakes.left == 0:
            self._refuse()
            return
        before = min(max(priority - WAKE, 0), _LAST)
        why = arena.fly(until, before, min(most, self._most, wakes.left))
        counters = arena.arrays.counters
        if counters[SERVED]:
            clock.move_to(int(counters[NOW]))
            wakes.add(int(counters[SERVED]))
        if why & EVENT:
            self._tell(why, int(counters[AGENT]), int(counters[CAUSE]))

    def _tell(self, why: int, i: int, cause: int) -> None:
        """Tell what a row cannot say of the last wake."""
        agent = self._agents[i]
        if why & HAS_DIVERGED:
            agent.diverged = True
            self._log.emit(Diverged, i, cause)
        if why & HAS_SPENT:
            agent.check_planned(cause)
        if why & HAS_ENDED:
            self._end(i)

    def _refuse(self) -> None:
        """Let the next agent notice what has arrived, though the run has had all its wakes: then it has no more."""
        arrays = self._arena.arrays
        t, i = int(arrays.due_at[0]), int(arrays.due[0])
        self._clock.move_to(t)
        kernel.drop_wake(arrays, i)
        self._arena.settle(i, i + 1, t - 1, t)
        self._end(i)

    def settle(self, agents: Sequence[Agent], until: int) -> None:
        """Settle what has arrived at each of all agents, in their order."""
        aboard = self._arena.agents[:, STATE] & ELSEWHERE == 0
        edges = np.flatnonzero(np.diff(aboard, prepend=False, append=False)).tolist()
        at = 0
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            _settle_each(agents[at:first], until)
            self._arena.settle(first, last, until, self._clock.now)
            at = last
        _settle_each(agents[at:], until)


def _settle_each(agents: Sequence[Agent], until: int) -> None:
    for agent in agents:
        agent.inbox.settle(until, up=agent.status == UP)


def _policies(links: Links, catalogue: Catalogue) -> list[int]:
    if links.effects:
        raise NotCompiled("a link has a rate")
    return [catalogue.policy(links.policy_of(slot)) for slot in range(len(links.receivers))]


def _schedule(agent: CompiledAgent) -> tuple[Spend, ...]:
    kind = agent.mechanism
    assert isinstance(kind, CoordinateDescent), "it was enrolled"  # noqa: S101
    if kind.law is None:
        assert kind.free is not None, "it was enrolled"  # noqa: S101
        return (kind.free,)
    return kind.spends


def _keys(agents: Sequence[Agent]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return the keys of all links, agent by agent."""
    keys = [agent.outbox.links.keys for agent in agents]
    joined = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    return joined.astype(np.uint64).view(np.int64)
