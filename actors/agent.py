"""One agent: its mechanism holds its data, its store holds its ledger, its outbox holds its links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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
from actors.fault_state import FaultState
from actors.links import Links, Outbox
from actors.log import Log
from actors.mailbox import Mailbox, SilenceDetector
from actors.messages import Message
from actors.participation import Participation
from actors.release import admit, release
from actors.store import Store
from actors.turns import Words
from clocks.activation import Barrier
from clocks.clock import Clock, Task
from clocks.durations import Bits, Draws, Duration, bits_of
from mechanisms.abilities import KeepsDuals, Participates, Recovers, SharesNoise, offers
from mechanisms.accounting.spend import rounded_up
from mechanisms.duals import forget
from mechanisms.mixing import Heard
from mechanisms.noise import NoiseStream
from mechanisms.strategy import DERIVED, RELEASE, Mechanism, State, Step
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.settings import Address, Settings
    from mechanisms.accounting.admissions import Admissions


ABSENT, UP, DOWN, LEFT = "absent", "up", "down", "left"

StepWatcher = Callable[[Step, State, Heard, int], Step]
"""Sees a step before it is taken: `(step, state, heard, made)`, and returns the step to take in its place.

`made` is how many releases were made before it; −1 for a step without data.
"""


class ComputeTime:
    """Draws how long an agent computes at each wake, from the agent's own stream."""

    __slots__ = ("_done", "_draws", "_law")

    def __init__(self, law: Duration, draws: Draws) -> None:
        self._law = law
        self._draws = draws
        self._done = 0

    def draw(self, slowdown: float) -> int:
        """Return the nanoseconds of the next computation, which takes `slowdown` times as long as usual."""
        number = self._done
        self._done += 1
        drawn = int(self._law.draw(self._draws(number, 1), number)[0])
        return drawn if slowdown == 1.0 else round(drawn * slowdown)


class Streams(NamedTuple):
    """The random streams of one agent: each draw is a function of its number alone."""

    noise: NoiseStream
    keys: Bits
    """The keys of the three streams below, in their order."""

    def clock(self, first: int, count: int) -> Bits:
        """Return random bits for its wakes."""
        return bits_of(self.keys[0], first, count)

    def compute(self, first: int, count: int) -> Bits:
        """Return random bits for its computing times."""
        return bits_of(self.keys[1], first, count)

    def choices(self, first: int, count: int) -> Bits:
        """Return random bits for which neighbour it asks, or which clients a server asks."""
        return bits_of(self.keys[2], first, count)


class Instants:
    """The wake times of an agent by its own clock, as far as they lie ahead."""

    __slots__ = ("_begin", "_next", "_times")

    def __init__(self, begin: Callable[[], Iterator[int]]) -> None:
        """Take what yields all of them, in order; it is called when they are first asked for."""
        self._begin = begin
        self._times: Iterator[int] | None = None
        self._next: int | None = -1

    def next_from(self, instant: int) -> int | None:
        """Return the first wake time that is not before an instant; None where there is none. Instants never fall."""
        if self._times is None:
            self._times = self._begin()
        while self._next is not None and self._next < instant:
            self._next = next(self._times, None)
        return self._next

    def drop(self, instant: int) -> None:
        """Count a wake time as passed: the agent slept until then."""
        if self._next == instant and self._times is not None:
            self._next = next(self._times, None)


class Surroundings(NamedTuple):
    """The place of one agent in the graph: a row of `weights`, `first` and of the links for each neighbour."""

    neighbours: tuple[int, ...]
    weights: Vector
    first: Matrix
    """What it holds of each neighbour before that has sent anything; agents may share it."""
    heard: Matrix
    """The same, its own to write into: what it has heard last."""
    links: Links


