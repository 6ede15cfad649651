"""How many releases and derived messages each agent made."""

from functools import partial
from typing import TYPE_CHECKING, cast

from scenarios.planning.metric import ALWAYS, AT_END, Metric, Snapshot

if TYPE_CHECKING:
    from mechanisms.vectors import Vector


def _made(at: Snapshot) -> "Vector":
    import numpy as np

    made = type(at.agents[0]).releases_of(at.agents, np.arange(len(at.agents)))
    return cast("Vector", made)  # whole numbers


def _refused(at: Snapshot) -> "Vector":
    import numpy as np

    return np.array([agent.refused for agent in at.agents])


def _planned(at: Snapshot) -> "Vector":
    import numpy as np

    return np.array([agent.mechanism.planned or 0 for agent in at.agents])


_of = partial(Metric, reads_models=False, per_agent=True, unit="releases")
KINDS = (
    _of("releases", "releases charged", _made, ALWAYS),
    _of(
        "releases.refused",
        "releases that the cap refused",
        _refused,
        ALWAYS,
    ),
    _of(
        "releases.planned",
        "releases that the plan means to make; 0 where it has none, or no end",
        _planned,
        AT_END,
    ),
    _of(
        "derived",
        "messages made of what was released and heard before, without data",
        lambda at: at.traffic.derived[: at.plan.size].copy(),
        ALWAYS,
        unit="messages",
    ),
)
