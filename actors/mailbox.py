"""The messages of one agent that are on their way or not yet read, and which neighbours have been silent for long."""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from actors.events import Delivered, Rejected, Superseded
from actors.log import Log
from actors.messages import Message
from actors.turns import (
    AGENT,
    BITS,
    LATE,
    NOTHING,
    OLD,
    REPLACES,
    SEQ,
    Row,
    T,
    head_word,
    length_of,
)
from clocks.clock import DELIVERY, Clock, Signal
from mechanisms.mixing import Heard

Entry = tuple[int, int, int, Message]
"""Arrival, a number that orders what arrives at one instant, the event that sent it, and the message."""
ORDER = count(1)
"""Numbers posts: of two that arrive at one instant, the one that was posted first comes first."""


class SharedMessage:
    """One message that arrives at several mailboxes at one instant, all of them empty: it is posted when one is looked at.

    Where its receivers act together it is never posted at all. `sent` is the number of the event that sent it.
    """

    __slots__ = ("arrival", "mailboxes", "message", "posted", "sent")

    def __init__(
        self, mailboxes: Sequence["Mailbox"], arrival: int, sent: int, message: Message
    ) -> None:
        self.mailboxes = mailboxes
        self.arrival = arrival
        self.sent = sent
        self.message = message
        self.posted = False
        for mailbox in mailboxes:
            mailbox.shared = self

    def post(self) -> None:
        """Let it be in every mailbox by itself. Owners that wait are not woken by this: see `wake_owners`."""
        self.posted = True
        for mailbox in self.mailboxes:
            mailbox.take_shared(self.arrival, self.sent, self.message)

    def read(self) -> None:
        """Count it as read by all of its receivers, which have nothing else to read."""
        self.posted = True
        sender, version = self.message.sender, self.message.version
        for mailbox in self.mailboxes:
            mailbox.note_read(sender, version)

    def wake_owners(self) -> None:
        """Wake the owners that wait for it: its instant has come."""
        for mailbox in self.mailboxes:
            mailbox.wake_owner()


