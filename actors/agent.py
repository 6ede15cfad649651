"""An agent: its data is in its mechanism, its money in its ledger, its friends at the end of links."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np

from actors.events import (
    Charged,
    Derived,
    Diverged,
    Log,
    Lost,
    Merged,
    Proposed,
    Refused,
    Released,
    Sent,
    Spent,
)
from actors.link import LOST, Fan, Outlet
from actors.mailbox import Mailbox
from actors.messages import Message
from actors.store import Store
from clocks.activation import Activation, Barrier
from clocks.clock import Clock, Task
from clocks.durations import Draws, Duration
from mechanisms.accounting.filter import Cap
from mechanisms.mixing import Heard
from mechanisms.strategy import DERIVED, RELEASE, Mechanism, State, Step
from mechanisms.vectors import Matrix, Vector

ABSENT, UP, DOWN, LEFT = "absent", "up", "down", "left"
BYTES_OF_NUMBER = 8


@dataclass(frozen=True, slots=True)
class Habits:
    """What does not change about an agent."""

    activation: Activation | Barrier
    compute: Duration | None = None
    cap: Cap | None = None
    on_exhausted: str = "listen"
    start: Vector | None = None
    adopt_neighbours: bool = False
    rounds: int | None = None


def rounded_up(charge: float) -> float | str:
    """Round a charge up to 1e-9, as every event and digest carries it; JSON has no infinity."""
    if charge == np.inf:
        return "inf"
    return float(np.ceil(charge * 1e9) / 1e9)


class Agent:
    """Propose → filter → charge (durable) → draw noise k → finish → send, all in one instant."""

    __slots__ = (
        "_draws", "_log", "_noise", "_rounded", "_slots", "adopted", "clock", "compute_draws",
        "computed", "diverged", "everybody", "first", "habits", "heard", "id", "inbox", "links", "mechanism",
        "neighbours", "present", "refused", "rounds", "spent", "state", "status", "store",
        "task", "updates",
    )  # fmt: skip

    def __init__(
        self,
        id_: int,
        mechanism: Mechanism,
        habits: Habits,
        neighbours: tuple[int, ...],
        weights: Vector,
        first: Matrix,
        clock: Clock,
        log: Log,
        noise: Callable[[int], np.random.Generator],
        draws: Draws,
        compute_draws: Draws,
    ) -> None:
        self.id = id_
        self.mechanism = mechanism
        self.habits = habits
        self.neighbours = neighbours
        self.first = first
        self.clock = clock
        self.compute_draws = compute_draws
        self._log = log
        self._noise = noise
        self._draws = draws
        self._slots = {j: slot for slot, j in enumerate(neighbours)}
        self._rounded: dict[float, float | str] = {}
        self.store = Store()
        self.inbox = Mailbox(id_, clock, log)
        self.links = Fan((), (), lambda _first, count: np.empty((0, count), dtype=np.uint64))
        self.heard = Heard(first.copy(), weights)
        self.present = np.ones(len(neighbours), dtype=bool)
        self.everybody = True
        self.state: State = mechanism.begin(self._start())
        self.status = ABSENT
        self.task: Task | None = None
        self.adopted = not habits.adopt_neighbours
        self.updates = self.rounds = self.refused = self.computed = 0
        self.spent = self.diverged = False

    def _start(self) -> Vector:
        assert self.habits.start is not None, "the plan gives every agent its start"  # noqa: S101
        return self.habits.start

    @property
    def model(self) -> Vector:
        """The model that the agent holds."""
        return self.mechanism.model(self.state)

    def instants(self) -> Any:
        """Yield the agent's own wake times; with rounds, only so many, missed ones included."""
        assert not isinstance(self.habits.activation, Barrier), "a barrier has no instants"  # noqa: S101
        return islice(self.habits.activation.instants(self._draws), self.habits.rounds)

    def compute_ns(self) -> int:
        """Return how long this wake computes before it releases."""
        if self.habits.compute is None:
            return 0
        self.computed += 1
        first = self.computed - 1
        return int(self.habits.compute.draw(self.compute_draws(first, 1), first)[0])

    def attend(self, neighbour: int, *, present: bool) -> None:
        """Count a neighbour in or out: it joined, or it left."""
        self.present[self._slots[neighbour]] = present
        self.everybody = bool(self.present.all())
        self.heard.attend(self.present)

    def forget(self, *, everything: bool) -> None:
        """Lose model and mailbox in a crash, or everything but the ledger and its counters."""
        self.state = self.mechanism.begin(self._start())
        self.heard.values[:] = self.first
        self.inbox.forget()
        self.diverged = False
        if everything:
            self.store.published = None

    def merge(self, cause: int) -> None:
        """Take over what arrived before this instant."""
        taken = self.inbox.take()
        if not taken:
            return
        values, slots = self.heard.values, self._slots
        for sender, message in taken.items():
            values[slots[sender]] = message.vector
        versions = [message.version for message in taken.values()]
        self._log.emit(Merged, self.id, cause, list(taken), versions)
        if not self.adopted:
            self.adopted = True
            heard = np.array([message.vector for message in taken.values()])
            self.state = self.mechanism.begin(heard.mean(axis=0))

    def act(self, state: State, heard: Heard, cause: int) -> bool:
        """Do one step on frozen inputs, and send what comes of it; false when nothing was sent."""
        if self.diverged:
            return False
        step = self.mechanism.propose(state, heard, len(self.store.ledger))
        if step.kind == RELEASE:
            return self._release(step, state, heard, cause)
        self._finish(step)
        sent = step.kind == DERIVED and self._derive(cause)
        self._note_planned(cause)
        return sent

    def _release(self, step: Step, state: State, heard: Heard, cause: int) -> bool:
        assert step.spend is not None, "a release has a spend"  # noqa: S101
        spend, ledger, cap = step.spend, self.store.ledger, self.habits.cap
        charged = self._rounded.get(spend.charged)
        if charged is None:
            charged = self._rounded[spend.charged] = rounded_up(spend.charged)
        emit, k = self._log.emit, len(ledger)
        proposed = emit(Proposed, self.id, cause, k, charged)
        if cap is not None and not cap.admits(ledger.sums, spend):
            self.refused += 1
            spent = float(rounded_up(cap.spent(ledger.sums)))
            emit(Refused, self.id, proposed, k, charged, spent, cap.epsilon)
            self._exhaust(proposed, "cap")
            return self._exhausted(state, heard, proposed)
        k = ledger.charge(spend)
        paid = emit(Charged, self.id, proposed, k, charged)
        self._finish(step, self._noise(k) if spend.law != "none" else None)
        released = emit(Released, self.id, paid, k)
        sent = self._send(released)
        self._note_planned(released)
        return sent

    def _exhausted(self, state: State, heard: Heard, cause: int) -> bool:
        """Do what an agent without budget does: listen, smooth without data, or leave."""
        if self.habits.on_exhausted != "smooth":
            return False
        step = self.mechanism.without_data(state, heard)
        self._finish(step)
        return step.kind == DERIVED and self._derive(cause)

    def _exhaust(self, cause: int, reason: str) -> None:
        if not self.spent:
            self.spent = True
            self._log.emit(Spent, self.id, cause, reason)

    def _note_planned(self, cause: int) -> None:
        planned = self.mechanism.planned
        if planned is not None and not self.spent and len(self.store.ledger) >= planned > 0:
            self._exhaust(cause, "planned")

    def _finish(self, step: Step, noise: np.random.Generator | None = None) -> None:
        self.state, vector = step.finish(noise)
        if vector is not None:
            self.store.publish(vector, self.rounds)

    def _derive(self, cause: int) -> bool:
        derived = self._log.emit(Derived, self.id, cause, self.store.version - 1)
        return self._send(derived)

    def _send(self, cause: int) -> bool:
        """Send what was just published to every neighbour that is present."""
        vector = self.store.published
        assert vector is not None, "publish before sending"  # noqa: S101
        if not isfinite(float(vector @ vector)):
            self.diverged = True
            self._log.emit(Diverged, self.id, cause)
            return False
        self._broadcast(vector, self.store.version - 1, cause)
        return True

    def _broadcast(self, vector: Vector | None, version: int, cause: int) -> None:
        """Put one message on every link to a present neighbour."""
        links = self.links
        to, delays, outlets = links.receivers, links.verdicts(version), links.outlets
        if not self.everybody:
            slots = np.flatnonzero(self.present).tolist()
            to, delays = [to[s] for s in slots], [delays[s] for s in slots]
            outlets = [outlets[s] for s in slots]
        if to:
            self._transmit(to, delays, outlets, vector, version, self.rounds, cause, resent=False)

    def announce(self, cause: int) -> None:
        """Tell neighbours that wait at a barrier that this round brings nothing: control, no data."""
        self._broadcast(None, self.store.version, cause)
        self.store.version += 1

    def resend(self, receiver: int, cause: int) -> None:
        """Send a neighbour the bits that were last published: free, nothing is computed afresh."""
        if self.store.published is not None and not self.diverged:
            slot = self._slots[receiver]
            delays, outlets = [self.links.again(slot)], [self.links.outlets[slot]]
            vector, version = self.store.published, self.store.published_version
            message = vector, version, self.store.published_round
            self._transmit([receiver], delays, outlets, *message, cause, resent=True)

    def _transmit(
        self,
        to: list[int],
        delays: list[int],
        outlets: list[Outlet],
        vector: Vector | None,
        version: int,
        round_: int,
        cause: int,
        *,
        resent: bool,
    ) -> None:
        """Carry out each link's verdict."""
        now, emit = self.clock.now, self._log.emit
        arrives = [LOST if delay < 0 else now + delay for delay in delays]
        size = 0 if vector is None else BYTES_OF_NUMBER * len(vector)
        sent = emit(Sent, self.id, cause, version, to, arrives, size, resent)
        message = Message(self.id, version, round_, vector, sent)
        for receiver, arrival, outlet in zip(to, arrives, outlets, strict=True):
            if arrival < 0:
                emit(Lost, self.id, sent, receiver, version)
            else:
                outlet(arrival, sent, message)
