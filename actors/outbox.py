"""Where an agent's messages leave: each link's verdict is carried out, and told."""

import numpy as np

from actors.events import Log, Lost, Sent
from actors.link import LOST, Fan, Outlet
from actors.messages import Message
from actors.store import Store
from clocks.clock import Clock
from mechanisms.mixing import Heard
from mechanisms.vectors import Vector

BYTES_OF_NUMBER = 8


class Outbox:
    """Puts messages on the links to neighbours that are present."""

    __slots__ = ("_clock", "_heard", "_log", "_node", "_store", "links")

    def __init__(self, node: int, heard: Heard, store: Store, clock: Clock, log: Log) -> None:
        self._node = node
        self._heard = heard
        self._store = store
        self._clock = clock
        self._log = log
        self.links = Fan((), (), lambda _first, count: np.empty((0, count), dtype=np.uint64))

    def broadcast(self, vector: Vector | None, version: int, round_: int, cause: int) -> None:
        """Put one message on every link to a present neighbour."""
        links, heard = self.links, self._heard
        to, delays, outlets = links.receivers, links.verdicts(version), links.outlets
        if heard.degree != len(to):
            self.address(np.flatnonzero(heard.present).tolist(), vector, version, round_, cause)
        elif to:
            message = Message(self._node, version, round_, vector, self._log.seq + 1)
            self._transmit(to, delays, outlets, message, cause, resent=False)

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
            delays, outlets = links.verdicts(version), links.outlets
            message = Message(self._node, version, round_, vector, self._log.seq + 1, asks)
            self._transmit(
                [links.receivers[s] for s in slots], [delays[s] for s in slots],
                [outlets[s] for s in slots], message, cause, resent=False,
            )  # fmt: skip

    def resend(self, slot: int, cause: int, round_: int | None = None) -> None:
        """Send a neighbour the bits that were last published: free, nothing is computed afresh."""
        store, links = self._store, self.links
        if store.published is None or (store.published_to is not None and round_ is None):
            return  # what answered one neighbour's question is no greeting
        round_ = store.published_round if round_ is None else round_
        message = Message(
            self._node, store.published_version, round_, store.published, self._log.seq + 1
        )
        receiver, delay = links.receivers[slot], links.again(slot)
        self._transmit([receiver], [delay], [links.outlets[slot]], message, cause, resent=True)

    def _transmit(
        self,
        to: list[int],
        delays: list[int],
        outlets: list[Outlet],
        message: Message,
        cause: int,
        *,
        resent: bool,
    ) -> None:
        """Carry out each link's verdict; the message already bears the number of this event."""
        now, emit, version = self._clock.now, self._log.emit, message.version
        arrives = [LOST if delay < 0 else now + delay for delay in delays]
        size = 0 if message.vector is None else BYTES_OF_NUMBER * len(message.vector)
        sent = emit(Sent, self._node, cause, version, to, arrives, size, resent)
        for receiver, arrival, outlet in zip(to, arrives, outlets, strict=True):
            if arrival < 0:
                emit(Lost, self._node, sent, receiver, version)
            else:
                outlet(arrival, sent, message)
