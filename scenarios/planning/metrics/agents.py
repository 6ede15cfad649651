"""Which agents are there, how often they wake, and how many neighbours they have."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import ALWAYS, AT_END, Metric, Snapshot

if TYPE_CHECKING:
    from mechanisms.vectors import Vector


def _updates(at: Snapshot) -> "Vector":
    import numpy as np

    return np.array([agent.updates for agent in at.agents])


def _degree(at: Snapshot) -> "Vector":
    """Return how many neighbours the declared graph gives each agent, without the edges that joins bring."""
    import numpy as np

    apart = at.plan.apart
    return np.array(
        [
            sum((min(node.id, j), max(node.id, j)) not in apart for j in node.neighbours)
            for node in at.plan.nodes
        ]
    )


def _count(status: str, at: Snapshot) -> int:
    return at.count(status)


_of = partial(Metric, reads_models=False)
KINDS = (
    _of("updates", "wakes", _updates, ALWAYS, per_agent=True, unit="wakes"),
    _of(
        "availability",
        "share of the time since joining that the agent was up",
        lambda at: at.traffic.availability(at.now)[: at.plan.size],
        AT_END,
        per_agent=True,
        unit="a share from 0 to 1",
    ),
    _of(
        "degree",
        "how many neighbours the declared graph gives the agent",
        _degree,
        per_agent=True,
        unit="agents",
    ),
    *(
        _of(
            f"nodes.{status}",
            f"agents that {words}",
            partial(_count, status),
            ALWAYS,
            unit="agents",
        )
        for status, words in (("up", "are up"), ("down", "have crashed"), ("left", "have left"))
    ),
    _of(
        "nodes.spent",
        "agents whose cap or plan admits no further release",
        lambda at: sum(1 for agent in at.agents if agent.spent),
        ALWAYS,
        unit="agents",
    ),
)
