"""How many releases and derived messages each agent made."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import ALWAYS, AT_END, Metric, Snapshot

if TYPE_CHECKING:
    from actors.agent import Agent
    from mechanisms.vectors import Vector


def each(count: "Callable[[Agent], int]") -> "Callable[[Snapshot], Vector]":
    """Return a formula that gives a count of every agent."""

    def compute(at: Snapshot) -> "Vector":
        import numpy as np

        return np.array([count(agent) for agent in at.agents])

    return compute


_of = partial(Metric, reads_models=False, per_agent=True)
KINDS = (
    _of("releases", "releases charged", each(lambda agent: len(agent.store.ledger)), ALWAYS),
    _of(
        "releases.refused",
        "releases that the cap refused",
        each(lambda agent: agent.refused),
        ALWAYS,
    ),
    _of(
        "releases.planned",
        "releases that the plan means to make; 0 where it has none, or no end",
        each(lambda agent: agent.mechanism.planned or 0),
        AT_END,
    ),
    _of(
        "derived",
        "messages made of what was released and heard before, without data",
        lambda at: at.traffic.derived[: at.plan.size].copy(),
        ALWAYS,
    ),
)
