"""An agent's outgoing links: what becomes of each message, and the outbox that puts messages on them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.events import Duplicated, Lost, Sent
from actors.faults.link_effects import Hold, LinkEffect, Passage, Reordering
from actors.log import Log
from actors.mailbox import Mailbox
from actors.messages import Message
from actors.store import Store
from actors.turns import MOST_FAULTS, resent_row
from clocks.clock import Clock
from clocks.durations import Bits, Constant, Duration, Nanoseconds, bits_of, block_of
from mechanisms.mixing import Heard
from mechanisms.vectors import Vector

LOST, HELD = -1, -2
BYTES_OF_NUMBER = 8
_FIRST, _MOST = 8, 32
"""The verdicts of so many versions are drawn at once: at first, and later."""
_WIDE = 64
"""With more links than these the first block is large enough: a call of NumPy costs little beside its work."""
_AT_ONCE = 8
"""So many resends of each link are drawn together."""
_RESENDS = 1 << 40
"""Where the draws of resends begin in the stream of a link."""

AT_ONCE = Constant(0.0)
_NOTHING: dict[int, Any] = {}
"""What no fault does on any link: links share it until one of them has something of its own."""
_NO_SUSPECTS: set[int] = set()
"""Those of an agent without a detector, which alone suspects a neighbour."""
_NO_MESSAGES: Counter[int] = Counter()
"""Those that faults touched on the links of an agent that no fault has come to."""
_UNDRAWN: Nanoseconds = np.empty((0, 0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Policy:
    """The verdict on each message of a link: lost with probability `loss`, else late by `latency`."""

    latency: Duration = AT_ONCE
    loss: float = 0.0
    rate: float | None = None
    """Bytes per second; None is without limit."""

    def verdicts(self, bits: Bits, first: int | Nanoseconds) -> Nanoseconds:
        """Return delays in nanoseconds for messages `first`, `first` + 1 …; LOST for lost ones.

        Message n takes draws 2n (its fate) and 2n + 1 (its delay) of its link's stream, so that a
        change of one parameter leaves all other verdicts alone.
        """
        delays = self.latency.draw(bits[..., 1::2], first)
        if self.loss > 0:
            fates = (bits[..., ::2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
            delays = np.where(fates < self.loss, LOST, delays)
        return delays


@dataclass(slots=True)
class HeldMessage:
    """A message that a fault keeps on its link."""

    delay: int
    due: int
    """When it would have arrived."""
    sent: int
    message: Message
    overtaken: bool
    """Whether it only waits for the next message to go past it."""


class Links:
    """The outgoing links of one agent: what becomes of version v on a link is a function of the link and v.

    Verdicts are drawn for all links together, for a few versions at a time. `effects` are what faults do to single links
    now, and `held` what they keep there: both are empty most of the time. `mailboxes` are those of the receivers, and
    `keys` those of the streams of the links, in the order of the links.
    """

    __slots__ = (
        "_count",
        "_drawn",
        "_first",
        "_groups",
        "_redrawn",
        "_resent",
        "effects",
        "held",
        "keys",
        "mailboxes",
        "policies",
        "receivers",
    )

    def __init__(
        self,
        receivers: Sequence[int],
        policies: Sequence[Policy] | Policy,
        keys: Bits,
        mailboxes: list[Mailbox],
    ) -> None:
        """Make links; `policies` is one for each, or one for all."""
        self.receivers = list(receivers)
        self.mailboxes = mailboxes
        self.keys = keys
        self.policies = policies
        """The policy of each link, or the one that all of them have."""
        self._groups = None if isinstance(policies, Policy) else _grouped(policies)
        self._first = self._count = 0
        self._drawn = _UNDRAWN
        self._resent: dict[int, int] = _NOTHING
        self._redrawn: dict[int, list[list[int]]] = {}
        """Verdicts of resends by blocks of their numbers, a row for each link; the last two blocks are kept."""
        self.effects: dict[int, list[LinkEffect]] = _NOTHING
        self.held: dict[int, list[HeldMessage]] = _NOTHING

    def policy_of(self, slot: int) -> Policy:
        """Return the policy of one link."""
        policies = self.policies
        return policies if isinstance(policies, Policy) else policies[slot]

    def verdict_row(self, version: int) -> Nanoseconds:
        """Return the delay of a version on every link in nanoseconds, or LOST; the array is not to be changed."""
        at = version - self._first
        if not 0 <= at < self._count:
            most = _FIRST if len(self.receivers) > _WIDE else _MOST
            self._first, self._count = block_of(version, _FIRST, most)
            self._drawn = np.ascontiguousarray(self._draw(self._first, self._count).T)
            at = version - self._first
        row: Nanoseconds = self._drawn[at]
        return row

    def verdicts(self, version: int) -> list[int]:
        """Return the same as a list."""
        at = version - self._first
        if 0 <= at < self._count:
            kept: list[int] = self._drawn[at].tolist()
            return kept
        drawn: list[int] = self.verdict_row(version).tolist()
        return drawn

    def resend_verdict(self, slot: int) -> int:
        """Return the delay of the next resend on one link, or LOST: resends have draws of their own."""
        times = self._resent.get(slot, 0)
        if not times:
            self._resent = dict(self._resent)
        self._resent[slot] = times + 1
        if len(self.receivers) > _WIDE:
            first = _RESENDS + times
            bits = bits_of(self.keys[slot], 2 * first, 2)
            return int(self.policy_of(slot).verdicts(bits, first)[0])
        # neighbours come back about equally often: a few draws for all links serve many resends
        block, place = divmod(times, _AT_ONCE)
        if block not in self._redrawn:
            kept = self._redrawn.get(block - 1)
            self._redrawn = {} if kept is None else {block - 1: kept}
            self._redrawn[block] = self._draw(_RESENDS + block * _AT_ONCE, _AT_ONCE).tolist()
        return self._redrawn[block][slot][place]

    def _draw(self, first: int, count: int) -> Any:
        bits = bits_of(self.keys[:, None], 2 * first, 2 * count)
        if isinstance(self.policies, Policy):
            return self.policies.verdicts(bits, first)
        drawn = np.empty((len(self.receivers), count), dtype=np.int64)
        for policy, rows in self._groups or ():
            drawn[rows] = policy.verdicts(bits[rows], first)
        return drawn

    # what faults do

    def add_effect(self, slot: int, effect: LinkEffect) -> None:
        """Let a fault act on the messages of one link, from now on."""
        if not self.effects:
            self.effects = {}  # of its own
        self.effects.setdefault(slot, []).append(effect)

    def remove_effect(self, slot: int, effect: LinkEffect, now: int) -> None:
        """Take an effect away again; the messages it held go on, unless another effect holds them."""
        here = self.effects[slot]
        here.remove(effect)
        if not here:
            del self.effects[slot]
        if slot in self.held:
            self._release(slot, now)

    def _release(self, slot: int, now: int) -> None:
        others = self.effects.get(slot, ())
        holding = any(isinstance(other, Hold) for other in others)
        overtaking = any(isinstance(other, Reordering) for other in others)
        kept, last = list[HeldMessage](), -1
        for held in self.held.pop(slot):
            if holding or (overtaking and held.overtaken):
                kept.append(held)
            else:
                last = max(now, held.due) if held.overtaken else now + held.delay
                self.mailboxes[slot].post(last, held.sent, held.message)
        if kept:
            self.held[slot] = kept
            if last >= 0:
                self.release_overtaken(slot, last)

    def release_overtaken(self, slot: int, arrival: int) -> None:
        """Let messages go on that waited for another to go past them, after that one's arrival."""
        waiting = self.held.get(slot)
        if not waiting:
            return
        for held in [held for held in waiting if held.overtaken]:
            waiting.remove(held)
            self.mailboxes[slot].post(max(held.due, arrival + 1), held.sent, held.message)
        if not waiting:
            del self.held[slot]

    @property
    def are_settled(self) -> bool:
        """Whether all that faults do here follows from the order of messages, and fits rows."""
        every = [effect for here in self.effects.values() for effect in here]
        few = len({e.fault for e in every if e.fault >= 0}) <= MOST_FAULTS
        return few and all(effect.settles for effect in every)

    @property
    def held_count(self) -> int:
        """How many messages faults keep on these links."""
        return sum(map(len, self.held.values())) if self.held else 0

    def apply_effects(
        self, slot: int, now: int, size: int, delay: int, message: Message
    ) -> Passage:
        """Let every effect on a link change what becomes of one message, in the order they began."""
        policy = self.policy_of(slot)
        passage = Passage(
            now,
            size,
            max(0, delay),
            message,
            lambda bits: int(policy.latency.draw(bits, message.version)[0]),
            base=max(0, delay),
            lost=delay < 0,
        )
        for effect in self.effects.get(slot, ()):
            if effect.judge(passage) and effect.fault >= 0:
                passage.by.append(effect.fault)
        return passage

    def put(self, slot: int, passage: Passage, delay: int, sent: int) -> None:
        """Put a message, or its copy, on its way; an effect that holds or corrupts one does so to both."""
        message = passage.message
        if passage.corrupt:
            message = message.damaged()
        due = passage.now + delay
        if not passage.held:
            self.mailboxes[slot].post(due, sent, message)
            return
        overtaken = not any(isinstance(effect, Hold) for effect in self.effects.get(slot, ()))
        held = HeldMessage(delay, due, sent, message, overtaken)
        if not self.held:
            self.held = {}  # of its own
        self.held.setdefault(slot, []).append(held)


