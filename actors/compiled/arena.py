"""The arrays of compiled wakes: laid out for the agents of a world, grown where they are too small, and read and written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from actors.agent import Agent
from actors.arena.arena import LOW_HALF, Arena, Served, back_places
from actors.arena.columns import (
    BACK,
    COMING,
    DEGREE,
    ELSEWHERE,
    FIRST,
    HELD,
    INBOX,
    INSTANT,
    LINK_COLUMNS,
    LINK_KEY,
    NEIGHBOUR,
    NTH,
    OWN,
    POLICY,
    SEEN,
    STATE,
    UNREAD,
    UNREAD_VECTOR,
    UNREAD_VERSION,
    Numbers,
    Words,
)
from actors.arena.schedules import Unfit
from actors.compiled import kernel
from actors.compiled.columns import (
    AGENT,
    ARRIVAL,
    AWAKE,
    CAUSE,
    COUNTERS,
    EVENT,
    EVENTS,
    FLYING,
    FREE_MESSAGES,
    FREE_VECTORS,
    MESSAGE_WORDS,
    MESSAGES_FULL,
    NEW_PLACES,
    NEXT,
    NOW,
    NUMBERS,
    ORDER,
    PLACES,
    ROOM,
    SCRATCH_FULL,
    SENT_BY,
    SEQ,
    SERVED,
    TURNS,
    VECTOR,
    VECTORS_FULL,
    WHAT,
    WORDS,
    Arrays,
    longest_row,
)
from actors.compiled.enrolment import Catalogue
from actors.compiled.noise_bits import workspace
from actors.log import Log
from actors.mailbox import Entry
from actors.messages import Message
from actors.turns import Turns
from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.strategy import State
from mechanisms.vectors import Matrix, Vector

_ROWS = 1 << 10
"""A call writes at most so many rows."""
_FEW = 64
_EFFORT = 1 << 21
"""A call does about so many multiplications: a few milliseconds, so that a screen and signals are served in between."""
_MOST = 1 << 10


class CompiledArena(Arena):
    """All that compiled wakes work on."""

    def __init__(self, size: int, dimension: int, log: Log) -> None:
        super().__init__(size, dimension, log)
        self._catalogue = Catalogue()
        self._policies: list[int] = []
        self.numbers: Numbers = np.zeros((size, NUMBERS))
        self._most = _MOST
        self._last: tuple[Message | None, int] = None, -1
        """The message that was put in last from elsewhere, and where its vector lies: receivers of a broadcast share it."""

    def enrol(self, agent: Agent) -> tuple[Spend, ...]:
        catalogue, links = self._catalogue, agent.outbox.links
        try:
            spends = catalogue.enrol(agent, self.agents[agent.id], self.numbers[agent.id])
            policies = [catalogue.policy(links.policy_of(slot)) for slot in range(len(links.keys))]
        except Unfit:
            self._policies += [0] * len(links.keys)
            raise
        self._policies += policies
        return spends

    def make(
        self, neighbours: Sequence[Sequence[int]], keys: Words, starts: Sequence[Vector]
    ) -> None:
        """Make the arrays: the first rows of the vectors are the different starts, for ever.

        They are what neighbours hold of an agent that has sent nothing.
        """
        size, degrees = self.size, self.agents[:, DEGREE]
        near = np.fromiter(chain.from_iterable(neighbours), np.int64)
        count = len(near)
        self.links = links = np.zeros((count, LINK_COLUMNS), np.int64)
        links[:, NEIGHBOUR] = near
        links[:, BACK] = back_places(
            np.repeat(np.arange(size), degrees), near, self.agents[:, FIRST]
        )
        links[:, LINK_KEY] = keys
        links[:, POLICY] = self._policies
        links[:, (SEEN, HELD, UNREAD_VERSION, UNREAD_VECTOR)] = -1
        different = {id(start): start for start in starts}
        places = {start: place for place, start in enumerate(different)}
        self._openings = np.fromiter((places[id(start)] for start in starts), np.int64, size)
        first = len(different)
        vectors = np.empty((first + size + _FEW, self.dimension))
        vectors[:first] = list(different.values())
        needed = np.zeros(len(vectors), np.int32)
        needed[:first] = 1
        free = np.arange(len(vectors) - 1, first - 1, -1, dtype=np.int32)
        most = int(degrees.max(initial=0))
        room = 2 * count + _FEW
        noise_words, noise_used = workspace(self.dimension)
        counters = np.zeros(COUNTERS, np.int64)
        counters[FREE_VECTORS], counters[FREE_MESSAGES] = len(free), room
        nothing = np.zeros(0)
        arrays = Arrays(
            counters=counters,
            agents=self.agents,
            numbers=self.numbers,
            links=links,
            shares=np.zeros(count),
            unread=np.zeros(count, np.int32),
            vectors=vectors,
            needed=needed,
            free_vectors=np.resize(free, len(vectors)),
            messages=np.zeros((room, MESSAGE_WORDS), np.int64),
            free_messages=np.arange(room - 1, -1, -1, dtype=np.int32),
            due_at=np.zeros(size, np.int64),
            due=np.zeros(size, np.int32),
            policies=nothing.astype(np.int64),
            losses=nothing,
            tables=nothing.astype(np.int64),
            listed=nothing.astype(np.int64),
            spends=nothing.astype(np.int64),
            scales=nothing,
            places=nothing.astype(np.int64),
            new_places=nothing.astype(np.int64),
            words=np.zeros(1 << 16, np.int64),
            starts=np.zeros(_ROWS, np.int64),
            order=np.zeros(max(_FEW, 2 * most), np.int64),
            scratch=np.zeros(2 * most + 2, np.int64),
            noise_words=noise_words,
            noise_used=noise_used,
            noise=np.zeros(self.dimension),
            slope=np.zeros(self.dimension),
            mean=np.zeros(self.dimension),
            scores=np.zeros(8),
        )
        self.arrays = self._catalogue.fill(arrays)
        effort = self.dimension * (int(degrees.max(initial=1)) + 64)
        self._most = max(1, min(_MOST, _EFFORT // max(1, effort)))

    # what wakes need more of

    def grow(self, what: int) -> None:
        """Make room for what a call of the kernel said was too small."""
        arrays, counters = self.arrays, self.arrays.counters
        if what == VECTORS_FULL:
            self._add_vectors(len(arrays.vectors) // 2 + _FEW)
        elif what == MESSAGES_FULL:
            more = max(len(arrays.messages) // 2, 2 * int(self.agents[:, DEGREE].max()))
            self._add_messages(more)
        elif what == SCRATCH_FULL:
            most = int(self.agents[:, COMING].max())
            self.arrays = arrays._replace(order=np.zeros(2 * most, np.int64))
        elif what == ROOM:
            self._add_room(int(counters[AGENT]))
        else:
            raise NotImplementedError(f"nothing is written that grows {what!r}")

    def _add_vectors(self, more: int) -> None:
        arrays, counters = self.arrays, self.arrays.counters
        old, free = len(arrays.vectors), int(counters[FREE_VECTORS])
        vectors = np.empty((old + more, self.dimension))
        vectors[:old] = arrays.vectors
        frees = np.empty(old + more, np.int32)
        frees[:free] = arrays.free_vectors[:free]
        frees[free : free + more] = np.arange(old + more - 1, old - 1, -1)
        counters[FREE_VECTORS] += more
        self.arrays = arrays._replace(
            vectors=vectors,
            needed=np.append(arrays.needed, np.zeros(more, np.int32)),
            free_vectors=frees,
        )

    def _add_messages(self, more: int) -> None:
        arrays, counters = self.arrays, self.arrays.counters
        old, free = len(arrays.messages), int(counters[FREE_MESSAGES])
        messages = np.zeros((old + more, MESSAGE_WORDS), np.int64)
        messages[:old] = arrays.messages
        frees = np.empty(old + more, np.int32)
        frees[:free] = arrays.free_messages[:free]
        frees[free : free + more] = np.arange(old + more - 1, old - 1, -1)
        counters[FREE_MESSAGES] += more
        self.arrays = arrays._replace(messages=messages, free_messages=frees)

    def _add_room(self, agent: int) -> None:
        """Make room for the rows of one agent, where none is written yet."""
        arrays, row = self.arrays, self.agents[agent]
        most = longest_row(int(row[DEGREE]), int(row[COMING]))
        if most > len(arrays.words):
            arrays = arrays._replace(words=np.zeros(2 * most, np.int64))
        spends = len(arrays.places)
        if len(arrays.new_places) < spends:
            arrays = arrays._replace(new_places=np.zeros(spends, np.int64))
        self.arrays = arrays

    # calls of the kernel

    @property
    def first(self) -> tuple[int, int] | None:
        arrays = self.arrays
        if not arrays.counters[AWAKE]:
            return None
        return int(arrays.due_at[0]), int(arrays.due[0])

    @property
    def awake(self) -> int:
        return int(self.arrays.counters[AWAKE]) if self.is_laid_out else 0

    def schedule(self, ids: Words, after: Words) -> list[int]:
        ended = np.zeros(len(ids), bool)
        kernel.schedule_wakes(self.arrays, after, ids, ended)
        over: list[int] = ids[ended].tolist()
        return over

    def drop_wake(self, agent: int) -> None:
        kernel.drop_wake(self.arrays, agent)

    def serve(self, until: int, before: int, most: int) -> Served:
        """Let agents wake in order, no more than take a few milliseconds (see `kernel.fly`)."""
        counters = self._begin()
        why = int(kernel.fly(self.arrays, until, before, min(most, self._most)))
        self._hand_over()
        if why in {VECTORS_FULL, MESSAGES_FULL, SCRATCH_FULL} or (
            why == ROOM and not counters[SERVED]
        ):
            self.grow(why)
        says = why & ~EVENT if why & EVENT else 0
        numbers = (counters[SERVED], counters[NOW], says, counters[AGENT], counters[CAUSE])
        return Served(*map(int, numbers))

    def settle(self, first: int, last: int, until: int, now: int) -> None:
        while first < last:
            counters = self._begin()
            first = int(kernel.settle(self.arrays, first, last, until, now))
            written = counters[TURNS]
            self._hand_over()
            if first < last and not written:
                counters[AGENT] = first
                self.grow(ROOM)
                if self.agents[first, COMING] > len(self.arrays.order):
                    self.grow(SCRATCH_FULL)

    def _begin(self) -> Words:
        counters, spends = self.arrays.counters, self.log.spends
        self._last = None, -1
        if counters[PLACES] < len(spends.table):
            self._note_places()
        counters[SEQ] = self.log.seq
        counters[SERVED] = counters[WORDS] = counters[TURNS] = 0
        counters[EVENTS] = counters[NEW_PLACES] = 0
        return counters

    def _note_places(self) -> None:
        """Note which spends got a place in the table of the log by other ways."""
        arrays, counters, table = self.arrays, self.arrays.counters, self.log.spends
        schedules, first = self._catalogue.schedules, int(counters[PLACES])
        counters[PLACES] = schedules.note_places(arrays.places, first, table)

    def _hand_over(self) -> None:
        arrays, counters = self.arrays, self.arrays.counters
        for number in arrays.new_places[: counters[NEW_PLACES]].tolist():
            self.log.spends.place(self._catalogue.schedules.spends[number])
        turns = int(counters[TURNS])
        if turns:
            words = arrays.words[: counters[WORDS]].copy()
            self.log.add_turns(Turns(words, arrays.starts[:turns].copy()), int(counters[EVENTS]))

    @property
    def odd_noise(self) -> str | None:
        spends, arrays = self._catalogue.schedules.spends, self.arrays
        stated = np.array([spends[number].scale for number in arrays.spends.tolist()])
        odd = np.flatnonzero(arrays.scales != stated)
        if not len(odd):
            return None
        drawn, told = arrays.scales[odd[0]], stated[odd[0]]
        return f"compiled wakes draw noise with the scale {drawn:.9g}, the ledger states {told:.9g}"

    # agents that come and go

    def open_links(self, agent: int, heard: Heard) -> None:
        super().open_links(agent, heard)
        first = self.agents[agent, FIRST]
        self.arrays.shares[first : first + self.agents[agent, DEGREE]] = heard.shares

    def enter_arena(self, agent: int, state: State, model: Vector, heard: Matrix | None) -> None:  # noqa: ARG002 # the state is the model
        row = self.agents[agent]
        row[NTH] = row[INSTANT] = 0
        links = self.links_of(agent)
        near = links[:, NEIGHBOUR]
        if heard is None:
            links[:, HELD] = self._openings[near]
            for place in links[:, HELD].tolist():
                self.arrays.needed[place] += 1
        else:
            for link, vector in zip(links, heard, strict=True):
                link[HELD] = self._put_vector(vector)
        opening = self._openings[agent]
        if np.array_equal(model, self.arrays.vectors[opening]):
            row[OWN] = opening
            self.arrays.needed[opening] += 1
        else:
            row[OWN] = self._put_vector(model)
        row[STATE] &= ~ELSEWHERE

    def leave_arena(self, agent: int) -> None:
        row, arrays, links = self.agents[agent], self.arrays, self.links_of(agent)
        for place in (*links[:, HELD].tolist(), int(row[OWN])):
            self._free_vector(place)
        for slot in arrays.unread[row[FIRST] : row[FIRST] + row[UNREAD]].tolist():
            self._free_vector(int(links[slot, UNREAD_VECTOR]))
        links[:, (HELD, UNREAD_VERSION, UNREAD_VECTOR)] = -1
        row[OWN], row[UNREAD] = -1, 0
        row[STATE] |= ELSEWHERE
        kernel.drop_wake(arrays, agent)

    def _put_vector(self, vector: Vector) -> int:
        """Keep a vector, needed once; return its place."""
        counters = self.arrays.counters
        if not counters[FREE_VECTORS]:
            self.grow(VECTORS_FULL)
        counters[FREE_VECTORS] -= 1
        place = int(self.arrays.free_vectors[counters[FREE_VECTORS]])
        self.arrays.vectors[place] = vector
        self.arrays.needed[place] = 1
        return place

    def _free_vector(self, place: int) -> None:
        arrays, counters = self.arrays, self.arrays.counters
        arrays.needed[place] -= 1
        if not arrays.needed[place]:
            arrays.free_vectors[counters[FREE_VECTORS]] = place
            counters[FREE_VECTORS] += 1

    # messages from and to agents that are elsewhere

    def post(self, receiver: int, slot: int, entry: Entry) -> None:
        arrival, order, sent, message = entry
        if message is self._last[0]:
            place = self._last[1]
            self.arrays.needed[place] += 1
        else:
            assert message.vector is not None, "control messages go to agents elsewhere"  # noqa: S101
            place = self._put_vector(message.vector)
            self._last = message, place
        if not self.arrays.counters[FREE_MESSAGES]:
            self.grow(MESSAGES_FULL)
        kernel.post(self.arrays, receiver, slot, message.version, place, arrival, sent, order)

    def take_messages(self, agent: int) -> list[Entry]:
        row, arrays, counters = self.agents[agent], self.arrays, self.arrays.counters
        taken, at = list[Entry](), int(row[INBOX])
        while at >= 0:
            words = arrays.messages[at].tolist()
            link = arrays.links[row[FIRST] + (words[WHAT] >> 32)]
            message = self._message(link, words)
            taken.append((words[ARRIVAL], words[ORDER], words[SENT_BY], message))
            self._free_vector(words[VECTOR])
            arrays.free_messages[counters[FREE_MESSAGES]] = at
            counters[FREE_MESSAGES] += 1
            at = words[NEXT]
        counters[FLYING] -= len(taken)
        row[INBOX], row[COMING] = -1, 0
        return taken

    def _message(self, link: Words, words: Sequence[int]) -> Message:
        vector = self.arrays.vectors[words[VECTOR]].copy()
        return Message(int(link[NEIGHBOUR]), words[WHAT] & LOW_HALF, 0, vector, words[SENT_BY])

    def unread(self, agent: int) -> dict[int, Message]:
        row, arrays = self.agents[agent], self.arrays
        kept = dict[int, Message]()
        for slot in arrays.unread[row[FIRST] : row[FIRST] + row[UNREAD]].tolist():
            link = arrays.links[row[FIRST] + slot]
            sender, version = int(link[NEIGHBOUR]), int(link[UNREAD_VERSION])
            vector = arrays.vectors[link[UNREAD_VECTOR]].copy()
            kept[sender] = Message(sender, version, 0, vector, -1)
        return kept

    def keep_unread(self, agent: int, slots: Sequence[int], messages: Sequence[Message]) -> None:
        row, arrays = self.agents[agent], self.arrays
        for place, (slot, message) in enumerate(zip(slots, messages, strict=True)):
            assert message.vector is not None, "a control message is never unread"  # noqa: S101
            arrays.unread[row[FIRST] + place] = slot
            vector = self._put_vector(message.vector)
            arrays = self.arrays
            link = arrays.links[row[FIRST] + slot]
            link[UNREAD_VERSION], link[UNREAD_VECTOR] = message.version, vector
        row[UNREAD] = len(slots)

    def state(self, agent: int) -> State:
        return self.model(agent)

    def models(self, ids: Words) -> Matrix:
        models: Matrix = self.arrays.vectors[self.agents[ids, OWN]]
        return models

    def held(self, agent: int) -> Matrix:
        row = self.agents[agent]
        places = self.arrays.links[row[FIRST] : row[FIRST] + row[DEGREE], HELD]
        held: Matrix = self.arrays.vectors[places]
        return held

    def model(self, agent: int) -> Vector:
        model: Vector = self.arrays.vectors[self.agents[agent, OWN]].copy()
        return model

    def arrived(self, agent: int, now: int) -> int:
        at, count = int(self.agents[agent, INBOX]), 0
        while at >= 0:
            count += int(self.arrays.messages[at, ARRIVAL]) <= now
            at = int(self.arrays.messages[at, NEXT])
        return count
