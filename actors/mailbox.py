"""The messages of one agent that are on their way or not yet read, and which neighbours have been silent for long."""

from collections.abc import Mapping
from heapq import heappop, heappush

from actors.events import Delivered, Rejected, Superseded
from actors.log import Log
from actors.messages import Message
from clocks.clock import DELIVERY, Clock, Signal
from mechanisms.mixing import Heard

_Entry = tuple[int, int, int, Message]


class Mailbox:
    """Holds messages until its owner wakes and reads them: a message costs the clock no entry of its own.

    Of one sender the newest version wins. Whether the receiver was up when a message arrived is judged
    at that arrival: `settle` is called whenever the owner's state is about to change.
    """

    __slots__ = (
        "_clock",
        "_coming",
        "_later_rounds",
        "_log",
        "_node",
        "_order",
        "_rounds",
        "_seen",
        "_through",
        "_unread",
        "_waiting",
        "last_heard",
        "newest_round",
    )

    def __init__(self, node: int, clock: Clock, log: Log) -> None:
        self._node = node
        self._clock = clock
        self._log = log
        self._coming: list[_Entry] = []
        self._order = 0
        self._unread: dict[int, Message] = {}
        self._later_rounds: list[tuple[int, Message]] = []
        self._through: int | None = None
        self._seen: dict[int, int] = {}
        self._waiting: Signal | None = None
        self._rounds: dict[int, set[int]] = {}
        self.newest_round = 0
        self.last_heard: dict[int, int] | None = None
        """When each sender was heard last, in nanoseconds; None where no detector asks."""

    @property
    def in_flight(self) -> int:
        """Messages sent and not yet settled."""
        return len(self._coming)

    @property
    def unread(self) -> bool:
        """Whether something was settled and not read."""
        return bool(self._unread)

    def unsettled(self, now: int) -> int:
        """Count the messages that have arrived and are not settled yet."""
        return sum(1 for entry in self._coming if entry[0] <= now)

    def waiting(self, now: int) -> int:
        """Count the messages that have arrived and are not read, without settling them."""
        return self.unsettled(now) + len(self._unread) + len(self._later_rounds)

    def post(self, arrival: int, sent: int, message: Message) -> None:
        """Let a message arrive at an instant; `sent` is the number of the event that sent it this time."""
        self._order += 1
        heappush(self._coming, (arrival, self._order, sent, message))
        if self._waiting is not None:
            self._clock.at(arrival, DELIVERY, self._wake_owner)

    def settle(self, until: int, *, up: bool = True) -> None:
        """Deliver, or reject when the owner is not up, what has arrived at or before `until`."""
        coming, log, node = self._coming, self._log, self._node
        seen, unread, through = self._seen, self._unread, self._through
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
        if version <= self._seen.get(sender, -1):
            self._log.emit(Superseded, self._node, delivered, sender, version)
            return
        former = self._unread.get(sender)
        if former is not None:
            self._log.emit(Superseded, self._node, delivered, sender, former.version)
        self._seen[sender] = version
        self._unread[sender] = message

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
        taken, self._unread = self._unread, {}
        return taken

    async def wait(self, deadline: int | None) -> None:
        """Wait until a message has arrived, or until a deadline in nanoseconds; None is no deadline."""
        self._waiting = signal = self._clock.signal(DELIVERY)
        if self._coming:
            self._clock.at(max(self._coming[0][0], self._clock.now), DELIVERY, self._wake_owner)
        if deadline is not None:
            self._clock.at(deadline, DELIVERY, signal.set)
        try:
            await signal
        finally:
            self._waiting = None

    def has_round(self, sender: int, round_: int) -> bool:
        """Whether a sender's message of this very round is in: a later one may have overtaken it."""
        return round_ in self._rounds.get(sender, ())

    def recheck(self) -> None:
        """Wake a waiting owner: the neighbours that it expects messages from have changed."""
        if self._waiting is not None:
            self._waiting.set()

    def ignore_before(self, sender: int, version: int) -> None:
        """Read no message of a sender that is older than a version: the sender began anew."""
        self._seen[sender] = max(version - 1, self._seen.get(sender, -1))
        former = self._unread.pop(sender, None)
        if former is not None:
            self._log.emit(Superseded, self._node, None, sender, former.version)

    def lose_memory(self) -> None:
        """Lose all unread messages, and what is known of their senders: a crash took the memory."""
        self._unread.clear()
        self._later_rounds.clear()
        self._seen.clear()
        self._rounds.clear()
        self.newest_round = 0

    def _wake_owner(self) -> None:
        signal = self._waiting
        if signal is not None and self._coming and self._coming[0][0] <= self._clock.now:
            signal.set()


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
