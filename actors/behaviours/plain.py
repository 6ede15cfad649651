"""A whole wake in one go: what an agent settles, merges, releases and sends becomes one row of the log, and no events.

It does what `Wake`, `Agent.act` and `Outbox` do step by step, in the same order and on the same state, so that an agent
may take either way at each wake. `fits` says whether a wake can be taken here; what turns up in the middle and fits no row
is handed over to the steps, behind the row of what was done so far.
"""

from collections.abc import Sequence
from functools import partial
from heapq import heappush
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from actors.agent import Agent
from actors.behaviours.wake import Wake, tell_charge
from actors.events import Diverged
from actors.log import Log
from actors.mailbox import ORDER, Entry, Mailbox, superseded_in
from actors.messages import Message
from actors.release import Finish, admit, release
from actors.turns import (
    BITS,
    HEAD,
    LOST_ARRIVAL,
    MERGED,
    NOTHING,
    RELEASED,
    SENT_,
    TURN,
    WOKE,
    Row,
    head_word,
    pack_receivers,
)
from actors.turns import DERIVED as HAS_DERIVED
from mechanisms.abilities import releases_at_once
from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.strategy import DERIVED, RELEASE
from mechanisms.vectors import Vector

_LONGEST = 1 << BITS
"""A vector or a list of receivers that is so long fits no row."""


_NONE: Row = []
"""No words: nothing is added to it."""
OVER, BY_STEPS = -1, 0
"""What `PlainWake.take` returns where the run has had all wakes, and where the wake has to be taken step by step."""


class Receivers:
    """The neighbours that an agent sends to, as long as the same ones are present."""

    __slots__ = ("_here", "_links", "boxes", "heaps", "ids", "packed", "slots")

    def __init__(self, agent: Agent) -> None:
        self._links = agent.outbox.links
        self._here: NDArray[np.bool_] | None = None
        self.ids: Sequence[int] = ()
        self.boxes: Sequence[Mailbox] = ()
        self.heaps: list[list[Entry]] | None = None
        """What is on its way to each of them; None where a post has to do more than to add to it."""
        self.slots: list[int] | None = None
        """Their slots, where not all neighbours are present; else None."""
        self.packed: Row = _NONE
        """Their ids as rows have them."""

    def update(self, heard: Heard) -> None:
        """Find who is present, where that has changed."""
        if heard.present is self._here:
            return
        links, self._here = self._links, heard.present
        if heard.degree == len(links.receivers):
            self.slots, self.ids, self.boxes = None, links.receivers, links.mailboxes
        else:
            self.slots = slots = np.flatnonzero(heard.present).tolist()
            self.ids = [links.receivers[slot] for slot in slots]
            self.boxes = [links.mailboxes[slot] for slot in slots]
        self.packed = pack_receivers(self.ids)
        lazy = all(type(box) is Mailbox and not box.may_wait for box in self.boxes)
        self.heaps = [box.coming for box in self.boxes] if lazy else None


