"""One small world of every kind, private where the kind can be: laws that hold for all of them use these."""

from typing import Any

from scenarios.planning.mechanism import (
    examples,
    family_of_table,
    read_mechanism,
    record_of,
)
from scenarios.planning.mechanism_tables import MechanismTable
from tests.support.builders import scenario

BUDGET = {"epsilon": 4.0, "delta": 1e-5}
MORE: dict[str, dict[str, Any]] = {
    "dvp growing": {"kind": "dvp", "releases": 8, "alpha": {"start": 0.1, "growth": 1.2}},
    "pp noise": {
        "kind": "pp",
        "noise": {"start": 2.0, "growth": 1.05},
        "eta": {"start": 1.0, "growth": 1.1},
    },
}
"""What not every budget holds: examples of kinds hold under any."""

EVERY: dict[str, dict[str, Any]] = examples() | MORE


def _table(name: str) -> MechanismTable:
    table = read_mechanism(EVERY[name])
    assert isinstance(table, MechanismTable)
    return table


def family(name: str) -> str:
    return family_of_table(_table(name))


def private(name: str) -> bool:
    table = _table(name)
    return record_of(table).unit(table) is not None


def world(name: str, clock: Any = "poisson", rounds: int = 10, **sections: Any) -> dict[str, Any]:
    """Six agents (one where the kind has one only) of a kind, with what it needs to run."""
    mechanism = dict(EVERY[name])
    server = family(name) == "server"
    node: dict[str, Any] = {
        "name": "peers",
        "count": 1 if record_of(_table(name)).pooled else 6,
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
