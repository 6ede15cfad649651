"""Invariants of what is done to the world: only declared faults happen, inside their windows; and who is silent."""

from collections.abc import Callable, Sequence

from actors.agent import ABSENT, LEFT, UP
from actors.events import (
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Lost,
    Paused,
    Restarted,
    Resumed,
    Sent,
)
from actors.faults.schedule import Fault
from clocks.durations import Constant
from scenarios.planning.plan import Plan

Break = Callable[[str, Event | None, str], None]


class Declared:
    """Folds comings, goings and faults; what no entry of the scenario explains breaks an invariant."""

    def __init__(self, plan: Plan, break_: Break) -> None:
        self._plan = plan
        self._break = break_
        self.status = [UP if node.present else ABSENT for node in plan.nodes]
        self.status += [UP] * (plan.seats - plan.size)
        self.since = [0] * plan.seats
        self.paused = set[int]()
        self._open: dict[int, tuple[int, int]] = {}
        """Firings that are not undone: the number of their fault, and when they will be."""
        self._ended: dict[int, int] = {}
        self.faults = list(plan.faults)
        """What was declared: the scenario's, then what a hand added."""
        self._active = [0] * len(plan.faults)
        self.fired = [0] * len(plan.faults)
        self.struck = [0] * len(plan.faults)

    def declare(self, fault: Fault) -> None:
        """Let a fault be that a hand added: the journal declares it."""
        self.faults.append(fault)
        for counts in (self._active, self.fired, self.struck):
            counts.append(0)

    def heal(self, number: int, instant: int) -> None:
        """Let the windows of a fault end at an instant that a hand chose."""
        for began, (fault, _) in self._open.items():
            if fault == number:
                self._open[began] = fault, instant

    def changed(self, event: Event) -> None:
        """Comings and goings have a declared cause, inside its window."""
        node = event.node
        assert node is not None, "somebody came or went"  # noqa: S101
        retires = (
            isinstance(event, Left)
            and node < self._plan.size
            and self._plan.nodes[node].on_exhausted == "leave"
        )
        cause = event.cause if event.cause is not None else -1
        explained = cause in self._open or self._ended.get(cause, -1) == event.t
        if not explained and not retires:
            what = type(event).__name__.lower()
            self._break("declared faults", event, f"agent {node} {what} without a fault")
        if cause in self._open:
            self.struck[self._open[cause][0]] += 1
        if isinstance(event, (Paused, Resumed)):
            (self.paused.add if isinstance(event, Paused) else self.paused.discard)(node)
            return
        up = isinstance(event, (Joined, Restarted))
        self.status[node] = UP if up else LEFT if isinstance(event, Left) else "down"
        self.since[node] = event.t

    def awake(self, event: Event, what: str) -> None:
        """Who is down, gone or stands still does nothing."""
        node = event.node
        assert node is not None, "somebody did something"  # noqa: S101
        if self.status[node] != UP or node in self.paused:
            state = "paused" if self.status[node] == UP else self.status[node]
            self._break("silence", event, f"agent {node} {what} while {state}")

    def begins(self, event: FaultBegan) -> None:
        """Faults begin when the plan says."""
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
        self._open[event.seq] = event.fault, event.until

    def ends(self, event: FaultEnded) -> None:
        """And end when they were to end."""
        number, until = self._open.pop(event.cause if event.cause is not None else -1, (-1, -1))
        if number != event.fault or until != event.t:
            self._break(
                "declared faults",
                event,
                f"fault {event.fault} ended at {event.t} ns, declared for {until} ns",
            )
        self._active[number] -= 1
        self._ended[event.seq] = event.t

    def meddled(self, event: Sent | Lost, by: Sequence[int]) -> None:
        """What faults do to messages, they do in their windows."""
        for number in by:
            if not self._active[number]:
                self._break(
                    "declared faults",
                    event,
                    f"fault {number} touched a message outside of its window",
                )
