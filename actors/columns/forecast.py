"""A stretch: the next wakes of a world in their order, with all that follows of them whatever agents learn.

Instants, delays and losses are functions of seeds, and which wakes make a release follows from how many there were before.
So the rows of many wakes are known before the first of these agents has learnt anything. Nothing is changed by making a
stretch: `ColumnWorld` takes over as many of its wakes as agents have had.
"""

from dataclasses import dataclass

import numpy as np

from actors.columns.effects import LinkEffects, Touched
from actors.columns.messages import Messages, fates_of, settled_words
from actors.columns.rows import RowColumns
from actors.columns.table import (
    BACK,
    DEGREE,
    DERIVES,
    DIVERGED,
    FIRST,
    HAS_ENDED,
    HAS_SPENT,
    LINK_KEY,
    LOW_HALF,
    MADE,
    MUTE,
    NEIGHBOUR,
    OPEN,
    PAUSE,
    PLANNED,
    POLICY,
    ROUNDS,
    SEEN,
    SENT_TO,
    SPENT,
    STATE,
    UNREAD,
    UNREAD_VECTOR,
    UNREAD_VERSION,
    UPDATES,
    VERSION,
    Mask,
    Words,
)
from actors.links import LOST, Policy
from actors.turns import (
    BYTES_OF_NUMBER,
    DERIVED,
    LOST_ARRIVAL,
    MERGED,
    NOTHING,
    RELEASED,
    SENT_,
    TAKEN,
    TOUCHED,
    WOKE,
    ranges,
)
from clocks.durations import bits_at

ORDERS = 1 << 20
"""More messages than these are never posted behind one event."""
_PROVISIONAL = 1 << 62
"""Behind every message that is on its way: those that the stretch itself sends, as long as their events have no numbers."""


@dataclass(slots=True)
class World:
    """What a stretch is made from: it is read, and not changed."""

    agents: Words
    links: Words
    owners: Words
    """The receiver of each link."""
    unread: Words
    """For each agent, at its first link and behind it, the slots with unread messages, in order."""
    policies: list[Policy]
    effects: LinkEffects
    messages: Messages
    """What is on its way."""
    seq: int
    """The number of the last event."""
    width: int
    """The length of the vectors that are sent."""


@dataclass(slots=True)
class Stretch:
    """Wakes in columns. What depends on places in the table of spends is left out."""

    t: Words
    agent: Words
    k: Words
    """The number of the release that is made, −1 for none."""
    publishes: Mask
    version: Words
    """Of what is published."""
    made: Words
    """How many releases the agent has charged, after the wake."""
    updates: Words
    rounds: Words
    cause: Words
    """The number of the event that made what is published; of `woke` or `merged` where there is none."""
    says: Words
    seq: Words
    """The number of the first event of each wake; and of what comes behind the last one."""
    events: Words
    """How many events stand in each row."""
    columns: RowColumns
    starts: Words
    words: Words
    """The rows, without spends."""
    messages: Messages
    """All messages: those on their way at the beginning, and behind them those that are sent in the stretch, but lost ones."""
    sent_in: Words
    """In which wake each message is sent, −1 for one that was on its way."""
    settled_in: Words
    """In which wake each message is settled; the number of wakes where it is in none."""
    seen: tuple[Words, Words, Words]
    """What links have seen: the wake, the link, the version; in the order of wakes for each link."""
    merged: tuple[Words, Words]
    """What is merged, wake by wake: the link, and where the vector lies."""
    merges: Words
    """Where the merges of each wake begin, and behind the last one where they end."""
    places: Words
    """Where the vector lies that each wake publishes, −1 for none."""
    touched: Touched

    def __len__(self) -> int:
        return len(self.t)


