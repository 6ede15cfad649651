"""How many releases and derived messages each agent made."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.planning.metric import Metric, Snapshot, Taken

if TYPE_CHECKING:
    from actors.agent import Agent
    from mechanisms.vectors import Vector


def each(count: "Callable[[Agent], int]") -> "Callable[[Snapshot], Vector]":
    """Return a formula that gives a count of every agent."""

    def compute(at: Snapshot) -> "Vector":
        import numpy as np

        return np.array([count(agent) for agent in at.agents])

    return compute


KINDS = (
    Metric(
        "releases",
        "releases charged",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=each(lambda agent: len(agent.store.ledger)),
        column=40,
    ),
    Metric(
        "releases.refused",
        "releases that the cap refused",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=each(lambda agent: agent.refused),
        column=50,
    ),
    Metric(
        "releases.planned",
        "releases that the plan means to make; 0 where it has none, or no end",
        reads_models=False,
        per_agent=True,
        taken=Taken.AT_END,
        compute=each(lambda agent: agent.mechanism.planned or 0),
        column=181,
        column_if_asked=180,
    ),
    Metric(
        "derived",
        "messages made of what was released and heard before, without data",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=lambda at: at.traffic.derived[: at.plan.size].copy(),
        column=60,
    ),
)