class Mailbox:
    """Holds messages until its owner wakes and reads them: a message costs the clock no entry of its own.

    Of one sender the newest version wins. Whether the receiver was up when a message arrived is judged
    at that arrival: `settle` is called whenever the owner's state is about to change.
    """

    __slots__ = (
        "_clock",
        "_later_rounds",
        "_log",
        "_node",
        "_rounds",
        "_through",
        "coming",
        "last_heard",
        "may_wait",
        "messages",
        "newest_round",
        "seen",
        "shared",
        "waiting_owner",
    )

    def __init__(self, node: int, clock: Clock, log: Log) -> None:
        self._node = node
        self._clock = clock
        self._log = log
        self.coming: list[Entry] = []
        self.messages: dict[int, Message] = {}
        self._later_rounds: list[tuple[int, Message]] = []
        self._through: int | None = None
        self.seen: dict[int, int] = {}
        self.may_wait = True
        """Whether its owner may wait for messages: then a post has to see whether it does."""
        self.waiting_owner: Signal | None = None
        self._rounds: dict[int, set[int]] = {}
        self.newest_round = 0
        self.last_heard: dict[int, int] | None = None
        """When each sender was heard last, in nanoseconds; None where no detector asks."""
        self.shared: SharedMessage | None = None
        """A message that is on its way to several mailboxes, and not posted in them yet."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on its way, and nothing unread."""
        return not (self.coming or self.messages or self._later_rounds or self.shared)

    def only_message(self, until: int) -> tuple[int, int, Message] | None:
        """Return the one message that is to be read, where there are not several; it stays where it is.

        It is unread, or it has arrived by `until`. Returns its arrival, the number of the event that sent it (0 where it
        was settled before) and the message; None where there is none. Raises LookupError where there are several.
        """
        unread, shared, coming = self.messages, self.shared, self.coming
        if shared is not None:
            return None if shared.arrival > until else (shared.arrival, shared.sent, shared.message)
        due = bool(coming) and coming[0][0] <= until
        several = len(unread) + due > 1 or any(e[0] <= until for e in coming[1:3])
        if several or self._later_rounds:
            raise LookupError("several messages are to be read")
        if unread:
            return until, 0, next(iter(unread.values()))
        if not due:
            return None
        arrival, _, sent, message = coming[0]
        return arrival, sent, message

    def read_only_message(self) -> None:
        """Take the message that `only_message` returned; a shared one was posted before."""
        if self.messages:
            self.messages.clear()
            return
        message = heappop(self.coming)[3]
        self.seen[message.sender] = message.version

    def read_at_once(self, versions: Mapping[int, int]) -> None:
        """Count messages as read that arrive now and were never posted: a version of each sender."""
        self.seen.update(versions)

    def has_seen(self, sender: int, version: int) -> bool:
        """Whether a version of a sender, or a newer one, was taken over already."""
        return self.seen.get(sender, -1) >= version

    def note_read(self, sender: int, version: int) -> None:
        """Count a shared message as read."""
        self.shared = None
        self.seen[sender] = version

    def take_shared(self, arrival: int, sent: int, message: Message) -> None:
        """Take a shared message as one of its own."""
        self.shared = None
        heappush(self.coming, (arrival, next(ORDER), sent, message))

    @property
    def in_flight(self) -> int:
        """Messages sent and not yet settled."""
        return len(self.coming) + (self.shared is not None)

    @property
    def unread(self) -> bool:
        """Whether something was settled and not read."""
        return bool(self.messages)

    def unsettled(self, now: int) -> int:
        """Count the messages that have arrived and are not settled yet."""
        early = self.shared is not None and self.shared.arrival <= now
        return sum(1 for entry in self.coming if entry[0] <= now) + early

    def waiting(self, now: int) -> int:
        """Count the messages that have arrived and are not read, without settling them."""
        return self.unsettled(now) + len(self.messages) + len(self._later_rounds)

    def post(self, arrival: int, sent: int, message: Message) -> None:
        """Let a message arrive at an instant; `sent` is the number of the event that sent it this time."""
        if self.shared is not None:
            self.shared.post()
        heappush(self.coming, (arrival, next(ORDER), sent, message))
        if self.waiting_owner is not None:
            self._clock.at(arrival, DELIVERY, self.wake_owner)

    def settle(self, until: int, *, up: bool = True) -> None:
        """Deliver, or reject when the owner is not up, what has arrived at or before `until`."""
        if self.shared is not None:
            self.shared.post()
        coming, log, node = self.coming, self._log, self._node
        seen, unread, through = self.seen, self.messages, self._through
        heard = self.last_heard
        while coming and coming[0][0] <= until:
            arrival, _, sent, message = heappop(coming)
            sender, version = message.sender, message.version
            if not up or message.corrupt:
                reason = "corrupt" if message.corrupt else ""
                log.emit(Rejected, node, sent, sender, version, arrival, reason)
                continue
            delivered = log.emit(Delivered, node, sent, sender, version, arrival)
            if heard is not None:
                heard[sender] = arrival
            if through is not None:
                self._await_round(message, delivered, through)
            elif heard is not None and message.vector is None:
                continue  # a control message: a sign of life
            elif version > seen.get(sender, -1) and sender not in unread:
                seen[sender] = version
                unread[sender] = message
            else:
                self._accept(message, delivered)

    def settle_at_once(self, until: int) -> None:
        """Do the same for an owner that is up, as one row where that is possible: where no wake follows at this instant."""
        if self.shared is not None:
            self.shared.post()
        log, coming = self._log, self.coming
        if log.needs_events or self._through is not None or self.last_heard is not None:
            self.settle(until)
            return
        if coming and coming[0][0] <= until:
            carried, settled = self.carried, Row()
            first, superseded = log.seq + 1, self.settle_in_row(until, settled)
            if settled:
                row = settled_row(settled, superseded, superseded_in(settled, carried))
                row[SEQ], row[T], row[AGENT] = first, self._clock.now, self._node
                row[LATE] = self._clock.late
                log.add_turn(row, len(settled) // 3 + superseded)
            self.settle(until)  # what fits no row, and what comes behind it

    @property
    def carried(self) -> Row:
        """What was settled and not read, as rows have it."""
        return [sender << 32 | message.version for sender, message in self.messages.items()]

    def settle_in_row(self, until: int, settled: Row) -> int:
        """Deliver what has arrived at or before `until` without events: each message adds its words to `settled`.

        It stops before a message that fits no row. Returns how many were superseded. Only for an owner that is up, reads
        no rounds and suspects nothing.
        """
        coming, seen, unread = self.coming, self.seen, self.messages
        superseded = 0
        while coming:
            arrival, _, sent, message = coming[0]
            if arrival > until or message.corrupt:
                break
            heappop(coming)
            sender, version = message.sender, message.version
            word = sender << 34 | version << 2
            if version <= seen.get(sender, -1):
                word |= OLD
                superseded += 1
            else:
                if sender in unread:
                    word |= REPLACES
                    superseded += 1
                seen[sender] = version
                unread[sender] = message
            settled += (arrival, sent, word)
        return superseded

    def _await_round(self, message: Message, delivered: int, through: int) -> None:
        """Note the round of a message, and hold it back when it is of a later one."""
        self._rounds.setdefault(message.sender, set()).add(message.round)
        self.newest_round = max(self.newest_round, message.round)
        if message.vector is None:
            return  # a control message: the round is over for its sender
        if message.round > through:
            self._later_rounds.append((delivered, message))
        else:
            self._accept(message, delivered)

    def _accept(self, message: Message, delivered: int) -> None:
        sender, version = message.sender, message.version
        if version <= self.seen.get(sender, -1):
            self._log.emit(Superseded, self._node, delivered, sender, version)
            return
        former = self.messages.get(sender)
        if former is not None:
            self._log.emit(Superseded, self._node, delivered, sender, former.version)
        self.seen[sender] = version
        self.messages[sender] = message

    def accept_through(self, round_: int) -> None:
        """Hold messages of later rounds than `round_` back, for an owner with a barrier."""
        self._through = round_
        for sender, rounds in self._rounds.items():
            self._rounds[sender] = {r for r in rounds if r >= round_}
        ahead, self._later_rounds = self._later_rounds, []
        for delivered, message in ahead:
            if message.round > round_:
                self._later_rounds.append((delivered, message))
            else:
                self._accept(message, delivered)

    def take(self) -> dict[int, Message]:
        """Return the newest message of each sender that was settled and not read."""
        taken, self.messages = self.messages, {}
        return taken

    async def wait(self, deadline: int | None) -> None:
        """Wait until a message has arrived, or until a deadline in nanoseconds; None is no deadline."""
        if self.shared is not None:
            self.shared.post()
        self.waiting_owner = signal = self._clock.signal(DELIVERY)
        if self.coming:
            self._clock.at(max(self.coming[0][0], self._clock.now), DELIVERY, self.wake_owner)
        if deadline is not None:
            self._clock.at(deadline, DELIVERY, signal.set)
        try:
            await signal
        finally:
            self.waiting_owner = None

    def has_round(self, sender: int, round_: int) -> bool:
        """Whether a sender's message of this very round is in: a later one may have overtaken it."""
        return round_ in self._rounds.get(sender, ())

    @property
    def is_awaited(self) -> bool:
        """Whether the owner waits for a message."""
        return self.waiting_owner is not None

    def recheck(self) -> None:
        """Wake a waiting owner: the neighbours that it expects messages from have changed."""
        if self.waiting_owner is not None:
            self.waiting_owner.set()

    def ignore_before(self, sender: int, version: int) -> None:
        """Read no message of a sender that is older than a version: the sender began anew."""
        if self.shared is not None:
            self.shared.post()
        self.seen[sender] = max(version - 1, self.seen.get(sender, -1))
        former = self.messages.pop(sender, None)
        if former is not None:
            self._log.emit(Superseded, self._node, None, sender, former.version)

    def lose_memory(self) -> None:
        """Lose all unread messages, and what is known of their senders: a crash took the memory."""
        if self.shared is not None:
            self.shared.post()
        self.messages.clear()
        self._later_rounds.clear()
        self.seen.clear()
        self._rounds.clear()
        self.newest_round = 0

    def wake_owner(self) -> None:
        """Wake a waiting owner where a message has arrived."""
        signal = self.waiting_owner
        if signal is not None and self.coming and self.coming[0][0] <= self._clock.now:
            signal.set()


def superseded_in(settled: Row, carried: Row) -> Row:
    """Return what of `carried` was superseded by settled messages, in the order in which that happened."""
    known, gone = {word >> 32: word for word in carried}, dict[int, int]()
    taken = set[int]()
    for word in settled[2::3]:
        sender, fate = word >> 34, word & 3
        if fate == REPLACES and sender not in taken:
            gone[sender] = known[sender]
        if fate != OLD:
            taken.add(sender)
    return list(gone.values())


def settled_row(settled: Row, superseded: int, carried: Row) -> Row:
    """Return a row that only tells what was settled; its number, instant and agent are still to be set."""
    return [
        head_word(0, length_of(len(carried), len(settled) // 3, 0)),
        *(0, 0, 0, 0),
        len(carried) | len(settled) // 3 << BITS | superseded << 2 * BITS,
        *(NOTHING, NOTHING, NOTHING),
        *(0, 0),
        *carried,
        *settled,
    ]


class SilenceDetector:
    """Suspects a neighbour after so much silence, and trusts it again at its next message.

    A crash sends nothing, so neighbours can only notice the silence. A false suspicion lasts until the next message:
    suspects are still sent to.
    """

    __slots__ = ("_clock", "_last_heard", "silence")

    def __init__(self, silence: int, clock: Clock, last_heard: dict[int, int]) -> None:
        self.silence = silence
        """After so many nanoseconds without a message a neighbour is suspected."""
        self._clock = clock
        self._last_heard = last_heard

    def restart(self, neighbour: int) -> None:
        """Count the silence of a neighbour from now on."""
        self._last_heard[neighbour] = self._clock.now

    def expires(self, neighbour: int) -> int:
        """Return the instant at which a neighbour will be suspected if it stays silent."""
        return self._last_heard.get(neighbour, 0) + self.silence

    def update(self, slots: Mapping[int, int], heard: Heard, suspects: set[int]) -> None:
        """Count neighbours out that have been silent for too long, and in again that were heard since."""
        now = self._clock.now
        for neighbour, slot in slots.items():
            suspected = slot in suspects
            if (heard.present[slot] or suspected) and (now >= self.expires(neighbour)) != suspected:
                here = heard.present.copy()
                here[slot] = suspected
                heard.attend(here)
                (suspects.discard if suspected else suspects.add)(slot)
