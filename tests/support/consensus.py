"""Six agents that agree on one model, and the papers' loop on the same data."""

from typing import Any

import numpy as np

from tests.support.builders import Ran, scenario
from tests.support.dense import Array, Consensus, State

C, RHO, ETA = 3.0, 0.2, 0.7


CLOCKS: dict[str, Any] = {
    "synchronous": {"kind": "synchronous", "period": 0.5},
    "barrier": {"kind": "barrier"},
}


def world(mechanism: dict[str, Any], rounds: int = 2, **sections: Any) -> dict[str, Any]:
    """Six agents with uneven data; releases are not rounded, so that paths can be compared."""
    base: dict[str, Any] = {
        "run": {"seed": 5, "rounds": rounds, "sample_every": 1e4},
        "data": {
            "source": "blobs",
            "dimension": 3,
            "points": 20,
            "split": {"kind": "uneven", "ratio": 3},
        },
        "task": {},
        "nodes": [{"count": 6, "clock": CLOCKS["synchronous"]}],
        "mechanism": {"C": C, "rho": RHO} | mechanism,
        "privacy": {"grid": False},
    }
    return scenario(**(base | sections))


def dense(ran: Ran) -> Consensus:
    return Consensus(ran.run.plan, C, RHO)


def pvp_step(
    problem: Consensus, i: int, t: int, lam: Array, eta: float, state: State, variant: str
) -> Array:
    """Zhang, Zhu 2016, eq. (22)–(23): 2f − v in the printed penalty, v in the clean one."""
    near = np.flatnonzero(problem.A[i])
    B, V = len(problem.u[i]), len(near)
    curvature = RHO if variant == "printed" else RHO + 2 * eta * V
    mine = 2 * state.secret[i] - state.sent[i] if variant == "printed" else state.sent[i]
    g = 2 * lam - eta * sum(mine + state.sent[j] for j in near)
    f = problem.solve(i, g, 2 * eta * V)
    state.secret[i] = f
    delta = 2 * (C / B + 1e-9) / curvature
    return f + problem.noise(i, t, 1.0 / delta)
