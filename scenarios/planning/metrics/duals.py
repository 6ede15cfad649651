"""Whether the duals of the consensus family are in balance."""

import math
from functools import partial
from typing import TYPE_CHECKING

from scenarios.planning.metric import AT_END, Metric, Snapshot

if TYPE_CHECKING:
    from actors.agent import Agent
    from mechanisms.vectors import Matrix


def _of_agent(agent: "Agent") -> "Matrix":
    """Return an agent's duals as it would solve with them now, a row for each neighbour."""
    from mechanisms.abilities import AccountsDuals, KeepsDuals

    mechanism = agent.mechanism
    if isinstance(mechanism, AccountsDuals):
        return mechanism.accounted(agent.state, agent.heard_now())
    assert isinstance(mechanism, KeepsDuals), "agents without duals were left out"  # noqa: S101
    return mechanism.duals(agent.heard_now())


def _duals(at: Snapshot) -> "dict[int, Matrix]":
    """Return the duals of the agents that are up and hold any."""
    from actors.agent import UP

    return {a.id: _of_agent(a) for a in at.with_server if a.balanced and a.status == UP}


def _sum(at: Snapshot) -> float:
    import numpy as np

    duals = _duals(at)
    if not duals:
        return math.nan
    return float(np.linalg.norm(sum(rows.sum(axis=0) for rows in duals.values())))


def _antisymmetry(at: Snapshot) -> float:
    import numpy as np

    duals, agents = _duals(at), at.with_server
    if not duals:
        return math.nan
    worst = 0.0
    for i, rows in duals.items():
        for j, slot in agents[i].slots.items():
            if i < j and j in duals:
                worst = max(worst, float(np.linalg.norm(rows[slot] + duals[j][agents[j].slots[i]])))
    return worst


def _is_of_consensus(at: Snapshot) -> bool:
    return at.plan.family == "consensus"


_NONE = "no agent that is up holds duals"
_of = partial(Metric, reads_models=True, missing=_NONE, unit="a norm of duals")
KINDS = (
    _of("duals.sum", "‖Σλ_i‖", _sum, AT_END, where=_is_of_consensus),
    _of(
        "duals.antisymmetry",
        "the largest ‖λ_ij + λ_ji‖ over edges whose ends are both up",
        _antisymmetry,
        AT_END,
        where=_is_of_consensus,
    ),
)
