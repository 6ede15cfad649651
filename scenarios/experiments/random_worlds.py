"""Random worlds with random faults: small ones, of every family, for who looks for what breaks.

Everything is drawn from a `Luck`: dice for the command, Hypothesis for the tests.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from scenarios.language.value_rules import number_of_seconds
from scenarios.planning.mechanism_tables import family_of
from scenarios.planning.seeds import generator

T = TypeVar("T")
Table = dict[str, Any]


class Luck(Protocol):
    """What draws."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        ...

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        ...


class Dice:
    """Draws from a stream of its own."""

    def __init__(self, seed: int, number: int) -> None:
        self._rng = generator(seed, f"swarm/{number}")

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._rng.integers(len(options)))]

    def whole(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high + 1))


KINDS: dict[str, Table] = {
    "local": {"kind": "local"},
    "admm": {"kind": "admm"},
    "dvp": {"kind": "dvp", "releases": 5},
    "pvp": {"kind": "pvp", "releases": 5},
    "madmm": {"kind": "madmm", "eta": {"start": 0.5, "growth": 1.02, "cap": 1.0}},
    "pp": {"kind": "pp", "releases": 5},
    "cd": {"kind": "cd"},
    "cd laplace": {"kind": "cd", "noise": "laplace", "releases": 5},
    "cd norm-gamma": {"kind": "cd", "noise": "norm-gamma", "releases": 5, "schedule": "growing"},
    "cd gaussian": {"kind": "cd", "noise": "gaussian", "releases": 5},
    "propagation": {"kind": "propagation", "noise": "output"},
    "warm-cd": {"kind": "warm-cd", "noise": "norm-gamma", "releases": 3, "warm_wakes": 2},
    "collaborative-admm": {"kind": "collaborative-admm"},
    "wddp once": {"kind": "wddp", "local_rounds": 5},
    "wddp sum": {"kind": "wddp", "synchronise": "every-round", "noise": "aggregate", "tolerate": 1},
    "jayaraman-gradient": {"kind": "jayaraman-gradient"},
    "jayaraman-output": {"kind": "jayaraman-output"},
    "pathak": {"kind": "pathak"},
    "fedavg": {"kind": "fedavg"},
    "local-dp": {"kind": "local-dp", "epsilon_features": 2.0, "epsilon_label": 1.0, "inner": {"kind": "cd"}},
}  # fmt: skip
"""Small mechanisms of every family, by a name."""
_FREE = {"local", "admm", "madmm", "cd", "collaborative-admm", "fedavg", "local-dp"}
_CLOCKS: tuple[Any, ...] = (
    "poisson",
    {"kind": "synchronous", "period": 1.0},
    {"kind": "periodic", "period": 1.0, "jitter": 0.3, "drift": 0.05},
    {"kind": "barrier", "timeout": 2.0},
)
_LATENCIES: tuple[Any, ...] = (0.0, 0.2, 1.5, {"kind": "exponential", "mean": 0.5})


