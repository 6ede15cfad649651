"""Checks of faults: only declared faults happen, inside their windows, and agents that are down or away do nothing."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from actors.agent import ABSENT, LEFT, UP
from actors.events import (
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Paused,
    Restarted,
    Resumed,
)
from actors.faults.schedule import Fault
from clocks.durations import Constant
from scenarios.planning.plan import Plan

Break = Callable[[str, Event | None, str], None]
Words = NDArray[np.int64]
Mask = NDArray[np.bool_]
_SEQ_BITS = 42
"""The number of an agent and that of an event share a word: no run has so many events."""


class _History:
    """Which agents were up and paused at which event, as far back as turns have not been looked at."""

    def __init__(self, seats: int, status: Sequence[str]) -> None:
        self._up = np.array([each == UP for each in status])
        self._paused = np.zeros(seats, bool)
        self._since = np.zeros(seats, np.int64)
        self._changes: list[tuple[int, bool, bool, int]] = []
        self._sorted: tuple[Words, Mask, Mask, Words] | None = None

    def note(self, node: int, seq: int, up: bool, paused: bool, since: int) -> None:  # noqa: FBT001 # as a row
        """Note what an agent is from an event on."""
        self._changes.append((node << _SEQ_BITS | seq, up, paused, since))
        self._sorted = None

    def forget(self) -> None:
        """Keep what agents are now."""
        for word, up, paused, since in self._changes:
            node = word >> _SEQ_BITS
            self._up[node], self._paused[node], self._since[node] = up, paused, since
        self._changes, self._sorted = [], None

    def look_up(self, agents: Words, seq: Words) -> tuple[Mask, Mask, Words]:
        """Return whether agents were up, whether they were paused, and since when they were so, when events happened."""
        now = self._up[agents], self._paused[agents], self._since[agents]
        if not self._changes:
            return now
        if self._sorted is None:
            words, up, paused, since = zip(*sorted(self._changes), strict=True)
            self._sorted = np.array(words), np.array(up), np.array(paused), np.array(since)
        words_of = self._sorted[0]
        at = np.searchsorted(words_of, agents << _SEQ_BITS | seq) - 1
        is_known = (at >= 0) & (words_of[at] >> _SEQ_BITS == agents)
        up_then, paused_then, since_then = (
            np.where(is_known, then[at], before)
            for then, before in zip(self._sorted[1:], now, strict=True)
        )
        return up_then, paused_then, since_then


class FaultChecks:
    """Folds the events of faults and of agents; an event that no declared fault explains breaks an invariant.

    `break_` takes the name of an invariant, the event that broke it, and a sentence.
    """

    def __init__(self, plan: Plan, break_: Break) -> None:
        self._plan = plan
        self._break = break_
        self.status = [UP if node.present else ABSENT for node in plan.nodes]
        self.status += [UP] * (plan.seats - plan.size)
        self.since = [0] * plan.seats
        self.paused = set[int]()
        self._changed = not all(node.present for node in plan.nodes)
        self._history = _History(len(self.status), self.status)
        self._windows: dict[int, list[tuple[int, int]]] = {}
        """Of faults that began or ended since turns were looked at last: numbers of events, and how many firings were open
        behind each; first, with the number −1, how many were before."""
        self._open: dict[int, tuple[int, int]] = {}
        """Firings that are not undone, by their events: the number of the fault, and when it ends (ns; -1 where it lasts)."""
        self._ended: dict[int, int] = {}
        """The events that ended a firing, and when (ns)."""
        self.faults = list(plan.faults)
        """The declared faults: those of the scenario, then those that were added by hand."""
        self._active = [0] * len(plan.faults)
        self.fired = [0] * len(plan.faults)
        self.struck = [0] * len(plan.faults)
        """How often each fault fired, and how many agents it took down, away, or brought back."""

    def add(self, fault: Fault) -> None:
        """Declare a fault that was added by hand."""
        self.faults.append(fault)
        for counts in (self._active, self.fired, self.struck):
            counts.append(0)

    def end_at(self, number: int, instant: int) -> None:
        """Let the open windows of a fault end at an instant that was chosen by hand."""
        for began, (fault, _) in self._open.items():
            if fault == number:
                self._open[began] = fault, instant

    def changed(self, event: Event) -> None:
        """Check that an agent that came or went has a declared cause, inside its window."""
        node = _agent_of(event)
        retires = (
            isinstance(event, Left)
            and node < self._plan.size
            and self._plan.nodes[node].on_exhausted == "leave"
        )
        self._changed = True
        cause = event.cause if event.cause is not None else -1
        explained = cause in self._open or self._ended.get(cause, -1) == event.t
        if not explained and not retires:
            what = type(event).__name__.lower()
            self._break("declared faults", event, f"agent {node} {what} without a fault")
        if cause in self._open:
            self.struck[self._open[cause][0]] += 1
        if isinstance(event, (Paused, Resumed)):
            (self.paused.add if isinstance(event, Paused) else self.paused.discard)(node)
        else:
            up = isinstance(event, (Joined, Restarted))
            self.status[node] = UP if up else LEFT if isinstance(event, Left) else "down"
            self.since[node] = event.t
        is_up = self.status[node] == UP
        self._history.note(node, event.seq, is_up, node in self.paused, self.since[node])

    @property
    def has_acted(self) -> bool:
        """Whether an agent was ever absent, came, went or stood still: else there is nothing to check of any."""
        return self._changed or bool(self.paused)

    def are_down(self, agents: Words, seq: Words) -> Mask:
        """Whether each of these agents was not up when an event of this number happened."""
        return ~self._history.look_up(agents, seq)[0]

    def are_idle(self, agents: Words, seq: Words) -> Mask:
        """Whether each of these agents was not up then, or was paused."""
        up, paused, _ = self._history.look_up(agents, seq)
        return ~up | paused

    def up_since(self, agents: Words, seq: Words) -> Words:
        """Return when each of these agents had last come or gone then (ns)."""
        return self._history.look_up(agents, seq)[2]

    def forget_changes(self) -> None:
        """Keep what agents and faults are now: all turns of before were looked at."""
        self._history.forget()
        self._windows.clear()

    def first_outside(self, fault: int, seq: Words) -> int | None:
        """Return the place of the first event, of some in their order, that came while no firing of a fault was open."""
        changes = self._windows.get(fault, [(-1, self._active[fault])])
        at = np.searchsorted([number for number, _ in changes], seq) - 1
        outside = np.array([count for _, count in changes])[at] <= 0
        return int(np.argmax(outside)) if outside.any() else None

    def begins(self, event: FaultBegan) -> None:
        """Check that a fault begins when the plan says."""
        timing = self.faults[event.fault].timing
        began = event.t - timing.later
        fine = timing.admits(began)
        if timing.at is not None:
            fine = began == timing.at
        elif isinstance(timing.every, Constant):
            gap = max(1, round(timing.every.value_s * 1e9))
            fine &= (began - timing.after) % gap == 0 and (timing.prompt or began > timing.after)
        elif timing.when is not None:
            fine &= event.cause is not None and self.fired[event.fault] < (timing.times or 1)
        if isinstance(timing.lasts, Constant):
            fine &= event.until == event.t + max(1, round(timing.lasts.value_s * 1e9))
        fine &= (timing.lasts is None) == (event.until < 0)
        if not fine:
            self._break(
                "declared faults", event, f"fault {event.fault} began at {event.t} ns, undeclared"
            )
        self.fired[event.fault] += 1
        self._active[event.fault] += 1
        self._note_window(event)
        self._open[event.seq] = event.fault, event.until

    def ends(self, event: FaultEnded) -> None:
        """Check that a fault ends when its window does."""
        number, until = self._open.pop(event.cause if event.cause is not None else -1, (-1, -1))
        if number != event.fault or until != event.t:
            self._break(
                "declared faults",
                event,
                f"fault {event.fault} ended at {event.t} ns, declared for {until} ns",
            )
        self._active[number] -= 1
        self._note_window(event)
        self._ended[event.seq] = event.t

    def _note_window(self, event: FaultBegan | FaultEnded) -> None:
        now = self._active[event.fault]
        before = now - 1 if isinstance(event, FaultBegan) else now + 1
        changes = self._windows.setdefault(event.fault, [(-1, before)])
        changes.append((event.seq, now))


def _agent_of(event: Event) -> int:
    """Return the agent of an event that has one."""
    if event.node is None:
        raise ValueError(f"event {event.seq} has no agent")
    return event.node
