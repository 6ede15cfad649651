"""What agents in columns keep there: an agent is one row of integers, and so is each of its links.

Rows rather than columns, because a wake reads all of one agent, and memory comes in lines of 64 bytes.
"""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
Mask = NDArray[np.bool_]

# agents: one row of integers each
(
    FIRST,  # its first link
    DEGREE,  # how many links it has: the next ones
    UNREAD,  # how many messages are settled and not read
    MADE,  # how many releases it has charged
    PLANNED,  # after so many it makes no more
    PAUSE,  # so many wakes, after its first release, make none
    VERSION,  # the number of the next vector that it publishes
    PUBLISHED,  # the version that it published last, -1 before the first
    PUBLISHED_AT,  # and in which round
    UPDATES,  # how many wakes it had
    ROUNDS,  # how many rounds: what messages carry
    LAST_WAKE,  # the instant of its own clock at which it woke last
    STATE,  # flags, see below
    SENT_TO,  # to how many neighbours it sends
    OWN,  # where its model lies, of kinds that learn in fronts
) = range(15)
AGENT_COLUMNS = 15

ELSEWHERE, DIVERGED, SPENT, DERIVES, MUTE = 1, 2, 4, 8, 16
"""Flags: its wakes are computed elsewhere; it holds no numbers; it said that its budget is spent; it goes on sending
without data; none of its neighbours counts, so that it sends nothing."""

HAS_DIVERGED, HAS_SPENT, HAS_ENDED = 1, 2, 4
"""What an agent says at a wake that no row can say."""

# links: one row for each neighbour of each agent; what it sends there, and what it holds from there
(
    NEIGHBOUR,
    BACK,  # the link of the neighbour to this agent
    LINK_KEY,
    POLICY,
    SEEN,  # the newest version that was settled, -1 before the first
    UNREAD_VERSION,  # what is settled and not read, -1 for nothing
    UNREAD_VECTOR,
) = range(7)
LINK_COLUMNS = 7
LOW_HALF = (1 << 32) - 1
OPEN = 1 << 32
"""Added to the place of a policy where the neighbour is present: then it is sent to."""
ENDLESS = 1 << 62
"""More releases than any agent makes."""


def latest_of(agents: Words) -> Words:
    """Return the place of the last mention of each agent, by agents."""
    order = np.argsort(agents, kind="stable")
    ordered = agents[order]
    latest: Words = order[np.append(ordered[1:] != ordered[:-1], True)] if len(order) else order
    return latest
