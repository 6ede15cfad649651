"""The layout of what compiled wakes work on: all agents, links and messages as rows of integers, in a few arrays.

`Arrays` names the arrays. One agent's integers are one row of `agents`, whose places are `FIRST … LAST_WAKE`, and so on:
rows rather than columns, because a wake reads all of one agent, and memory comes in lines of 64 bytes.

Vectors that were sent lie in `vectors`, one row each, with the number of those that still need it: the sender, as its own
model; each receiver that has not read it yet; each that mixes it. A row that nothing needs is used again. Messages that
were sent and are not settled lie in `messages`, a list for each receiver.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
Numbers = NDArray[np.float64]

# agents: one row of integers each
(
    FIRST,  # its first link
    DEGREE,  # how many links it has: the next ones
    INBOX,  # the first of its messages that are not settled, -1 without any
    COMING,  # how many there are
    UNREAD,  # how many messages are settled and not read
    OWN,  # where its model lies among the vectors
    MADE,  # how many releases it has charged
    PLANNED,  # after so many it makes no more
    VERSION,  # the number of the next vector that it publishes
    PUBLISHED,  # the version that it published last, -1 before the first
    PUBLISHED_AT,  # and in which round
    UPDATES,  # how many wakes it had
    ROUNDS,  # how many rounds: what messages carry
    LAST_WAKE,  # the instant of its own clock at which it woke last
    CLOCK,  # the kind of its clock (see times)
    PERIOD,  # and what belongs to it
    JITTER,
    CLOCK_KEY,
    NTH,  # how many wakes its clock has had, missed ones included
    INSTANT,  # when the last of them was, or will be
    WAKES,  # how many it may have in all
    NOISE_LOW,  # the key of its noise
    NOISE_HIGH,
    SCHEDULE,  # where the spends of its releases begin
    SCHEDULED,  # how many there are: the last one is repeated
    STATE,  # flags, see below
    ROWS,  # where its records lie in memory, what is taken from their scores, and where slopes are clipped (0: nowhere)
    OFFSETS,
    CLIPS,
    POINTS,
    KINDS,  # the kind of its noise, and of its loss << 8
    SENT_TO,  # to how many neighbours it sends
) = range(32)

ELSEWHERE, DIVERGED, SPENT, SMOOTHS, MUTE = 1, 2, 4, 8, 16
"""Flags: its wakes are computed elsewhere; it holds no numbers; it said that its budget is spent; it goes on sending
without data; none of its neighbours counts, so that it sends nothing."""
NO_NOISE, NORM_GAMMA, LAPLACE, GAUSSIAN = range(4)

# numbers of agents
PULL, STEP, GRID, WEIGHT, L2, SHAPE = range(6)
NUMBERS = 6

# links: one row for each neighbour of each agent; what it sends there, and what it holds from there
(
    NEIGHBOUR,
    BACK,  # the place of this agent among the neighbours of the neighbour
    LINK_KEY,
    POLICY,
    SEEN,  # the newest version that was settled, -1 before the first
    HELD,  # where the vector lies that it mixes, -1 for none
    UNREAD_VERSION,  # what is settled and not read, -1 for nothing
    UNREAD_VECTOR,
) = range(8)
OPEN = 1 << 32
"""Added to the place of a policy where the neighbour is present: then it is sent to."""

# messages: one row each, in a list for each receiver
ARRIVAL, SENT_BY, WHAT, NEXT = range(4)
"""The instant; the number of the event that sent it; slot << 32 | version, and where its vector lies, see VECTOR."""
VECTOR = 4
MESSAGE_WORDS = 5

# policies of links
DELAY, VALUE, COUNT = range(3)

# counters of the arena
(
    SEQ,  # the number of the last event
    AWAKE,  # how many wakes stand in the heap
    FREE_VECTORS,
    FREE_MESSAGES,
    WORDS,  # how many words of rows were written
    TURNS,  # how many rows
    EVENTS,  # how many events they stand for
    PLACES,  # how many spends have a place in the table of the log
    NEW_PLACES,  # how many of them got it in this call
    NOW,  # the instant of the last wake
    AGENT,  # the agent that needs something else than a row now
    CAUSE,  # the number of the event that this follows from
    FLYING,  # how many messages are neither lost nor settled
    SERVED,  # how many wakes this call served
) = range(14)
COUNTERS = 16

# what a call ends with
NOTHING_DUE, ENOUGH, ROOM, VECTORS_FULL, MESSAGES_FULL, SCRATCH_FULL = range(6)
EVENT = 8
"""An agent needs something else than a row; which is said by these, added up:"""
HAS_DIVERGED, HAS_SPENT, HAS_ENDED = 16, 32, 64


class Arrays(NamedTuple):
    """All that compiled wakes work on."""

    counters: Words
    agents: Words
    numbers: Numbers
    links: Words
    shares: Numbers
    """The share of each neighbour in the mean of its agent."""
    unread: NDArray[np.int32]
    """For each agent, the slots of neighbours that sent what is not read, in the order in which they did."""
    vectors: Numbers
    needed: NDArray[np.int32]
    free_vectors: NDArray[np.int32]
    messages: Words
    free_messages: NDArray[np.int32]
    due_at: Words
    """The heap of wakes: instants, and beside them the agents."""
    due: NDArray[np.int32]
    policies: Words
    losses: Numbers
    tables: Words
    listed: Words
    """Delays and traces that are given one by one."""
    spends: Words
    """For each scheduled release, which spend it is; several schedules one after the other."""
    scales: Numbers
    """And the scale of its noise."""
    places: Words
    """Of each spend, its place in the table of the log, -1 before it has one."""
    new_places: Words
    """The spends that got a place in this call, in that order."""
    words: Words
    """The rows of turns, one after the other."""
    starts: Words
    """Where each begins."""
    order: Words
    """Scratch: the messages that are settled now."""
    scratch: Words
    noise_words: NDArray[np.uint64]
    noise_used: Words
    noise: Numbers
    slope: Numbers
    mean: Numbers
    scores: Numbers


def longest_row(degree: int, coming: int) -> int:
    """Return the most words that the row of an agent with so many neighbours and messages can have."""
    return 16 + 3 * degree + 3 * coming


def unsigned(word: int) -> int:
    """Return an unsigned word of 64 bits as the signed one with the same bits."""
    return word - (1 << 64) if word >= 1 << 63 else word


def replace(arrays: Arrays, **changed: Any) -> Arrays:
    """Return the same arrays, some of them exchanged."""
    return arrays._replace(**changed)
