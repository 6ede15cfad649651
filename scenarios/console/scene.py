"""What a screen remembers of a run, folded from its events: who is what, faults, losses, the last events."""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
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
from scenarios.console.layout import MANY
from scenarios.console.windows import Windows
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
        self.windows = Windows(facts.faults)
        self._trend: deque[list[Any]] = deque(maxlen=8)
        self._kept: list[tuple[int, list[Any]]] = []
        self._folded: dict[int, tuple[float, float, float, float]] = {}
        self.last: Sampled | None = None
        self.paces: deque[float] = deque(maxlen=60)
        """Events in each simulated second, between the last samples."""
        self.lost: deque[float] = deque(maxlen=60)
        """The share of messages that was lost there."""
        self._beaten = 0, 0, 0, 0
        self.round = 0
        self.broken = ""
        self.recent: deque[Event] = deque(maxlen=_KEPT)
        self.notable: deque[Event] = deque(maxlen=_KEPT)
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
            FaultBegan: self._note_begun,
            FaultEnded: self._note_ended,
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
        self.windows.bring_back(_of(event.node), event.t)

    def _note_left(self, event: Left) -> None:
        self.status[_of(event.node)] = LEFT

    def _note_crashed(self, event: Crashed) -> None:
        self.status[_of(event.node)] = DOWN
        if event.lost != "nothing":
            self.diverged.discard(_of(event.node))

    def _note_begun(self, event: FaultBegan) -> None:
        self.windows.begin(event)
        if event.action == "slow":
            self.slow.update(event.targets)

    def _note_ended(self, event: FaultEnded) -> None:
        self.windows.end(event)
        if event.action == "slow":
            self.slow.subtract(event.targets)

    def _note_round(self, event: RoundOpened) -> None:
        self.round = event.round

    def _note_violated(self, event: Violated) -> None:
        self.broken = event.invariant

    def keep(self, batch: Sequence[Event]) -> None:
        """Keep the last events."""
        self.recent.extend(batch[-_KEPT:])

    def links(self) -> dict[tuple[int, int], str]:
        """Return what became of the last message of every link, where there are few agents."""
        return self.links_of(None) if self.facts.size <= _FEW else {}

    def links_of(self, i: int | None) -> dict[tuple[int, int], str]:
        """Return what became of the last message of each link of one agent, as far as it is among the last events."""
        found: dict[tuple[int, int], str] = {}
        for event in reversed(self.recent):
            if isinstance(event, Sent):
                for j, arrival in zip(event.to, event.arrives, strict=True):
                    link = _of(event.node), j
                    if link not in found and (i is None or i in link):
                        found[link] = _became(arrival, event.t)
        return found

    def _sample(self, event: Sampled) -> None:
        """Keep a sample; every so-manieth for the history of losses, so that it never grows too long."""
        self.last = event
        losses = event.values["loss"]
        self._trend.append(losses)
        self._beat(event)
        self._samples += 1
        if self._samples % self._stride:
            return
        if self.facts.size > MANY:  # so many numbers are not kept for later
            self._folded[event.t] = event.t / 1e9, *percentiles(map(number, losses), (10, 50, 90))
            losses = []
        self._kept.append((event.t, losses))
        if len(self._kept) > _HISTORY:
            self._kept, self._stride = self._kept[::2], 2 * self._stride

    def _beat(self, event: Sampled) -> None:
        """Note how much happened since the last sample: events, and the share of messages that was lost."""
        sent, lost = (event.values[f"messages.{name}"] for name in ("sent", "lost"))
        seq, t, sent_then, lost_then = self._beaten
        if event.t > t:
            self.paces.append((event.seq - seq) / ((event.t - t) / 1e9))
            share = (lost - lost_then) / (sent - sent_then) if sent > sent_then else 0.0
            self.lost.append(share)
            self._beaten = event.seq, event.t, sent, lost

    def history(self) -> list[tuple[float, float, float, float]]:
        """Return how losses went: the instant, and three percentiles."""
        for t, losses in self._kept:
            if t not in self._folded:
                self._folded[t] = t / 1e9, *percentiles(map(number, losses), (10, 50, 90))
        if len(self._folded) > 2 * _HISTORY:
            kept = {t for t, _ in self._kept}
            self._folded = {t: told for t, told in self._folded.items() if t in kept}
        return [self._folded[t] for t, _ in self._kept]

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
