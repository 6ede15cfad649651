"""What a screen remembers of a run, folded from its events: states of agents, faults, losses, the last events."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

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
    Spent,
    Violated,
)
from actors.log import Batch
from actors.turns import TURN_KINDS, Turns
from scenarios.console.sources.batches import Losses, concerns, last_about, last_of
from scenarios.console.sources.fault_windows import FaultWindows
from scenarios.console.sources.histories import Histories
from scenarios.language.json_numbers import number
from scenarios.planning.fault_kinds import state_of

if TYPE_CHECKING:
    from scenarios.records.world_facts import Facts


NOTABLE: tuple[type[Event], ...] = (
    Crashed,
    Restarted,
    Joined,
    Left,
    Paused,
    Resumed,
    FaultBegan,
    FaultEnded,
    Refused,
    Spent,
    Lost,
    Rejected,
    RoundAborted,
    Diverged,
    Violated,
    Finished,
)
"""What a person wants to see among thousands: the last of these are kept beside the last of all."""
PLANNED = "planned"
"""The reason of the event `spent` where an agent has made all releases of its plan."""
_NOTABLE = frozenset(NOTABLE)
_LOOSE = _NOTABLE & TURN_KINDS
"""Such an event may stand in a turn, or by itself."""
NOTED = 1000
"""So many of the last notable events are remembered."""
_KEPT, _OWN = 400, 200
_TREND = 40
"""A trend shows the last so many samples."""


class RunState:
    """Observes rare events one by one, and all events in batches, of which it keeps the last."""

    kinds: tuple[type[Event], ...] = (*NOTABLE, Sampled, RoundOpened)

    def __init__(self, facts: Facts, keeps: int = _KEPT) -> None:
        self.facts = facts
        gone = set(facts.absent)
        self.status = [ABSENT if i in gone else UP for i in range(facts.seats)]
        self.paused = set[int]()
        self.spent = set[int]()
        """Agents whose budget, or whose ledger, allows no further release."""
        self.done = set[int]()
        """Agents that have made all releases of their plan."""
        self.diverged = set[int]()
        self._ended: dict[int, Event] = {}
        """The event that ended what an agent did, or its releases: none of an agent that is up."""
        self._silenced: dict[int, Event] = {}
        """The event after which an agent releases no more."""
        self.slow = Counter[int]()
        """How many faults slow each agent down."""
        self._slowing = set[int]()
        """The events that began those faults."""
        self.windows = FaultWindows(facts.faults, facts.horizon)
        self._trend: deque[list[Any]] = deque(maxlen=_TREND)
        self.histories = Histories(facts.size)
        self.last: Sampled | None = None
        self._beats: deque[tuple[int, int, int, int]] = deque([(0, 0, 0, 0)], maxlen=60)
        """Number and instant of the last samples, messages sent and lost until then."""
        self.round = 0
        self.broken = ""
        self._keeps = keeps
        self._recent: deque[Event] = deque(maxlen=keeps)
        self._batches: deque[Batch] = deque()
        """The last batches, of which nobody has asked for the events."""
        self._notable: deque[Event] = deque(maxlen=NOTED)
        self._losses = Losses()
        self._is_sorted = True
        """Whether notable events are in order: those that may stand in turns come later than others."""
        self._whose: int | None = None
        self._own: deque[Event] = deque(maxlen=_OWN)
        self._routes: dict[type[Event], Callable[[Any], None]] = {
            Sampled: self._sample,
            Joined: self._note_up,
            Restarted: self._note_up,
            Left: self._note_left,
            Crashed: self._note_crashed,
            Paused: self._note_paused,
            Resumed: lambda event: self.paused.discard(event.node),
            Spent: self._note_spent,
            Diverged: self._note_diverged,
            FaultBegan: self._note_begun,
            FaultEnded: self._note_ended,
            RoundOpened: self._note_round,
            Violated: self._note_violated,
        }
        self.changes = 0
        """How many events changed what is remembered, but for the last of them."""

    def state(self, i: int) -> str:
        """Return what an agent is, in one word."""
        if i in self.diverged:
            return "diverged"
        status = self.status[i]
        if status != UP:
            return status
        if i in self.paused:
            return "paused"
        if i in self.spent:
            return "spent"
        return "done" if i in self.done else "slow" if self.slow[i] else UP

    def reason(self, i: int) -> Event | None:
        """Return the event that put an agent into its state; None for one that is up, slow, or absent from the start."""
        state = self.state(i)
        if state in {"spent", "done"}:
            return self._silenced.get(i)
        return None if state in {UP, "slow"} else self._ended.get(i)

    @property
    def recent(self) -> deque[Event]:
        """The last events."""
        wanted, last = self._keeps, list[list[Event]]()
        while self._batches and wanted > 0:
            events = last_of(self._batches.pop(), wanted)
            last.append(events)
            wanted -= len(events)
        self._batches.clear()
        for events in reversed(last):
            self._recent.extend(events)
        return self._recent

    @property
    def notable(self) -> deque[Event]:
        """The last events that a person wants to see among thousands."""
        if self._losses.waiting or not self._is_sorted:
            self._is_sorted = True
            both = sorted((*self._notable, *self._losses.take()), key=lambda event: event.seq)
            self._notable = deque(both, maxlen=NOTED)
        return self._notable

    @property
    def routes(self) -> Mapping[type[Event], Callable[[Any], None]]:
        """Fold a rare event at once; the others come in batches, and what is lost in turns, too."""
        return {kind: self for kind in self.kinds if kind not in TURN_KINDS}

    def __call__(self, event: Event) -> None:
        act = self._routes.get(type(event))
        if act is not None:
            self.changes += 1
            act(event)
        if type(event) in _NOTABLE:
            self._notable.append(event)

    def _note_up(self, event: Joined | Restarted) -> None:
        self._ended.pop(_of(event.node), None)
        self.status[_of(event.node)] = UP
        self.windows.strike(event.cause)
        self.windows.bring_back(_of(event.node), event.t)

    def _note_paused(self, event: Paused) -> None:
        self.paused.add(_of(event.node))
        self._ended[_of(event.node)] = event
        self.windows.strike(event.cause)

    def _note_spent(self, event: Spent) -> None:
        (self.done if event.reason == PLANNED else self.spent).add(_of(event.node))
        self._silenced[_of(event.node)] = event

    def _note_diverged(self, event: Diverged) -> None:
        self.diverged.add(_of(event.node))
        self._ended[_of(event.node)] = event

    def _note_left(self, event: Left) -> None:
        self.windows.strike(event.cause)
        self.status[_of(event.node)] = LEFT
        self._ended[_of(event.node)] = event

    def _note_crashed(self, event: Crashed) -> None:
        self.windows.strike(event.cause)
        self.status[_of(event.node)] = DOWN
        self._ended[_of(event.node)] = event
        if event.lost != "nothing":
            self.diverged.discard(_of(event.node))

    def _note_begun(self, event: FaultBegan) -> None:
        self.windows.begin(event, holds=any(self._is_so(event.action, i) for i in event.targets))
        if state_of(event.action) == "slow":
            self._slowing.add(event.seq)
            self.slow.update(event.targets)

    def _is_so(self, action: str, i: int) -> bool:
        """Whether a fault that leaves an agent in a state finds it there: it is then held by both."""
        state = state_of(action)
        if state == "paused":
            return i in self.paused and self.status[i] == UP
        return self.status[i] == state

    def _note_ended(self, event: FaultEnded) -> None:
        self.windows.end(event)
        if event.cause in self._slowing:
            self._slowing.discard(event.cause)
            self.slow.subtract(event.targets)

    def _note_round(self, event: RoundOpened) -> None:
        self.round = event.round

    def _note_violated(self, event: Violated) -> None:
        self.broken = event.invariant

    def fold(self, batch: Batch) -> None:
        """Keep the last events, and those of the agent that is open: they are made when they are asked for."""
        self._batches.append(batch)
        while (
            len(self._batches) > 1 and sum(map(len, islice(self._batches, 1, None))) >= self._keeps
        ):
            self._batches.popleft()
        for part in batch.parts:
            if isinstance(part, Turns):
                self._losses.note(part, batch.spends)
            elif type(part) in _LOOSE:
                self._notable.append(part)
                self._is_sorted = False
        if self._whose is not None:
            self._own.extend(last_about(batch, self._whose))

    def keep(self, events: Sequence[Event]) -> None:
        """Keep events among the last ones, and those of the agent that is open."""
        self._recent.extend(events)
        if self._whose is not None:
            self._own.extend(event for event in events if concerns(event, self._whose))

    def look_at(self, i: int | None) -> Sequence[Event]:
        """Return the last events that concern one agent; as long as it is open, they are kept apart."""
        if i != self._whose:
            self._whose = i
            known = {e.seq: e for kept in (self.notable, self.recent) for e in kept}
            mine = () if i is None else (known[s] for s in sorted(known) if concerns(known[s], i))
            self._own = deque(mine, maxlen=_OWN)
        return self._own

    def _sample(self, event: Sampled) -> None:
        """Keep a sample: for trends, for throughput, and for charts."""
        self.last = event
        values = event.values
        self._trend.append(values["loss"])
        self._beats.append((event.seq, event.t, values["messages.sent"], values["messages.lost"]))
        self.histories.add(event.t, values)

    def paces(self) -> list[tuple[float, float]]:
        """Return what happened between the last samples: events in a simulated second, the share of messages lost."""
        paces = []
        for (seq, t, sent, lost), (next_seq, next_t, next_sent, next_lost) in pairwise(self._beats):
            if next_t > t:
                share = (next_lost - lost) / (next_sent - sent) if next_sent > sent else 0.0
                paces.append(((next_seq - seq) * 1e9 / (next_t - t), share))
        return paces

    def losses(self) -> Sequence[float]:
        """Return every agent's loss at the last sample; NaN where none was taken."""
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
    known = np.asarray(list(values), dtype=np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return (math.nan,) * len(which)
    if np.isfinite(known).all():
        result: Any = np.percentile(known, which)
    else:
        result = np.percentile(known, which, method="inverted_cdf")
    return tuple(float(v) for v in result)


def _of(node: int | None) -> int:
    assert node is not None, "an agent did it"  # noqa: S101
    return node
