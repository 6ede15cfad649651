"""What a world in columns is between stretches: counters, messages and vectors of its agents, and how they have the wakes of one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from actors.columns.effects import LinkEffects
from actors.columns.forecast import (
    ORDERS,
    Stretch,
    World,
    make,
)
from actors.columns.learning import DIFFERS, FAILS, UNSENT, Differs, Ending, Learning
from actors.columns.messages import Messages, fates_of, settled_words
from actors.columns.rows import RowColumns
from actors.columns.table import (
    AGENT_COLUMNS,
    BACK,
    DEGREE,
    DERIVES,
    DIVERGED,
    ELSEWHERE,
    ENDLESS,
    FIRST,
    HAS_DIVERGED,
    HAS_ENDED,
    HAS_SPENT,
    LAST_WAKE,
    LINK_COLUMNS,
    LINK_KEY,
    LOW_HALF,
    MADE,
    MUTE,
    NEIGHBOUR,
    OPEN,
    OWN,
    PAUSE,
    PLANNED,
    POLICY,
    PUBLISHED,
    PUBLISHED_AT,
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
    latest_of,
)
from actors.columns.wake_times import NEVER, WakeTimes
from actors.links import Policy
from actors.log import Log
from actors.mailbox import Entry
from actors.messages import Message
from actors.turns import (
    DERIVED,
    HEAD,
    KIND,
    MERGED,
    NOTHING,
    RELEASED,
    SENT,
    SENT_,
    SPEND,
    TAKEN,
    TOUCHED,
    WOKE,
    K,
    Turns,
    head_word,
    ranges,
)
from actors.turns import (
    VERSION as ROW_VERSION,
)
from clocks.activation import Barrier
from mechanisms.abilities import Derives, Participates, offers
from mechanisms.mixing import Heard
from mechanisms.strategy import State
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.agent import Agent

_FEWEST, _LONGEST = 64, 4096
"""A stretch has at least so many wakes, where they come, and at most; or half as many as there are agents."""
_EFFORT = 1 << 22
"""A call does about so many multiplications: a few milliseconds, so that a screen and signals are served in between."""
_MOST, _WIDEST = 512, 2048
_FEW = 64
_NUMBERS = 1 << 62
_LOOKED_AT, _WORTH, _MESSAGES_WORTH = 8, 12, 1000
"""After so many stretches it is asked whether they are worth it: with fewer wakes each than these, and one more for so many
messages that a stretch looks at, wakes are faster one by one."""
_REST, _DOUBLED = 1 << 13, 6
"""Then they are computed one by one for so many events, some 400 wakes; where that is so again, for twice as long, so often."""


class Served(NamedTuple):
    """What one call came to: how many wakes it served, the instant of the last one, and what its agent says beside its row."""

    wakes: int
    now: int
    says: int
    agent: int
    cause: int
    differs: Differs | None = None
    """The step that the last wake took in place of the one that was forecast."""
    woke: int = 0
    """What the end of a budget follows from: the release of the last wake, or that it woke."""


class WakeFailed(Exception):
    """Computing the last wake of those that were served raised `cause`; `k` is the release that was charged then, −1 for none."""

    def __init__(self, served: Served, k: int, cause: BaseException) -> None:
        super().__init__(served.agent, k)
        self.wakes, self.now, self.agent, self.woke = (*served[:2], served.agent, served.cause)
        self.k, self.cause = k, cause


class ColumnWorld:
    """The agents 0 … `size` − 1 of a world, whose neighbours hold vectors of `width` numbers of each.

    `agents` is there at once, so that agents can keep their counters in it; `lay_out` makes the rest. With `may_rest`,
    wakes are computed one by one for a while where stretches turn out to be short.
    """

    def __init__(self, size: int, width: int, log: Log, *, may_rest: bool) -> None:
        self._may_rest = may_rest
        self.size, self.width = size, width
        self.log = log
        self.agents: Words = np.zeros((size, AGENT_COLUMNS), np.int64)
        self.agents[:, (PUBLISHED, LAST_WAKE, OWN)] = -1
        self.agents[:, STATE] = ELSEWHERE
        self.links: Words = np.zeros((0, LINK_COLUMNS), np.int64)
        self.reasons: dict[int, str] = {}
        """Why the wakes of some agents are never computed here, in words."""
        self._posted_at = -1, 0
        """The number of the event that a message was posted behind last, and how many were posted behind it before."""
        self._is_awake = np.zeros(size, bool)
        self._first: tuple[int, int] | None = None
        self._knows_first = False
        self.taken: list[Turns] = []
        """The rows of the wakes that agents had at the last call."""
        self._stretch: Stretch | None = None
        self._messages = Messages.none()
        self._done = 0
        """How many wakes of the stretch agents have had."""
        self._length = _FEWEST
        self._ended = self._had = 0
        """How many stretches came to an end since the last look at them, and how many wakes agents had in them."""
        self._rests_until = self._rests = 0
        """Up to which event wakes are computed one by one; and how often the next rest is doubled."""
        self._posted: list[tuple[int, int, int, int, int, int]] = []
        """Messages from elsewhere that are not among the others yet."""
        self._last: tuple[Message | None, int] = None, -1
        """The message that came last from elsewhere, and where its vector lies: receivers of a broadcast share it."""

    # the layout

    def lay_out(self, agents: Sequence[Agent]) -> None:
        """Write down what does not change of all agents."""
        policies: dict[int, tuple[int, Policy]] = {}
        places = [self._enrol(agent, policies) for agent in agents]
        degrees = np.fromiter((len(agent.neighbours) for agent in agents), np.int64, self.size)
        self.agents[:, DEGREE] = degrees
        self.agents[:, FIRST] = firsts = np.cumsum(degrees) - degrees
        near = np.fromiter(chain.from_iterable(a.neighbours for a in agents), np.int64)
        self.owners = np.repeat(np.arange(self.size), degrees)
        """The agent of each link: it sends there, and receives from there."""
        self.links = links = np.zeros((len(near), LINK_COLUMNS), np.int64)
        links[:, NEIGHBOUR], links[:, LINK_KEY] = near, _keys_of_links(agents)
        links[:, BACK] = _back_links(self.owners, near, firsts)
        links[:, POLICY] = np.concatenate([*places, np.zeros(0, np.int64)])
        links[:, (SEEN, UNREAD_VERSION, UNREAD_VECTOR)] = -1
        self._policies = [policy for _, policy in policies.values()]
        self._unread = np.zeros(len(near), np.int64)
        self.held = np.zeros(len(near), np.int64)
        """For each link, where the vector lies that its owner mixes."""
        self._bounds = list(zip(firsts.tolist(), (firsts + degrees).tolist(), strict=True))
        self._keep_openings(agents)
        settings = [agent.settings for agent in agents]
        clocks = [each.activation for each in settings]
        own = [clock for clock in clocks if not isinstance(clock, Barrier)]
        if len(own) == self.size:
            clock_keys = np.array([agent.streams.keys[0] for agent in agents], np.uint64)
            self._times = WakeTimes(own, clock_keys, [each.rounds for each in settings])
        self.effects = LinkEffects(agents, self.owners, firsts)
        self.learning = Learning(self, agents)
        effort = self.width * (int(degrees.max(initial=1)) + 64)
        self._most = max(1, min(max(_MOST, min(self.size, _WIDEST)), _EFFORT // max(1, effort)))

    def _enrol(self, agent: Agent, policies: dict[int, tuple[int, Policy]]) -> Words:
        """Write down what an agent plans; return the place of the policy of each of its links."""
        row, planned, kind = self.agents[agent.id], agent.planned, agent.mechanism
        row[PLANNED] = ENDLESS if planned is None else planned
        if offers(kind, Derives) and kind.derives:  # type: ignore[attr-defined] # `offers` says so
            row[STATE] |= DERIVES
        reason = _unfit(agent)
        if reason:
            self.reasons[agent.id] = reason
        links = agent.outbox.links
        if isinstance(links.policies, Policy):
            known = policies.setdefault(id(links.policies), (len(policies), links.policies))
            return np.full(len(links.keys), known[0])
        each = [policies.setdefault(id(one), (len(policies), one))[0] for one in links.policies]
        return np.array(each, np.int64)

    def _keep_openings(self, agents: Sequence[Agent]) -> None:
        """Keep what neighbours hold of agents that have sent nothing: the first rows of the vectors, for ever."""
        different: dict[bytes, int] = {}
        rows, places = list[Vector](), np.zeros(len(self.links), np.int64)
        for agent, (begin, _) in zip(agents, self._bounds, strict=True):
            for slot, opening in enumerate(agent.first):
                key = opening.tobytes()
                if key not in different:
                    different[key] = len(rows)
                    rows.append(opening)
                places[begin + slot] = different[key]
        self._openings, self._opened = places, len(rows)
        self.vectors = np.empty((len(rows) + self.size + _FEW, self.width))
        if rows:
            self.vectors[: len(rows)] = rows
        self._free = np.arange(len(self.vectors) - 1, len(rows) - 1, -1)

    def open_links(self, agent: int, heard: Heard) -> None:
        """Note which neighbours of an agent are present."""
        self._end_stretch()
        row, links = self.agents[agent], self.links_of(agent)
        links[:, POLICY] = (links[:, POLICY] & LOW_HALF) + OPEN * heard.present
        row[SENT_TO] = heard.degree
        row[STATE] = (row[STATE] & ~MUTE) | (0 if heard.total else MUTE)
        self.learning.note_shares(agent, heard)

    def note_effects(self, agent: int) -> None:
        """Note that other effects than before act on the links of an agent."""
        self._end_stretch()
        self.effects.note(agent)

    def links_of(self, agent: int) -> Words:
        """Return the links of an agent, a row each: a view."""
        links: Words = self.links[slice(*self._bounds[agent])]
        return links

    # wakes

    @property
    def first(self) -> tuple[int, int] | None:
        """The instant of the next wake, and its agent; None without one."""
        stretch = self._stretch
        if stretch is not None and self._done < len(stretch):
            return int(stretch.t[self._done]), int(stretch.agent[self._done])
        if not self._knows_first:
            self._end_stretch()
            self._first, self._knows_first = self._find_first(), True
        return self._first

    def _find_first(self) -> tuple[int, int] | None:
        ids = np.flatnonzero(self._is_awake)
        if not len(ids):
            return None
        instants = self._times.next_of(ids)
        at = int(np.argmin(instants))
        return int(instants[at]), int(ids[at])

    @property
    def is_worth_it(self) -> bool:
        """Whether it is faster to compute wakes here than one by one, in this world and as far as was seen."""
        return self.log.seq >= self._rests_until

    def _look_at_lengths(self, stretch: Stretch) -> None:
        """Give short stretches up for a while."""
        self._ended, self._had = self._ended + 1, self._had + self._done
        if self._ended < _LOOKED_AT or not self._may_rest:
            return
        mean, messages = self._had / self._ended, len(stretch.messages.link)
        if mean < _WORTH + messages / _MESSAGES_WORTH:
            self._rests_until = self.log.seq + (_REST << self._rests)
            self._rests = min(self._rests + 1, _DOUBLED)
        else:
            self._rests = 0
        self._ended = self._had = 0

    @property
    def awake(self) -> int:
        """How many agents have a wake to come."""
        return int(self._is_awake.sum())

    def schedule(self, ids: Words, after: Words) -> list[int]:
        """Let agents wake by their own clocks, each not before its instant in `after`; return those that have no more wakes."""
        self._end_stretch()
        self._knows_first = False
        self._times.skip(ids, after)
        comes = self._times.next_of(ids) != NEVER
        self._is_awake[ids] = comes
        ended: list[int] = ids[~comes].tolist()
        return ended

    def drop_wake(self, agent: int) -> None:
        """Let an agent wake no more."""
        self._end_stretch()
        self._knows_first = False
        self._is_awake[agent] = False

    def serve(self, until: int, before: int, most: int) -> Served:
        """Let agents wake in order, at most `most` of them: up to an instant, and in it those below the id `before`.

        It takes no more than a few milliseconds, and ends where an agent says what no row can say. Raises WakeFailed where
        a wake raises something.
        """
        stretch, self.taken = self._stretch, []
        if stretch is not None and stretch.seq[self._done] != self.log.seq + 1:
            self._end_stretch()  # an event came in between: those that follow have other numbers
            stretch = None
        if stretch is None or self._done == len(stretch):
            stretch = self._begin_stretch(until, before)
        first = self._done
        last = min(first + most, first + self._most, _count_before(stretch, until, before))
        if last <= first:
            return Served(0, 0, 0, 0, 0)
        at = int(stretch.starts[first])
        turns = Turns(stretch.words[at : stretch.starts[last]], stretch.starts[first:last] - at)
        triggered = self.log.first_trigger(turns)
        if triggered is not None:
            last = first + triggered + 1
        speaking = np.flatnonzero(stretch.says[first:last])
        if len(speaking):
            last = first + int(speaking[0]) + 1
        ending = self.learning.learn(stretch, first, last)
        return self._served(stretch, first, ending)

    def _served(self, stretch: Stretch, first: int, ending: Ending) -> Served:
        """Take over the wakes that agents had, and say what no row says of the last one."""
        end, how = ending.end, ending.how
        wake = end - 1
        now, agent, cause = int(stretch.t[wake]), int(stretch.agent[wake]), int(stretch.cause[wake])
        if how in {FAILS, DIFFERS}:
            self._take_over(stretch, first, wake)
            settled = int(stretch.columns.settled[wake] + stretch.columns.superseded[wake])
            woke = int(stretch.seq[wake]) + settled
            self._cut(stretch, wake, is_charged=ending.k >= 0)
            served = Served(end - first, now, 0, agent, woke, ending.differs)
            if ending.error is not None:
                raise WakeFailed(served, ending.k, ending.error)
            return served
        says = int(stretch.says[wake])
        if how in {HAS_DIVERGED, UNSENT}:
            self._take_over(stretch, first, wake)
            self._keep_unsent(stretch, wake, is_published=how == HAS_DIVERGED)
            says |= how & HAS_DIVERGED
        else:
            self._take_over(stretch, first, end)
        if says & HAS_SPENT:
            self.agents[agent, STATE] |= SPENT
        before = int(stretch.columns.settled[wake] + stretch.columns.superseded[wake])
        woke = cause if stretch.k[wake] >= 0 else int(stretch.seq[wake]) + before
        return Served(end - first, now, says, agent, cause, None, woke)

    def _begin_stretch(self, until: int, before: int) -> Stretch:
        """Make the stretch of the next wakes, as far as they come before an instant and an agent."""
        self._end_stretch()
        self._add_posted()
        ids = np.flatnonzero(self._is_awake)
        t, agent = self._times.window(ids, until, before, self._length)
        some = _countable(t, self.size)
        t, agent = t[:some], agent[:some]
        self._make_free(len(t))
        world = World(
            self.agents,
            self.links,
            self.owners,
            self._unread,
            self._policies,
            self.effects,
            self._messages,
            self.log.seq,
            self.width,
        )
        latest = latest_of(agent)
        has_ended = np.zeros(len(t), bool)
        has_ended[latest] = ~self._times.has_more(agent[latest], np.bincount(agent)[agent[latest]])
        self._stretch = stretch = make(world, t, agent, has_ended, self._free)
        self._free = self._free[int(stretch.publishes.sum()) :]
        self._done, self._knows_first = 0, False
        return stretch

    def _take_over(self, stretch: Stretch, first: int, last: int) -> None:
        """Let agents have had some wakes, and hand their rows to the log."""
        self._done = last
        if last == first:
            return
        self._count(stretch, first, last)
        released = first + np.flatnonzero(stretch.k[first:last] >= 0)
        if len(released):
            places = self.learning.places_of_spends(stretch, released)
            stretch.words[stretch.starts[released] + SPEND] = places
        begin, end = stretch.starts[first], stretch.starts[last]
        turns = Turns(stretch.words[begin:end], stretch.starts[first:last] - begin)
        self.log.add_turns(turns, int(stretch.events[first:last].sum()))
        self.taken.append(turns)

    def _count(self, stretch: Stretch, first: int, last: int) -> None:
        """Count wakes, and what was published in them."""
        agents = stretch.agent[first:last]
        latest = latest_of(agents)
        wakes, ids = first + latest, agents[latest]
        rows = self.agents[ids]
        rows[:, MADE] = stretch.made[wakes]
        rows[:, UPDATES], rows[:, ROUNDS] = stretch.updates[wakes], stretch.rounds[wakes]
        rows[:, LAST_WAKE] = stretch.t[wakes]
        has = stretch.publishes[wakes]
        rows[has, VERSION] = stretch.version[wakes[has]] + 1
        rows[has, PUBLISHED] = stretch.version[wakes[has]]
        rows[has, PUBLISHED_AT] = stretch.rounds[wakes[has]]
        self.agents[ids] = rows
        self.learning.note_taken(stretch, first, last)
        for i in ids[rows[:, PAUSE] > 0].tolist():
            self.agents[i, PAUSE] = self.learning.pause(i)
        for wake, faults in stretch.touched.faults.items():
            if first <= wake < last:
                self.learning.note_touched(int(stretch.agent[wake]), faults)

    def _keep_unsent(self, stretch: Stretch, wake: int, *, is_published: bool) -> None:
        """Take over a wake whose vector is never sent: it is not finite and `is_published`, or there is none."""
        agent = stretch.agent[wake]
        stretch.publishes[wake] &= is_published
        stretch.touched.faults.pop(wake, None)
        self._count(stretch, wake, wake + 1)
        self.agents[agent, STATE] |= DIVERGED * is_published
        flags = int(stretch.columns.flags[wake]) & ~(SENT_ | TOUCHED)
        row = _without_sending(stretch, wake, flags)
        if flags & RELEASED:
            row[SPEND] = self.learning.places_of_spends(stretch, np.array([wake]))[0]
        sent = bool(stretch.columns.receivers[wake])
        unsent = sent * (1 + int(stretch.columns.lost[wake]))
        self.taken.append(Turns(row, np.zeros(1, np.int64)))
        self.log.add_turns(self.taken[-1], int(stretch.events[wake]) - unsent)
        self._done = wake + 1
        self._end_stretch(silent=wake)

    def _cut(self, stretch: Stretch, wake: int, *, is_charged: bool) -> None:
        """Take over what is on record of a wake that did not go as was forecast: it settled, woke and merged."""
        i, flags = int(stretch.agent[wake]), int(stretch.columns.flags[wake])
        row = _without_sending(stretch, wake, flags & (WOKE | MERGED))
        row[K] = NOTHING
        later = stretch.cause[wake] + 1 - stretch.seq[wake]
        acted = 3 * bool(flags & RELEASED) + bool(flags & DERIVED)
        self.taken.append(Turns(row, np.zeros(1, np.int64)))
        self.log.add_turns(self.taken[-1], int(later) - acted)
        own = self.agents[i]
        own[UPDATES], own[ROUNDS] = stretch.updates[wake], stretch.rounds[wake]
        own[LAST_WAKE] = stretch.t[wake]
        own[MADE] += is_charged
        self._done = wake + 1
        self._end_stretch(silent=wake)

    def _end_stretch(self, silent: int = NOTHING) -> None:
        """Take over what the wakes that agents had in the stretch made of messages and clocks; forget the rest of it.

        What the wake `silent` sends in the stretch was not sent.
        """
        stretch, done = self._stretch, self._done
        if stretch is None:
            return
        self._stretch, self._knows_first = None, False
        self._look_at_lengths(stretch)
        if done == len(stretch):
            self._length = min(2 * self._length, max(_LONGEST, self.size // 2))
        else:
            self._length = max(_FEWEST, 2 * done)
        goes_on = (stretch.sent_in < done) & (stretch.settled_in >= done)
        if silent >= 0:
            goes_on &= stretch.sent_in != silent
        self._messages = stretch.messages.at(goes_on)
        turn, link, version = stretch.seen
        had = turn < done
        link, version = link[had], version[had]
        latest = np.flatnonzero(np.append(link[1:] != link[:-1], True)) if len(link) else link
        self.links[link[latest], SEEN] = version[latest]
        self.effects.end(done, silent, len(stretch))
        wakes = np.bincount(stretch.agent[:done], minlength=self.size)
        ids = np.flatnonzero(wakes)
        self._forget_unread(ids[self.agents[ids, UNREAD] > 0])
        self._times.advance(ids, wakes[ids])
        self._is_awake[stretch.agent[:done][stretch.says[:done] & HAS_ENDED != 0]] = False
        unused = stretch.places[done:]
        self._free = np.concatenate([unused[unused >= 0], self._free])

    def _forget_unread(self, ids: Words) -> None:
        """Count the messages of some agents as read."""
        links = self._unread_links(ids)
        self.links[links, UNREAD_VERSION] = self.links[links, UNREAD_VECTOR] = NOTHING
        self.agents[ids, UNREAD] = 0

    def _unread_links(self, ids: Words) -> Words:
        """Return the links of some agents with something unread, agent by agent and in order."""
        firsts, counts = self.agents[ids, FIRST], self.agents[ids, UNREAD]
        return np.repeat(firsts, counts) + self._unread[ranges(firsts, counts)]

    # vectors

    def _make_free(self, count: int) -> None:
        """Let so many places of vectors be free, at least."""
        if len(self._free) >= count:
            return
        size = len(self.vectors)
        is_used = np.zeros(size, bool)
        is_used[: self._opened] = True
        is_used[self.held] = is_used[self._messages.place] = True
        for some in (self.links[:, UNREAD_VECTOR], self.agents[:, OWN]):
            is_used[some[some >= 0]] = True
        is_used[[place for *_, place, _ in self._posted]] = True
        is_used[self._last[1]] |= self._last[0] is not None
        self._free = np.flatnonzero(~is_used)
        if len(self._free) < count:
            more = max(count, size // 2)
            grown = np.empty((size + more, self.width))
            grown[:size] = self.vectors
            self.vectors = grown
            self._free = np.concatenate([self._free, np.arange(size, size + more)])

    def put_vector(self, vector: Vector) -> int:
        """Keep a vector, and return its place."""
        self._make_free(1)
        place = int(self._free[0])
        self._free = self._free[1:]
        self.vectors[place] = vector
        return place

    # settling without a wake

    def settle(self, first: int, last: int, until: int, now: int) -> None:
        """Settle what has arrived at agents `first` up to `last`, as of now, and hand the rows to the log."""
        turns = self._settled(first, last, until, now)
        if turns is not None:
            self.log.pull_triggers(turns)

    def _settled(self, first: int, last: int, until: int, now: int) -> Turns | None:
        """Do that, and return the rows; None without any."""
        self._end_stretch()
        self._add_posted()
        messages = self._messages
        due = np.flatnonzero(messages.arrival <= until)
        receivers = self.owners[messages.link[due]]
        is_due = (receivers >= first) & (receivers < last)
        is_due &= self.agents[receivers, STATE] & ELSEWHERE == 0
        due, receivers = due[is_due], receivers[is_due]
        if not len(due):
            return None
        order = np.lexsort((messages.order[due], messages.arrival[due], receivers))
        due, receivers = due[order], receivers[order]
        settled = messages.at(due)
        begins = np.diff(receivers, prepend=NOTHING) != 0
        ids, turn = receivers[begins], np.cumsum(begins) - 1
        has_unread = self.links[settled.link, UNREAD_VERSION] >= 0
        fates = fates_of(settled, turn, self.links[settled.link, SEEN], has_unread)
        counts = np.bincount(turn, minlength=len(ids))
        superseded = np.bincount(turn[fates.fate != TAKEN], minlength=len(ids))
        over = settled.link[fates.first]
        nothing, empty = np.zeros(len(ids), np.int64), np.zeros(0, np.int64)
        columns = RowColumns(
            np.full(len(ids), now),
            ids,
            nothing,
            np.bincount(turn[fates.first], minlength=len(ids)),
            counts,
            superseded,
            nothing,
            nothing,
            self.links[over, NEIGHBOUR] << 32 | self.links[over, UNREAD_VERSION],
            settled_words(self.links, settled, fates),
            empty,
            empty,
            {},
        )
        starts, events = columns.starts(), counts + superseded
        seq = self.log.seq + 1 + np.cumsum(events) - events
        words = columns.words(starts, seq, nothing - 1, nothing - 1, 0)
        turns = Turns(words, starts[:-1])
        self.log.add_turns(turns, int(events.sum()))
        self._keep_settled(settled, turn, ids, fates.fate == TAKEN, fates.kept)
        stays = np.ones(len(messages.link), bool)
        stays[due] = False
        self._messages = messages.at(stays)
        return turns

    def _keep_settled(
        self, settled: Messages, turn: Words, ids: Words, is_taken: Mask, kept: Words
    ) -> None:
        """Note what agents have settled and not read."""
        link = settled.link[kept]
        self.links[link, SEEN] = self.links[link, UNREAD_VERSION] = settled.version[kept]
        self.links[link, UNREAD_VECTOR] = settled.place[kept]
        new, firsts = settled.link[is_taken], self.agents[ids, FIRST]
        counts = np.bincount(turn[is_taken], minlength=len(ids))
        at = ranges(firsts + self.agents[ids, UNREAD], counts)
        self._unread[at] = new - np.repeat(firsts, counts)
        self.agents[ids, UNREAD] += counts

    # agents that come and go

    def enter(self, agent: Agent, heard: Matrix | None) -> None:
        """Take over an agent: its state, its counters, and what it holds of its neighbours; None are their openings."""
        self._end_stretch()
        i = agent.id
        row, held = self.agents[i], slice(*self._bounds[i])
        if heard is None:
            self.held[held] = self._openings[held]
        else:
            self._make_free(len(heard))
            self.held[held] = [self.put_vector(vector) for vector in heard]
        row[MADE] = len(agent.store.ledger)
        is_spent = agent.spent or agent.planned == 0  # with nothing planned, nothing is ever spent
        row[STATE] &= ~(ELSEWHERE | DIVERGED | SPENT)
        row[STATE] |= DIVERGED * agent.diverged | SPENT * is_spent
        self.open_links(i, agent.heard)
        self.effects.note(i)
        self.learning.enter(agent)
        row[PAUSE] = self.learning.pause(i)

    def leave(self, agent: int) -> None:
        """Give an agent back: what it holds is needed no longer, and it is not woken. Its messages stay."""
        self._end_stretch()
        self._forget_unread(np.array([agent]))
        self.held[slice(*self._bounds[agent])] = 0
        self.learning.leave(agent)
        self.agents[agent, STATE] |= ELSEWHERE
        self.agents[agent, OWN] = NOTHING
        self._is_awake[agent] = False
        self._knows_first = False

    def state(self, agent: int) -> State:
        """Return the state of the mechanism of an agent."""
        return self.learning.state(agent)

    def own_model(self, agent: int) -> Vector:
        """Return the model of an agent that learns in fronts: a new array."""
        own: Vector = self.vectors[self.agents[agent, OWN]].copy()
        return own

    def held_by(self, agent: int) -> Matrix:
        """Return what an agent mixes of its neighbours, a row each: a new array."""
        return self.vectors.take(self.held[slice(*self._bounds[agent])], axis=0)

    # messages

    def order_of(self, sent: int) -> int:
        """Return the number that orders a message, posted now, among those that arrive at one instant: first posted, first.

        It grows with the events of the run: a message that is sent here has that of the event that sent it, `ORDERS` times.
        """
        event = max(sent, self.log.seq)
        self._posted_at = event, self._posted_at[1] + 1 if event == self._posted_at[0] else 0
        return event * ORDERS + self._posted_at[1]

    def _to(self, agent: int) -> Words:
        """Return the places of the messages of an agent that are not settled."""
        self._end_stretch()
        self._add_posted()
        begin, end = self._bounds[agent]
        link = self._messages.link
        return np.flatnonzero((link >= begin) & (link < end))

    def coming(self, agent: int) -> int:
        """Count the messages of an agent that are not settled."""
        return len(self._to(agent))

    @property
    def in_flight(self) -> int:
        """How many messages are not settled, in all."""
        self._end_stretch()
        return len(self._messages.link) + len(self._posted)

    def unread_count(self, agent: int) -> int:
        """Count the senders of which an agent has settled something, and not read it."""
        self._end_stretch()
        return int(self.agents[agent, UNREAD])

    def note_seen(self, agent: int, versions: dict[int, int]) -> None:
        """Take over which version of each sender, by its slot, was settled last."""
        self.links_of(agent)[list(versions), SEEN] = list(versions.values())

    def forget_seen(self, agent: int) -> dict[int, int]:
        """Return which version of each neighbour was settled last, and know it no longer."""
        links = self.links_of(agent)
        seen = dict(zip(links[:, NEIGHBOUR].tolist(), links[:, SEEN].tolist(), strict=True))
        links[:, SEEN] = -1
        return {j: version for j, version in seen.items() if version >= 0}

    def _add_posted(self) -> None:
        """Add the messages from elsewhere to the others."""
        if self._posted:
            posted = Messages(*np.array(self._posted, np.int64).T)
            self._posted = []
            self._messages = self._messages.and_then(posted)

    def arrived(self, agent: int, now: int) -> int:
        """Count the messages of an agent that have arrived and are not settled."""
        return int((self._messages.arrival[self._to(agent)] <= now).sum())

    def post(self, receiver: int, slot: int, entry: Entry) -> None:
        """Let a message of an agent that is elsewhere arrive at one that is here."""
        arrival, order, sent, message = entry
        self._end_stretch()
        if message is not self._last[0]:
            assert message.vector is not None, "control messages go to agents elsewhere"  # noqa: S101
            self._last = message, self.put_vector(message.vector)
        link, place = self._bounds[receiver][0] + slot, self._last[1]
        self._posted.append((arrival, sent, link, message.version, place, order))

    def take_messages(self, agent: int) -> list[Entry]:
        """Take all messages of an agent that are not settled."""
        if not self._posted and self._stretch is None and not len(self._messages.link):
            return []
        places = self._to(agent)
        if not len(places):
            return []
        messages = self._messages.at(places)
        taken = [
            (arrival, order, sent, self._message(link, version, place, sent))
            for arrival, sent, link, version, place, order in zip(
                *(column.tolist() for column in messages), strict=True
            )
        ]
        stays = np.ones(len(self._messages.link), bool)
        stays[places] = False
        self._messages = self._messages.at(stays)
        return taken

    def _message(self, link: int, version: int, place: int, sent: int) -> Message:
        sender, vector = int(self.links[link, NEIGHBOUR]), self.vectors[place].copy()
        return Message(sender, version, 0, vector, sent)

    def unread(self, agent: int) -> dict[int, Message]:
        """Return what is settled at an agent and not read, by sender, in order."""
        self._end_stretch()
        if not self.agents[agent, UNREAD]:
            return {}
        links = self._unread_links(np.array([agent]))
        kept = (
            self._message(link, int(self.links[link, UNREAD_VERSION]), place, NOTHING)
            for link, place in zip(
                links.tolist(), self.links[links, UNREAD_VECTOR].tolist(), strict=True
            )
        )
        return {message.sender: message for message in kept}

    def keep_unread(self, agent: int, slots: Sequence[int], messages: Sequence[Message]) -> None:
        """Take over what is settled at an agent and not read, in order."""
        self._make_free(len(messages))
        first = self._bounds[agent][0]
        for place, (slot, message) in enumerate(zip(slots, messages, strict=True)):
            assert message.vector is not None, "a control message is never unread"  # noqa: S101
            self._unread[first + place] = slot
            self.links[first + slot, UNREAD_VERSION] = message.version
            self.links[first + slot, UNREAD_VECTOR] = self.put_vector(message.vector)
        self.agents[agent, UNREAD] = len(slots)


def _unfit(agent: Agent) -> str:
    """Return why the wakes of an agent are never computed in columns, in words; empty where they are."""
    settings = agent.settings
    if settings.compute is not None:
        return "agents take time to compute"
    if settings.silence is not None:
        return "agents suspect neighbours that are silent"
    if settings.has_barrier:
        return "an agent wakes by messages, at barriers"
    if offers(agent.mechanism, Participates):
        return "releases follow participation"
    return ""


def _count_before(stretch: Stretch, until: int, before: int) -> int:
    """Count the wakes of a stretch up to an instant, and in it those below the id `before`."""
    first = bisect_left(stretch.t, until)
    while first < len(stretch) and stretch.t[first] == until and stretch.agent[first] < before:
        first += 1
    return first


def _countable(t: Words, agents: int) -> int:
    """Return how many wakes come so soon after the first that one number can name an agent and an instant."""
    if (int(t[-1]) - int(t[0]) + 2) * agents < _NUMBERS:
        return len(t)
    return max(1, int(np.searchsorted(t, int(t[0]) + _NUMBERS // agents - 2)))


def _without_sending(stretch: Stretch, wake: int, flags: int) -> Words:
    """Return the row of a wake with other flags, and without what it sends."""
    columns, begin = stretch.columns, int(stretch.starts[wake])
    length = HEAD + int(columns.carried[wake]) + 3 * int(columns.settled[wake])
    row: Words = stretch.words[begin : begin + length].copy()
    row[KIND] = head_word(flags, length)
    row[SENT] = 0
    if not flags & DERIVED:
        row[ROW_VERSION] = NOTHING
    return row


def _keys_of_links(agents: Sequence[Agent]) -> Words:
    """Return the keys of all links, agent by agent."""
    keys = [agent.outbox.links.keys for agent in agents]
    joined = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    return joined.astype(np.uint64).view(np.int64)


def _back_links(sources: Words, near: Words, firsts: Words) -> Words:
    """Return, for each link, the link of its receiver to its sender.

    Raises ValueError where an edge has one direction only.
    """
    size = len(firsts)
    keys = sources * size + near
    order = np.argsort(keys, kind="stable")
    wanted = near * size + sources
    places = order[np.minimum(np.searchsorted(keys[order], wanted), max(0, len(keys) - 1))]
    if not np.array_equal(keys[places], wanted):
        raise ValueError("a graph has both directions of each edge")
    back: Words = places
    return back
