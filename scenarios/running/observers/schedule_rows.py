"""The schedule of a run as rows of integers: what its schedule digest is made of (version 2).

The digest is sha256 over all rows, one after the other, each number as 8 bytes: two's complement, the lowest byte first.
It holds no float, no word, no number of an event and no lateness, so that any record that knows these integers gives the
same digest: on both engines, at every pace, however a run is cut into batches.

Instants are nanoseconds of simulated time. Agents are numbered from 0; the server, where there is one, comes after the
last of them. Rows stand in the order in which things happened; at one instant that is: ends of faults, faults, turns by
agent, samples. `n` says how many groups of numbers follow it in its row.

    1 TURN    t, agent, woke, k, charge, act, n, then n times (receiver, arrival, verdict)
    2 BEGAN   t, fault, n, then n targets
    3 ENDED   t, fault, n, then n targets
    4 MEMBER  t, agent, change
    5 ROUND   t, server, round, verdict, n, then n survivors
    6 ARRIVED arrival, receiver, sender, verdict
    7 SAMPLE  t

TURN is what one agent does at one instant, without anything else between: no row of another agent, and no other kind of
row. A wake begins a turn, and so does the opening of a round by the server (woke = 1); so do a second proposal at the same
wake, which a twin makes, and whatever is proposed or sent at another instant than that of a wake: after a computing time,
as an answer, or to greet an agent that came back (woke = 0). A wake after which nothing is sent has a row all the same.
    k        the number of the release that was proposed, counted from 0; -1 where none was
    charge   its charge (an ε, or a μ) in units of 1e-9, rounded up: ⌈charge · 10⁹⌉; -1 where none was proposed, -2 for ∞, and
             2⁶² for 2⁶² units and more
    act      0 nothing was proposed, 1 released, 2 charged and not released (it crashed in between), 3 refused by the cap,
             4 proposed only (its storage is not trusted any more)
    receiver, arrival, verdict   one for each message, in the order of sending: verdict 0 arrives, 1 is lost, 2 is held by a
             fault; 4 more for a copy. The arrival of a message that is lost or held is -1.
BEGAN and ENDED name a fault by its place among the scenario's, and all agents that it hit.
MEMBER has the changes 0 joined, 1 left, 2 restarted, 3 paused, 4 resumed, 5 crashed and lost nothing, 6 crashed and lost
what it held (volatile), 7 crashed and lost all but its ledger.
ROUND is the end of a server's round: verdict 0 closed, 1 aborted.
ARRIVED tells what a turn could not: that a message which a fault had held was delivered (verdict 0) or met a receiver that
was not up (1), and that a message, held or not, arrived damaged (2). It stands where that was noticed.

What is derived from these rows alone has none: deliveries, merges, what is superseded, and that an agent is spent.
That an agent diverged has none either, but it shows: it sends nothing afterwards. When that happens float bits decide, so
that the digest of such a run is equal only where those are: the manifest says that it is conditional on divergence.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from actors.events import (
    Charged,
    Crashed,
    Delivered,
    Duplicated,
    Event,
    FaultBegan,
    FaultEnded,
    Joined,
    Left,
    Paused,
    Proposed,
    Refused,
    Rejected,
    Released,
    Restarted,
    Resumed,
    RoundAborted,
    RoundClosed,
    RoundOpened,
    Sampled,
    Sent,
    Woke,
)
from actors.links import HELD, LOST
from actors.log import Batch
from actors.turns import LOST_ARRIVAL, SpendTable, Turns, Words, expand

VERSION = 2
TURN, BEGAN, ENDED, MEMBER, ROUND, ARRIVED, SAMPLE = range(1, 8)
NONE, INFINITE, MOST = -1, -2, 1 << 62
"""Charges: of no proposal, without a bound, and the largest that is told apart."""
NOTHING, RELEASED, CHARGED, REFUSED, PROPOSED = range(5)
ARRIVES, IS_LOST, IS_HELD, COPY = 0, 1, 2, 4
NOWHEN = -1
"""The arrival of a message that has none."""
_FATES = {LOST: IS_LOST, HELD: IS_HELD}
WAS_HELD, NOT_UP, DAMAGED = 0, 1, 2
CHANGES: dict[type[Event], int] = {Joined: 0, Left: 1, Restarted: 2, Paused: 3, Resumed: 4}
LOSSES = {"nothing": 5, "volatile": 6, "all": 7}
_K, _CHARGE, _ACT, _N = 4, 5, 6, 7
"""Places in the row of a turn."""

Row = list[int]


def units(charge: float | str) -> int:
    """Return a charge, as an event carries it, in units of 1e-9: events round it up to these."""
    if charge == "inf":
        return INFINITE
    counted = float(charge) * 1e9
    return MOST if counted >= MOST else round(counted)


class Rows:
    """A fold from events to rows; the row of a turn is known when another begins."""

    def __init__(self) -> None:
        self._done: list[Row] = []
        self._turn: Row | None = None
        self._held = set[tuple[int, int]]()
        """Messages that a fault holds: the number of the event that sent each, and its receiver."""
        self._routes: dict[type[Event], Callable[[Any], None]] = {
            Woke: self._wake,
            RoundOpened: self._wake,
            Proposed: self._propose,
            Charged: lambda event: self._judge(event, CHARGED),
            Refused: lambda event: self._judge(event, REFUSED),
            Released: self._release,
            Sent: self._send,
            Duplicated: self._copy,
            Delivered: self._deliver,
            Rejected: self._reject,
            FaultBegan: lambda event: self._fault(event, BEGAN),
            FaultEnded: lambda event: self._fault(event, ENDED),
            Crashed: lambda event: self._change(event, LOSSES[event.lost]),
            RoundClosed: lambda event: self._end_round(event, 0),
            RoundAborted: lambda event: self._end_round(event, 1),
            Sampled: lambda event: self._add([SAMPLE, event.t]),
        }
        for kind, change in CHANGES.items():
            self._routes[kind] = partial(self._change, change=change)

    def fold(self, events: Iterable[Event]) -> None:
        """Take events, in order."""
        routes = self._routes
        for event in events:
            act = routes.get(type(event))
            if act is not None:
                act(event)

    def follow(self, digested: "TurnRows", first: int, end: int) -> Iterator[Words]:
        """Take the turns from one place to another, and yield the rows that come of it as words, one after the other.

        Whatever `take` has to return comes before them: it is to be asked first.
        """
        if first == end:
            return
        places = digested.goes_on(first, end)
        if self._turn is not None and digested.continues(first, self._turn):
            places = [first, *places]
        for place in [*places, end]:
            if first < place:
                if self._turn is not None:
                    self._done.append(self._turn)
                    self._turn = None
                if place - first > 1:
                    yield digested.words_of(first, place - 1)
                self._turn = digested.words_of(place - 1, place).tolist()
            if place < end:
                self._go_on(digested.words_of(place, place + 1).tolist())
            first = place + 1

    def _go_on(self, row: Row) -> None:
        """Take the row of a turn that goes on with the one under way, unless both propose."""
        turn = self._turn
        assert turn is not None, "it goes on"  # noqa: S101
        if row[_ACT] != NOTHING:
            if turn[_ACT] != NOTHING:
                self._done.append(turn)
                self._turn = row
                return
            turn[_K : _ACT + 1] = row[_K : _ACT + 1]
        turn[_N] += row[_N]
        turn += row[_N + 1 :]

    def has_held(self, turns: Turns) -> bool:
        """Whether a message that a fault had held is settled in some rows."""
        if not self._held:
            return False
        senders = np.array([seq for seq, _ in self._held], np.int64)
        return bool(np.isin(turns.settled_words[:, 1], senders).any())

    def take(self) -> list[Row]:
        """Return the rows that are known and were not taken yet."""
        done, self._done = self._done, []
        return done

    @property
    def under_way(self) -> list[Row]:
        """The row of the turn that no other event has ended yet."""
        return [] if self._turn is None else [self._turn]

    def _add(self, row: Row) -> None:
        if self._turn is not None:
            self._done.append(self._turn)
            self._turn = None
        self._done.append(row)

    def _open(self, event: Event, woke: int) -> Row:
        if self._turn is not None:
            self._done.append(self._turn)
        assert event.node is not None, "turns are of agents"  # noqa: S101
        self._turn = turn = [TURN, event.t, event.node, woke, NONE, NONE, NOTHING, 0]
        return turn

    def _of(self, event: Event) -> Row:
        """Return the turn that an event belongs to."""
        turn = self._turn
        if turn is None or turn[2] != event.node or turn[1] != event.t:
            return self._open(event, 0)
        return turn

    def _wake(self, event: Woke | RoundOpened) -> None:
        self._open(event, 1)

    def _propose(self, event: Proposed) -> None:
        turn = self._of(event)
        if turn[_ACT] != NOTHING:
            turn = self._open(event, 0)
        turn[_K], turn[_CHARGE], turn[_ACT] = event.k, units(event.charged), PROPOSED

    def _judge(self, event: Charged | Refused, act: int) -> None:
        turn = self._of(event)
        turn[_K], turn[_CHARGE], turn[_ACT] = event.k, units(event.charged), act

    def _release(self, event: Released) -> None:
        turn = self._of(event)
        turn[_K], turn[_ACT] = event.k, RELEASED

    def _send(self, event: Sent) -> None:
        turn, to, arrives = self._of(event), event.to, event.arrives
        turn[_N] += len(to)
        messages = [ARRIVES] * (3 * len(to))
        messages[0::3] = to
        messages[1::3] = arrives
        if min(arrives, default=0) < 0:
            messages[1::3] = [max(arrival, NOWHEN) for arrival in arrives]
            messages[2::3] = [_FATES.get(arrival, ARRIVES) for arrival in arrives]
            if HELD in arrives:
                self._held |= {
                    (event.seq, j) for j, at in zip(to, arrives, strict=True) if at == HELD
                }
        turn += messages

    def _copy(self, event: Duplicated) -> None:
        turn, arrival = self._of(event), event.arrives
        turn[_N] += 1
        turn += (event.receiver, max(arrival, NOWHEN), _FATES.get(arrival, ARRIVES) + COPY)
        if arrival == HELD:
            self._held.add((event.seq, event.receiver))

    def _deliver(self, event: Delivered) -> None:
        if self._held and self._let_go(event):
            self._arrive(event, WAS_HELD)

    def _reject(self, event: Rejected) -> None:
        held = self._let_go(event)
        if event.reason == "corrupt":
            self._arrive(event, DAMAGED)
        elif held:
            self._arrive(event, NOT_UP)

    def _let_go(self, event: Delivered | Rejected) -> bool:
        """Whether a message that arrived had been held."""
        assert event.node is not None, "messages go to agents"  # noqa: S101
        assert event.cause is not None, "and were sent"  # noqa: S101
        message = event.cause, event.node
        held = message in self._held
        self._held.discard(message)
        return held

    def _arrive(self, event: Delivered | Rejected, verdict: int) -> None:
        assert event.node is not None, "messages go to agents"  # noqa: S101
        self._add([ARRIVED, event.arrived, event.node, event.sender, verdict])

    def _fault(self, event: FaultBegan | FaultEnded, kind: int) -> None:
        self._add([kind, event.t, event.fault, len(event.targets), *event.targets])

    def _change(self, event: Event, change: int) -> None:
        assert event.node is not None, "members are agents"  # noqa: S101
        self._add([MEMBER, event.t, event.node, change])

    def _end_round(self, event: RoundClosed | RoundAborted, verdict: int) -> None:
        assert event.node is not None, "servers are agents"  # noqa: S101
        survivors = event.survivors
        self._add([ROUND, event.t, event.node, event.round, verdict, len(survivors), *survivors])


class _Charges:
    """The charges of a table of spends, in units."""

    def __init__(self) -> None:
        self._spends: SpendTable | None = None
        self._units = np.zeros(0, np.int64)

    def upto_date(self, spends: SpendTable) -> Words:
        """Return them, for all spends that are in the table by now."""
        if spends is not self._spends:
            self._spends, self._units = spends, np.zeros(0, np.int64)
        known = len(self._units)
        if known < len(spends.charged):
            more = [units(charge) for charge in spends.charged[known:]]
            self._units = np.concatenate([self._units, np.array(more, np.int64)])
        return self._units


class Schedule:
    """The digest of the rows of a run that goes on."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._charges = _Charges()
        self._digest = hashlib.sha256()

    def fold(self, events: Iterable[Event] | Batch) -> None:
        """Take events, in order; of a batch, its rows as columns."""
        if not isinstance(events, Batch):
            self._rows.fold(events)
            self._note()
            return
        digested = TurnRows(events.turns, self._charges.upto_date(events.spends))
        at = 0
        for part in events.parts:
            if not isinstance(part, Turns):
                self._rows.fold((part,))
                continue
            first, at = at, at + len(part)
            if self._rows.has_held(part):
                for row in part.rows():
                    self._rows.fold(expand(row, events.spends))
                continue
            for words in self._rows.follow(digested, *digested.between(first, at)):
                self._note()
                self._digest.update(_as_bytes(words))
        self._note()

    def _note(self) -> None:
        """Add the rows that are known by now."""
        done = self._rows.take()
        if done:
            self._digest.update(_bytes(done))

    def hexdigest(self) -> str:
        """Return the digest of what was folded so far."""
        digest = self._digest.copy()
        digest.update(_bytes(self._rows.under_way))
        return digest.hexdigest()


