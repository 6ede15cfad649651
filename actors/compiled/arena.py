"""The arrays of compiled wakes: laid out for the agents of a world, grown where they are too small, and read and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from actors.compiled import kernel
from actors.compiled.columns import (
    AGENT,
    ARRIVAL,
    BACK,
    COMING,
    COUNTERS,
    DEGREE,
    ELSEWHERE,
    EVENTS,
    FIRST,
    FLYING,
    FREE_MESSAGES,
    FREE_VECTORS,
    HELD,
    INBOX,
    LAST_WAKE,
    LINK_KEY,
    MESSAGE_WORDS,
    MESSAGES_FULL,
    MUTE,
    NEIGHBOUR,
    NEW_PLACES,
    NEXT,
    NUMBERS,
    OPEN,
    OWN,
    PLACES,
    POLICY,
    PUBLISHED,
    ROOM,
    SCRATCH_FULL,
    SEEN,
    SENT_BY,
    SENT_TO,
    SEQ,
    SERVED,
    STATE,
    TURNS,
    UNREAD,
    UNREAD_VECTOR,
    UNREAD_VERSION,
    VECTOR,
    VECTORS_FULL,
    WHAT,
    WORDS,
    Arrays,
    Words,
    longest_row,
)
from actors.compiled.noise_bits import workspace
from actors.log import Log
from actors.messages import Message
from actors.turns import Turns
from mechanisms.mixing import Heard
from mechanisms.vectors import Matrix, Vector

if TYPE_CHECKING:
    from actors.compiled.enrolment import Catalogue

LOW_HALF = (1 << 32) - 1
_ROWS = 1 << 10
"""A call writes at most so many rows."""
_COLUMNS = 32
_LINK_COLUMNS = 8
_FEW = 64


class Arena:
    """All that compiled wakes work on, for agents 0 … `size` − 1 with models of `dimension` numbers.

    `agents` is there at once, so that agents can keep their counters in it; `lay_out` makes the rest.
    """

    def __init__(self, size: int, dimension: int, log: Log) -> None:
        self.size, self.dimension = size, dimension
        self.log = log
        self.is_laid_out = False
        self.agents: Words = np.zeros((size, _COLUMNS), np.int64)
        self.agents[:, (INBOX, OWN, PUBLISHED, LAST_WAKE)] = -1
        self.agents[:, STATE] = ELSEWHERE
        self._last: tuple[Message | None, int] = None, -1
        """The message that was put in last from elsewhere, and where its vector lies: receivers of a broadcast share it."""

    def lay_out(
        self,
        starts: Sequence[Vector],
        neighbours: Sequence[Sequence[int]],
        keys: Words,
        policies: Words,
        catalogue: Catalogue,
    ) -> None:
        """Make the arrays: `keys` and `policies` have a number for each link, agent by agent.

        The first rows of the vectors are the different starts, for ever: what neighbours hold of an agent that has sent
        nothing.
        """
        size = self.size
        degrees = np.fromiter(map(len, neighbours), np.int64, size)
        self.agents[:, DEGREE] = degrees
        self.agents[:, FIRST] = np.cumsum(degrees) - degrees
        count = int(degrees.sum())
        near = np.fromiter((j for around in neighbours for j in around), np.int64, count)
        links = np.zeros((count, _LINK_COLUMNS), np.int64)
        links[:, NEIGHBOUR] = near
        links[:, BACK] = _back(np.repeat(np.arange(size), degrees), near, self.agents[:, FIRST])
        links[:, LINK_KEY] = keys
        links[:, POLICY] = policies
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
        self.numbers = np.zeros((size, NUMBERS))
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
        self._catalogue = catalogue
        self.arrays = catalogue.fill(arrays)
        self.is_laid_out = True

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

    def fly(self, until: int, before: int, most: int) -> int:
        """Let agents wake (see `kernel.fly`), and hand their rows to the log; return why it ended."""
        counters = self._begin()
        why = int(kernel.fly(self.arrays, until, before, most))
        self._hand_over()
        if why in {VECTORS_FULL, MESSAGES_FULL, SCRATCH_FULL} or (
            why == ROOM and not counters[SERVED]
        ):
            self.grow(why)
        return why

    def settle(self, first: int, last: int, until: int, now: int) -> None:
        """Settle what has arrived at agents `first` up to `last`, as of now, and hand the rows to the log."""
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
        counters, table = self.arrays.counters, self.log.spends.table
        for place in range(int(counters[PLACES]), len(table)):
            known = self._catalogue.numbers.get(table[place])
            if known is not None:
                self.arrays.places[known] = place
        counters[PLACES] = len(table)

    def _hand_over(self) -> None:
        arrays, counters = self.arrays, self.arrays.counters
        for number in arrays.new_places[: counters[NEW_PLACES]].tolist():
            self.log.spends.place(self._catalogue.spends[number])
        turns = int(counters[TURNS])
        if turns:
            words = arrays.words[: counters[WORDS]].copy()
            self.log.add_turns(Turns(words, arrays.starts[:turns].copy()), int(counters[EVENTS]))

    # agents that come and go

    def open_links(self, agent: int, heard: Heard) -> None:
        """Note which neighbours of an agent are present, and their shares."""
        row = self.agents[agent]
        links = slice(row[FIRST], row[FIRST] + row[DEGREE])
        self.arrays.shares[links] = heard.shares
        policies = self.arrays.links[links, POLICY] & LOW_HALF
        self.arrays.links[links, POLICY] = policies + OPEN * heard.present
        row[SENT_TO] = heard.degree
        row[STATE] = (row[STATE] & ~MUTE) | (0 if heard.total else MUTE)

    def board(self, agent: int, model: Vector, heard: Matrix | None) -> None:
        """Take over an agent: its model and what it holds of its neighbours; None are their starts."""
        row = self.agents[agent]
        links = self.arrays.links[row[FIRST] : row[FIRST] + row[DEGREE]]
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

    def land(self, agent: int) -> None:
        """Give an agent back: what it holds is needed no longer, and it is not woken. Its messages stay."""
        row, arrays = self.agents[agent], self.arrays
        links = arrays.links[row[FIRST] : row[FIRST] + row[DEGREE]]
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

    def post(self, receiver: int, slot: int, arrival: int, sent: int, message: Message) -> None:
        """Let a message of an agent that is elsewhere arrive at one that is here."""
        if message is self._last[0]:
            place = self._last[1]
            self.arrays.needed[place] += 1
        else:
            assert message.vector is not None, "control messages go to agents elsewhere"  # noqa: S101
            place = self._put_vector(message.vector)
            self._last = message, place
        if not self.arrays.counters[FREE_MESSAGES]:
            self.grow(MESSAGES_FULL)
        kernel.post(self.arrays, receiver, slot, message.version, place, arrival, sent)

    def take_messages(self, agent: int) -> list[tuple[int, int, Message]]:
        """Take all messages of an agent that are not settled: arrival, the event that sent each, and the message."""
        row, arrays, counters = self.agents[agent], self.arrays, self.arrays.counters
        taken, at = list[tuple[int, int, Message]](), int(row[INBOX])
        while at >= 0:
            words = arrays.messages[at].tolist()
            link = arrays.links[row[FIRST] + (words[WHAT] >> 32)]
            taken.append((words[ARRIVAL], words[SENT_BY], self._message(link, words)))
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
        """Return what is settled at an agent and not read, by sender, in order."""
        row, arrays = self.agents[agent], self.arrays
        kept = dict[int, Message]()
        for slot in arrays.unread[row[FIRST] : row[FIRST] + row[UNREAD]].tolist():
            link = arrays.links[row[FIRST] + slot]
            sender, version = int(link[NEIGHBOUR]), int(link[UNREAD_VERSION])
            vector = arrays.vectors[link[UNREAD_VECTOR]].copy()
            kept[sender] = Message(sender, version, 0, vector, -1)
        return kept

    def keep_unread(self, agent: int, slots: Sequence[int], messages: Sequence[Message]) -> None:
        """Take over what is settled at an agent and not read, in order."""
        row, arrays = self.agents[agent], self.arrays
        for place, (slot, message) in enumerate(zip(slots, messages, strict=True)):
            assert message.vector is not None, "a control message is never unread"  # noqa: S101
            arrays.unread[row[FIRST] + place] = slot
            vector = self._put_vector(message.vector)
            arrays = self.arrays
            link = arrays.links[row[FIRST] + slot]
            link[UNREAD_VERSION], link[UNREAD_VECTOR] = message.version, vector
        row[UNREAD] = len(slots)

    def held(self, agent: int) -> Matrix:
        """Return what an agent mixes of its neighbours, a row each."""
        row = self.agents[agent]
        places = self.arrays.links[row[FIRST] : row[FIRST] + row[DEGREE], HELD]
        held: Matrix = self.arrays.vectors[places]
        return held

    def model(self, agent: int) -> Vector:
        """Return the model of an agent."""
        model: Vector = self.arrays.vectors[self.agents[agent, OWN]].copy()
        return model

    def arrived(self, agent: int, now: int) -> int:
        """Count the messages of an agent that have arrived and are not settled."""
        at, count = int(self.agents[agent, INBOX]), 0
        while at >= 0:
            count += int(self.arrays.messages[at, ARRIVAL]) <= now
            at = int(self.arrays.messages[at, NEXT])
        return count


def _back(sources: Words, near: Words, firsts: Words) -> Words:
    """Return, for each link, the place of its sender among the neighbours of its receiver."""
    size = len(firsts)
    keys = sources * size + near
    order = np.argsort(keys, kind="stable")
    wanted = near * size + sources
    places = order[np.searchsorted(keys[order], wanted)]
    if not np.array_equal(keys[places], wanted):
        raise ValueError("a graph has both directions of each edge")
    back: Words = places - firsts[near]
    return back
