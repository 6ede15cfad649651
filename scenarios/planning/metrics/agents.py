"""Which agents are there, how often they wake, and how many neighbours they have."""

from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import Metric, Snapshot, Taken

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


KINDS = (
    Metric(
        "updates",
        "wakes",
        reads_models=False,
        per_agent=True,
        taken=Taken.ALWAYS,
        compute=_updates,
        column=70,
    ),
    Metric(
        "availability",
        "share of the time since joining that the agent was up",
        reads_models=False,
        per_agent=True,
        taken=Taken.AT_END,
        compute=lambda at: at.traffic.availability(at.now)[: at.plan.size],
        column=180,
        column_if_asked=181,
    ),
    Metric(
        "degree",
        "how many neighbours the declared graph gives the agent",
        reads_models=False,
        per_agent=True,
        compute=_degree,
        column=183,
    ),
    *(
        Metric(
            f"nodes.{status}",
            f"agents that {words}",
            reads_models=False,
            taken=Taken.ALWAYS,
            compute=partial(_count, status),
            column=column,
        )
        for column, status, words in (
            (120, "up", "are up"),
            (121, "down", "have crashed"),
            (122, "left", "have left"),
        )
    ),
    Metric(
        "nodes.spent",
        "agents whose cap or plan admits no further release",
        reads_models=False,
        taken=Taken.ALWAYS,
        compute=lambda at: sum(1 for agent in at.agents if agent.spent),
        column=123,
    ),
)
