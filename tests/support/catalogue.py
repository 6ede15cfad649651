"""One small world of every kind, private where the kind can be: laws that hold for all of them use these."""

from typing import Any

from scenarios.planning.mechanism_tables import family_of, is_private
from tests.support.builders import scenario

BUDGET = {"epsilon": 4.0, "delta": 1e-5}
_DP = {"kind": "local-dp", "epsilon_features": 2.0, "epsilon_label": 1.0}

EVERY: dict[str, dict[str, Any]] = {
    "local": {"kind": "local"},
    "admm": {"kind": "admm"},
    "dvp": {"kind": "dvp", "releases": 8},
    "dvp growing": {"kind": "dvp", "releases": 8, "alpha": {"start": 0.1, "growth": 1.2}},
    "pvp": {"kind": "pvp", "releases": 8},
    "pvp printed": {
        "kind": "pvp",
        "releases": 8,
        "variant": "printed",
        "final_dual": True,
        "final_share": 0.5,
    },
    "madmm": {"kind": "madmm", "eta": {"start": 0.5, "growth": 1.02, "cap": 1.0}},
    "pp": {"kind": "pp", "releases": 8},
    "pp noise": {
        "kind": "pp",
        "noise": {"start": 2.0, "growth": 1.05},
        "eta": {"start": 1.0, "growth": 1.1},
    },
    "cd": {"kind": "cd"},
    "cd laplace": {"kind": "cd", "noise": "laplace", "releases": 8, "schedule": "growing"},
    "cd gaussian": {"kind": "cd", "noise": "gaussian", "releases": 8},
    "propagation": {"kind": "propagation"},
    "propagation output": {"kind": "propagation", "noise": "output"},
    "propagation objective": {"kind": "propagation", "noise": "objective"},
    "warm-cd": {"kind": "warm-cd", "noise": "norm-gamma", "releases": 4, "warm_wakes": 3},
    "collaborative-admm": {"kind": "collaborative-admm"},
    "wddp once": {"kind": "wddp", "local_rounds": 10},
    "wddp rounds": {"kind": "wddp", "synchronise": "every-round"},
    "wddp sum": {"kind": "wddp", "synchronise": "every-round", "noise": "aggregate", "tolerate": 2},
    "jayaraman-gradient": {"kind": "jayaraman-gradient"},
    "jayaraman-output": {"kind": "jayaraman-output"},
    "pathak": {"kind": "pathak"},
    "central-gradient": {"kind": "central-gradient"},
    "fedavg": {"kind": "fedavg"},
    "local-dp": _DP,
    "local-dp admm": _DP | {"inner": {"kind": "admm"}},
    "local-dp cd": _DP | {"inner": {"kind": "cd"}},
    "local-dp pairs": _DP | {"inner": {"kind": "collaborative-admm"}},
    "local-dp fedavg": _DP | {"inner": {"kind": "fedavg"}},
}


def family(name: str) -> str:
    return family_of({"mechanism": {"noise": "none"} | EVERY[name]})


def private(name: str) -> bool:
    return is_private(
        {"mechanism": {"noise": "local"} | EVERY[name] if name.startswith("wddp") else EVERY[name]}
    )


def world(name: str, clock: Any = "poisson", rounds: int = 10, **sections: Any) -> dict[str, Any]:
    """Six agents (one where the kind has one) of a kind, with what it needs to run."""
    mechanism = dict(EVERY[name])
    server = family(name) == "server"
    node: dict[str, Any] = {
        "name": "peers",
        "count": 1 if name == "central-gradient" else 6,
        "clock": clock,
    }
    if private(name) and not name.startswith("local-dp"):
        node["budget"] = BUDGET
    rounded = (
        server
        or clock in ("synchronous", "barrier")
        or (isinstance(clock, dict) and clock["kind"] == "barrier")
    )
    run: dict[str, Any] = {"seed": 5, "sample_every": 4.0}
    run |= {"rounds": rounds} if rounded and family(name) != "pairs" else {"horizon": 12.0}
    base: dict[str, Any] = {
        "run": run,
        "task": {} if family(name) == "consensus" else {"l2": 0.1},
        "nodes": [node],
        "mechanism": mechanism,
    }
    if server:
        base["server"] = {"deadline": 3.0, "quorum": 0.5}
    return scenario(**(base | sections))