class PlainWake:
    """Takes the wakes of one agent in one go each, where they fit."""

    __slots__ = (
        "_at_once",
        "_log",
        "_receivers",
        "_steady",
        "agent",
        "sent",
        "wake",
    )

    def __init__(self, wake: Wake, log: Log) -> None:
        agent = wake.agent
        self.wake = wake
        self.agent = agent
        self._log = log
        self._steady = (
            agent.compute_time is None
            and agent.detector is None
            and len(agent.neighbours) < _LONGEST
        )
        """Whether the settings of the agent allow rows: it acts when it wakes, and suspects no neighbour."""
        self._receivers = Receivers(agent)
        self._at_once = releases_at_once(agent.mechanism)
        self.sent = False
        """Whether something was sent at the last wake."""

    @property
    def fits(self) -> bool:
        """Whether the agent may take its next wake in one go."""
        return self._steady and not self._log.needs_events and not self.agent.has_event_steps

    def take(self, *, settles: bool = True) -> int:  # noqa: C901, PLR0912, PLR0915 # each call costs a wake 1 %
        """Settle what has arrived, wake, merge, act and send; return the number of `woke`.

        `OVER` where the run has had all wakes. `BY_STEPS` where a message fits no row: then what was settled so far is
        told, and the wake goes on step by step. Without `settles`, what has arrived was settled before.
        """
        agent, log = self.agent, self._log
        inbox, clock, store, heard = agent.inbox, agent.clock, agent.store, agent.heard
        now = clock.now
        first = log.seq + 1

        # what has arrived
        unread, settled = inbox.messages, _NONE
        carried = inbox.carried if unread else _NONE
        superseded = 0
        if settles and (coming := inbox.coming) and coming[0][0] < now:
            settled = Row()
            superseded = inbox.settle_in_row(now - 1, settled)
            if coming and coming[0][0] < now:
                self._tell_settled(first, carried, settled, superseded)
                return BY_STEPS
        if not self.wake.count.admit():
            self._tell_settled(first, carried, settled, superseded)
            return OVER
        woke = first + len(settled) // 3 + superseded
        agent.updates += 1
        agent.rounds += 1
        flags, event = WOKE, woke + 1
        k = place = version = NOTHING
        self.sent = False
        charged: Spend | None = None
        try:
            # what it takes over
            if unread:
                inbox.messages = {}
                values, slots = heard.values, agent.slots
                for sender, message in unread.items():
                    values[slots[sender]] = message.vector
                flags, event = WOKE | MERGED, woke + 2
            if agent.balanced:
                heard.ticks, heard.own = agent.ticks, store.published

            # what it does: a release is charged before its noise is drawn
            made, at_once, step = len(store.ledger), self._at_once, None
            spend = None if at_once is None else at_once.next_spend(heard, made)
            if spend is None:
                step = agent.mechanism.propose(agent.state, heard, made)
                spend = step.spend if step.kind == RELEASE else None
            if spend is None:
                assert step is not None, "what is no release is a step"  # noqa: S101
                agent.state, vector = step.finish(None)
                if vector is not None:
                    store.publish(vector, agent.rounds)
                cause, ready = woke, step.kind == DERIVED
                if ready:
                    flags |= HAS_DERIVED
                    version, cause, event = store.version - 1, event, event + 1
            elif admit(((agent, spend),))[0].refused:
                if step is None:
                    step = agent.mechanism.propose(agent.state, heard, made)
                self._tell(first, flags, event, carried, settled, superseded)
                flags = 0
                self.sent = agent.take(step, agent.state, heard, woke)
                return woke
            else:
                charged = spend
                if step is not None:
                    finish: Finish = step.finish
                else:
                    assert at_once is not None, "it gave the spend"  # noqa: S101
                    finish = partial(at_once.release, agent.state, heard, made)
                ((agent.state, vector),) = release(((agent, made, spend, finish),))
                ready = vector is not None
                if vector is not None:
                    store.publish(vector, agent.rounds)
                k, place = made, log.spends.place(spend)
                flags |= RELEASED
                cause, event = event + 2, event + 3
        except BaseException:
            if flags:  # what happened before something failed stays on record
                self._tell(first, flags & ~RELEASED, event, carried, settled, superseded)
                if charged is not None:
                    tell_charge(log, agent.id, woke, made, charged)
            raise

        # what it sends
        arrives, packed, size, lost = _NONE, _NONE, 0, 0
        by_events = None
        if ready:
            vector = store.published
            assert vector is not None, "publish before sending"  # noqa: S101
            size = len(vector)
            if size >= _LONGEST or not isfinite(vector @ vector):
                by_events, size = self._send_by_events, 0
            elif heard.degree:
                arrives = self._post(vector, event)
                packed, version = self._receivers.packed, store.published_version
                lost = arrives.count(LOST_ARRIVAL)
                flags |= SENT_
                event += 1 + lost
            else:
                size = 0
            self.sent = True
        words = HEAD + len(carried) + len(settled) + len(packed) + len(arrives)
        row = [
            TURN | flags << 8 | words << 16,
            first,
            now,
            agent.id,
            clock.late,
            len(carried) | len(settled) // 3 << BITS | superseded << 2 * BITS,
            k,
            place,
            version,
            len(arrives) | lost << BITS | size << 2 * BITS,
            0,
            *carried,
            *settled,
            *packed,
            *arrives,
        ]
        log.add_turn(row, event - first)
        if by_events is not None:
            self.sent = by_events(cause)
        if agent.planned is not None and not agent.spent:
            agent.check_planned(cause if k >= 0 else woke)
        return woke

    def _post(self, vector: Vector, sent: int) -> list[int]:
        """Put one message on every link to a present neighbour, into the mailbox behind it; return the arrivals."""
        agent, receivers = self.agent, self._receivers
        outbox, version, now = agent.outbox, agent.store.published_version, agent.clock.now
        receivers.update(agent.heard)
        delays = outbox.links.verdicts(version)
        if receivers.slots is not None:
            delays = [delays[slot] for slot in receivers.slots]
        message = Message(agent.id, version, agent.rounds, vector, sent)
        if outbox.first_messages is not None:
            for slot in receivers.slots or range(len(receivers.ids)):
                outbox.first_messages.setdefault(slot, message)
        outbox.outgoing = vector
        arrives = [LOST_ARRIVAL if delay < 0 else now + delay for delay in delays]
        if receivers.heaps is not None:
            order = next(ORDER)
            for arrival, heap in zip(arrives, receivers.heaps, strict=True):
                if arrival >= 0:
                    heappush(heap, (arrival, order, sent, message))
            return arrives
        for arrival, box in zip(arrives, receivers.boxes, strict=True):
            if arrival >= 0:
                box.post(arrival, sent, message)
        return arrives

    def _send_by_events(self, cause: int) -> bool:
        """Send what was just published step by step: it fits no row, or is not finite and is never sent."""
        agent, store = self.agent, self.agent.store
        vector = store.published
        assert vector is not None, "publish before sending"  # noqa: S101
        if isfinite(vector @ vector):
            agent.outbox.broadcast(vector, store.published_version, agent.rounds, cause)
            return True
        agent.diverged = True
        store.published = None
        self._log.emit(Diverged, agent.id, cause)
        return False

    def _tell_settled(self, first: int, carried: Row, settled: Row, superseded: int) -> None:
        """Add the row of what was settled, where no wake belongs to it."""
        if settled:
            carried = superseded_in(settled, carried)
            self._tell(
                first, 0, first + len(settled) // 3 + superseded, carried, settled, superseded
            )

    def _tell(
        self, first: int, flags: int, event: int, carried: Row, settled: Row, superseded: int
    ) -> None:
        """Add the row of what was done so far: of what an agent settled, woke and merged."""
        clock, counts = self.agent.clock, len(carried) | len(settled) // 3 << BITS
        row = [
            head_word(flags, HEAD + len(carried) + len(settled)),
            *(first, clock.now, self.agent.id, clock.late),
            counts | superseded << 2 * BITS,
            *(NOTHING, NOTHING, NOTHING),
            *(0, 0),
            *carried,
            *settled,
        ]
        self._log.add_turn(row, event - first)
