"""Turns as rows of integers: all that one agent does at one instant, in one row instead of twenty events.

A row is a list, or a stretch of an array, of 64-bit integers. It stands for consecutive events of one agent at one instant,
in this order; each part may be missing:

    delivered [superseded]   for each message that the agent settles, in the order of arrival
    woke
    merged
    proposed charged released, or derived
    sent lost…

`encode` turns events into rows, and `expand` turns a row back into the very same events, with `seq` and `cause`. What does
not fit a row stays an event: faults, membership, samples, refusals, and messages that a fault copied or held. Rows are
self-contained, but for spends: a row holds the place of a spend in the table of the log.

The head of a row has `HEAD` words; the counts of its parts share two of them (21 bits each):

    KIND      1, and flags << 8, and the number of words << 16
    SEQ       the number of its first event
    T         the instant, in nanoseconds
    AGENT
    LATE      how late the instant was served, in nanoseconds of wall time
    SETTLED   carried | settled << 21 | superseded << 42
    K         the number of the release, -1 where none was made
    SPEND     its spend, a place in the table of spends; -1 where none was made
    VERSION   of what was sent or derived; -1 where nothing was
    SENT      receivers | lost << 21 | numbers << 42, where `numbers` is the length of the vector
    CAUSE     the number of the event that the first one after `delivered` follows from, where that is not `woke`; 0: none

Behind the head stand three parts:

    carried     one word each, sender << 32 | version: what was settled earlier, not read yet, and is merged or superseded now
    settled     three words each: arrival; the number of the event that sent it; sender << 34 | version << 2 | fate
    receivers   two in a word, the first in the low half; then a word for the arrival of each message, -1 where it is lost

In a row that is TOUCHED two more follow: a word for each fault that touched a message, by its number, in ascending order; and
for each lost message a word with a bit for each of these faults, the lowest for the first.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.events import (
    Charged,
    Delivered,
    Derived,
    Diverged,
    Duplicated,
    Event,
    Lost,
    Merged,
    Proposed,
    Released,
    Sent,
    Spent,
    Superseded,
    Woke,
)
from mechanisms.accounting.spend import Spend, rounded_up

Row = list[int]
Words = NDArray[np.int64]

TURN = 1
"""The kind of a row: other kinds of records in a file have other numbers."""
WOKE, MERGED, RELEASED, DERIVED, SENT_, RESENT, TOUCHED = 1, 2, 4, 8, 16, 32, 64
KIND, SEQ, T, AGENT, LATE, SETTLED, K, SPEND, VERSION, SENT, CAUSE = range(11)
HEAD = 11
TAKEN, OLD, REPLACES = 0, 1, 2
"""Fates of a settled message: read at the next merge; superseded, as a newer one was known; superseding an unread one."""
NOTHING = -1
LOST_ARRIVAL = -1
BITS = 21
_MASK = (1 << BITS) - 1
MOST_FAULTS = 62
"""So many faults at most touch the messages of a row: their bits fit a word."""
_MOST_AGENTS, _MOST_VERSIONS = 1 << 29, 1 << 32
BYTES_OF_NUMBER = 8

TURN_KINDS: frozenset[type[Event]] = frozenset(
    (Woke, Proposed, Charged, Released, Derived, Sent, Lost, Delivered, Superseded, Merged)
)
"""The kinds of events that rows stand for."""
WITHIN_TURNS: frozenset[type[Event]] = frozenset((Spent, Diverged))
"""Kinds of events that a turn may bring about and that stay events: agents that act together may all have acted by then."""


class SpendTable(Protocol):
    """What each place in a table of spends stands for."""

    @property
    def charged(self) -> Sequence[float | str]:
        """What each charges as events carry it."""
        ...

    @property
    def table(self) -> Sequence[Spend | None]:
        """The spends; None where they are not known in full."""
        ...


class Spends:
    """The spends of a run, each with a number: equal ones have one place."""

    __slots__ = ("_places", "_seen", "charged", "table")

    def __init__(self) -> None:
        self.table: list[Spend] = []
        self.charged: list[float | str] = []
        """What each charges as events carry it."""
        self._places: dict[Spend, int] = {}
        self._seen: dict[int, tuple[Spend, int]] = {}

    def place(self, spend: Spend) -> int:
        """Return the place of a spend; it gets the next one where it is new."""
        known = self._seen.get(id(spend))
        if known is not None and known[0] is spend:
            return known[1]
        place = self._places.setdefault(spend, len(self.table))
        if place == len(self.table):
            self.table.append(spend)
            self.charged.append(rounded_up(spend.charged))
        self._seen[id(spend)] = spend, place
        return place


def pack_receivers(receivers: Sequence[int]) -> Row:
    """Return the ids of receivers, two in a word."""
    ids = list(receivers)
    if len(ids) % 2:
        ids.append(0)
    return [low | high << 32 for low, high in zip(ids[::2], ids[1::2], strict=True)]


def head_word(flags: int, length: int) -> int:
    """Return the first word of the row of a turn."""
    return TURN | flags << 8 | length << 16


_RESENT_HEAD = head_word(SENT_ | RESENT, HEAD + 2)


def resent_row(
    seq: int,
    t: int,
    agent: int,
    late: int,
    version: int,
    to: int,
    arrival: int,
    numbers: int,
    cause: int,
) -> Row:
    """Return the row of a vector of so many numbers that is sent to one agent once more."""
    return [
        _RESENT_HEAD,
        *(seq, t, agent, late, 0),
        *(NOTHING, NOTHING, version),
        1 | (arrival < 0) << BITS | numbers << 2 * BITS,
        cause,
        *(to, arrival),
    ]


# from events to rows


def encode(events: Sequence[Event], spends: Spends) -> list[Event | Row]:
    """Return events as rows, as far as they fit; what fits no row stays an event."""
    done: list[Event | Row] = []
    at, end = 0, len(events)
    while at < end:
        event = events[at]
        fitted = _Reading(events, at, spends) if type(event) in _STARTS else None
        if fitted is None or fitted.at == at:
            done.append(event)
            at += 1
        else:
            done.append(fitted.row())
            at = fitted.at
    return done


_STARTS = frozenset((Delivered, Woke, Merged, Proposed, Derived, Sent))


class _Reading:
    """Reads one turn from events, as far as it goes; `at` is where the next one begins."""

    def __init__(self, events: Sequence[Event], at: int, spends: Spends) -> None:
        first = events[at]
        self._events, self.at, self._spends = events, at, spends
        self._seq, self._t, self._node = first.seq, first.t, first.node
        self._late: int = first.late_ns  # type: ignore[attr-defined] # every kind has it
        self._flags = 0
        self._settled: Row = []
        self._superseded = 0
        self._carried: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._k = self._spend = self._version = NOTHING
        self._receivers: Sequence[int] = ()
        self._arrives: Sequence[int] = ()
        self._lost = self._numbers = 0
        self._touched: Row = []
        self._cause: int | None = None
        if first.node is None or not 0 <= first.node < _MOST_AGENTS:
            return
        self._settle()
        self._previous = self._wake()
        self._merge()
        self._act()
        self._send()

    def _next(self, kind: type[Any], ahead: int = 0) -> Any:
        """Return the event that comes next, where it is of a kind and of this turn; else None."""
        at = self.at + ahead
        if at >= len(self._events):
            return None
        event = self._events[at]
        fits = type(event) is kind and event.t == self._t and event.node == self._node
        return event if fits and event.late_ns == self._late else None  # type: ignore[attr-defined]

    def _settle(self) -> None:
        events, at, t, node = self._events, self.at, self._t, self._node
        settled, taken, end = self._settled, self._taken, len(self._events)
        while at < end:
            event = events[at]
            if type(event) is not Delivered or event.t != t or event.node != node:
                break
            sender, version, cause = event.sender, event.version, event.cause
            if cause is None or event.late_ns != self._late or not _fits(sender, version):
                break
            fate, gone = TAKEN, events[at + 1] if at + 1 < end else None
            if type(gone) is Superseded and (gone.cause, gone.sender) == (event.seq, sender):
                fate = self._fate_of(event, gone)
                at += 1
            if fate < 0 or (fate == TAKEN and sender in taken) or len(settled) // 3 >= _MASK:
                at -= fate != TAKEN
                break
            if fate != OLD:
                taken[sender] = version
            settled += (event.arrived, cause, sender << 34 | version << 2 | fate)
            self._superseded += fate != TAKEN
            at += 1
        self.at = at

    def _fate_of(self, event: Delivered, gone: Superseded) -> int:
        """Return what became of a message whose delivery superseded another or itself; -1 where that fits no row."""
        if gone.t != self._t or gone.node != self._node or gone.late_ns != self._late:
            return NOTHING
        if gone.version == event.version:
            return OLD
        former = self._taken.get(event.sender)
        if former is None and _fits(event.sender, gone.version):
            self._carried[event.sender] = gone.version
            return REPLACES
        return REPLACES if former == gone.version else NOTHING

    def _wake(self) -> int | None:
        """Return the number of the event that the next one follows from: of `woke`, or what it says itself."""
        woke = self._next(Woke)
        if woke is not None and woke.cause is None:
            self._flags |= WOKE
            self.at += 1
            return int(woke.seq)
        following = self._events[self.at] if self.at < len(self._events) else None
        if type(following) in {Merged, Proposed, Derived, Sent} and following is not None:
            return following.cause
        return None

    def _merge(self) -> None:
        merged = self._next(Merged)
        if merged is None or merged.cause != self._previous:
            return
        wanted = list(zip(merged.senders, merged.versions, strict=True))
        carried = dict[int, int]()
        for sender, version in wanted:
            if sender not in self._taken:
                carried[sender] = version
            elif sender in self._carried:
                carried[sender] = self._carried[sender]
        fits = len(carried) <= _MASK and all(_fits(*each) for each in carried.items())
        if fits and list({**carried, **self._taken}.items()) == wanted:
            self._carried = carried
            self._note_cause()
            self._flags |= MERGED
            self.at += 1

    def _act(self) -> None:
        derived = self._next(Derived)
        if derived is not None and derived.cause == self._previous and derived.version >= 0:
            self._note_cause()
            self._flags |= DERIVED
            self._version, self._previous = derived.version, derived.seq
            self.at += 1
            return
        proposed, charged, released = (
            self._next(Proposed),
            self._next(Charged, 1),
            self._next(Released, 2),
        )
        if proposed is None or charged is None or released is None or charged.spend is None:
            return
        place = self._spends.place(charged.spend)
        k, charge = proposed.k, self._spends.charged[place]
        facts = (proposed.cause, charged.cause, released.cause, charged.k, released.k)
        if facts != (self._previous, proposed.seq, charged.seq, k, k) or k < 0:
            return
        if not charge == proposed.charged == charged.charged:
            return
        self._note_cause()
        self._flags |= RELEASED
        self._k, self._spend, self._previous = k, place, released.seq
        self.at += 3

    def _send(self) -> None:
        sent = self._next(Sent)
        if sent is None or sent.cause != self._previous or len(sent.by) > MOST_FAULTS:
            return
        lost = [to for to, arrival in zip(sent.to, sent.arrives, strict=True) if arrival < 0]
        numbers, odd = divmod(sent.bytes, BYTES_OF_NUMBER)
        if odd or min(sent.arrives, default=0) < LOST_ARRIVAL or not _fits(0, sent.version):
            return
        if max(len(sent.to), numbers) > _MASK or not all(0 <= to < _MOST_AGENTS for to in sent.to):
            return
        if self._flags & DERIVED and sent.version != self._version:
            return
        touched = Row(sent.by)
        for ahead, receiver in enumerate(lost, 1):
            gone = self._next(Lost, ahead)
            if gone is None or gone.cause != sent.seq:
                return
            if (gone.receiver, gone.version) != (receiver, sent.version):
                return
            if sent.by:
                touched.append(sum(1 << sent.by.index(fault) for fault in gone.by))
        if self._next(Duplicated, len(lost) + 1) is not None:
            return
        self._note_cause()
        self._flags |= SENT_ | (RESENT if sent.resent else 0) | (TOUCHED if sent.by else 0)
        self._touched = touched
        self._version, self._numbers, self._lost = sent.version, numbers, len(lost)
        self._receivers, self._arrives = sent.to, sent.arrives
        self.at += 1 + len(lost)

    def _note_cause(self) -> None:
        """Keep the cause of the first event after the settled ones, where that is not `woke`."""
        if not self._flags & (WOKE | MERGED | RELEASED | DERIVED):
            self._cause = self._previous

    def row(self) -> Row:
        assert self._node is not None, "turns are of agents"  # noqa: S101
        settled, receivers = len(self._settled) // 3, len(self._receivers)
        return [
            head_word(
                self._flags,
                length_of(len(self._carried), settled, receivers) + len(self._touched),
            ),
            self._seq,
            self._t,
            self._node,
            self._late,
            len(self._carried) | settled << BITS | self._superseded << 2 * BITS,
            self._k,
            self._spend,
            self._version,
            receivers | self._lost << BITS | self._numbers << 2 * BITS,
            self._cause or 0,
            *(sender << 32 | version for sender, version in self._carried.items()),
            *self._settled,
            *pack_receivers(self._receivers),
            *self._arrives,
            *self._touched,
        ]


def _fits(agent: int, version: int) -> bool:
    return 0 <= agent < _MOST_AGENTS and 0 <= version < _MOST_VERSIONS


def length_of(carried: int, settled: int, receivers: int) -> int:
    """Return the number of words of a row with so many messages."""
    return HEAD + carried + 3 * settled + (receivers + 1) // 2 + receivers


# from rows to events


def expand(row: Sequence[int], spends: SpendTable) -> list[Event]:
    """Return the events that a row stands for, in their order; what it charged is looked up in a table of spends."""
    flags = row[KIND] >> 8 & 0xFF
    seq, t, node, late = row[SEQ], row[T], row[AGENT], row[LATE]
    counts = row[SETTLED]
    carried, settled = counts & _MASK, counts >> BITS & _MASK
    events: list[Event] = []
    at = HEAD
    unread = {word >> 32: word & (_MOST_VERSIONS - 1) for word in row[at : at + carried]}
    at += carried
    for place in range(at, at + 3 * settled, 3):
        arrival, sent_by, word = row[place], row[place + 1], row[place + 2]
        sender, version, fate = word >> 34, word >> 2 & (_MOST_VERSIONS - 1), word & 3
        events.append(Delivered(seq, t, node, sent_by, sender, version, arrival, late))
        seq += 1
        if fate != TAKEN:
            gone = version if fate == OLD else unread[sender]
            events.append(Superseded(seq, t, node, seq - 1, sender, gone, late))
            seq += 1
        if fate != OLD:
            unread[sender] = version
    at += 3 * settled
    cause: int | None = row[CAUSE] or None
    if flags & WOKE:
        events.append(Woke(seq, t, node, None, late))
        cause, seq = seq, seq + 1
    if flags & MERGED:
        events.append(Merged(seq, t, node, cause, list(unread), list(unread.values()), late))
        seq += 1
    if flags & RELEASED:
        k, place = row[K], row[SPEND]
        charge = spends.charged[place]
        events += (
            Proposed(seq, t, node, cause, k, charge, late),
            Charged(seq + 1, t, node, seq, k, charge, spends.table[place], late),
            Released(seq + 2, t, node, seq + 1, k, late),
        )
        cause, seq = seq + 2, seq + 3
    if flags & DERIVED:
        events.append(Derived(seq, t, node, cause, row[VERSION], late))
        cause, seq = seq, seq + 1
    if flags & SENT_:
        events += _sent_events(row, at, seq, cause)
    return events


def _sent_events(row: Sequence[int], at: int, seq: int, cause: int | None) -> list[Event]:
    """Return what a row says of sending: its words begin at a place, and the events have numbers from `seq` on."""
    flags, sending = row[KIND] >> 8 & 0xFF, row[SENT]
    t, node, late, version = row[T], row[AGENT], row[LATE], row[VERSION]
    count, numbers = sending & _MASK, sending >> 2 * BITS
    packed = row[at : at + (count + 1) // 2]
    to = [id_ for word in packed for id_ in (word & 0xFFFFFFFF, word >> 32)][:count]
    at += len(packed)
    arrives = list(row[at : at + count])
    touched = row[at + count :] if flags & TOUCHED else ()
    by = list(touched[: len(touched) - (sending >> BITS & _MASK)])
    masks = iter(touched[len(by) :])
    size, resent = BYTES_OF_NUMBER * numbers, bool(flags & RESENT)
    events: list[Event] = [
        Sent(seq, t, node, cause, version, to, arrives, size, resent, by or (), late)
    ]
    for receiver, arrival in zip(to, arrives, strict=True):
        if arrival < 0:
            mask = next(masks, 0)
            lost_by = [fault for bit, fault in enumerate(by) if mask >> bit & 1]
            number = seq + len(events)
            events.append(Lost(number, t, node, seq, receiver, version, lost_by or (), late))
    return events


class Turns:
    """Many rows one after the other, as columns: a number for each row."""

    def __init__(self, words: Words, starts: Words | None = None) -> None:
        """Take whole rows; `starts` are the places of their first words, found by their lengths where it is None."""
        self.words = words
        self.starts = _starts(words) if starts is None else starts

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Turns":
        """Return rows as columns."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        words = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return cls(words, np.cumsum(lengths) - lengths)

    @classmethod
    def joined(cls, parts: "Sequence[Turns]") -> "Turns":
        """Return several stretches of rows as one."""
        if len(parts) == 1:
            return parts[0]
        firsts = np.cumsum([0, *(len(part.words) for part in parts)])
        starts = [part.starts + first for part, first in zip(parts, firsts[:-1], strict=True)]
        empty = np.zeros(0, np.int64)
        words = np.concatenate([empty, *(part.words for part in parts)])
        return cls(words, np.concatenate([empty, *starts]))

    def __len__(self) -> int:
        return len(self.starts)

    def rows(self) -> Iterator[Row]:
        """Yield each row as a list."""
        words = self.words.tolist()
        for start in self.starts.tolist():
            yield words[start : start + (words[start] >> 16)]

    def events_of(self, place: int, spends: SpendTable) -> list[Event]:
        """Return the events that one row stands for."""
        start = int(self.starts[place])
        return expand(self.words[start : start + int(self.lengths[place])].tolist(), spends)

    def _column(self, place: int) -> Words:
        column: Words = self.words[self.starts + place]
        return column

    def _has(self, flag: int) -> NDArray[np.bool_]:
        has: NDArray[np.bool_] = (self.flags & flag) != 0
        return has

    @cached_property
    def flags(self) -> Words:
        return self._column(KIND) >> 8 & 0xFF

    @cached_property
    def seq(self) -> Words:
        """The number of each row's first event."""
        return self._column(SEQ)

    @cached_property
    def t(self) -> Words:
        return self._column(T)

    @cached_property
    def agent(self) -> Words:
        return self._column(AGENT)

    @cached_property
    def late(self) -> Words:
        """How late each instant was served, in nanoseconds of wall time."""
        return self._column(LATE)

    @cached_property
    def k(self) -> Words:
        return self._column(K)

    @cached_property
    def spend(self) -> Words:
        return self._column(SPEND)

    @cached_property
    def version(self) -> Words:
        return self._column(VERSION)

    @cached_property
    def carried(self) -> Words:
        return self._column(SETTLED) & _MASK

    @cached_property
    def settled(self) -> Words:
        return self._column(SETTLED) >> BITS & _MASK

    @cached_property
    def superseded(self) -> Words:
        return self._column(SETTLED) >> 2 * BITS

    @cached_property
    def receivers(self) -> Words:
        """How many messages were sent."""
        return self._column(SENT) & _MASK

    @cached_property
    def lost(self) -> Words:
        return self._column(SENT) >> BITS & _MASK

    @cached_property
    def numbers(self) -> Words:
        """The length of the vector that was sent; 0 for a control message."""
        return self._column(SENT) >> 2 * BITS

    @cached_property
    def woke(self) -> NDArray[np.bool_]:
        return self._has(WOKE)

    @cached_property
    def merged(self) -> NDArray[np.bool_]:
        return self._has(MERGED)

    @cached_property
    def released(self) -> NDArray[np.bool_]:
        return self._has(RELEASED)

    @cached_property
    def derived(self) -> NDArray[np.bool_]:
        return self._has(DERIVED)

    @cached_property
    def sent(self) -> NDArray[np.bool_]:
        return self._has(SENT_)

    @cached_property
    def resent(self) -> NDArray[np.bool_]:
        return self._has(RESENT)

    @cached_property
    def touched(self) -> NDArray[np.bool_]:
        """Whether a fault touched a message that was sent."""
        return self._has(TOUCHED)

    @cached_property
    def fault_counts(self) -> Words:
        """How many faults touched the messages of each row."""
        tail = self.lengths - (HEAD + self.carried + 3 * self.settled)
        tail -= (self.receivers + 1) // 2 + self.receivers + self.lost
        return np.where(self.touched, tail, 0)

    @cached_property
    def fault_rows(self) -> Words:
        """For each fault that touched messages of a row, the place of the row."""
        return np.repeat(np.arange(len(self)), self.fault_counts)

    @cached_property
    def faults(self) -> Words:
        """For each of them its number."""
        first = self._sent_from + (self.receivers + 1) // 2 + self.receivers
        faults: Words = self.words[ranges(first, self.fault_counts)]
        return faults

    @cached_property
    def events(self) -> Words:
        """How many events each row stands for."""
        acts = self.woke * 1 + self.merged + 3 * self.released + self.derived + self.sent
        return acts + self.settled + self.superseded + self.lost

    @cached_property
    def lengths(self) -> Words:
        """How many words each row has."""
        return self._column(KIND) >> 16

    @cached_property
    def carried_rows(self) -> Words:
        """For each message that was settled earlier, the place of its row."""
        return np.repeat(np.arange(len(self)), self.carried)

    @cached_property
    def carried_words(self) -> Words:
        """For each message that was settled earlier its word: sender << 32 | version."""
        carried: Words = self.words[ranges(self.starts + HEAD, self.carried)]
        return carried

    @cached_property
    def settled_rows(self) -> Words:
        """For each settled message, the place of its row."""
        return np.repeat(np.arange(len(self)), self.settled)

    @cached_property
    def settled_words(self) -> Words:
        """For each settled message its three words: arrival, the event that sent it, and sender, version and fate."""
        first = self.starts + HEAD + self.carried
        places = ranges(first, 3 * self.settled)
        return self.words[places].reshape(-1, 3)

    @cached_property
    def sent_rows(self) -> Words:
        """For each message that was sent, the place of its row."""
        return np.repeat(np.arange(len(self)), self.receivers)

    @cached_property
    def sent_to(self) -> Words:
        """For each message that was sent, its receiver."""
        halves = self.words.astype("<i8", copy=False).view("<u4")
        ids: Words = halves[ranges(2 * self._sent_from, self.receivers)].astype(np.int64)
        return ids

    @cached_property
    def arrives(self) -> Words:
        """For each message that was sent, its arrival, -1 where it is lost."""
        first = self._sent_from + (self.receivers + 1) // 2
        arrivals: Words = self.words[ranges(first, self.receivers)]
        return arrivals

    @property
    def _sent_from(self) -> Words:
        return self.starts + HEAD + self.carried + 3 * self.settled


