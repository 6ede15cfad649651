"""Worlds that hold every number of the grammar, and numbers that no author means."""

import copy
from collections.abc import Iterator
from typing import Any

from scenarios.planning.scenario import load
from tests.support.builders import scenario
from tests.support.catalogue import EVERY, world

EXTREME: tuple[Any, ...] = (
    5e-324,
    1e-300,
    1e-200,
    1e-100,
    1e-30,
    1e-12,
    1e-5,
    0,
    0.0,
    -1,
    1,
    2,
    3,
    1e3,
    1e5,
    1e9,
    1e12,
    1e18,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    10**400,
    -(10**400),
    1e100,
    1e200,
    1e300,
    1.7976931348623157e308,
    float("inf"),
    float("nan"),
    -5e-324,
    -1e308,
    True,
    "1e-300s",
    "1e300d",
    "1e400/s",
)

_BUDGET = {"epsilon": 3.0, "delta": 1e-5}
_SMALL: dict[str, Any] = {
    "run": {"seed": 1, "horizon": 3.0, "sample_every": 1.0},
    "data": {"source": "blobs", "dimension": 2, "points": 6, "test_points": 2},
    "nodes": [{"name": "peers", "count": 4}],
}
_PRIVATE = [{"name": "peers", "count": 4, "budget": _BUDGET}]
_LAWS: tuple[dict[str, Any], ...] = (
    {"kind": "constant", "value": 0.1},
    {"kind": "uniform", "min": 0.1, "max": 0.2},
    {"kind": "exponential", "mean": 0.1},
    {"kind": "normal", "mean": 0.1, "std": 0.1},
    {"kind": "lognormal", "median": 0.1, "sigma": 0.5},
    {"kind": "gamma", "mean": 0.1, "shape": 2.0},
    {"kind": "pareto", "min": 0.1, "alpha": 2.0},
    {"kind": "weibull", "scale": 0.1, "shape": 0.5},
)
_CLOCKS: tuple[dict[str, Any], ...] = (
    {"kind": "poisson", "rate": 1.0},
    {"kind": "synchronous", "period": 1.0},
    {"kind": "barrier", "timeout": 1.0, "quorum": 0.9},
    {"kind": "periodic", "period": 1.0, "jitter": 0.1, "drift": 0.1},
    {"kind": "trace", "wakes": [[0.5, 0], [1.5, 1]]},
)
_TOPOLOGIES: tuple[dict[str, Any], ...] = (
    {"kind": "grid", "rows": 2, "columns": 2},
    {"kind": "regular", "degree": 2},
    {"kind": "erdos-renyi", "p": 0.5},
    {"kind": "small-world", "degree": 2, "rewire": 0.1},
    {"kind": "scale-free", "attach": 1},
    {"kind": "knn", "k": 2},
    {"kind": "similarity", "gamma": 0.1},
    {"kind": "edges", "edges": [[0, 1], [1, 2, 0.5]]},
)
_SPLITS: tuple[dict[str, Any], ...] = (
    {"kind": "uneven", "ratio": 3.0},
    {"kind": "uniform", "min": 1, "max": 3},
    {"kind": "sizes", "of": [1, 2, 3, 4]},
    {"kind": "dirichlet", "alpha": 1.0},
    {"kind": "sizes-dirichlet", "alpha": 1.0},
    {"kind": "shards", "per_agent": 2},
)
_FAULTS: tuple[dict[str, Any], ...] = (
    {"crash": [0], "for": 1.0},
    {"crash": {"count": 2}},
    {"crash": {"percent": 50}},
    {"crash": {"neighbours_of": 1}},
    {"crash": {"degree_above": 1}},
    {"slow": {"on": [0], "factor": 2.0}},
    {"churn": {"on": "all", "session": 1.0, "downtime": 1.0, "per_node": [1.0, 2.0]}},
    {
        "churn": {
            "on": "all",
            "session": {"kind": "bittorrent-redhat", "scaled": 0.001},
            "downtime": {"kind": "weibull", "scale": 1.0, "shape": 0.5},
        }
    },
    {"availability": {"on": "all", "low": 0.2, "high": 0.8, "period": 2.0, "bias": [2.0, 5.0]}},
    {"availability": {"on": "all", "period": 2.0, "phase": "label", "session": 1.0}},
    {"outage": {"on": "all", "up": 1.0, "down": 0.5, "correlation": 0.5}},
    {"clock": {"on": [0], "offset": 0.5}},
    {"clock": {"on": [0], "drift": 0.5}},
    {"clock": {"on": [0], "jump": 0.5}},
    {"privacy": {"on": [0], "kind": "poison", "factor": 3.0}},
    {"loss": {"on": "all", "p": 0.5}},
    {
        "loss": {
            "on": "all",
            "kind": "gilbert-elliott",
            "enter": 0.2,
            "leave": 0.2,
            "good": 0.1,
            "bad": 0.9,
        }
    },
    {"delay": {"on": "all", "latency": 0.5, "correlation": 0.5}},
    {"rate": {"on": "all", "bytes": 40, "burst": 100}},
    {"duplicate": {"on": [0, 1], "p": 0.5}},
    {"partition": {"groups": [[0, 1], [2]], "mode": "slow", "latency": 0.5}},
)
_LOSSES: tuple[dict[str, Any], ...] = (
    {"kind": "smoothed-hinge", "width": 0.5},
    {"kind": "squared", "clip": 1.0},
    {"kind": "welsch"},
)
_LEARNERS: tuple[dict[str, Any], ...] = (
    {"kind": "cd", "mu": 1.0, "smoothness": 5.0},
    {"kind": "cd", "mu": 1.0, "noise": "gaussian", "releases": 3},
    {"kind": "cd", "noise": "laplace", "alpha": 0.5, "releases": 3, "clip": 1.0},
)


