"""A run that is over, or was cut off, folded again from its files: nothing is computed but sums and ε."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actors.agent import DOWN, UP
from actors.events import (
    Charged,
    Delivered,
    Diverged,
    Duplicated,
    Event,
    Finished,
    Lost,
    Rejected,
    Released,
    Sent,
)
from mechanisms.accounting.ledger import Ledger
from scenarios.console.drawing.styled_text import WARN
from scenarios.console.sources.ending import ending
from scenarios.console.sources.references import NO_REFERENCES, References, from_summary
from scenarios.console.sources.source import Source, fault_table
from scenarios.console.sources.state import RunState
from scenarios.planning.expectations import Selection
from scenarios.planning.metric_names import per_agent, split_metric
from scenarios.records.budget import Budget
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.recorded_plan import Remembered
from scenarios.records.run_folder import WORLD
from scenarios.running.expectations import value_of
from scenarios.running.observers.traffic import Traffic

_MODES = {"finished": "replay", "interrupted": "replay, interrupted", "failed": "replay, failed"}
_KEPT = 20_000
"""So many of the last events are kept: more than of a run that goes on, because no run waits for it."""


class Recording(Source):
    """The source of a replay: it stands at an event, and can go to any other."""

    now = seq = released = 0
    over = steered = False
    queue = None

    def __init__(self, record: RunRecord) -> None:
        """Take the record; raise `FolderError` where it cannot be folded."""
        self.record, folder = record, record.path
        self.facts = self.record.facts
        self.steered = bool(self.record.manifest.get("steered_by_hand"))
        self.mode = _MODES.get(self.record.status, "replay, cut off")
        judged = self.record.verdicts.get("invariants")
        self.held = (
            None
            if judged is None
            else sum(verdict.get("verdict") == "pass" for verdict in judged.values())
        )
        self.changed = bool(self.record.flaws)
        """Whether its files are not what they were when the run ended."""
        try:
            self._plan: Any = Remembered(self.facts)
            self.near: Sequence[Sequence[int]] = self.facts.neighbours()
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise FolderError(f"{folder}: {WORLD} is damaged: {error!r}") from None
        self._spends = self.record.proof.spends()
        strange = [node for node in self._spends if node not in range(self.facts.size)]
        if strange:
            raise FolderError(f"{folder}: {WORLD} has no agent {strange[0]}, and its ledger has")
        self._bytes = self.record.size
        self._ending: Sequence[tuple[str, str]] = [(_unjudged(self.record), WARN)]
        self._references = NO_REFERENCES
        if judged is not None:
            self._ending = ending(self.record.summary, "", folder)
            self._references = from_summary(self.record.summary)
        self.length = self.record.length
        self.rewind()

    def rewind(self) -> None:
        """Go back to before the first event."""
        facts = self.facts
        gone = set(facts.absent)
        self.run_state = RunState(facts, _KEPT)
        self.budget = Budget(self._plan, live=facts.numerical)
        self.traffic = Traffic([i not in gone for i in range(facts.seats)], follow=True)
        self._coming = [0] * facts.seats
        self.released = 0
        self._routes: dict[type[Event], Callable[[Any], None]] = {
            Sent: self._note_sent,
            Delivered: self._note_arrived,
            Rejected: self._note_arrived,
            Duplicated: self._note_doubled,
            Lost: self._note_lost,
            Charged: self._charge,
            Released: self._note_released,
            Diverged: self._note_diverged,
            Finished: self._note_finished,
        }
        self.now = self.seq = 0
        self.over = False
        self._events = self.record.typed_events()
        self._next: Event | None = next(self._events, None)

    @property
    def upcoming(self) -> Event | None:
        """The next event; None at the end."""
        return self._next

    def step(self) -> Event:
        """Fold the next event, and return it; at the end there is none."""
        event = self._next
        if event is None:
            raise EOFError("a recording ends where its run ended")
        try:
            self._fold(event)
        except (IndexError, KeyError, TypeError, AssertionError):
            problem = f"event {event.seq} of {self.record.path} does not fit its {WORLD}: one of them is damaged"
            raise FolderError(problem) from None
        self._next = next(self._events, None)
        if self._next is None:
            self._charge_the_rest()
        return event

    def seek(self, instant: int) -> None:
        """Stand after the last event at or before an instant."""
        if instant < self.now:
            self.rewind()
        while self._next is not None and self._next.t <= instant:
            self.step()
        self.now = max(self.now, min(instant, self.length))

    def seek_event(self, seq: int) -> None:
        """Stand right after one event."""
        if seq < self.seq:
            self.rewind()
        while self._next is not None and self._next.seq <= seq:
            self.step()

    def _fold(self, event: Event) -> None:
        self.now, self.seq = max(self.now, event.t), event.seq
        if type(event) in RunState.kinds:
            self.run_state(event)
        act = self._routes.get(type(event))
        if act is not None:
            act(event)
        self.traffic.note([event])
        self.run_state.keep([event])

    def _note_sent(self, event: Sent) -> None:
        for j in event.to:
            self._coming[j] += 1

    def _note_arrived(self, event: Delivered | Rejected) -> None:
        self._coming[event.node] -= 1  # type: ignore[index] # an agent received

    def _note_doubled(self, event: Duplicated) -> None:
        self._coming[event.receiver] += 1

    def _note_lost(self, event: Lost) -> None:
        self._coming[event.receiver] -= 1

    def _note_released(self, _: Released) -> None:
        self.released += 1

    def _note_finished(self, _: Finished) -> None:
        self.over = self.budget.last = True

    def _charge(self, event: Charged) -> None:
        assert event.node is not None, "an agent is charged"  # noqa: S101
        self.budget.charge(event.node, self._spends[event.node][event.k])

    def _note_diverged(self, event: Diverged) -> None:
        self.budget.fold([event])

    def _charge_the_rest(self) -> None:
        """Charge what the ledger holds and no event shows: the run was killed before it wrote the events."""
        for node, spends in self._spends.items():
            for spend in spends[self.budget.counts[node] :]:
                self.budget.charge(node, spend)

    @property
    def end(self) -> int | None:
        return self.length

    @property
    def progress(self) -> float | None:
        return self.now / self.length if self.length else 1.0

    @property
    def recorded_mb(self) -> float:
        return self._bytes / 1e6

    @property
    def broken(self) -> str:
        return "FILES CHANGED" if self.changed else self.run_state.broken

    def ending(self) -> Sequence[tuple[str, str]]:
        return self._ending if self._next is None else ()

    def refresh(self) -> None:
        """Do nothing: everything is folded already."""

    @property
    def about(self) -> str:
        try:
            return str(self.record.resolved.get("summary", ""))
        except FolderError:  # a run that was cut off may have none
            return ""

    def references(self) -> References:
        return self._references

    def declared_fault(self, number: int) -> Mapping[str, Any]:
        try:
            return fault_table(self.record.resolved, number)
        except FolderError:  # a run that was cut off may have none
            return {}

    def inbox(self, i: int) -> int:
        return self._coming[i]

    def member_neighbours(self, i: int) -> list[int]:
        return [j for j in self.near[i] if self.run_state.status[j] in {UP, DOWN}]

    def ledger_of(self, i: int) -> Ledger:
        return self.budget.ledger(i)

    @property
    def flying(self) -> int:
        return sum(self._coming)

    def metric(self, name: str, agent: int | None) -> float:
        """A metric as of the last sample, as a run looks it up."""
        last = self.run_state.last
        whose = None if split_metric(name)[1] else agent
        if last is None or (per_agent(name) and (whose is None or whose >= self.facts.size)):
            return math.nan
        return value_of(self._plan, Selection(name, whose), last.values)


def _unjudged(record: RunRecord) -> str:
    """Say why a recording has no verdicts."""
    return f"{record.ended}: nothing was judged"