def small_world(luck: Luck, faults: int = 3) -> Table:
    """Return a scenario of at most six agents, sixty updates and four dimensions, with up to so many faults."""
    name = luck.pick(tuple(KINDS))
    family = family_of({"mechanism": {"noise": "none"} | KINDS[name]})
    server = family == "server"
    count = luck.whole(2, 6)
    horizon = luck.whole(4, 60 // count)
    clock = luck.pick(_CLOCKS[:3] if family in {"pairs", "alone"} else _CLOCKS)
    node: Table = {"name": "peers", "count": count, "clock": clock}
    if name not in _FREE:
        epsilon, then = luck.pick((0.5, 2.0, 8.0)), luck.pick(("listen", "leave"))
        node["budget"] = {"epsilon": epsilon, "delta": 1e-5, "on_exhausted": then}
    if family != "pairs" and luck.whole(0, 3) == 0:
        node["compute"] = luck.pick((0.2, {"kind": "exponential", "mean": 0.3}))
    nodes = [node]
    if count > 3 and luck.whole(0, 4) == 0:
        nodes = [node | {"count": count - 1}, node | {"name": "late", "count": 1, "present": False}]
    network: Table = {
        "topology": luck.pick(("ring", "complete", "path", "star")),
        "latency": luck.pick(_LATENCIES[1:] if isinstance(clock, dict) else _LATENCIES),
        "loss": luck.pick((0.0, 0.0, 0.2)),
    }
    if luck.whole(0, 5) == 0:
        network["rate"] = luck.whole(50, 500)
    if family in {"personalised", "consensus"} and luck.whole(0, 3) == 0:
        network["silence"] = luck.whole(2, 5)
    ends: Table = {"rounds": luck.whole(2, 6)} if server else {"horizon": float(horizon)}
    if not server and luck.whole(0, 5) == 0:
        ends = {"updates": luck.whole(10, 60)}
    elif name not in _FREE and not server and luck.whole(0, 5) == 0:
        ends["stop"] = "spent"
    tree: Table = {
        "schema": 1,
        "name": "small-world",
        "run": {"seed": luck.whole(0, 10**6), "sample_every": 2.0} | ends,
        "data": {
            "source": "blobs", "dimension": luck.whole(1, 4), "points": luck.whole(8, 16), "test_points": 0,
        },
        "task": {} if family == "consensus" else {"l2": 0.1},
        "network": network,
        "nodes": nodes,
        "mechanism": KINDS[name],
    }  # fmt: skip
    if server:
        tree["server"] = {"deadline": 2.0, "quorum": luck.pick((0.5, 1.0))}
    return tree | {"fault": random_faults(luck, tree, luck.whole(0, faults))}


def random_faults(luck: Luck, tree: Table, count: int) -> list[Table]:
    """Return so many faults that may befall a scenario: random classes, windows and parameters."""
    run = tree.get("run") or {}
    horizon = run.get("horizon")
    end = 20.0 if horizon is None else number_of_seconds(horizon)
    size = sum(group.get("count", 1) for group in tree["nodes"])
    mechanism = tree["mechanism"]
    named = {"kind": mechanism} if isinstance(mechanism, str) else mechanism
    family = family_of({"mechanism": {"noise": "none"} | named})
    clocks = {
        c if isinstance(c, str) else c["kind"]
        for c in (g.get("clock", "poisson") for g in tree["nodes"])
    }
    makers = dict(_ANYWHERE)
    if family in {"server", "pairs"}:
        makers |= _ASKING
    if family == "server":
        makers |= _SERVERS
    if family != "server" and "barrier" not in clocks:
        makers |= _WITH_TIME
    if family not in {"server", "pairs"}:
        makers |= _BROADCAST
    if any(group.get("compute") for group in tree["nodes"]):
        makers["slow"] = lambda x, n: {"slow": {"on": whom(x, n), "factor": x.pick((2.0, 10.0))}}
    found = []
    for _ in range(count):
        made = makers[luck.pick(sorted(makers))](luck, size)
        if family == "server" or not _joins(tree, 0, 1):
            made = _without_pairs(made)
        found.append(_when(luck, made, end, endless=horizon is None) | made)
    return found


def _joins(tree: Table, one: int, other: int) -> bool:
    """Whether an edge surely joins the first two agents."""
    topology = (tree.get("network") or {}).get("topology", "ring")
    kind = topology if isinstance(topology, str) else topology.get("kind")
    return kind in {"ring", "complete", "path", "star"} and (one, other) == (0, 1)


def _without_pairs(made: Table) -> Table:
    """Name an agent where a pair was named."""
    return {
        action: [0]
        if value == [[0, 1]]
        else value | {"on": [0]}
        if isinstance(value, dict) and value.get("on") == [[0, 1]]
        else value
        for action, value in made.items()
    }


def whom(luck: Luck, size: int) -> Any:
    """Return a target."""
    one = luck.whole(0, size - 1)
    return luck.pick(
        (
            "all", "one", "minority", "majority", [one], "peers", {"count": 2, "redraw": True}, {"percent": 50},
            {"neighbours_of": one}, {"degree_above": 1}, {"highest": "updates"}, {"lowest": "releases", "count": 2},
        )
    )  # fmt: skip


def _more(*keys: Table) -> tuple[Table, ...]:
    return {}, *keys


def _lines(luck: Luck, size: int) -> Any:
    return luck.pick((whom(luck, size), [[0, 1]]))


def _when(luck: Luck, made: Table, end: float, *, endless: bool) -> Table:
    """Return when a fault begins, and for how long it lasts."""
    begin = round(luck.whole(0, 80) / 100 * end, 3)
    lasts = round(max(0.1, luck.whole(5, 60) / 100 * end), 3)
    kind = next((v.get("kind") for v in made.values() if isinstance(v, dict)), None)
    over = "restart" in made or kind in {"replay", "counter-rollback"}
    over |= any(isinstance(v, dict) and "jump" in v for v in made.values())
    window: Table = {} if over else {"for": lasts}
    how = luck.whole(0, 5)
    if how == 0:
        every = round(max(0.5, end / luck.whole(2, 6)), 3)
        more: Table = luck.pick(
            _more({"times": 2}, {"after": begin}, {"from": begin}, {"probability": 0.5})
        )
        return {"every": every, "until": end} | more | window
    if how == 1:
        condition = luck.pick(_CONDITIONS)
        more = luck.pick(_more({"later": 0.5}, {"times": 3}, {"after": begin}))
        return {"when": condition, "nth": luck.whole(1, 9)} | more | window
    if how == 2 and not endless and not over and "churn" not in made:
        return {"at": begin}  # it lasts
    return {"at": begin} | window


_CONDITIONS = (
    'kind == "released"', 'kind == "woke" and node == 0', 'kind == "sent" or kind == "delivered"', 'kind == "sampled"',
    "updates.mean >= 3", "node == 1 and not kind == \"lost\"",
)  # fmt: skip
Maker = Callable[[Luck, int], Table]


def _chance(action: str) -> Maker:
    def make(luck: Luck, size: int) -> Table:
        return {action: {"on": _lines(luck, size), "p": luck.pick((0.1, 0.5, 1.0))}}

    return make


def _partition(luck: Luck, size: int) -> Table:
    half = max(1, size // 2)
    value: Table = luck.pick(
        ({"groups": [list(range(half))]}, {"isolate": whom(luck, size)}, {"bridge": [0]})
    )
    mode = luck.pick(("cut", "slow", "jam"))
    more = {"latency": 1.0} if mode == "slow" else {}
    return {
        "partition": value | {"mode": mode} | more,
        "direction": luck.pick(("both", "to", "from")),
    }


def _bursts(luck: Luck, size: int) -> Table:
    chain = {"kind": "gilbert-elliott", "enter": 0.2, "leave": luck.pick((0.2, 0.5))}
    return {"loss": {"on": _lines(luck, size), **chain}}


def _churn(luck: Luck, size: int) -> Table:
    session = luck.pick(
        (2.0, {"kind": "exponential", "mean": 2.0}, {"kind": "bittorrent-redhat", "scaled": 0.001})
    )
    return {
        "churn": {
            "on": whom(luck, size),
            "session": session,
            "downtime": 1.0,
            "by": luck.pick(("leave", "crash")),
        }
    }


def _privacy(*kinds: str) -> Maker:
    return lambda luck, size: {"privacy": {"on": whom(luck, size), "kind": luck.pick(kinds)}}


_ANYWHERE: dict[str, Maker] = {
    "crash": lambda x, n: {"crash": whom(x, n), "lose": x.pick(("volatile", "all", "nothing"))},
    "leave": lambda x, n: {"leave": whom(x, n)},
    "join": lambda x, n: {"join": whom(x, n)},
    "restart": lambda x, n: {"restart": whom(x, n)},
    "pause": lambda x, n: {"pause": whom(x, n)},
    "churn": _churn,
    "storage": lambda x, n: {"storage": {"on": whom(x, n), "kind": x.pick(("torn", "unsynced", "stale"))}},
    "privacy": _privacy("crash-after-charge", "crash-after-send", "replay", "counter-rollback"),
    "loss": _chance("loss"),
    "bursts": _bursts,
    "duplicate": _chance("duplicate"),
    "reorder": _chance("reorder"),
    "corrupt": _chance("corrupt"),
    "delay": lambda x, n: {"delay": {"on": _lines(x, n), "latency": x.pick((0.3, {"kind": "uniform", "min": 0, "max": 2})), "correlation": x.pick((0.0, 0.5))}},
    "rate": lambda x, n: {"rate": {"on": _lines(x, n), "bytes": 40, "burst": x.pick((0, 100))}},
    "hold": lambda x, n: {"hold": _lines(x, n)},
    "partition": _partition,
}  # fmt: skip
_WITH_TIME: dict[str, Maker] = {
    "clock": lambda x, n: {"clock": {"on": whom(x, n), **x.pick(({"offset": -1.5}, {"drift": 0.3}, {"jump": 2.0}, {"jump": -1.0}, {"freeze": True}))}},
}  # fmt: skip
_ASKING: dict[str, Maker] = {"asked twice": _privacy("duplicate-request")}
_SERVERS: dict[str, Maker] = {
    "server": lambda x, _: x.pick(({"crash": "server"}, {"pause": "server"}, {"hold": "server"})),
}
_BROADCAST: dict[str, Maker] = {"doubles": _privacy("twin", "poison")}
