"""Six agents that agree on one model, and the papers' loop on the same data."""

from typing import Any

from tests.support.builders import Ran, scenario
from tests.support.dense import Consensus

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