class Agent:
    """An agent: propose → filter → charge (durable) → draw noise k → finish → send, all in one instant."""

    __slots__ = (
        "_log",
        "_rounded",
        "_streams",
        "_tick_ns",
        "_watch_step",
        "aborted",
        "admissions",
        "adopted",
        "balanced",
        "busy",
        "clock",
        "compute_time",
        "detector",
        "diverged",
        "fault_state",
        "first",
        "heard",
        "id",
        "inbox",
        "instants",
        "last_wake",
        "mechanism",
        "neighbours",
        "noise",
        "noise_is_shared",
        "noise_stream",
        "outbox",
        "participation",
        "planned",
        "refused",
        "rounds",
        "settings",
        "slots",
        "spent",
        "state",
        "status",
        "store",
        "survivors",
        "tasks",
        "updates",
    )

    def __init__(
        self,
        id_: int,
        mechanism: Mechanism,
        settings: Settings,
        surroundings: Surroundings,
        inbox: Mailbox,
        streams: Streams,
        clock: Clock,
        log: Log,
        *,
        tick_ns: float | None = None,
    ) -> None:
        """Make an agent that is absent; `tick_ns` is the length of a tick, None where barriers count rounds."""
        self.id = id_
        self.mechanism = mechanism
        self.planned = mechanism.planned
        """How many releases it may make; None without a plan of them."""
        self.admissions: Admissions | None = None
        """What its cap says of releases that follow a schedule, where they do; None: the cap is asked itself."""
        self.settings = settings
        self.neighbours = surroundings.neighbours
        self.first = surroundings.first
        self.clock = clock
        self._log = log
        self._streams = streams
        self.noise_stream = streams.noise
        """The stream that its noise is drawn from: it remembers which release it was drawn for."""
        self.noise: Callable[[int], np.random.Generator] = streams.noise
        self.compute_time = (
            None if settings.compute is None else ComputeTime(settings.compute, streams.compute)
        )
        self.noise_is_shared = isinstance(mechanism, SharesNoise) and mechanism.shares_noise
        """Whether its releases are not hidden by noise of its own alone."""
        self._tick_ns = tick_ns
        self._watch_step: StepWatcher | None = None
        self.slots = {j: slot for slot, j in enumerate(self.neighbours)}
        self._rounded: dict[float, float | str] = {}
        self.store = self._make_store()
        self.inbox = inbox
        self.fault_state = FaultState()
        self.detector: SilenceDetector | None = None
        if settings.silence is not None:
            inbox.last_heard = {}
            self.detector = SilenceDetector(settings.silence, clock, inbox.last_heard)
        self.heard = self._make_heard(surroundings)
        self.outbox = self._make_outbox(surroundings.links)
        if self.detector is not None:
            self.outbox.suspects = set()
        self.instants = Instants(self._wake_times)
        self.participation: Participation | None = None
        """What it knows of its own participation, where its mechanism asks for that."""
        if offers(mechanism, Participates):
            self.participation = Participation(None if settings.has_barrier else self._wake_times())
            self.outbox.reads = self.participation.reads
        self.balanced = offers(mechanism, KeepsDuals)
        """Whether it keeps duals on its edges."""
        self.state: State = mechanism.begin(settings.start)
        self.status = ABSENT
        self.tasks: tuple[Task, ...] = ()
        self.adopted = not settings.adopt_neighbours
        self.updates = self.rounds = self.refused = self.aborted = self.survivors = 0
        self.spent, self.diverged, self.busy, self.last_wake = False, False, False, -1

    def _make_store(self) -> Store:
        return Store()

    def _make_heard(self, surroundings: Surroundings) -> Heard:
        return Heard(surroundings.heard, surroundings.weights)

    def _make_outbox(self, links: Links) -> Outbox:
        return Outbox(self.id, links, self.heard, self.store, self.clock, self._log)

    @staticmethod
    def releases_of(agents: Sequence[Agent], ids: Words) -> Words:
        """Return how many releases some of the agents of a world were charged."""
        return np.fromiter((len(agents[i].store.ledger) for i in ids.tolist()), np.int64, len(ids))

    @staticmethod
    def by_task(agents: Sequence[Agent], ids: Words) -> list[int]:  # noqa: ARG004 # some kinds look at them
        """Return those of some agents of a world whose wakes are computed one by one, in tasks of their own."""
        chosen: list[int] = ids.tolist()
        return chosen

    def leave_columns(self) -> None:
        """Let a task of its own compute its wakes from now on: a fault is about to act on it. So it is for most agents."""

    def note_effects(self) -> None:
        """Note that a fault began, or ended, to act on its links."""

    @property
    def redrawn(self) -> tuple[int, int] | None:
        """The first release whose noise was not drawn in order, and the last one before it; None without one."""
        return self._streams.noise.reused

    @staticmethod
    def models_of(agents: Sequence[Agent]) -> Matrix:
        """Return the models of some agents of a world, a row each: a new array."""
        return np.array([agent.model for agent in agents])

    @staticmethod
    def in_flight_of(agents: Sequence[Agent]) -> int:
        """Count the messages on their way to all agents of a world."""
        return sum([agent.inbox.in_flight for agent in agents])

    @property
    def is_watched(self) -> bool:
        """Whether an auditor sees its steps."""
        return self._watch_step is not None

    def watch_steps(self, watch: StepWatcher) -> None:
        """Let an auditor see each step before it is taken, and take the step that it returns."""
        assert self._watch_step is None, "one auditor watches an agent"  # noqa: S101
        self._watch_step = watch

    @property
    def streams(self) -> Streams:
        """Its random streams, with their keys."""
        return self._streams

    def choices(self, first: int, count: int) -> Bits:
        """Return random bits for choices among neighbours."""
        return self._streams.choices(first, count)

    @property
    def model(self) -> Vector:
        """The model that the agent holds."""
        return self.mechanism.model(self.state)

    @property
    def neighbours_present(self) -> list[int]:
        """The neighbours that messages are sent to now."""
        if self.heard.degree == len(self.neighbours):
            return list(self.neighbours)
        return [j for j, here in zip(self.neighbours, self.heard.present, strict=True) if here]

    @property
    def ticks(self) -> float:
        """The time in ticks of the network; barriers count rounds."""
        if self._tick_ns is None:
            return float(self.rounds)
        local_clock = self.fault_state.local_clock
        return (self.clock.now if local_clock is None else local_clock.now) / self._tick_ns

    def ticks_at(self, instant: int, round_: int) -> float:
        """Return the same for an instant and a round to come, of an agent whose clock nothing turns."""
        return float(round_) if self._tick_ns is None else instant / self._tick_ns

    @property
    def wants_to_leave(self) -> bool:
        """Whether its budget is spent, and it leaves for that."""
        return self.spent and self.refused > 0 and self.settings.on_exhausted == "leave"

    def heard_now(self) -> Heard:
        """Return what neighbours sent, with the time and what the agent itself published last, as of now."""
        if self.balanced:
            self.heard.ticks, self.heard.own = self.ticks, self.store.published
        return self.heard

    def _wake_times(self) -> Iterator[int]:
        """Yield the agent's own wake times in nanoseconds; with rounds, only so many, missed ones included."""
        activation = self.settings.activation
        assert not isinstance(activation, Barrier), "a barrier has no instants"  # noqa: S101
        return islice(activation.instants(self._streams.clock), self.settings.rounds)

    async def wait_for_message(self, deadline: int | None, priority: int) -> None:
        """Wait until a message arrives, or for a deadline; an agent that stands still waits until it goes on."""
        await self.inbox.wait(deadline)
        if self.fault_state.paused:
            await self.fault_state.wait_until_resumed(self.clock, priority)

    def set_present(self, neighbour: int, *, present: bool) -> None:
        """Count a neighbour in or out: it joined, or it left."""
        here, slot = self.heard.present.copy(), self.slots[neighbour]
        here[slot] = present
        self.heard.attend(here)
        self.outbox.suspects.discard(slot)
        if self.detector is not None and present:
            self.detector.restart(neighbour)

    def attend(self, present: Sequence[bool]) -> None:
        """Count all neighbours in or out at once: the agent joined."""
        self.heard.attend(np.array(present, bool))
        self.outbox.suspects.clear()
        if self.detector is not None:
            for neighbour, here in zip(self.neighbours, present, strict=True):
                if here:
                    self.detector.restart(neighbour)

    def update_suspects(self) -> None:
        """Count neighbours out that have been silent for too long, and in again that were heard since."""
        if self.detector is not None:
            self.detector.update(self.slots, self.heard, self.outbox.suspects)

    def lose_memory(self, *, everything: bool) -> None:
        """Lose model and mailbox in a crash, or everything but the ledger and its counters."""
        mechanism, start = self.mechanism, self.settings.start
        if isinstance(mechanism, Recovers) and not everything:
            self.state = mechanism.recover(self.state, start)
        else:
            self.state = mechanism.begin(start)
        self.heard.values[:] = self.first
        if self.balanced:
            forget(self.heard.values)
        self.inbox.lose_memory()
        if self.participation is not None:
            self.participation.lose_memory()
        self.diverged = False
        if everything:
            self.store.published = None

    def merge(self, cause: int | None) -> dict[int, Message]:
        """Take over the messages that arrived before this instant, and return them by sender."""
        taken = self.inbox.take()
        if self.participation is not None:
            self._note_participation(self.participation, taken)
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
                return taken  # a start does not replace a model that was released already
            heard = np.array([message.vector for message in taken.values()])
            self.state = self.mechanism.begin(heard.mean(axis=0)[: len(self.settings.start)])
        return taken

    def _note_participation(self, known: Participation, taken: dict[int, Message]) -> None:
        """Tell the mechanism which wakes were missed, and whether the last release was read."""
        known.wake(self.last_wake, self.rounds)
        known.merge(self.id, taken)
        heard = self.heard
        heard.slot, heard.missed, heard.acknowledged = known.slot, known.missed, known.acknowledged

    def act(self, state: State, heard: Heard, cause: int, to: Address | None = None) -> bool:
        """Take one step on frozen inputs, and send its vector; false when nothing was sent.

        Args:
            state: the state from which the step is taken.
            heard: the neighbours' messages as of the wake.
            cause: the number of the event that the step follows from.
            to: the one neighbour that the vector is for; None for all that are present.

        """
        if self.diverged or self.status != UP:
            return False
        if not self.heard.degree:
            heard = self.heard  # every neighbour left while it computed: none could receive
        if self.balanced:
            heard.ticks, heard.own = self.ticks, self.store.published
        made = len(self.store.ledger)
        step = self.mechanism.propose(state, heard, made)
        if self._watch_step is not None:
            step = self._watch_step(step, state, heard, made)
        return self.take(step, state, heard, cause, to)

    def take(
        self, step: Step, state: State, heard: Heard, cause: int, to: Address | None = None
    ) -> bool:
        """Take a step that the mechanism proposed from a state, and send its vector; false when nothing was sent."""
        if step.kind == RELEASE:
            return self._release(step, state, heard, cause, to)
        self._finish(step, to)
        sent = step.kind == DERIVED and self._derive(cause, to)
        self.check_planned(cause)
        return sent

    @property
    def has_event_steps(self) -> bool:
        """Whether something about the agent itself asks for single steps at this wake: what it holds fits no row."""
        return (
            self._watch_step is not None
            or self.fault_state.twin_state is not None
            or not self.adopted
            or self.diverged
            or not self.store.trusted
            or bool(self.outbox.links.effects)
            or self.participation is not None
        )

    def _release(
        self, step: Step, state: State, heard: Heard, cause: int, to: Address | None
    ) -> bool:
        assert step.spend is not None, "a release has a spend"  # noqa: S101
        spend, ledger, cap = step.spend, self.store.ledger, self.settings.cap
        charged = self._rounded.get(spend.charged)
        if charged is None:
            charged = self._rounded[spend.charged] = rounded_up(spend.charged)
        emit, k = self._log.emit, len(ledger)
        proposed = emit(Proposed, self.id, cause, k, charged)
        ((_, refused),) = admit(((self, spend),))
        if refused == "storage":
            self._set_spent(proposed, refused)
            return self._act_without_budget(state, heard, proposed, to)
        if refused:
            spent = limit = None
            if refused == "cap" and cap is not None:
                spent, limit = float(rounded_up(cap.spent(ledger.tally))), cap.epsilon
            emit(Refused, self.id, proposed, k, charged, spent, limit, refused)
            return self._refuse(refused, state, heard, proposed, to)
        paid = emit(Charged, self.id, proposed, k, charged, spend)
        if self.status != UP:
            return False  # it crashed in between: paid for, its noise never drawn
        ((self.state, vector),) = release(((self, k, spend, step.finish),))
        leaves = self._publish(vector, to)
        if self.participation is not None:
            self.participation.release(self.store.published_version)
        released = emit(Released, self.id, paid, k)
        sent = leaves and self._send(released, to)
        self.check_planned(released)
        return sent

    def _refuse(
        self, reason: str, state: State, heard: Heard, cause: int, to: Address | None
    ) -> bool:
        self.refused += 1
        self._set_spent(cause, reason)
        return self._act_without_budget(state, heard, cause, to)

    def _act_without_budget(
        self, state: State, heard: Heard, cause: int, to: Address | None
    ) -> bool:
        """Do what the settings say of an agent without budget: listen, smooth without data, or leave."""
        match self.settings.on_exhausted:
            case "smooth":
                return self._smooth(state, heard, cause, to)
            case "listen" | "leave":
                return False
            case then:
                raise NotImplementedError(f"no agent does {then!r} without a budget")

    def _smooth(self, state: State, heard: Heard, cause: int, to: Address | None) -> bool:
        step = self.mechanism.without_data(state, heard)
        if self._watch_step is not None:
            step = self._watch_step(step, state, heard, -1)
        self._finish(step, to)
        return step.kind == DERIVED and self._derive(cause, to)

    def _set_spent(self, cause: int, reason: str) -> None:
        if not self.spent:
            self.spent = True
            self._log.emit(Spent, self.id, cause, reason)

    def check_planned(self, cause: int) -> None:
        """Note that all planned releases were made, once they were."""
        planned = self.planned
        if planned is not None and not self.spent and len(self.store.ledger) >= planned > 0:
            self._set_spent(cause, "planned")

    def _finish(self, step: Step, to: Address | None) -> bool:
        """Take a step without data; true when a vector is ready to leave."""
        self.state, vector = step.finish(None)
        return self._publish(vector, to)

    def _publish(self, vector: Vector | None, to: Address | None) -> bool:
        if vector is not None:
            self.store.publish(vector, self.rounds, None if to is None else to.slot)
        return vector is not None

    def _derive(self, cause: int, to: Address | None) -> bool:
        derived = self._log.emit(Derived, self.id, cause, self.store.version - 1)
        return self._send(derived, to)

    def _send(self, cause: int, to: Address | None) -> bool:
        """Send the vector that was just published: to its addressee, or to every neighbour present."""
        store = self.store
        vector = store.published
        assert vector is not None, "publish before sending"  # noqa: S101
        if not self._finite(vector, cause):
            store.published = None  # it is never sent
            return False
        if to is None:
            self.outbox.broadcast(vector, store.published_version, self.rounds, cause)
        else:
            self.outbox.send_to(
                [to.slot], vector, store.published_version, to.round, cause, asks=to.asks
            )
        return True

    def send_model(self, receivers: list[int], round_: int, cause: int, *, asks: bool) -> None:
        """Send some neighbours the model that the agent holds; it is a function of what it heard."""
        if not receivers or self.diverged or not self._finite(self.model, cause):
            return
        model = self.model
        self.store.publish(model, round_)
        version, slots = self.store.published_version, [self.slots[j] for j in receivers]
        derived = self._log.emit(Derived, self.id, cause, version)
        self.outbox.send_to(slots, model, version, round_, derived, asks=asks)

    def _finite(self, vector: Vector, cause: int) -> bool:
        """Whether a vector is finite; where it is not, the agent has diverged, and an event says so."""
        if not isfinite(float(vector @ vector)):
            self.diverged = True
            self._log.emit(Diverged, self.id, cause)
        return not self.diverged

    def send_control(self, cause: int) -> None:
        """Send neighbours a message without data: this round brings nothing, or the agent is still there."""
        self.outbox.broadcast(None, self.store.version, self.rounds, cause)
        self.store.version += 1

    def resend(self, receiver: int, cause: int, round_: int | None = None) -> None:
        """Send a neighbour the last published vector once more."""
        if not self.diverged:
            self.outbox.resend(self.slots[receiver], cause, round_)
