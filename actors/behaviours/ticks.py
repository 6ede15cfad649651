"""Agents whose clocks tick alike: one entry of the clock wakes all of them, in the order of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from actors.agent import UP, Agent
from actors.behaviours.wake import Sleeping
from clocks.activation import Synchronous
from clocks.clock import WAKE, Clock, Signal, nanoseconds

if TYPE_CHECKING:
    from actors.behaviours.together import Together


class Ticks:
    """The ticks of all agents of a world that have a synchronous clock, by their periods."""

    def __init__(self, clock: Clock, together: Together) -> None:
        self._clock = clock
        self._together = together
        self._ticks: dict[int, _Tick] = {}

    def sleep_of(self, agent: Agent) -> Sleeping | None:
        """Return how an agent sleeps until its tick; None for one that has none, or whose clock a fault may turn."""
        activation = agent.settings.activation
        if not isinstance(activation, Synchronous) or agent.fault_state.local_clock is not None:
            return None
        period = nanoseconds(activation.period_s)
        if period not in self._ticks:
            self._ticks[period] = _Tick(self._clock, self._together, period)
        return self._ticks[period].sleep


class _Tick:
    """The agents of one period."""

    def __init__(self, clock: Clock, together: Together, period: int) -> None:
        self._clock = clock
        self._together = together
        self._period = period
        self._due: dict[int, dict[int, tuple[Agent, Signal]]] = {}
        """Who sleeps until which instant, by id."""
        self._served_first: dict[int, int] = {}
        """The lowest id that an instant will be served for."""

    def sleep(self, agent: Agent, instant: int) -> Signal:
        """Return what happens when the agent has to wake by itself: at an instant, or at a later one of these clocks."""
        signal = self._clock.signal(WAKE | agent.id)
        self._due.setdefault(instant, {})[agent.id] = agent, signal
        self._schedule(instant, agent.id)
        return signal

    def _schedule(self, instant: int, first: int) -> None:
        known = self._served_first.get(instant)
        if known is None or first < known:
            self._served_first[instant] = first
            self._clock.at(instant, WAKE | first, partial(self._serve, instant))

    def _sleep_on(
        self, group: dict[int, tuple[Agent, Signal]], ids: Sequence[int], instant: int
    ) -> None:
        """Let agents that acted sleep until the next tick; those whose wakes are over wake once more, and end."""
        following, first = self._due.setdefault(instant, {}), None
        for i in ids:
            agent, signal = sleeper = group.pop(i)
            if self._together.goes_on(agent):
                following[i] = sleeper
                first = i if first is None else first
            else:
                signal.set()
        if first is None:
            if not following:
                del self._due[instant]
        else:
            self._schedule(instant, first)

    def _serve(self, instant: int) -> None:
        """Let those that sleep until now act, as far as nothing else comes between."""
        group = self._due.get(instant)
        if group is None:
            return  # an earlier entry of this instant served all
        self._served_first.pop(instant, None)
        for gone in [i for i, (agent, _) in group.items() if agent.status != UP]:
            del group[gone]
        ids = sorted(group)
        upcoming = self._clock.upcoming
        if upcoming is not None and upcoming[0] == instant:
            ids = [i for i in ids if WAKE | i <= upcoming[1]]
        acted = self._together.act([group[i][0] for i in ids], instant - 1) if ids else 0
        if acted:
            self._sleep_on(group, ids[:acted], instant + self._period)
        alone = ids[acted:] if self._together.is_off else ids[acted : acted + 1]
        if alone:
            self._together.act_alone()
        for i in alone:
            group.pop(i)[1].set()
        if group:
            self._schedule(instant, min(group))
        else:
            del self._due[instant]
