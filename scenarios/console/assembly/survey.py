"""All agents at one instant: what a frame shows of thousands is taken from one look at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.vectors import Vector

if TYPE_CHECKING:
    from scenarios.console.sources.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Every agent as of one event; losses as of the last sample before it, for no other are known."""

    seq: int
    t: int
    sampled_t: int | None
    """When losses were sampled, in nanoseconds; None before the first sample."""
    epsilons: Vector
    losses: Vector
    stale: Vector
    """Seconds."""
    inbox: Vector
    releases: Vector
    states: Sequence[str]


def survey(source: Source) -> Survey:
    """Look at agents, now."""
    size, state = source.facts.size, source.run_state
    agents = range(size)
    return Survey(
        seq=source.seq,
        t=source.now,
        sampled_t=None if state.last is None else state.last.t,
        epsilons=source.epsilons(),
        losses=np.array(state.losses(), dtype=np.float64),
        stale=np.array([source.stale(i) for i in agents]),
        inbox=np.array([source.inbox(i) for i in agents], dtype=np.float64),
        releases=np.array([source.releases(i) for i in agents], dtype=np.float64),
        states=[state.state(i) for i in agents],
    )