def rows_of(events: Iterable[Event]) -> list[tuple[int, ...]]:
    """Return the rows of a whole run."""
    rows = Rows()
    rows.fold(events)
    return [tuple(row) for row in (*rows.take(), *rows.under_way)]


def digest_of(events: Iterable[Event]) -> str:
    """Return the schedule digest of a whole run."""
    schedule = Schedule()
    schedule.fold(events)
    return schedule.hexdigest()


class TurnRows:
    """The rows that come of the turns of a batch, where nothing stands between these: one of each that acts."""

    def __init__(self, turns: Turns, charges: Words) -> None:
        """Take all turns of a batch; `charges` are those of the table of spends, in units."""
        woke, released = turns.woke, turns.released
        self._acts = acts = np.flatnonzero(woke | released | turns.sent)
        if len(acts) < len(turns):
            woke, released = woke[acts], released[acts]
        self._t, self._agents, self._woke = turns.t[acts], turns.agent[acts], woke
        counts, charged = turns.receivers[acts], np.full(len(acts), NONE, np.int64)
        charged[released] = charges[turns.spend[acts][released]]
        self._starts = starts = np.zeros(len(acts) + 1, np.int64)
        np.cumsum(_N + 1 + 3 * counts, out=starts[1:])
        self._words = words = np.zeros(starts[-1], np.int64)
        heads = starts[:-1]
        acted = released * RELEASED
        columns = (TURN, self._t, self._agents, woke, turns.k[acts], charged, acted, counts)
        for place, column in enumerate(columns):
            words[heads + place] = column
        arrives = turns.arrives
        messages = 3 * np.arange(len(arrives)) + np.repeat(
            (_N + 1) * np.arange(1, len(acts) + 1), counts
        )
        words[messages], words[messages + 1] = turns.sent_to, arrives
        words[messages[arrives == LOST_ARRIVAL] + 2] = IS_LOST
        same = (self._t[1:] == self._t[:-1]) & (self._agents[1:] == self._agents[:-1]) & ~woke[1:]
        self._goes_on: list[int] = (np.flatnonzero(same) + 1).tolist()

    def between(self, first: int, end: int) -> tuple[int, int]:
        """Return the places among these rows of those turns that stand at some places of the batch."""
        if len(self._acts) == 0:
            return 0, 0
        one, other = np.searchsorted(self._acts, (first, end)).tolist()
        return one, other

    def goes_on(self, first: int, end: int) -> list[int]:
        """Return the places after the first one where a row goes on with the turn of the row before it."""
        if not self._goes_on:
            return []
        return self._goes_on[bisect_right(self._goes_on, first) : bisect_left(self._goes_on, end)]

    def continues(self, place: int, turn: Row) -> bool:
        """Whether a row goes on with a turn."""
        is_same = turn[1] == self._t[place] and turn[2] == self._agents[place]
        return bool(is_same and not self._woke[place])

    def words_of(self, first: int, end: int) -> Words:
        """Return the words of some rows."""
        return self._words[self._starts[first] : self._starts[end]]


def _as_bytes(words: Words) -> bytes:
    return words.astype("<i8", copy=False).tobytes()


def _bytes(rows: list[Row]) -> bytes:
    return np.fromiter(chain.from_iterable(rows), dtype="<i8").tobytes()