def make(world: World, t: Words, agent: Words, has_ended: Mask, free: Words) -> Stretch:
    """Return the stretch of some wakes, which are all that come before the last of them.

    `has_ended` says after which wakes an agent has no more; `free` are places of vectors, at least as many as wakes.
    """
    wakes = _Wakes(world, t, agent)
    acts = _Acts(wakes, free)
    sending = _Sending(world, wakes, acts)
    settling = _Settling(world, wakes, sending)
    merging = _Merging(world, wakes, settling)
    counts, superseded, rows = settling.counts, settling.superseded, wakes.rows
    # the numbers of events
    acted = merging.merges_any + 3 * acts.releases + acts.derives
    events = counts + superseded + 1 + acted + acts.sends * (1 + sending.lost)
    seq = np.zeros(len(t) + 1, np.int64)
    np.cumsum(events + acts.spends, out=seq[1:])
    seq += world.seq + 1
    cause = seq[:-1] + counts + superseded + acted
    messages, sent_in = sending.messages, sending.sent_in
    is_new = sent_in >= 0
    messages.sent[is_new] = cause[sent_in[is_new]] + 1
    messages.order[is_new] = messages.sent[is_new] * ORDERS
    # the rows
    flags = WOKE + MERGED * merging.merges_any + RELEASED * acts.releases
    flags += DERIVED * acts.derives + SENT_ * acts.sends
    flags[[*sending.touched.tails]] += TOUCHED
    columns = RowColumns(
        t,
        agent,
        flags,
        merging.carried,
        counts,
        superseded,
        sending.receivers,
        sending.lost,
        merging.carried_words,
        settling.words(world, messages),
        world.links[sending.link, NEIGHBOUR],
        sending.arrival,
        sending.touched.tails,
    )
    starts = columns.starts()
    version = np.where(acts.sends | acts.derives, acts.version, NOTHING)
    return Stretch(
        t,
        agent,
        acts.k,
        acts.publishes,
        acts.version,
        acts.made,
        rows[:, UPDATES] + wakes.nth + 1,
        rows[:, ROUNDS] + wakes.nth + 1,
        cause,
        HAS_SPENT * acts.spends + HAS_ENDED * has_ended,
        seq,
        events,
        columns,
        starts,
        columns.words(starts, seq[:-1], acts.k, version, world.width),
        messages,
        sent_in,
        settling.settled_in,
        settling.seen,
        (merging.link, merging.place),
        merging.begins,
        acts.places,
        sending.touched,
    )


class _Wakes:
    """Wakes, and the rows of their agents at the beginning of the stretch."""

    def __init__(self, world: World, t: Words, agent: Words) -> None:
        self.t, self.agent = t, agent
        self.rows: Words = world.agents[agent]
        self.by_agent = np.argsort(agent, kind="stable")
        ordered = agent[self.by_agent]
        self.opens = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        """Where agents begin in `by_agent`."""
        self.nth = np.empty(len(agent), np.int64)
        """Which of the wakes of its agent each wake is, counted from 0."""
        lengths = np.diff(np.append(self.opens, len(ordered)))
        self.nth[self.by_agent] = np.arange(len(agent)) - np.repeat(self.opens, lengths)

    def __len__(self) -> int:
        return len(self.t)


class _Acts:
    """What each agent does: it releases as often as planned, then sends without data, or nothing."""

    def __init__(self, wakes: _Wakes, free: Words) -> None:
        rows, nth = wakes.rows, wakes.nth
        learns = rows[:, STATE] & (DIVERGED | MUTE) == 0
        made, pause = rows[:, MADE], rows[:, PAUSE]
        lead = np.where(made == 0, 1, 0)
        """How many releases come before the pause."""
        rests = (nth >= lead) & (nth < lead + pause)
        before = made + np.where(nth < lead, nth, np.maximum(lead, nth - pause))
        self.releases = releases = learns & ~rests & (before < rows[:, PLANNED])
        goes_on = rows[:, STATE] & DERIVES != 0
        self.derives = learns & ~releases & (rests | goes_on)
        self.publishes = releases | self.derives
        self.sends = self.publishes & (rows[:, SENT_TO] > 0)
        self.k = np.where(releases, before, NOTHING)
        self.version = rows[:, VERSION] + nth
        idle = np.where(rests, before, np.maximum(made, rows[:, PLANNED]))
        self.made = np.where(learns, np.where(releases, before + 1, idle), made)
        says_so = (self.made >= rows[:, PLANNED]) & (rows[:, STATE] & (SPENT | DIVERGED) == 0)
        self.spends = says_so & ((nth == 0) | (before < rows[:, PLANNED]))
        """Whether the agent says at this wake that its budget is spent."""
        self.places = np.full(len(wakes), NOTHING)
        self.places[self.publishes] = free[: int(self.publishes.sum())]


