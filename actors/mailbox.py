"""What waits for an agent: messages on their way, and those that arrived and were not read."""

from heapq import heappop, heappush

from actors.events import Delivered, Rejected, Superseded
from actors.log import Log
from actors.messages import Message
from clocks.clock import DELIVERY, Clock, Signal

_Entry = tuple[int, int, int, Message]


class Mailbox:
    """Looked into when its owner wakes: no event per message.

    Of one sender the newest version wins. Whether the receiver was up when a message arrived is judged
    at that arrival: `settle` is called whenever the owner's state is about to change.
    """

    __slots__ = (
        "_ahead", "_clock", "_coming", "_log", "_node", "_order", "_rounds", "_seen", "_through",
        "_unread", "_waiting", "last_heard", "newest_round",
    )  # fmt: skip

    def __init__(self, node: int, clock: Clock, log: Log) -> None:
        self._node = node
        self._clock = clock
        self._log = log
        self._coming: list[_Entry] = []
        self._order = 0
        self._unread: dict[int, Message] = {}
        self._ahead: list[tuple[int, Message]] = []
        self._through: int | None = None
        self._seen: dict[int, int] = {}
        self._waiting: Signal | None = None
        self._rounds: dict[int, set[int]] = {}
        self.newest_round = 0
        self.last_heard: dict[int, int] | None = None
        """When each sender was heard last, where somebody asks."""

    @property
    def in_flight(self) -> int:
        """Messages sent and not yet settled."""
        return len(self._coming)

    @property
    def unread(self) -> bool:
        """Whether something was settled and not read."""
        return bool(self._unread)

    def unnoticed(self, now: int) -> int:
        """Count what has arrived and was not settled yet."""
        return sum(1 for entry in self._coming if entry[0] <= now)

    def waiting(self, now: int) -> int:
        """Count what has arrived and was not read, without settling it."""
        return self.unnoticed(now) + len(self._unread) + len(self._ahead)

    def post(self, arrival: int, sent: int, message: Message) -> None:
        """Let a message arrive at an instant; `sent` is the event that sent it this time, negative if it was damaged."""
        self._order += 1
        heappush(self._coming, (arrival, self._order, sent, message))
        if self._waiting is not None:
            self._clock.at(arrival, DELIVERY, self._knock)

    def settle(self, until: int, *, up: bool = True) -> None:
        """Deliver, or reject when the owner is not up, what has arrived at or before `until`."""
        coming, log, node = self._coming, self._log, self._node
        now, late = self._clock.now, self._clock.late
        seen, unread, through = self._seen, self._unread, self._through
        heard = self.last_heard
        while coming and coming[0][0] <= until:
            arrival, _, sent, message = heappop(coming)
            sender, version = message.sender, message.version
            if not up or sent < 0:
                self._reject(arrival, sent, sender, version)
                continue
            log.seq = delivered = log.seq + 1
            log.tell(Delivered(delivered, now, node, sent, sender, version, arrival, late))
            if heard is not None:
                heard[sender] = arrival
            if through is not None:
                self._await_round(message, delivered, through)
            elif heard is not None and message.vector is None:
                continue  # control: a sign of life
            elif version > seen.get(sender, -1) and sender not in unread:
                seen[sender] = version
                unread[sender] = message
            else:
                self._accept(message, delivered)

    def _reject(self, arrival: int, sent: int, sender: int, version: int) -> None:
        """Throw a message away: nobody is there, or it is damaged."""
        reason = "corrupt" if sent < 0 else ""
        self._log.emit(Rejected, self._node, abs(sent), sender, version, arrival, reason)

    def _await_round(self, message: Message, delivered: int, through: int) -> None:
        """Note the round of a message, and hold it back when it is of a later one."""
        self._rounds.setdefault(message.sender, set()).add(message.round)
        self.newest_round = max(self.newest_round, message.round)
        if message.vector is None:
            return  # control: it says only that the round is over for its sender
        if message.round > through:
            self._ahead.append((delivered, message))
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

    def through(self, round_: int) -> None:
        """Hold back what belongs to a later round than `round_`, for an owner with a barrier."""
        self._through = round_
        for sender, rounds in self._rounds.items():
            self._rounds[sender] = {r for r in rounds if r >= round_}
        ahead, self._ahead = self._ahead, []
        for delivered, message in ahead:
            if message.round > round_:
                self._ahead.append((delivered, message))
            else:
                self._accept(message, delivered)

    def take(self) -> dict[int, Message]:
        """Return the newest message of each sender that was settled and not read."""
        taken, self._unread = self._unread, {}
        return taken

    async def get(self, deadline: int | None) -> None:
        """Wait until something new has arrived, or until a deadline."""
        self._waiting = signal = self._clock.signal(DELIVERY)
        if self._coming:
            self._clock.at(max(self._coming[0][0], self._clock.now), DELIVERY, self._knock)
        if deadline is not None:
            self._clock.at(deadline, DELIVERY, signal.set)
        try:
            await signal
        finally:
            self._waiting = None

    def has_round(self, sender: int, round_: int) -> bool:
        """Whether a sender's message of this very round is in: a later one may have overtaken it."""
        return round_ in self._rounds.get(sender, ())

    def stir(self) -> None:
        """Let a waiting owner look again: who is expected has changed."""
        if self._waiting is not None:
            self._waiting.set()

    def disown(self, sender: int, version: int) -> None:
        """Read nothing of a sender that is older than a version: it no longer stands by it."""
        self._seen[sender] = max(version - 1, self._seen.get(sender, -1))
        former = self._unread.pop(sender, None)
        if former is not None:
            self._log.emit(Superseded, self._node, None, sender, former.version)

    def forget(self) -> None:
        """Lose what was not read, and what is known of the senders: a crash took the memory."""
        self._unread.clear()
        self._ahead.clear()
        self._seen.clear()
        self._rounds.clear()
        self.newest_round = 0

    def _knock(self) -> None:
        signal = self._waiting
        if signal is not None and self._coming and self._coming[0][0] <= self._clock.now:
            signal.set()