_World = tuple[str, dict[str, Any]]


def small(**sections: Any) -> dict[str, Any]:
    return scenario(**(_SMALL | sections))


def _of_time() -> Iterator[_World]:
    for law in _LAWS:
        network = {"topology": "ring", "latency": law, "loss": 0.1, "rate": 1000.0, "silence": 5.0}
        yield f"latency {law['kind']}", small(network=network)
        yield f"compute {law['kind']}", small(nodes=[{"count": 4, "compute": law}])
    ends: dict[str, Any] = {"horizon": 3.0, "updates": 5, "rounds": 5}
    for clock in _CLOCKS:
        for end, value in ends.items():
            if end == "rounds" and clock["kind"] not in {"barrier", "synchronous"}:
                continue
            run = {"seed": 1, end: value, "sample_every": 1.0}
            nodes = [{"count": 4, "clock": clock, "compute": 0.1}]
            yield (
                f"clock {clock['kind']} {end}",
                small(nodes=nodes, run=run, network={"latency": 0.1}),
            )


def _of_data() -> Iterator[_World]:
    data = {"dimension": 2, "test_points": 2, "flip": 0.1}
    spread = data | {"source": "separators", "points": {"min": 3, "max": 6}}
    for topology in _TOPOLOGIES:
        yield f"topology {topology['kind']}", small(network={"topology": topology}, data=spread)
    for split in _SPLITS:
        for source in ("blobs", "separators"):
            if split["kind"] not in {"dirichlet", "shards"} or source == "blobs":
                given = data | {"source": source, "points": 6, "split": split}
                yield f"split {source} {split['kind']}", small(data=given)
    for loss in _LOSSES:
        for learner in _LEARNERS:
            nodes = _PRIVATE if "noise" in learner else _SMALL["nodes"]
            task = {"loss": loss, "l2": 0.1}
            yield (
                f"loss {loss['kind']} {learner.get('noise')}",
                small(task=task, mechanism=learner, nodes=nodes),
            )


