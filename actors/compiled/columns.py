"""The layout of what compiled wakes work on: all agents, links and messages as rows of integers, in a few arrays.

`Arrays` names the arrays; `actors.arena.columns` has the places in the rows of agents and links.

Vectors that were sent lie in `vectors`, one row each, with the number of those that still need it: the sender, as its own
model; each receiver that has not read it yet; each that mixes it. A row that nothing needs is used again. Messages that
were sent and are not settled lie in `messages`, a list for each receiver.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.arena.columns import Numbers, Words

NO_NOISE, NORM_GAMMA, LAPLACE, GAUSSIAN = range(4)

# numbers of agents
PULL, STEP, GRID, WEIGHT, L2, SHAPE = range(6)
NUMBERS = 6

# messages: one row each, in a list for each receiver
ARRIVAL, SENT_BY, WHAT, NEXT = range(4)
"""The instant; the number of the event that sent it; slot << 32 | version; the next message of its receiver. Behind them where
its vector lies, and what orders it among those of one instant (`Arena.order_of`)."""
VECTOR, ORDER = 4, 5
MESSAGE_WORDS = 6

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
"""An agent says what no row can say; `actors.arena.arena` has the names of that, which are added up."""


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


def replace(arrays: Arrays, **changed: Any) -> Arrays:
    """Return the same arrays, some of them exchanged."""
    return arrays._replace(**changed)
