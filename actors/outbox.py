"""Where an agent's messages leave: each link's verdict is carried out, and told."""

from collections import Counter

import numpy as np

from actors.events import Duplicated, Lost, Sent
from actors.faults.link_effects import Passage
from actors.link import HELD, LOST, Fan
from actors.log import Log
from actors.messages import Message
from actors.store import Store
from clocks.clock import Clock
from mechanisms.mixing import Heard
from mechanisms.vectors import Vector

BYTES_OF_NUMBER = 8


class Outbox:
    """Puts messages on the links to neighbours that are present."""

    __slots__ = (
        "_clock", "_heard", "_log", "_node", "_store", "carrying", "links", "memory", "suspects", "touches",
    )  # fmt: skip

    def __init__(self, node: int, heard: Heard, store: Store, clock: Clock, log: Log) -> None:
        self._node = node
        self._heard = heard
        self._store = store
        self._clock = clock
        self._log = log
        self.links = Fan((), (), lambda _first, count: np.empty((0, count), dtype=np.uint64))
        self.carrying: Vector | None = None
        """What the message holds that is being sent: an invariant looks at it."""
        self.suspects: set[int] = set()
        """Slots of neighbours that were silent for too long: not counted on, still sent to."""
        self.touches: Counter[int] = Counter()
        """How many messages each fault touched."""
        self.memory: dict[int, Message] | None = None
        """The first message on each link, where somebody will play it again."""

    def broadcast(self, vector: Vector | None, version: int, round_: int, cause: int) -> None:
        """Put one message on every link to a present neighbour."""
        links, heard = self.links, self._heard
        if heard.degree != len(links.receivers):
            here = heard.present.copy()
            here[list(self.suspects)] = True
            self.address(np.flatnonzero(here).tolist(), vector, version, round_, cause)
        elif links.receivers:
            message = Message(self._node, version, round_, vector, self._log.seq + 1)
            self._transmit(None, links.receivers, links.verdicts(version), message, cause)

    def address(
        self,
        slots: list[int],
        vector: Vector | None,
        version: int,
        round_: int,
        cause: int,
        *,
        asks: bool = False,
    ) -> None:
        """Put one message on the links to some neighbours."""
        if slots:
            links = self.links
            delays = links.verdicts(version)
            message = Message(self._node, version, round_, vector, self._log.seq + 1, asks)
            to, late = [links.receivers[s] for s in slots], [delays[s] for s in slots]
            self._transmit(slots, to, late, message, cause)

    def resend(self, slot: int, cause: int, round_: int | None = None) -> None:
        """Send a neighbour the bits that were last published: free, nothing is computed afresh."""
        store, links = self._store, self.links
        if store.published is None or (store.published_to is not None and round_ is None):
            return  # what answered one neighbour's question is no greeting
        round_ = store.published_round if round_ is None else round_
        message = Message(
            self._node, store.published_version, round_, store.published, self._log.seq + 1
        )
        to, delays = [links.receivers[slot]], [links.again(slot)]
        self._transmit([slot], to, delays, message, cause, resent=True)

    def replay(self, cause: int, delay: int = 0) -> None:
        """Let the first message of each link arrive once more: somebody kept it, and plays it again."""
        now = self._clock.now
        for slot, message in sorted((self.memory or {}).items()):
            receiver = self.links.receivers[slot]
            arrival = now + delay
            self._log.emit(Duplicated, self._node, cause, receiver, message.version, arrival)
            self.links.outlets[slot](arrival, cause, message)

    def _transmit(
        self,
        slots: list[int] | None,
        to: list[int],
        delays: list[int],
        message: Message,
        cause: int,
        *,
        resent: bool = False,
    ) -> None:
        """Carry out each link's verdict; the message already bears the number of this event."""
        links = self.links
        if self.memory is not None and message.vector is not None:
            for slot in slots or range(len(to)):
                self.memory.setdefault(slot, message)
        self.carrying = message.vector
        if links.effects:
            self._struggle(slots or list(range(len(to))), to, delays, message, cause, resent=resent)
            return
        now, emit, version = self._clock.now, self._log.emit, message.version
        arrives = [LOST if delay < 0 else now + delay for delay in delays]
        sent = emit(Sent, self._node, cause, version, to, arrives, _size(message), resent)
        outlets = links.outlets if slots is None else [links.outlets[s] for s in slots]
        for receiver, arrival, outlet in zip(to, arrives, outlets, strict=True):
            if arrival < 0:
                emit(Lost, self._node, sent, receiver, version)
            else:
                outlet(arrival, sent, message)

    def _struggle(
        self,
        slots: list[int],
        to: list[int],
        delays: list[int],
        message: Message,
        cause: int,
        *,
        resent: bool,
    ) -> None:
        """Do the same where faults have a word in it."""
        links, now, emit = self.links, self._clock.now, self._log.emit
        size, version = _size(message), message.version
        passages = [
            links.judge(slot, now, size, delay, message)
            for slot, delay in zip(slots, delays, strict=True)
        ]
        arrives = [LOST if p.lost else HELD if p.held else now + p.delay for p in passages]
        by = sorted({fault for passage in passages for fault in passage.by})
        sent = emit(Sent, self._node, cause, version, to, arrives, size, resent, by)
        for slot, receiver, arrival, passage in zip(slots, to, arrives, passages, strict=True):
            for fault in passage.by:
                self.touches[fault] += 1
            if passage.lost:
                emit(Lost, self._node, sent, receiver, version, passage.by)
                continue
            for copy in passage.copies:
                delay = copy + passage.delay - passage.base
                due = HELD if passage.held else now + delay
                copied = emit(Duplicated, self._node, sent, receiver, version, due)
                self._let_through(slot, passage, delay, copied)
            self._let_through(slot, passage, passage.delay, sent)
            if not passage.held:
                links.pass_by(slot, arrival)

    def _let_through(self, slot: int, passage: Passage, delay: int, sent: int) -> None:
        """Put a message, or its copy, on its way; what holds or damages one does so to both."""
        if passage.held:
            self.links.keep(slot, passage, delay, sent)
        else:
            signed = -sent if passage.corrupt else sent
            self.links.outlets[slot](passage.now + delay, signed, passage.message)


def _size(message: Message) -> int:
    return 0 if message.vector is None else BYTES_OF_NUMBER * len(message.vector)