def _of_faults() -> Iterator[_World]:
    for number, fault in enumerate(_FAULTS):
        nodes = [{"count": 4, "compute": 0.1} if "slow" in fault else {"count": 4}]
        once = {"at": 0.5, "probability": 0.9}
        often = {"every": 1.0, "times": 2, "after": 0.1, "until": 2.5}
        yield f"fault {number} once", small(fault=[once | fault], nodes=nodes)
        yield f"fault {number} often", small(fault=[often | fault], nodes=nodes)
    when = {"when": 'kind == "woke"', "nth": 2, "later": 0.1, "times": 2}
    yield "fault when", small(fault=[when | {"crash": [0], "for": 0.5}])


def _others() -> Iterator[_World]:
    for name in EVERY:
        yield f"kind {name}", world(name)
    expects = [
        {"metric": "loss.mean", "below": 9.0, "after": 0.5},
        {"metric": "gap", "equals": 0.1, "tolerance": 9.0},
        {"metric": "loss.mean", "at_most": 5.0, "when": "eventually", "within": 2.0},
        {"metric": "loss", "node": 1, "above": 0.0},
    ]
    yield (
        "expectations",
        small(expect=expects, targets={"good": {"metric": "loss.mean", "below": 1.0}}),
    )
    links = [
        {"between": [[0, 1]], "latency": 0.5, "loss": 0.1, "rate": 100.0},
        {"from": 1, "to": 2, "latency": 0.5},
    ]
    yield "links", small(link=links)
    purposes = ("data", "network", "clock", "link", "noise", "fault")
    yield "seeds", small(seeds=dict(zip(purposes, range(6), strict=True)))
    aggregate = {"kind": "wddp", "synchronise": "every-round", "noise": "aggregate"}
    yield (
        "server",
        small(
            mechanism=aggregate | {"tolerate": 1, "colluders": 1, "learning_rate": 1.0},
            run={"seed": 1, "rounds": 3, "sample_every": 1.0},
            server={"deadline": 2.0, "quorum": 0.5, "sample": 1.0},
            nodes=[{"count": 5, "budget": _BUDGET}],
            data={"source": "blobs", "dimension": 2, "points": 30, "test_points": 2},
        ),
    )
    released = {"kind": "cd", "noise": "norm-gamma", "releases": 3}
    yield "grid", small(privacy={"grid": 1e-9}, mechanism=released, nodes=_PRIVATE)
    warm = {"kind": "warm-cd", "warm_share": 0.2, "warm_wakes": 2, "lipschitz": {"l2": 3.0}}
    yield "warm", small(mechanism=released | warm, nodes=_PRIVATE)
    own = {"start": [1.0] * 4, "growth": [1.1] * 4, "cap": 10.0}
    given = {"kind": "pp", "noise": {"start": 1.0, "growth": 1.1}, "eta": own, "theta": 0.5}
    yield "penalty noise", small(mechanism=given | {"C": 1.0, "rho": 0.1}, task={})
    final = {"kind": "pvp", "releases": 3, "final_dual": True, "final_share": 0.5}
    yield "final share", small(mechanism=final, task={}, nodes=_PRIVATE)
    growing = {"kind": "dvp", "alpha": {"start": 0.1, "growth": 1.1}, "releases": 3}
    yield "growing alpha", small(mechanism=growing, task={}, nodes=_PRIVATE)


WORLDS = dict((*_of_time(), *_of_data(), *_of_faults(), *_others()))

Path = tuple[str | int, ...]


def whole(name: str) -> dict[str, Any]:
    """Return a world with every default written out."""
    raw = load(WORLDS[name]).raw
    return {key: value for key, value in raw.items() if value is not None}


def numbers(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the place of every number of a tree, and of every text that begins with a digit."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers(value, (*path, key))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from numbers(value, (*path, at))
    elif path != ("schema",) and not isinstance(tree, bool):
        quantity = isinstance(tree, str) and tree[:1].isdigit()
        if quantity or isinstance(tree, (int, float)):
            yield path


def changed(tree: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy with another value at a place."""
    copied = copy.deepcopy(tree)
    at: Any = copied
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return copied
