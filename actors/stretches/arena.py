"""The arena of stretches: what a world is between them, and how agents have the wakes of one."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, pairwise
from math import isfinite

import numpy as np

from actors.agent import Agent
from actors.arena.arena import (
    ENDLESS,
    HAS_DIVERGED,
    HAS_ENDED,
    HAS_SPENT,
    Arena,
    Served,
    WakeFailed,
    back_places,
    check_settings,
    enrol_schedule,
)
from actors.arena.columns import (
    BACK,
    COMING,
    DEGREE,
    DIVERGED,
    ELSEWHERE,
    FIRST,
    LAST_WAKE,
    LINK_COLUMNS,
    LINK_KEY,
    MADE,
    NEIGHBOUR,
    PLANNED,
    POLICY,
    PUBLISHED,
    PUBLISHED_AT,
    ROUNDS,
    SCHEDULE,
    SCHEDULED,
    SEEN,
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
from actors.arena.schedules import Schedules, Unfit
from actors.links import Policy
from actors.log import Log
from actors.mailbox import Entry
from actors.messages import Message
from actors.stretches.rows import RowColumns
from actors.stretches.settling import Mask, Messages, fates_of, settled_words
from actors.stretches.stretch import Stretch, World, make
from actors.stretches.wake_times import NEVER, WakeTimes
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
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.strategy import State
from mechanisms.vectors import Matrix, Vector

_FEWEST, _LONGEST = 64, 4096
"""A stretch has at least so many wakes, where they come, and at most; or half as many as there are agents."""
_EFFORT = 1 << 20
"""A call does about so many multiplications: a few milliseconds, so that a screen and signals are served in between."""
_MOST = 256
_FEW = 64
_NUMBERS = 1 << 62
_LOOKED_AT, _WORTH, _MESSAGES_WORTH = 8, 12, 1000
"""After so many stretches it is asked whether they are worth it: with fewer wakes each than these, and one more for so many
messages that a stretch looks at, wakes are faster one by one."""
_REST = 1 << 13
"""Then they are computed one by one for so many events, some 400 wakes; where that is so again, for twice and for four times as long."""


class StretchArena(Arena):
    """The agents of a world whose wakes are computed in stretches."""

    def __init__(self, size: int, dimension: int, log: Log) -> None:
        super().__init__(size, dimension, log)
        self._schedules = Schedules()
        self._policies: dict[int, tuple[int, Policy]] = {}
        self._policy_of: list[Words] = []
        self._of: list[Agent] = []
        self._kinds: list[CoordinateDescent | None] = []
        self._states: list[State] = [None] * size
        self._is_awake = np.zeros(size, bool)
        self._first: tuple[int, int] | None = None
        self._knows_first = False
        self._stretch: Stretch | None = None
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

    def enrol(self, agent: Agent) -> tuple[Spend, ...]:
        self._of.append(agent)
        self._kinds.append(None)
        self._policy_of.append(self._places_of(agent))
        check_settings(agent)
        kind, row = agent.mechanism, self.agents[agent.id]
        if type(kind) is not CoordinateDescent:
            raise Unfit(f"the releases of {type(kind).__name__} do not follow from a schedule")
        row[PLANNED] = ENDLESS if kind.law is None else len(kind.spends)
        row[STATE] |= SMOOTHS if kind.smooth_after else 0
        self._kinds[-1] = kind
        return enrol_schedule(agent, kind, row, self._schedules)

    def _places_of(self, agent: Agent) -> Words:
        """Return the place of the policy of each link of an agent."""
        links, known = agent.outbox.links, self._policies
        policies = links.policies
        if isinstance(policies, Policy):
            place = known.setdefault(id(policies), (len(known), policies))[0]
            return np.full(len(links.keys), place)
        places = [known.setdefault(id(each), (len(known), each))[0] for each in policies]
        return np.array(places, np.int64)

    def make(
        self, neighbours: Sequence[Sequence[int]], keys: Words, starts: Sequence[Vector]
    ) -> None:
        """Make the arrays: the first rows of the vectors are the different starts, for ever.

        They are what neighbours hold of an agent that has sent nothing.
        """
        size, degrees, firsts = self.size, self.agents[:, DEGREE], self.agents[:, FIRST]
        near = np.fromiter(chain.from_iterable(neighbours), np.int64)
        self._owners = np.repeat(np.arange(size), degrees)
        self.links = links = np.zeros((len(near), LINK_COLUMNS), np.int64)
        links[:, NEIGHBOUR], links[:, LINK_KEY] = near, keys
        links[:, BACK] = firsts[near] + back_places(self._owners, near, firsts)
        links[:, POLICY] = np.concatenate([*self._policy_of, np.zeros(0, np.int64)])
        links[:, (SEEN, UNREAD_VERSION, UNREAD_VECTOR)] = -1
        self._policy_of = []
        self._held = np.zeros(len(near), np.int64)
        """For each link, where the vector lies that its owner mixes."""
        self._unread = np.zeros(len(near), np.int64)
        ends = np.append(firsts, len(near)).tolist()
        self._bounds = list(pairwise(ends))
        different = {id(start): start for start in starts}
        places = {start: place for place, start in enumerate(different)}
        self._openings = np.fromiter((places[id(start)] for start in starts), np.int64, size)
        self._opened = len(different)
        self._vectors = np.empty((self._opened + size + _FEW, self.dimension))
        self._vectors[: self._opened] = list(different.values())
        self._free = np.arange(len(self._vectors) - 1, self._opened - 1, -1)
        self._messages = Messages.none()
        settings = [agent.settings for agent in self._of]
        clocks = [each.activation for each in settings]
        own = [clock for clock in clocks if not isinstance(clock, Barrier)]
        if len(own) == size:
            clock_keys = np.array([agent.streams.keys[0] for agent in self._of], np.uint64)
            self._times = WakeTimes(own, clock_keys, [each.rounds for each in settings])
        self._scheduled = np.array(self._schedules.scheduled, np.int64)
        self._log_places = self._schedules.nowhere()
        self._places_known = 0
        effort = self.dimension * (int(degrees.max(initial=1)) + 64)
        self._most = max(1, min(_MOST, _EFFORT // max(1, effort)))

    # wakes

    @property
    def first(self) -> tuple[int, int] | None:
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
        return self.log.seq >= self._rests_until

    @property
    def awake(self) -> int:
        return int(self._is_awake.sum())

    def schedule(self, ids: Words, after: Words) -> list[int]:
        self._end_stretch()
        self._knows_first = False
        self._times.skip(ids, after)
        comes = self._times.next_of(ids) != NEVER
        self._is_awake[ids] = comes
        ended: list[int] = ids[~comes].tolist()
        return ended

    def drop_wake(self, agent: int) -> None:
        self._end_stretch()
        self._knows_first = False
        self._is_awake[agent] = False

    def serve(self, until: int, before: int, most: int) -> Served:
        """Let agents wake in order, no more than take a few milliseconds."""
        stretch = self._stretch
        if stretch is not None and stretch.seq[self._done] != self.log.seq + 1:
            self._end_stretch()  # an event came in between: those that follow have other numbers
            stretch = None
        if stretch is None or self._done == len(stretch):
            stretch = self._begin_stretch(until, before)
        first = self._done
        last = min(first + most, first + self._most, _count_before(stretch, until, before))
        if last <= first:
            return Served(0, 0, 0, 0, 0)
        said = np.flatnonzero(stretch.says[first:last])
        if len(said):
            last = first + int(said[0]) + 1
        end, says = last, int(stretch.says[last - 1])
        agents, before_it = stretch.agent[first:last], self._charge(stretch, first, last)
        try:
            end, has_diverged = self._learn(stretch, first, last)
        except _Failed as failure:
            wake = failure.wake
            self._uncharge(stretch, range(first, wake + 1), agents, before_it)
            self._fail(stretch, first, wake)
            agent, k = int(stretch.agent[wake]), int(stretch.k[wake])
            done = wake + 1 - first, int(stretch.t[wake])
            raise WakeFailed(*done, agent, k, failure.cause) from None
        if has_diverged:
            self._uncharge(stretch, range(first, end), agents, before_it)
            self._diverge(stretch, first, end)
            says = int(stretch.says[end - 1]) | HAS_DIVERGED
        else:
            self._take_over(stretch, first, end)
        agent, cause = int(stretch.agent[end - 1]), int(stretch.cause[end - 1])
        if says & HAS_SPENT:
            self.agents[agent, STATE] |= SPENT
        return Served(end - first, int(stretch.t[end - 1]), says, agent, cause)

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
            self._owners,
            self._unread,
            [policy for _, policy in self._policies.values()],
            self._messages,
            self.log.seq,
            self.dimension,
        )
        latest = _latest(agent)
        has_ended = np.zeros(len(t), bool)
        has_ended[latest] = ~self._times.has_more(agent[latest], np.bincount(agent)[agent[latest]])
        self._stretch = stretch = make(world, t, agent, has_ended, self._free)
        self._free = self._free[int(stretch.publishes.sum()) :]
        self._done, self._knows_first = 0, False
        return stretch

    def _learn(self, stretch: Stretch, first: int, last: int) -> tuple[int, bool]:
        """Let agents learn, one after the other; return behind which wake that ended, and whether the last one diverged."""
        vectors, held, states, kinds, of = (
            self._vectors,
            self._held,
            self._states,
            self._kinds,
            self._of,
        )
        link, place = stretch.merged
        merges = stretch.merges[first : last + 1].tolist()
        begins, ends = merges[:-1], merges[1:]
        wakes = zip(
            range(first, last),
            stretch.agent[first:last].tolist(),
            stretch.k[first:last].tolist(),
            stretch.places[first:last].tolist(),
            begins,
            ends,
            strict=True,
        )
        wake = first
        try:
            for wake, i, k, to, begin, end in wakes:
                if begin < end:
                    held[link[begin:end]] = place[begin:end]
                if to < 0:
                    continue
                agent, kind = of[i], kinds[i]
                assert kind is not None, "only agents that were enrolled wake here"  # noqa: S101
                if k >= 0:
                    state, vector = kind.release(states[i], agent.heard, k, agent.noise(k))
                    if (spend := kind.next_spend(agent.heard, k)) is not None:
                        agent.noise_stream.compare(spend)
                else:
                    state, vector = kind.without_data(states[i], agent.heard).finish(None)
                states[i] = state
                vectors[to] = vector
                if not isfinite(vector @ vector):
                    return wake + 1, True
        except BaseException as cause:  # noqa: BLE001 # it goes on when what was charged is told
            raise _Failed(wake, cause) from None
        return last, False

    def _charge(self, stretch: Stretch, first: int, last: int) -> Words:
        """Charge the releases of some wakes, before their noise is drawn; return how many each of the agents had before."""
        agents = stretch.agent[first:last]
        before: Words = self.agents[agents, MADE]
        latest = _latest(agents)
        self.agents[agents[latest], MADE] = stretch.made[first:last][latest]
        return before

    def _uncharge(self, stretch: Stretch, had: range, agents: Words, before: Words) -> None:
        """Take charges back of wakes that agents did not have; no noise was drawn for them. Those of other wakes stay."""
        made = self.agents[:, MADE].copy()
        made[agents] = before
        some = stretch.agent[had.start : had.stop]
        latest = _latest(some)
        made[some[latest]] = stretch.made[had.start : had.stop][latest]
        self.agents[:, MADE] = made

    def _take_over(self, stretch: Stretch, first: int, last: int) -> None:
        """Let agents have had some wakes, and hand their rows to the log."""
        self._count(stretch, first, last)
        released = first + np.flatnonzero(stretch.k[first:last] >= 0)
        stretch.words[stretch.starts[released] + SPEND] = self._places_of_spends(
            stretch.agent[released], stretch.k[released]
        )
        begin, end = stretch.starts[first], stretch.starts[last]
        turns = Turns(stretch.words[begin:end], stretch.starts[first:last] - begin)
        self._done = last
        if last > first:
            self.log.add_turns(turns, int(stretch.events[first:last].sum()))

    def _count(self, stretch: Stretch, first: int, last: int) -> None:
        """Count wakes, and what was published in them."""
        agents = stretch.agent[first:last]
        latest = _latest(agents)
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

    def _places_of_spends(self, agents: Words, k: Words) -> Words:
        """Return the places of the spends of releases in the table of the log; new ones get theirs in their order."""
        table = self.log.spends
        if self._places_known < len(table.table):
            known = self._places_known
            self._places_known = self._schedules.note_places(self._log_places, known, table)
        rows = self.agents[agents]
        numbers = self._scheduled[rows[:, SCHEDULE] + np.minimum(k, rows[:, SCHEDULED] - 1)]
        unknown = numbers[self._log_places[numbers] < 0]
        for number in dict.fromkeys(unknown.tolist()):
            self._log_places[number] = table.place(self._schedules.spends[number])
            self._places_known = len(table.table)
        places: Words = self._log_places[numbers]
        return places

    def _diverge(self, stretch: Stretch, first: int, end: int) -> None:
        """Take over wakes of which the last one ends in what is not finite: that is published, and never sent."""
        self._take_over(stretch, first, end - 1)
        wake = end - 1
        self._count(stretch, wake, end)
        self.agents[stretch.agent[wake], STATE] |= DIVERGED
        flags = int(stretch.columns.flags[wake]) & ~SENT_
        row = _without_sending(stretch, wake, flags)
        if flags & RELEASED:
            places = self._places_of_spends(stretch.agent[wake:end], stretch.k[wake:end])
            row[SPEND] = places[0]
        sent = bool(stretch.columns.receivers[wake])
        unsent = sent * (1 + int(stretch.columns.lost[wake]))
        self.log.add_turns(Turns(row, np.zeros(1, np.int64)), int(stretch.events[wake]) - unsent)
        self._done = end
        self._end_stretch(silent=wake)

    def _fail(self, stretch: Stretch, first: int, wake: int) -> None:
        """Take over wakes up to one that failed, and what is on record of that one: it woke and merged, and was charged."""
        self._take_over(stretch, first, wake)
        i, flags = int(stretch.agent[wake]), int(stretch.columns.flags[wake])
        row = _without_sending(stretch, wake, flags & (WOKE | MERGED))
        row[K] = NOTHING
        later = stretch.cause[wake] + 1 - stretch.seq[wake]
        acted = 3 * bool(flags & RELEASED) + bool(flags & DERIVED)
        self.log.add_turns(Turns(row, np.zeros(1, np.int64)), int(later) - acted)
        own = self.agents[i]
        own[UPDATES], own[ROUNDS] = stretch.updates[wake], stretch.rounds[wake]
        own[LAST_WAKE], own[MADE] = stretch.t[wake], stretch.made[wake]
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
        self._ended, self._had = self._ended + 1, self._had + done
        if self._ended == _LOOKED_AT:
            mean, messages = self._had / self._ended, len(stretch.messages.link)
            if mean < _WORTH + messages / _MESSAGES_WORTH:
                self._rests_until = self.log.seq + (_REST << self._rests)
                self._rests = min(self._rests + 1, 2)
            self._ended = self._had = 0
        if done == len(stretch):
            self._length = min(2 * self._length, max(_LONGEST, self.size // 2))
        else:
            self._length = max(_FEWEST, 2 * done)
        goes_on = (stretch.sent_in < done) & (stretch.settled_in >= done)
        if silent >= 0:
            goes_on &= stretch.sent_in != silent
        self._messages = stretch.messages.at(goes_on)
        self._count_coming()
        turn, link, version = stretch.seen
        had = turn < done
        link, version = link[had], version[had]
        latest = np.flatnonzero(np.append(link[1:] != link[:-1], True)) if len(link) else link
        self.links[link[latest], SEEN] = version[latest]
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

    def _count_coming(self) -> None:
        receivers = self._owners[self._messages.link]
        self.agents[:, COMING] = np.bincount(receivers, minlength=self.size)

    # vectors

    def _make_free(self, count: int) -> None:
        """Let so many places of vectors be free, at least."""
        if len(self._free) >= count:
            return
        size = len(self._vectors)
        is_used = np.zeros(size, bool)
        is_used[: self._opened] = True
        is_used[self._held] = is_used[self._messages.place] = True
        unread = self.links[:, UNREAD_VECTOR]
        is_used[unread[unread >= 0]] = True
        is_used[[place for *_, place, _ in self._posted]] = True
        is_used[self._last[1]] |= self._last[0] is not None
        self._free = np.flatnonzero(~is_used)
        if len(self._free) < count:
            more = max(count, size // 2)
            grown = np.empty((size + more, self.dimension))
            grown[:size] = self._vectors
            self._vectors = grown
            self._free = np.concatenate([self._free, np.arange(size, size + more)])

    def _put_vector(self, vector: Vector) -> int:
        """Keep a vector, and return its place."""
        self._make_free(1)
        place = int(self._free[0])
        self._free = self._free[1:]
        self._vectors[place] = vector
        return place

    # settling without a wake

    def settle(self, first: int, last: int, until: int, now: int) -> None:
        self._end_stretch()
        self._add_posted()
        receivers = self._owners[self._messages.link]
        is_due = (self._messages.arrival <= until) & (receivers >= first) & (receivers < last)
        is_due &= self.agents[receivers, STATE] & ELSEWHERE == 0
        due = np.flatnonzero(is_due)
        if not len(due):
            return
        messages = self._messages
        due = due[np.lexsort((messages.order[due], messages.arrival[due], receivers[due]))]
        settled = messages.at(due)
        begins = np.diff(receivers[due], prepend=NOTHING) != 0
        ids, turn = receivers[due][begins], np.cumsum(begins) - 1
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
        )
        starts, events = columns.starts(), counts + superseded
        seq = self.log.seq + 1 + np.cumsum(events) - events
        words = columns.words(starts, seq, nothing - 1, nothing - 1, 0)
        self.log.add_turns(Turns(words, starts[:-1]), int(events.sum()))
        self._keep_settled(settled, turn, ids, fates.fate == TAKEN, fates.kept)
        stays = np.ones(len(messages.link), bool)
        stays[due] = False
        self._messages = messages.at(stays)
        self._count_coming()

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

    def open_links(self, agent: int, heard: Heard) -> None:
        self._end_stretch()
        super().open_links(agent, heard)

    def enter_arena(self, agent: int, state: State, model: Vector, heard: Matrix | None) -> None:  # noqa: ARG002 # the state is the model
        self._end_stretch()
        links, held = self.links_of(agent), slice(*self._bounds[agent])
        if heard is None:
            self._held[held] = self._openings[links[:, NEIGHBOUR]]
        else:
            self._make_free(len(heard))
            self._held[held] = [self._put_vector(vector) for vector in heard]
        self._states[agent] = state
        self.agents[agent, STATE] &= ~ELSEWHERE

    def leave_arena(self, agent: int) -> None:
        self._end_stretch()
        self._forget_unread(np.array([agent]))
        self._held[slice(*self._bounds[agent])] = 0
        self._states[agent] = None
        self.agents[agent, STATE] |= ELSEWHERE
        self._is_awake[agent] = False
        self._knows_first = False

    # what an agent is, as long as it is here

    def state(self, agent: int) -> State:
        return self._states[agent]

    def model(self, agent: int) -> Vector:
        model: Vector = self._states[agent]
        return model

    def models(self, ids: Words) -> Matrix:
        states = self._states
        return np.array([states[i] for i in ids.tolist()])

    def held(self, agent: int) -> Matrix:
        begin, end = self._bounds[agent]
        return self._vectors.take(self._held[begin:end], axis=0)

    # messages

    def coming(self, agent: int) -> int:
        self._end_stretch()
        return super().coming(agent)

    @property
    def in_flight(self) -> int:
        self._end_stretch()
        return super().in_flight

    def unread_count(self, agent: int) -> int:
        self._end_stretch()
        return super().unread_count(agent)

    def note_seen(self, agent: int, versions: dict[int, int]) -> None:
        self._end_stretch()
        super().note_seen(agent, versions)

    def forget_seen(self, agent: int) -> dict[int, int]:
        self._end_stretch()
        return super().forget_seen(agent)

    def _add_posted(self) -> None:
        """Add the messages from elsewhere to the others."""
        if self._posted:
            posted = Messages(*np.array(self._posted, np.int64).T)
            self._posted = []
            self._messages = self._messages.and_then(posted)

    def _coming_to(self, agent: int) -> Words:
        """Return the places of the messages of an agent that are not settled."""
        self._end_stretch()
        if not self.agents[agent, COMING]:
            return np.zeros(0, np.int64)
        self._add_posted()
        begin, end = self._bounds[agent]
        link = self._messages.link
        return np.flatnonzero((link >= begin) & (link < end))

    def arrived(self, agent: int, now: int) -> int:
        return int((self._messages.arrival[self._coming_to(agent)] <= now).sum())

    def post(self, receiver: int, slot: int, entry: Entry) -> None:
        arrival, order, sent, message = entry
        self._end_stretch()
        if message is not self._last[0]:
            assert message.vector is not None, "control messages go to agents elsewhere"  # noqa: S101
            self._last = message, self._put_vector(message.vector)
        link, place = self._bounds[receiver][0] + slot, self._last[1]
        self._posted.append((arrival, sent, link, message.version, place, order))
        self.agents[receiver, COMING] += 1

    def take_messages(self, agent: int) -> list[Entry]:
        places = self._coming_to(agent)
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
        self.agents[agent, COMING] = 0
        return taken

    def _message(self, link: int, version: int, place: int, sent: int) -> Message:
        sender, vector = int(self.links[link, NEIGHBOUR]), self._vectors[place].copy()
        return Message(sender, version, 0, vector, sent)

    def unread(self, agent: int) -> dict[int, Message]:
        self._end_stretch()
        links = self._unread_links(np.array([agent]))
        kept = (
            self._message(link, int(self.links[link, UNREAD_VERSION]), place, NOTHING)
            for link, place in zip(
                links.tolist(), self.links[links, UNREAD_VECTOR].tolist(), strict=True
            )
        )
        return {message.sender: message for message in kept}

    def keep_unread(self, agent: int, slots: Sequence[int], messages: Sequence[Message]) -> None:
        self._end_stretch()
        self._make_free(len(messages))
        first = self._bounds[agent][0]
        for place, (slot, message) in enumerate(zip(slots, messages, strict=True)):
            assert message.vector is not None, "a control message is never unread"  # noqa: S101
            self._unread[first + place] = slot
            self.links[first + slot, UNREAD_VERSION] = message.version
            self.links[first + slot, UNREAD_VECTOR] = self._put_vector(message.vector)
        self.agents[agent, UNREAD] = len(slots)


class _Failed(Exception):
    """A wake of a stretch raised something."""

    def __init__(self, wake: int, cause: BaseException) -> None:
        super().__init__(wake)
        self.wake, self.cause = wake, cause


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


def _latest(agents: Words) -> Words:
    """Return the place of the last mention of each agent, by agents."""
    order = np.argsort(agents, kind="stable")
    ordered = agents[order]
    latest: Words = order[np.append(ordered[1:] != ordered[:-1], True)] if len(order) else order
    return latest


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