class _Sending:
    """What is sent, and all messages."""

    def __init__(self, world: World, wakes: _Wakes, acts: _Acts) -> None:
        self.link, sender = _links_of(world, wakes.agent, acts.sends)
        """The links that messages are put on, in the order of wakes and slots."""
        self.arrival = _arrivals(world, self.link, wakes.t[sender], acts.version[sender])
        size = BYTES_OF_NUMBER * world.width
        at = wakes.t[sender]
        self.touched = world.effects.judge(sender, self.link, at, self.arrival, size)
        is_lost = self.arrival == LOST_ARRIVAL
        self.receivers = np.bincount(sender, minlength=len(wakes))
        self.lost = np.bincount(sender[is_lost], minlength=len(wakes))
        kept = np.flatnonzero(~is_lost)
        new = Messages(
            self.arrival[kept],
            np.zeros(len(kept), np.int64),
            world.links[self.link[kept], BACK],
            acts.version[sender[kept]],
            acts.places[sender[kept]],
            _PROVISIONAL + kept,
        )
        self.messages = world.messages.and_then(new)
        former = np.full(len(world.messages.link), NOTHING)
        self.sent_in = np.concatenate([former, sender[kept]])


class _Settling:
    """What is settled in which wake, and what becomes of it."""

    def __init__(self, world: World, wakes: _Wakes, sending: _Sending) -> None:
        messages, size = sending.messages, len(wakes)
        self.settled_in = _settled_in(world, messages, wakes)
        due = np.flatnonzero(self.settled_in < size)
        order = np.lexsort((messages.order[due], messages.arrival[due], self.settled_in[due]))
        self._chosen = due[order]
        self.messages = settled = messages.at(self._chosen)
        """Those that are settled, in that order."""
        self.turn = turn = self.settled_in[self._chosen]
        has_unread = (world.links[settled.link, UNREAD_VERSION] >= 0) & (wakes.nth[turn] == 0)
        self.fates = fates_of(settled, turn, world.links[settled.link, SEEN], has_unread)
        self.counts = np.bincount(turn, minlength=size)
        self.superseded = np.bincount(turn[self.fates.fate != TAKEN], minlength=size)

    @property
    def seen(self) -> tuple[Words, Words, Words]:
        """What links have seen: the wake, the link, the version; by links, and of each by wakes."""
        kept = self.fates.kept
        return self.turn[kept], self.messages.link[kept], self.messages.version[kept]

    def words(self, world: World, messages: Messages) -> Words:
        """Return three words for each message, as rows have them; `messages` are all, with the events that sent them."""
        return settled_words(world.links, messages.at(self._chosen), self.fates)


