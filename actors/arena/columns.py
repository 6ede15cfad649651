"""What the agents of an arena keep there: an agent is one row of integers, and so is each of its links.

Rows rather than columns, because a wake reads all of one agent, and memory comes in lines of 64 bytes.
"""

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
    DRAWN,  # the last release whose noise was drawn here, -1 before the first
    REDRAWN,  # the first release whose noise was not drawn in order, -1 without one
    REDRAWN_AFTER,  # and the last one before it
) = range(35)

ELSEWHERE, DIVERGED, SPENT, SMOOTHS, MUTE = 1, 2, 4, 8, 16
"""Flags: its wakes are computed elsewhere; it holds no numbers; it said that its budget is spent; it goes on sending
without data; none of its neighbours counts, so that it sends nothing."""
AGENT_COLUMNS = 35

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
LINK_COLUMNS = 8


def unsigned(word: int) -> int:
    """Return an unsigned word of 64 bits as the signed one with the same bits."""
    return word - (1 << 64) if word >= 1 << 63 else word
