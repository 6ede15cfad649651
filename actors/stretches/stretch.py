"""A stretch: the next wakes of a world in their order, with all that follows of them whatever agents learn.

Instants, delays and losses are functions of seeds, and which releases are charged is one of schedules. So the rows of many
wakes are known before the first of these agents has learnt anything. Nothing is changed by making a stretch: `StretchArena`
takes over as many of its wakes as agents have had.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.arena.arena import HAS_ENDED, HAS_SPENT
from actors.arena.columns import (
    BACK,
    DEGREE,
    DIVERGED,
    FIRST,
    LINK_KEY,
    MADE,
    MUTE,
    NEIGHBOUR,
    OPEN,
    PLANNED,
    POLICY,
    ROUNDS,
    SEEN,
    SENT_TO,
    SMOOTHS,
    SPENT,
    STATE,
    UNREAD,
    UNREAD_VECTOR,
    UNREAD_VERSION,
    UPDATES,
    VERSION,
    Words,
)
from actors.links import LOST, Policy
from actors.stretches.rows import RowColumns
from actors.stretches.settling import Messages, fates_of
from actors.turns import (
    DERIVED,
    LOST_ARRIVAL,
    MERGED,
    NOTHING,
    RELEASED,
    SENT_,
    TAKEN,
    WOKE,
    ranges,
)
from clocks.durations import bits_at

_LOW_HALF = (1 << 32) - 1
_PROVISIONAL = 1 << 62
"""Behind the number of every event: of messages that the stretch itself sends, as long as these have none."""


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
    messages: Messages
    """What is on its way."""
    seq: int
    """The number of the last event."""
    dimension: int


@dataclass(slots=True)
class Stretch:
    """Wakes in columns. What depends on places in the table of spends is left out."""

    t: Words
    agent: Words
    k: Words
    """The number of the release that is made, −1 for none."""
    publishes: NDArray[np.bool_]
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

    def __len__(self) -> int:
        return len(self.t)


def make(
    world: World, t: Words, agent: Words, has_ended: NDArray[np.bool_], free: Words
) -> Stretch:
    """Return the stretch of some wakes, which are all that come before the last of them.

    `has_ended` says after which wakes an agent has no more; `free` are places of vectors, at least as many as wakes.
    """
    wakes = len(t)
    by_agent = np.argsort(agent, kind="stable")
    nth, opens = _nth(agent, by_agent)
    rows = world.agents[agent]
    # what each agent does
    learns = rows[:, STATE] & (DIVERGED | MUTE) == 0
    before = rows[:, MADE] + nth
    releases = learns & (before < rows[:, PLANNED])
    derives = learns & ~releases & (rows[:, STATE] & SMOOTHS != 0)
    publishes = releases | derives
    sends = publishes & (rows[:, SENT_TO] > 0)
    k = np.where(releases, before, NOTHING)
    version = rows[:, VERSION] + nth
    at_least = np.where(learns & ~releases, rows[:, PLANNED], 0)
    made = np.where(releases, before + 1, np.maximum(rows[:, MADE], at_least))
    spends = learns & (made >= rows[:, PLANNED]) & (rows[:, STATE] & SPENT == 0)
    spends &= (nth == 0) | (before < rows[:, PLANNED])
    places = np.full(wakes, -1)
    places[publishes] = free[: int(publishes.sum())]
    # what is sent
    link, sender = _links_of(world, agent, sends)
    arrival = _arrivals(world, link, t[sender], version[sender])
    is_lost = arrival == LOST_ARRIVAL
    receivers = np.bincount(sender, minlength=wakes)
    lost = np.bincount(sender[is_lost], minlength=wakes)
    kept = np.flatnonzero(~is_lost)
    new = Messages(
        arrival[kept],
        _PROVISIONAL + kept,
        world.links[link[kept], BACK],
        version[sender[kept]],
        places[sender[kept]],
    )
    messages = world.messages.and_then(new)
    sent_in = np.concatenate([np.full(len(world.messages.link), -1), sender[kept]])
    # what is settled
    settled_in = _settled_in(world, messages, t, agent, by_agent, opens)
    chosen = np.flatnonzero(settled_in < wakes)
    order = np.lexsort((messages.sent[chosen], messages.arrival[chosen], settled_in[chosen]))
    chosen = chosen[order]
    settled, turn = messages.at(chosen), settled_in[chosen]
    has_unread = (world.links[settled.link, UNREAD_VERSION] >= 0) & (nth[turn] == 0)
    fates = fates_of(settled, turn, world.links[settled.link, SEEN], has_unread)
    counts = np.bincount(turn, minlength=wakes)
    superseded = np.bincount(turn[fates.fate != TAKEN], minlength=wakes)
    # what is merged
    carries = np.flatnonzero((nth == 0) & (rows[:, UNREAD] > 0))
    carried, carried_links = _carried(world, agent, carries)
    merging = np.concatenate([np.repeat(carries, carried[carries]), turn[fates.kept]])
    sorted_ = np.argsort(merging, kind="stable")
    merged_link = np.concatenate([carried_links, settled.link[fates.kept]])[sorted_]
    merged_place = np.concatenate(
        [world.links[carried_links, UNREAD_VECTOR], settled.place[fates.kept]]
    )[sorted_]
    merges = np.zeros(wakes + 1, np.int64)
    np.cumsum(np.bincount(merging, minlength=wakes), out=merges[1:])
    merged = np.diff(merges) > 0
    # the numbers of events
    acts = merged + 3 * releases + derives
    events = counts + superseded + 1 + acts + sends * (1 + lost)
    seq = np.zeros(wakes + 1, np.int64)
    np.cumsum(events + spends, out=seq[1:])
    seq += world.seq + 1
    cause = seq[:-1] + counts + superseded + acts
    is_new = sent_in >= 0
    messages.sent[is_new] = cause[sent_in[is_new]] + 1
    sent = messages.sent[chosen]
    # the rows
    flags = WOKE + MERGED * merged + RELEASED * releases + DERIVED * derives + SENT_ * sends
    near = world.links[settled.link, NEIGHBOUR]
    words = near << 34 | settled.version << 2 | fates.fate
    columns = RowColumns(
        t,
        agent,
        flags,
        carried,
        counts,
        superseded,
        receivers,
        lost,
        world.links[carried_links, NEIGHBOUR] << 32 | world.links[carried_links, UNREAD_VERSION],
        np.stack([settled.arrival, sent, words], axis=1),
        world.links[link, NEIGHBOUR],
        arrival,
    )
    starts = columns.starts()
    told = np.where(sends | derives, version, NOTHING)
    return Stretch(
        t,
        agent,
        k,
        publishes,
        version,
        made,
        rows[:, UPDATES] + nth + 1,
        rows[:, ROUNDS] + nth + 1,
        cause,
        HAS_SPENT * spends + HAS_ENDED * has_ended,
        seq,
        events,
        columns,
        starts,
        columns.words(starts, seq[:-1], k, told, world.dimension),
        messages,
        sent_in,
        settled_in,
        (turn[fates.kept], settled.link[fates.kept], settled.version[fates.kept]),
        (merged_link, merged_place),
        merges,
        places,
    )


def _nth(agent: Words, by_agent: Words) -> tuple[Words, Words]:
    """Return which of its wakes each wake of an agent is, counted from 0; and where agents begin in `by_agent`."""
    ordered = agent[by_agent]
    opens = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(opens, len(ordered)))
    nth = np.empty(len(agent), np.int64)
    nth[by_agent] = np.arange(len(agent)) - np.repeat(opens, lengths)
    return nth, opens


def _links_of(world: World, agent: Words, sends: NDArray[np.bool_]) -> tuple[Words, Words]:
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
    number = world.links[link, POLICY] & _LOW_HALF
    delays = np.empty(len(link), np.int64)
    for place, policy in enumerate(world.policies):
        some = slice(None) if len(world.policies) == 1 else np.flatnonzero(number == place)
        drawn = policy.verdicts(bits[some], version[some][:, None])
        delays[some] = drawn[:, 0]
    return np.where(delays == LOST, LOST_ARRIVAL, t + delays)


def _settled_in(
    world: World, messages: Messages, t: Words, agent: Words, by_agent: Words, opens: Words
) -> Words:
    """Return in which wake each message is settled: the first one of its receiver that is later than its arrival.

    It is the number of wakes for a message that is settled in none of them.
    """
    size, wakes = len(world.agents), len(t)
    places = np.full(size, -1)
    places[agent[by_agent[opens]]] = np.arange(len(opens))
    last = np.full(size, -1)
    last[agent[by_agent[opens]]] = t[by_agent[np.append(opens[1:], wakes) - 1]]
    receiver = world.owners[messages.link]
    settled_in = np.full(len(receiver), wakes)
    due = np.flatnonzero(messages.arrival < last[receiver])
    first, span = int(t[0]), int(t[-1]) - int(t[0]) + 2
    instants = places[agent[by_agent]] * span + (t[by_agent] - first + 1)
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