class _Merging:
    """What each wake merges: what was unread before, and the newest of each sender that it settles."""

    def __init__(self, world: World, wakes: _Wakes, settling: _Settling) -> None:
        carries = np.flatnonzero((wakes.nth == 0) & (wakes.rows[:, UNREAD] > 0))
        self.carried, links = _carried(world, wakes.agent, carries)
        """How many unread messages each wake finds."""
        unread = world.links[links, UNREAD_VERSION]
        self.carried_words = world.links[links, NEIGHBOUR] << 32 | unread
        turn, link, _ = settling.seen
        kept = settling.messages.place[settling.fates.kept]
        wake = np.concatenate([np.repeat(carries, self.carried[carries]), turn])
        order = np.argsort(wake, kind="stable")
        self.link: Words = np.concatenate([links, link])[order]
        self.place: Words = np.concatenate([world.links[links, UNREAD_VECTOR], kept])[order]
        self.begins = np.zeros(len(wakes) + 1, np.int64)
        """Where the merges of each wake begin, and behind the last one where they end."""
        np.cumsum(np.bincount(wake, minlength=len(wakes)), out=self.begins[1:])
        self.merges_any = np.diff(self.begins) > 0


def _links_of(world: World, agent: Words, sends: Mask) -> tuple[Words, Words]:
    """Return the links that messages are put on, in the order of wakes and slots, and the wake that each is of."""
    senders = np.flatnonzero(sends)
    degrees = world.agents[agent[senders], DEGREE]
    link = ranges(world.agents[agent[senders], FIRST], degrees)
    wake = np.repeat(senders, degrees)
    is_open = world.links[link, POLICY] >= OPEN
    return (link, wake) if is_open.all() else (link[is_open], wake[is_open])


def _arrivals(world: World, link: Words, t: Words, version: Words) -> Words:
    """Return when a version arrives on each link, LOST_ARRIVAL where it is lost."""
    keys = world.links[link, LINK_KEY].view(np.uint64)
    numbers = np.empty((len(link), 2), np.uint64)
    numbers[:, 0] = version
    numbers[:, 0] *= np.uint64(2)
    numbers[:, 1] = numbers[:, 0] + np.uint64(1)
    bits = bits_at(keys[:, None], numbers)
    number = world.links[link, POLICY] & LOW_HALF
    delays = np.empty(len(link), np.int64)
    for place, policy in enumerate(world.policies):
        some = slice(None) if len(world.policies) == 1 else np.flatnonzero(number == place)
        drawn = policy.verdicts(bits[some], version[some][:, None])
        delays[some] = drawn[:, 0]
    return np.where(delays == LOST, LOST_ARRIVAL, t + delays)


def _settled_in(world: World, messages: Messages, wakes: _Wakes) -> Words:
    """Return in which wake each message is settled: the first one of its receiver that is later than its arrival.

    It is the number of wakes for a message that is settled in none of them.
    """
    size, t, by_agent, opens = len(world.agents), wakes.t, wakes.by_agent, wakes.opens
    agents = wakes.agent[by_agent[opens]]
    places, last = np.full(size, NOTHING), np.full(size, NOTHING)
    places[agents] = np.arange(len(opens))
    last[agents] = t[by_agent[np.append(opens[1:], len(t)) - 1]]
    receiver = world.owners[messages.link]
    settled_in = np.full(len(receiver), len(t))
    due = np.flatnonzero(messages.arrival < last[receiver])
    first, span = int(t[0]), int(t[-1]) - int(t[0]) + 2
    # one number for an agent and an instant, so that one search finds the wakes of all
    instants = places[wakes.agent[by_agent]] * span + (t[by_agent] - first + 1)
    arrivals = np.maximum(messages.arrival[due] - first + 1, 0)
    wanted = places[receiver[due]] * span + arrivals
    settled_in[due] = by_agent[np.searchsorted(instants, wanted, side="right")]
    return settled_in


def _carried(world: World, agent: Words, carries: Words) -> tuple[Words, Words]:
    """Return how many unread messages each wake finds, and their links in the order in which they came."""
    counts = world.agents[agent[carries], UNREAD]
    firsts = world.agents[agent[carries], FIRST]
    links = np.repeat(firsts, counts) + world.unread[ranges(firsts, counts)]
    carried = np.zeros(len(agent), np.int64)
    carried[carries] = counts
    return carried, links
