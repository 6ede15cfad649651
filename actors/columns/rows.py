"""Many rows of turns at once, from columns."""

from dataclasses import dataclass

import numpy as np

from actors.columns.table import Words
from actors.turns import (
    AGENT,
    BITS,
    HEAD,
    KIND,
    NOTHING,
    SENT,
    SEQ,
    SETTLED,
    SPEND,
    TURN,
    VERSION,
    K,
    T,
    ranges,
)


@dataclass(slots=True)
class RowColumns:
    """What the rows of some turns say; parts are counted, and their words stand one turn after the other."""

    t: Words
    agent: Words
    flags: Words
    carried: Words
    settled: Words
    superseded: Words
    receivers: Words
    lost: Words
    carried_words: Words
    settled_words: Words
    """Three in a row: arrival, the event that sent it, and sender, version and fate."""
    sent_to: Words
    arrives: Words
    tails: dict[int, list[int]]
    """By turns, the words behind their rows, where faults touched messages."""

    def starts(self) -> Words:
        """Return where each row begins, and behind the last one where it ends."""
        half = (self.receivers + 1) // 2
        lengths = HEAD + self.carried + 3 * self.settled + half + self.receivers
        for place, tail in self.tails.items():
            lengths[place] += len(tail)
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        return starts

    def words(self, starts: Words, seq: Words, k: Words, version: Words, numbers: int) -> Words:
        """Return the words of all rows, without the places of spends.

        `seq` are the numbers of first events, `numbers` is the length of the vectors that are sent.
        """
        words = np.zeros(int(starts[-1]), "<i8")
        heads = starts[:-1]
        words[heads + KIND] = TURN | self.flags << 8 | np.diff(starts) << 16
        words[heads + SEQ], words[heads + T], words[heads + AGENT] = seq, self.t, self.agent
        words[heads + SETTLED] = self.carried | self.settled << BITS | self.superseded << 2 * BITS
        words[heads + K], words[heads + SPEND], words[heads + VERSION] = k, NOTHING, version
        sizes = np.where(self.receivers > 0, numbers << 2 * BITS, 0)
        words[heads + SENT] = self.receivers | self.lost << BITS | sizes
        at = heads + HEAD
        if len(self.carried_words):
            words[ranges(at, self.carried)] = self.carried_words
        at = at + self.carried
        places = ranges(at, self.settled, 3)
        for offset in range(3):
            words[places + offset] = self.settled_words[:, offset]
        at = at + 3 * self.settled
        halves = words.view("<u4")
        halves[ranges(2 * at, self.receivers)] = self.sent_to
        words[ranges(at + (self.receivers + 1) // 2, self.receivers)] = self.arrives
        for place, tail in self.tails.items():
            words[starts[place + 1] - len(tail) : starts[place + 1]] = tail
        return words
