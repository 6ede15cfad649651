"""What becomes of many messages at once: which of them an agent takes over, and which are superseded."""

from typing import NamedTuple, Self

import numpy as np

from actors.columns.table import NEIGHBOUR, Mask, Words
from actors.turns import OLD, REPLACES, TAKEN

_SPAN = 1 << 33
"""More than any version."""


class Messages(NamedTuple):
    """Messages in columns, in the order in which they were sent."""

    arrival: Words
    sent: Words
    """The number of the event that sent each."""
    link: Words
    """The link of its receiver to its sender."""
    version: Words
    place: Words
    """Where its vector lies."""
    order: Words
    """What orders it among those that arrive at one instant (`ColumnWorld.order_of`)."""

    @classmethod
    def none(cls) -> Self:
        """Return no messages."""
        return cls(*(np.zeros(0, np.int64) for _ in range(6)))

    def at(self, places: Words | Mask) -> Self:
        """Return some of them."""
        return type(self)(*(column[places] for column in self))

    def and_then(self, others: "Messages") -> Self:
        """Return these, and others that were sent later."""
        pairs = zip(self, others, strict=True)
        return type(self)(*(np.concatenate(pair) for pair in pairs))


class Fates(NamedTuple):
    """What becomes of messages in the order in which they are settled."""

    fate: Words
    kept: Words
    """The places of those that are kept, the newest of each sender that a turn settles: by links, and of each by turns."""
    first: Words
    """The places of those that supersede what was unread before their turn."""


def fates_of(messages: Messages, turn: Words, seen: Words, has_unread: Mask) -> Fates:
    """Return what becomes of messages, which stand in the order in which they are settled.

    `turn` is the number of the turn that settles each; `seen` is the newest version that its link had before; `has_unread`
    says whether something lies unread on its link when the turn begins.
    """
    order = np.argsort(messages.link, kind="stable")
    link, version, turns = messages.link[order], messages.version[order], turn[order]
    opens = np.ones(len(order), bool)
    opens[1:] = link[1:] != link[:-1]
    base = np.cumsum(opens) * _SPAN
    newest = np.zeros(len(order), np.int64)
    newest[1:] = np.maximum.accumulate(base + version + 1)[:-1]
    is_new = version + 1 > np.maximum(newest - base, seen[order] + 1)
    new = np.flatnonzero(is_new)
    follows = np.zeros(len(new), bool)
    follows[1:] = (link[new[1:]] == link[new[:-1]]) & (turns[new[1:]] == turns[new[:-1]])
    meets = has_unread[order[new]]
    fates = np.full(len(order), OLD, np.int64)
    fates[new] = np.where(follows | meets, REPLACES, TAKEN)
    fate = np.empty_like(fates)
    fate[order] = fates
    is_last = np.ones(len(new), bool)
    is_last[:-1] = ~follows[1:]
    return Fates(fate, order[new[is_last]], np.sort(order[new[meets & ~follows]]))


def settled_words(links: Words, messages: Messages, fates: Fates) -> Words:
    """Return three words for each settled message, as the rows of turns have them."""
    sender = links[messages.link, NEIGHBOUR]
    words = sender << 34 | messages.version << 2 | fates.fate
    return np.stack([messages.arrival, messages.sent, words], axis=1)
