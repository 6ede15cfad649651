"""Checks rows of turns that were read from a file: every count, index and number, before anything rests on them."""

import numpy as np
from numpy.typing import NDArray

from actors.turns import (
    CAUSE,
    DERIVED,
    HEAD,
    LOST_ARRIVAL,
    MERGED,
    MOST_FAULTS,
    NOTHING,
    OLD,
    RELEASED,
    REPLACES,
    RESENT,
    SENT,
    SENT_,
    SETTLED,
    TAKEN,
    TOUCHED,
    WOKE,
    Turns,
    Words,
    fates_of,
    senders_of,
)

_FLAGS = WOKE | MERGED | RELEASED | DERIVED | SENT_ | RESENT | TOUCHED
_MOST_VERSION = (1 << 32) - 1
MOST_SEATS = 1 << 29
_UNKNOWN = np.iinfo(np.int64).max


def misfit(turns: Turns, seats: int, spends: Words | None) -> str:
    """Return what in some rows cannot be; empty where all can.

    `seats` is the number of agents, the server among them; `spends` the number of spends that stand before each row, None
    where that is not known. Each row is at least as long as a head, and as its first word says, and may be followed by other words. Raises nothing.
    """
    bad = _lengths(turns)
    if bad.any():
        return f"event {_first(turns, bad)}: the counts of its row do not fit its length"
    for what, wrong in (
        ("its row has flags that cannot be together", _flags(turns)),
        ("its number or its instant is out of range", _numbers(turns)),
        ("its release, version or spend cannot be", _acts(turns, spends)),
        ("what is settled or lost has other counts than its row", _sums(turns)),
        ("a message has an instant, a version or a cause that cannot be", _messages(turns)),
        (f"an agent has no seat among {seats}: it does not fit its world.json", _ids(turns, seats)),
    ):
        if wrong.any():
            return f"event {_first(turns, wrong)}: {what}"
    return ""


Mask = NDArray[np.bool_]


def _first(turns: Turns, wrong: Mask) -> int:
    return int(turns.seq[int(np.argmax(wrong))])


def _lengths(turns: Turns) -> Mask:
    """Rows that are shorter or longer than their counts say. Only heads are looked at: they are there."""
    words, starts = turns.words, turns.starts
    lengths = words[starts] >> 16
    settling, sending = words[starts + SETTLED], words[starts + SENT]
    receivers = turns.receivers
    wanted = HEAD + turns.carried + 3 * turns.settled + (receivers + 1) // 2 + receivers
    tail = lengths - wanted
    faults = tail - turns.lost
    odd = np.where(turns.touched, (faults < 1) | (faults > MOST_FAULTS) | ~turns.sent, tail != 0)
    wrong: Mask = (settling < 0) | (sending < 0) | odd
    return wrong


def _flags(turns: Turns) -> Mask:
    flags = turns.flags
    both = turns.released & turns.derived
    unsent = (turns.words[turns.starts + SENT] != 0) | (flags & RESENT != 0)
    wrong: Mask = (flags & ~_FLAGS != 0) | both | (unsent & ~turns.sent) | (turns.events < 1)
    return wrong


def _numbers(turns: Turns) -> Mask:
    causes = turns.words[turns.starts + CAUSE]
    wrong: Mask = (turns.seq < 1) | (turns.t < 0) | (causes < 0)
    return wrong


def _acts(turns: Turns, spends: Words | None) -> Mask:
    made, most = turns.released, _UNKNOWN if spends is None else spends
    with_version = turns.sent | turns.derived
    wrong: Mask = np.where(
        made,
        (turns.k < 0) | (turns.spend < 0) | (turns.spend >= most),
        (turns.k != NOTHING) | (turns.spend != NOTHING),
    ) | np.where(
        with_version,
        (turns.version < 0) | (turns.version > _MOST_VERSION),
        turns.version != NOTHING,
    )
    return wrong


def _sums(turns: Turns) -> Mask:
    count, settled = len(turns), turns.settled_words[:, 2]
    fates = fates_of(settled)
    superseded = np.bincount(turns.settled_rows[fates != TAKEN], minlength=count)
    lost = np.bincount(turns.sent_rows[turns.arrives == LOST_ARRIVAL], minlength=count)
    strange = ~np.isin(fates, (TAKEN, OLD, REPLACES))
    odd = np.bincount(turns.settled_rows[strange], minlength=count)
    wrong: Mask = (superseded != turns.superseded) | (lost != turns.lost) | (odd > 0)
    return wrong


def _messages(turns: Turns) -> Mask:
    count, settled = len(turns), turns.settled_words
    wrong = np.bincount(turns.settled_rows[(settled < 0).any(axis=1)], minlength=count)
    wrong += np.bincount(turns.sent_rows[turns.arrives < LOST_ARRIVAL], minlength=count)
    wrong += np.bincount(turns.fault_rows[turns.faults < 0], minlength=count)
    rows, carried = _carried(turns)
    wrong += np.bincount(rows[carried < 0], minlength=count)
    found: Mask = wrong > 0
    return found


def _ids(turns: Turns, seats: int) -> Mask:
    count = len(turns)
    senders = senders_of(turns.settled_words[:, 2])
    wrong = np.bincount(turns.settled_rows[senders >= seats], minlength=count)
    wrong += np.bincount(turns.sent_rows[turns.sent_to >= seats], minlength=count)
    rows, carried = _carried(turns)
    wrong += np.bincount(rows[carried >> 32 >= seats], minlength=count)
    found: Mask = (wrong > 0) | (turns.agent < 0) | (turns.agent >= seats)
    return found


def _carried(turns: Turns) -> tuple[Words, Words]:
    """Return the words of what was settled earlier, and the place of the row of each."""
    counts = turns.carried
    rows = np.repeat(np.arange(len(turns)), counts)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, turns.words[turns.starts[rows] + HEAD + offsets]
