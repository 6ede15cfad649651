"""An agent: its data is in its mechanism, its money in its ledger, its friends at the end of links."""

from collections.abc import Callable
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np

from actors.compute_time import Labour
from actors.detector import Detector
from actors.events import (
    Charged,
    Derived,
    Diverged,
    Merged,
    Proposed,
    Refused,
    Released,
    Spent,
)
from actors.fault_state import Plight
from actors.log import Log
from actors.mailbox import Mailbox
from actors.messages import Message
from actors.outbox import Outbox
from actors.settings import Address, Habits
from actors.store import Store
from clocks.activation import Barrier
from clocks.clock import Clock, Task
from clocks.durations import Draws
from mechanisms.accounting.spend import rounded_up
from mechanisms.duals import forget
from mechanisms.mixing import Heard
from mechanisms.strategy import DERIVED, RELEASE, Mechanism, State, Step
from mechanisms.vectors import Matrix, Vector

ABSENT, UP, DOWN, LEFT = "absent", "up", "down", "left"


class Agent:
    """Propose → filter → charge (durable) → draw noise k → finish → send, all in one instant."""

    __slots__ = (
        "_draws", "_log", "_rounded", "_tick_ns", "aborted", "adopted", "balanced", "busy", "choices", "clock",
         "detector", "diverged", "first", "habits", "heard", "id", "inbox", "labour", "last_wake", "mechanism", "neighbours", "noise",
        "outbox", "plight", "refused", "rounds", "slots", "spent", "state", "status", "store", "survivors", "tasks", "updates",
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
        choices: Draws,
        tick_ns: float | None = None,
    ) -> None:
        self.id = id_
        self.mechanism = mechanism
        self.habits = habits
        self.neighbours = neighbours
        self.first = first
        self.clock = clock
        self.labour = Labour(habits.compute, compute_draws)
        self._log = log
        self.noise = noise
        self.choices = choices
        self._draws = draws
        self._tick_ns = tick_ns
        self.slots = {j: slot for slot, j in enumerate(neighbours)}
        self._rounded: dict[float, float | str] = {}
        self.store = Store()
        self.inbox = Mailbox(id_, clock, log)
        self.plight = Plight()
        self.detector: Detector | None = None
        if habits.silence is not None:
            self.inbox.last_heard = {}
            self.detector = Detector(habits.silence, clock, self.inbox.last_heard)
        self.heard = Heard(first.copy(), weights)
        self.outbox = Outbox(id_, self.heard, self.store, clock, log)
        self.balanced = bool(getattr(mechanism, "balanced", False))
        self.state: State = mechanism.begin(self.habits.start)
        self.status = ABSENT
        self.tasks: tuple[Task, ...] = ()
        self.adopted = not habits.adopt_neighbours
        self.updates = self.rounds = self.refused = self.aborted = self.survivors = 0
        self.spent, self.diverged, self.busy, self.last_wake = False, False, False, -1

    @property
    def model(self) -> Vector:
        """The model that the agent holds."""
        return self.mechanism.model(self.state)

    @property
    def neighbours_present(self) -> list[int]:
        """Who is there to be sent to."""
        return [j for j, here in zip(self.neighbours, self.heard.present, strict=True) if here]

    @property
    def ticks(self) -> float:
        """The time in ticks of the network; barriers count rounds."""
        if self._tick_ns is None:
            return float(self.rounds)
        dial = self.plight.dial
        return (self.clock.now if dial is None else dial.now) / self._tick_ns

    @property
    def wants_to_leave(self) -> bool:
        """Whether its budget is spent, and that is the end for it."""
        return self.spent and self.refused > 0 and self.habits.on_exhausted == "leave"

    def look(self) -> Heard:
        """Return what is heard, as of now."""
        if self.balanced:
            self.heard.ticks, self.heard.own = self.ticks, self.store.published
        return self.heard

    def instants(self) -> Any:
        """Yield the agent's own wake times; with rounds, only so many, missed ones included."""
        assert not isinstance(self.habits.activation, Barrier), "a barrier has no instants"  # noqa: S101
        return islice(self.habits.activation.instants(self._draws), self.habits.rounds)

    async def listen(self, deadline: int | None, priority: int) -> None:
        """Wait until something arrives, or for a deadline; who stands still hears it afterwards."""
        await self.inbox.get(deadline)
        if self.plight.paused:
            await self.plight.thaw(self.clock, priority)

    def attend(self, neighbour: int, *, present: bool) -> None:
        """Count a neighbour in or out: it joined, or it left."""
        here, slot = self.heard.present.copy(), self.slots[neighbour]
        here[slot] = present
        self.heard.attend(here)
        self.outbox.suspects.discard(slot)
        if self.detector is not None and present:
            self.detector.greet(neighbour)

    def suspect(self) -> None:
        """Count out who has been silent for too long, and in who was heard again."""
        if self.detector is not None:
            self.detector.look(self.slots, self.heard, self.outbox.suspects)

    def forget(self, *, everything: bool) -> None:
        """Lose model and mailbox in a crash, or everything but the ledger and its counters."""
        recover = None if everything else getattr(self.mechanism, "recover", None)
        start = self.habits.start
        self.state = self.mechanism.begin(start) if recover is None else recover(self.state, start)
        self.heard.values[:] = self.first
        if self.balanced:
            forget(self.heard.values)
        self.inbox.forget()
        self.diverged = False
        if everything:
            self.store.published = None

    def merge(self, cause: int | None) -> dict[int, Message]:
        """Take over what arrived before this instant, and return it."""
        taken = self.inbox.take()
        if not taken:
            return taken
        values, slots = self.heard.values, self.slots
        for sender, message in taken.items():
            values[slots[sender]] = message.vector
        versions = [message.version for message in taken.values()]
        self._log.emit(Merged, self.id, cause, list(taken), versions)
        if not self.adopted:
            self.adopted = True
            if len(self.store.ledger) or self.busy:
                return taken  # what was released already is not thrown away for a start
            heard = np.array([message.vector for message in taken.values()])
            self.state = self.mechanism.begin(heard.mean(axis=0)[: len(self.habits.start)])
        return taken

    def act(self, state: State, heard: Heard, cause: int, to: Address | None = None) -> bool:
        """Do one step on frozen inputs, and send what comes of it; false when nothing was sent."""
        if self.diverged or self.status != UP:
            return False
        if not self.heard.degree:
            heard = self.heard  # everybody left while it computed: nobody could receive
        if self.balanced:
            heard.ticks, heard.own = self.ticks, self.store.published
        step = self.mechanism.propose(state, heard, len(self.store.ledger))
        if step.kind == RELEASE:
            return self._release(step, state, heard, cause, to)
        self._finish(step, to)
        sent = step.kind == DERIVED and self._derive(cause, to)
        self._note_planned(cause)
        return sent

    def _release(
        self, step: Step, state: State, heard: Heard, cause: int, to: Address | None
    ) -> bool:
        assert step.spend is not None, "a release has a spend"  # noqa: S101
        spend, ledger, cap = step.spend, self.store.ledger, self.habits.cap
        charged = self._rounded.get(spend.charged)
        if charged is None:
            charged = self._rounded[spend.charged] = rounded_up(spend.charged)
        emit, k = self._log.emit, len(ledger)
        proposed = emit(Proposed, self.id, cause, k, charged)
        if not self.store.trusted:
            self._exhaust(proposed, "storage")
            return self._exhausted(state, heard, proposed, to)
        planned = self.mechanism.planned
        if planned is not None and k >= planned:
            # The plan is a promise: who has shown that it is fulfilled makes no release any more.
            emit(Refused, self.id, proposed, k, charged, None, None, "planned")
            return self._turned_down("planned", state, heard, proposed, to)
        if cap is not None and not cap.admits(ledger, spend):
            spent = float(rounded_up(cap.spent(ledger.tally)))
            emit(Refused, self.id, proposed, k, charged, spent, cap.epsilon)
            return self._turned_down("cap", state, heard, proposed, to)
        k = ledger.charge(spend)
        self.store.counter = k + 1  # by the ledger: whatever happened to the counter is mended
        paid = emit(Charged, self.id, proposed, k, charged)
        if self.status != UP:
            return False  # it crashed in between: paid for, its noise never drawn
        leaves = self._finish(step, to, self.noise(k))
        released = emit(Released, self.id, paid, k)
        sent = leaves and self._send(released, to)
        self._note_planned(released)
        return sent

    def _turned_down(
        self, reason: str, state: State, heard: Heard, cause: int, to: Address | None
    ) -> bool:
        self.refused += 1
        self._exhaust(cause, reason)
        return self._exhausted(state, heard, cause, to)

    def _exhausted(self, state: State, heard: Heard, cause: int, to: Address | None) -> bool:
        """Do what an agent without budget does: listen, smooth without data, or leave."""
        match self.habits.on_exhausted:
            case "smooth":
                return self._smoothed(state, heard, cause, to)
            case "listen" | "leave":
                return False
            case then:
                raise NotImplementedError(f"no agent does {then!r} without a budget")

    def _smoothed(self, state: State, heard: Heard, cause: int, to: Address | None) -> bool:
        step = self.mechanism.without_data(state, heard)
        self._finish(step, to)
        return step.kind == DERIVED and self._derive(cause, to)

    def _exhaust(self, cause: int, reason: str) -> None:
        if not self.spent:
            self.spent = True
            self._log.emit(Spent, self.id, cause, reason)

    def _note_planned(self, cause: int) -> None:
        planned = self.mechanism.planned
        if planned is not None and not self.spent and len(self.store.ledger) >= planned > 0:
            self._exhaust(cause, "planned")

    def _finish(
        self, step: Step, to: Address | None, noise: np.random.Generator | None = None
    ) -> bool:
        """Take the step; whether a vector is ready to leave."""
        self.state, vector = step.finish(noise)
        if vector is not None:
            self.store.publish(vector, self.rounds, None if to is None else to.slot)
        return vector is not None

    def _derive(self, cause: int, to: Address | None) -> bool:
        derived = self._log.emit(Derived, self.id, cause, self.store.version - 1)
        return self._send(derived, to)

    def _send(self, cause: int, to: Address | None) -> bool:
        """Send what was just published: to whom it is addressed, else to every neighbour present."""
        store = self.store
        vector = store.published
        assert vector is not None, "publish before sending"  # noqa: S101
        if not self._finite(vector, cause):
            store.published = None  # nobody is ever sent it
            return False
        if to is None:
            self.outbox.broadcast(vector, store.published_version, self.rounds, cause)
        else:
            self.outbox.address(
                [to.slot], vector, store.published_version, to.round, cause, asks=to.asks
            )
        return True

    def tell(self, receivers: list[int], round_: int, cause: int, *, asks: bool) -> None:
        """Send some neighbours the model that is held: a function of what was heard."""
        if not receivers or self.diverged or not self._finite(self.model, cause):
            return
        model = self.model
        self.store.publish(model, round_)
        version, slots = self.store.published_version, [self.slots[j] for j in receivers]
        derived = self._log.emit(Derived, self.id, cause, version)
        self.outbox.address(slots, model, version, round_, derived, asks=asks)

    def _finite(self, vector: Vector, cause: int) -> bool:
        """Whether a vector can be sent; where it cannot, the agent has diverged, and says so."""
        if not isfinite(float(vector @ vector)):
            self.diverged = True
            self._log.emit(Diverged, self.id, cause)
        return not self.diverged

    def announce(self, cause: int) -> None:
        """Tell neighbours that wait at a barrier that this round brings nothing: control, no data."""
        self.outbox.broadcast(None, self.store.version, self.rounds, cause)
        self.store.version += 1

    def resend(self, receiver: int, cause: int, round_: int | None = None) -> None:
        """Send a neighbour once more what was last published."""
        if not self.diverged:
            self.outbox.resend(self.slots[receiver], cause, round_)
