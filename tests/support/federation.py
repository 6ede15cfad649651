"""Worlds with a server, and what they compute by its definition."""

from typing import Any

import numpy as np

from tests.support.builders import Ran, scenario

BUDGET = {"epsilon": 3.0, "delta": 1e-4}
SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}
UNEVEN = {"source": "blobs", "dimension": 3, "points": 20, "split": {"kind": "uneven", "ratio": 3}}


def world(mechanism: dict[str, Any], rounds: int | None = 6, **sections: Any) -> dict[str, Any]:
    run = {"seed": 5, "rounds": rounds} if rounds else {"seed": 5, "horizon": 60.0}
    base: dict[str, Any] = {
        "run": run,
        "data": UNEVEN,
        "task": {"l2": 0.05},
        "nodes": [{"count": 6, "clock": "barrier"}],
        "mechanism": mechanism,
        "privacy": {"grid": False},
    }
    return scenario(**(base | sections))


def private(**budget: Any) -> list[dict[str, Any]]:
    return [{"count": 6, "clock": "barrier", "budget": BUDGET | budget}]


def server_of(ran: Ran) -> Any:
    with np.load(ran.outcome.folder / "models.npz") as archive:
        return archive["server"]


def slopes(ran: Ran, j: int, theta: Any) -> Any:
    """∇L_j, from its definition."""
    x, y = ran.run.plan.shards.train[j]
    u = x * y[:, None]
    return -(u.T @ (1 / (1 + np.exp(u @ theta)))) / len(u) + 0.1 * theta