def _grouped(policies: Sequence[Policy]) -> list[tuple[Policy, NDArray[np.int64]]]:
    """Return the different policies, each with the rows that have it."""
    groups: dict[int, tuple[Policy, list[int]]] = {}
    for row, policy in enumerate(policies):
        groups.setdefault(id(policy), (policy, []))[1].append(row)
    return [(policy, np.array(rows)) for policy, rows in groups.values()]


class Outbox:
    """Puts an agent's messages on the links to neighbours that are present, and records that."""

    __slots__ = (
        "_clock",
        "_heard",
        "_log",
        "_node",
        "_store",
        "first_messages",
        "links",
        "outgoing",
        "reads",
        "suspects",
        "touched",
    )

    def __init__(
        self, node: int, links: Links, heard: Heard, store: Store, clock: Clock, log: Log
    ) -> None:
        self._node = node
        self._heard = heard
        self._store = store
        self._clock = clock
        self._log = log
        self.links = links
        self.outgoing: Vector | None = None
        """What the message holds that is being sent: an invariant looks at it."""
        self.suspects = _NO_SUSPECTS
        """Slots of neighbours that were silent for too long: not counted on, still sent to."""
        self.touched = _NO_MESSAGES
        """How many messages each fault touched, by the number of the fault."""
        self.reads: dict[int, int] | None = None
        """What its messages say that the agent merged, kept up to date by the agent; None: they say nothing of it."""
        self.first_messages: dict[int, Message] | None = None
        """The first message on each link, where a fault will replay it; None where none will."""

    def broadcast(self, vector: Vector | None, version: int, round_: int, cause: int) -> None:
        """Put one message on every link to a present neighbour; None as vector is a control message."""
        links, heard = self.links, self._heard
        if heard.degree != len(links.receivers):
            here = heard.present.copy()
            here[list(self.suspects)] = True
            self.send_to(np.flatnonzero(here).tolist(), vector, version, round_, cause)
        elif links.receivers:
            message = self._message(version, round_, vector)
            self._transmit(None, links.receivers, links.verdicts(version), message, cause)

    def send_to(
        self,
        slots: list[int],
        vector: Vector | None,
        version: int,
        round_: int,
        cause: int,
        *,
        asks: bool = False,
    ) -> None:
        """Put one message on the links to some neighbours; with `asks` they are expected to answer."""
        if slots:
            links = self.links
            delays = links.verdicts(version)
            message = self._message(version, round_, vector, asks=asks)
            to, late = [links.receivers[s] for s in slots], [delays[s] for s in slots]
            self._transmit(slots, to, late, message, cause)

    def _message(
        self, version: int, round_: int, vector: Vector | None, *, asks: bool = False
    ) -> Message:
        """Return a message that is about to be sent."""
        reads = None if self.reads is None else dict(self.reads)
        return Message(self._node, version, round_, vector, self._log.seq + 1, asks, reads=reads)

    def resend(self, slot: int, cause: int, round_: int | None = None) -> None:
        """Send a neighbour the bits that were last published, where there are any: free, nothing is computed afresh.

        An answer to one neighbour's question is for no other: it goes with a `round_` only.
        """
        store, links = self._store, self.links
        if store.published is None or (store.published_to is not None and round_ is None):
            return
        round_ = store.published_round if round_ is None else round_
        message = self._message(store.published_version, round_, store.published)
        to, delay = links.receivers[slot], links.resend_verdict(slot)
        if links.effects or self._log.needs_events or self.first_messages is not None:
            self._transmit([slot], [to], [delay], message, cause, resent=True)
            return
        self.outgoing = message.vector
        clock, is_lost, numbers = self._clock, delay < 0, len(store.published)
        now, node, version = clock.now, self._node, message.version
        arrival = LOST if is_lost else now + delay
        at = message.sent, now, node, clock.late
        self._log.add_turn(resent_row(*at, version, to, arrival, numbers, cause), 1 + is_lost)
        if not is_lost:
            links.mailboxes[slot].post(arrival, message.sent, message)

    def replay(self, cause: int, delay: int = 0) -> None:
        """Let the first message of each link arrive once more, as an eavesdropper replays it."""
        now = self._clock.now
        for slot, message in sorted((self.first_messages or {}).items()):
            receiver = self.links.receivers[slot]
            arrival = now + delay
            self._log.emit(Duplicated, self._node, cause, receiver, message.version, arrival)
            self.links.mailboxes[slot].post(arrival, cause, message)

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
        if self.first_messages is not None and message.vector is not None:
            for slot in slots or range(len(to)):
                self.first_messages.setdefault(slot, message)
        self.outgoing = message.vector
        if links.effects:
            every = slots or list(range(len(to)))
            self._transmit_with_effects(every, to, delays, message, cause, resent=resent)
            return
        now, emit, version = self._clock.now, self._log.emit, message.version
        arrives = [LOST if delay < 0 else now + delay for delay in delays]
        sent = emit(Sent, self._node, cause, version, to, arrives, _size(message), resent)
        mailboxes = links.mailboxes if slots is None else [links.mailboxes[s] for s in slots]
        for receiver, arrival, mailbox in zip(to, arrives, mailboxes, strict=True):
            if arrival < 0:
                emit(Lost, self._node, sent, receiver, version)
            else:
                mailbox.post(arrival, sent, message)

    def note_touched(self, faults: Sequence[int]) -> None:
        """Count a message that some faults touched."""
        if faults and not self.touched:
            self.touched = Counter()  # of its own
        for fault in faults:
            self.touched[fault] += 1

    def _transmit_with_effects(
        self,
        slots: list[int],
        to: list[int],
        delays: list[int],
        message: Message,
        cause: int,
        *,
        resent: bool,
    ) -> None:
        """Do the same where faults change what becomes of messages."""
        links, now, emit = self.links, self._clock.now, self._log.emit
        size, version = _size(message), message.version
        passages = [
            links.apply_effects(slot, now, size, delay, message)
            for slot, delay in zip(slots, delays, strict=True)
        ]
        arrives = [LOST if p.lost else HELD if p.held else now + p.delay for p in passages]
        by = sorted({fault for passage in passages for fault in passage.by}) or ()
        lost_by = [sorted(set(passage.by)) or () for passage in passages]
        sent = emit(Sent, self._node, cause, version, to, arrives, size, resent, by)
        each = zip(slots, to, arrives, passages, lost_by, strict=True)
        for slot, receiver, arrival, passage, faults in each:
            self.note_touched(faults)
            if passage.lost:
                emit(Lost, self._node, sent, receiver, version, faults)
                continue
            for copy in passage.copies:
                delay = copy + passage.delay - passage.base
                due = HELD if passage.held else now + delay
                copied = emit(Duplicated, self._node, sent, receiver, version, due)
                links.put(slot, passage, delay, copied)
            links.put(slot, passage, passage.delay, sent)
            if not passage.held:
                links.release_overtaken(slot, arrival)


def _size(message: Message) -> int:
    """Return the bytes of a message's vector; 0 for a control message."""
    return 0 if message.vector is None else BYTES_OF_NUMBER * len(message.vector)
