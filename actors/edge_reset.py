"""An edge between two agents: how it begins anew."""

import numpy as np

from actors.agent import Agent
from mechanisms.duals import forget, standing


def meet(one: Agent, other: Agent) -> None:
    """Begin an edge anew, at both ends: what was accounted before it does not count on it."""
    if not (one.balanced and other.balanced):
        return
    d, now = len(one.model), max(one.ticks, other.ticks)
    gap = standing(one.store.published, d, now) - standing(other.store.published, d, now)
    for end, peer, since in ((one, other, gap), (other, one, -gap)):
        slot, heard = end.slots[peer.id], end.heard
        if heard.offsets is None:
            heard.offsets = np.zeros((len(end.neighbours), d))
        heard.offsets[slot] = since
        if peer.store.published is None:
            end.inbox.disown(peer.id, peer.store.version)
        if peer.store.published is not None or np.isfinite(heard.values[slot, -1]):
            forget(heard.values[slot : slot + 1])


def share(one: Agent, other: Agent) -> bool:
    """Whether the two have an edge: the graph gives them one, and neither chose others when it joined."""
    return other.id not in one.plight.apart and one.id not in other.plight.apart