def have_any(turns: Turns, kinds: Collection[type[Event]]) -> NDArray[np.bool_]:
    """Whether each row stands for an event of some kinds."""
    has = {
        Woke: turns.woke,
        Merged: turns.merged,
        Derived: turns.derived,
        Sent: turns.sent,
        Lost: turns.lost > 0,
        Delivered: turns.settled > 0,
        Superseded: turns.superseded > 0,
        **dict.fromkeys((Proposed, Charged, Released), turns.released),
    }
    found = np.zeros(len(turns), bool)
    for kind in TURN_KINDS.intersection(kinds):
        found |= has[kind]
    return found


def senders_of(words: Words) -> Words:
    """Return the senders of settled messages, from the last of their words."""
    return words >> 34


def versions_of(words: Words) -> Words:
    """Return the versions of settled messages, from the last of their words."""
    return words >> 2 & (_MOST_VERSIONS - 1)


def fates_of(words: Words) -> Words:
    """Return the fates of settled messages, from the last of their words."""
    return words & 3


def ranges(firsts: Words, lengths: Words, step: int = 1) -> Words:
    """Return first, first + step … of each, `length` of them, one after the other."""
    total = int(lengths.sum())
    offsets = np.cumsum(lengths) - lengths
    places = np.arange(total)
    if step != 1:
        places *= step
        offsets = step * offsets
    places += np.repeat(firsts - offsets, lengths)
    return places


def _starts(words: Words) -> Words:
    starts, at, heads = list[int](), 0, words
    while at < len(words):
        starts.append(at)
        at += int(heads[at]) >> 16
    return np.array(starts, np.int64)
