"""What a screen remembers of a run, folded from its events: who is what, faults, losses, the last events."""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from actors.agent import ABSENT, DOWN, LEFT, UP
from actors.events import (
    Crashed,
    Diverged,
    Event,
    FaultBegan,
    FaultEnded,
    Finished,
    Joined,
    Left,
    Lost,
    Paused,
    Refused,
    Rejected,
    Restarted,
    Resumed,
    RoundAborted,
    RoundOpened,
    Sampled,
    Sent,
    Spent,
    Violated,
)
from scenarios.console.model import Window
from scenarios.facts import Facts
from scenarios.values import number

NOTABLE: tuple[type[Event], ...] = (
    Crashed, Restarted, Joined, Left, Paused, Resumed, FaultBegan, FaultEnded, Refused, Spent, Lost, Rejected,
    RoundAborted, Diverged, Violated, Finished,
)  # fmt: skip
"""What a person wants to see among thousands: the last of these are kept beside the last of all."""
_NOTABLE = frozenset(NOTABLE)
_KEPT = 1000
_HISTORY = 400
_MANY = 400
_FEW = 16
"""Up to so many agents, every link is shown."""


class Scene:
    """Rare events are told at once; all of them come in batches, and the last are kept."""

    kinds: tuple[type[Event], ...] = (*NOTABLE, Sampled, RoundOpened)

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        gone = set(facts.absent)
        self.status = [ABSENT if i in gone else UP for i in range(facts.seats)]
        self.paused = set[int]()
        self.spent = set[int]()
        self.diverged = set[int]()
        self.slow = Counter[int]()
        """How many faults slow each agent down."""
        self.windows: dict[int, Window] = {}
        self.names = {i: fault.name for i, fault in enumerate(facts.faults)}
        self.by_hand = set[int]()
        self._trend: deque[list[Any]] = deque(maxlen=8)
        self._kept: list[tuple[int, list[Any]]] = []
        self._folded: dict[int, tuple[float, float, float, float]] = {}
        self.last: Sampled | None = None
        self.round = 0
        self.broken = ""
        self.recent: deque[Event] = deque(maxlen=_KEPT)
        self.notable: deque[Event] = deque(maxlen=_KEPT)
        self._fired = set[int]()
        self._slowing: dict[int, Sequence[int]] = {}
        self._routes: dict[type[Event], Callable[[Any], None]] = {
            Sampled: self._sample,
            Joined: self._note_up,
            Restarted: self._note_up,
            Left: self._note_left,
            Crashed: self._note_crashed,
            Paused: lambda event: self.paused.add(event.node),
            Resumed: lambda event: self.paused.discard(event.node),
            Spent: lambda event: self.spent.add(event.node),
            Diverged: lambda event: self.diverged.add(event.node),
            FaultBegan: self._begins,
            FaultEnded: self._ends,
            RoundOpened: self._note_round,
            Violated: self._note_violated,
        }
        self._stride = 1
        self._samples = 0

    def state(self, i: int) -> str:
        """Return what an agent is, in one word."""
        if i in self.diverged:
            return "diverged"
        status = self.status[i]
        if status != UP:
            return status
        if i in self.paused:
            return "paused"
        return "spent" if i in self.spent else "slow" if self.slow[i] else UP

    def __call__(self, event: Event) -> None:
        act = self._routes.get(type(event))
        if act is not None:
            act(event)
        if type(event) in _NOTABLE:
            self.notable.append(event)

    def _note_up(self, event: Joined | Restarted) -> None:
        self.status[_of(event.node)] = UP

    def _note_left(self, event: Left) -> None:
        self.status[_of(event.node)] = LEFT

    def _note_crashed(self, event: Crashed) -> None:
        self.status[_of(event.node)] = DOWN
        if event.lost != "nothing":
            self.diverged.discard(_of(event.node))

    def _note_round(self, event: RoundOpened) -> None:
        self.round = event.round

    def _note_violated(self, event: Violated) -> None:
        self.broken = event.invariant

    def keep(self, batch: Sequence[Event]) -> None:
        """Keep the last events."""
        self.recent.extend(batch[-_KEPT:])

    def links(self) -> dict[tuple[int, int], str]:
        """Return what became of the last message of each link, as far as it is among the last events."""
        found: dict[tuple[int, int], str] = {}
        if self.facts.size > _FEW:
            return found
        for event in reversed(self.recent):
            if isinstance(event, Sent):
                for j, arrival in zip(event.to, event.arrives, strict=True):
                    if (_of(event.node), j) not in found:
                        found[_of(event.node), j] = _became(arrival, event.t)
        return found

    def _sample(self, event: Sampled) -> None:
        """Keep a sample; every so-manieth for the history of losses, so that it never grows too long."""
        self.last = event
        losses = event.values["loss"]
        self._trend.append(losses)
        self._samples += 1
        if self._samples % self._stride:
            return
        if self.facts.size > _MANY:  # so many numbers are not kept for later
            self._folded[event.t] = event.t / 1e9, *percentiles(map(number, losses), (10, 50, 90))
            losses = []
        self._kept.append((event.t, losses))
        if len(self._kept) > _HISTORY:
            self._kept, self._stride = self._kept[::2], 2 * self._stride

    def history(self) -> list[tuple[float, float, float, float]]:
        """Return how losses went: the instant, and three percentiles."""
        for t, losses in self._kept:
            if t not in self._folded:
                self._folded[t] = t / 1e9, *percentiles(map(number, losses), (10, 50, 90))
        if len(self._folded) > 2 * _HISTORY:
            kept = {t for t, _ in self._kept}
            self._folded = {t: told for t, told in self._folded.items() if t in kept}
        return [self._folded[t] for t, _ in self._kept]

    def _begins(self, event: FaultBegan) -> None:
        self._fired.add(event.fault)
        if event.action == "slow":
            self.slow.update(event.targets)
            self._slowing[event.seq] = event.targets
        until = None if event.until < 0 else event.until / 1e9
        name = self.names.get(event.fault, event.action)
        hand = event.fault in self.by_hand or event.fault >= len(self.facts.faults)
        self.windows[event.seq] = Window(
            event.fault, name, _told(event.targets), event.t / 1e9, None, until, hand
        )
        if (
            len(self.windows) > 1000
        ):  # a fault that comes every so often: the oldest that is over goes
            over = next((s for s, w in self.windows.items() if w.ended_s is not None), event.seq)
            del self.windows[over]

    def _ends(self, event: FaultEnded) -> None:
        self.slow.subtract(self._slowing.pop(event.cause or -1, ()))
        found = self.windows.get(event.cause or -1)
        if found is not None:
            fields = (
                found.number,
                found.name,
                found.targets,
                found.begun_s,
                event.t / 1e9,
                found.until_s,
                found.by_hand,
            )
            self.windows[event.cause or -1] = Window(*fields)

    def all_windows(self) -> list[Window]:
        """Return every window that was, and those that are known to come."""
        return [*self.windows.values(), *self._coming()]

    def _coming(self) -> Iterator[Window]:
        for i, fault in enumerate(self.facts.faults):
            if i not in self._fired and fault.at is not None:
                until = None if fault.lasts is None else (fault.at + fault.lasts) / 1e9
                yield Window(i, fault.name, "", fault.at / 1e9, None, until)

    def losses(self) -> Sequence[float]:
        """Return everybody's loss at the last sample."""
        if not self._trend:
            return [math.nan] * self.facts.size
        return [number(v) for v in self._trend[-1]]

    def losses_of(self, i: int) -> list[float]:
        """Return one agent's losses at the last samples."""
        return [number(losses[i]) for losses in self._trend]

    def sampled(self, name: str) -> Any:
        """Return a metric of the last sample; None where it was not taken."""
        return None if self.last is None else self.last.values.get(name)


def percentiles(values: Iterable[float], which: Sequence[int]) -> tuple[Any, ...]:
    """Return percentiles of what is known; NaN where nothing is."""
    found = np.asarray(list(values), dtype=np.float64)
    found = found[~np.isnan(found)]
    if not found.size:
        return (math.nan,) * len(which)
    if np.isfinite(found).all():
        told: Any = np.percentile(found, which)
    else:
        told = np.percentile(found, which, method="inverted_cdf")
    return tuple(float(v) for v in told)


def _of(node: int | None) -> int:
    assert node is not None, "somebody did it"  # noqa: S101
    return node


def _became(arrival: int, sent: int) -> str:
    """Say what became of a message: lost, held, or late by so much."""
    late = (arrival - sent) / 1e6
    return (
        "╳"
        if arrival == -1
        else "‖"
        if arrival < 0
        else f"{late:.0f}ms"
        if late < 1e4
        else f"{late / 1e3:.0f}s"
    )


def _told(targets: Sequence[int]) -> str:
    """Tell whom a fault hit, briefly."""
    return ",".join(map(str, targets[:4])) + ("…" if len(targets) > 4 else "")
