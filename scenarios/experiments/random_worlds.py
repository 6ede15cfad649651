"""Random worlds with random faults: small ones of every family, to find what breaks an invariant.

Everything is drawn from a `Luck`: dice for the command, Hypothesis for the tests.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from scenarios.language.problems import Report
from scenarios.language.value_rules import number_of_seconds
from scenarios.planning.fault_examples import Luck, RandomWorld
from scenarios.planning.fault_kinds import Brings, FaultKind, fault_kinds
from scenarios.planning.mechanism import (
    examples,
    family_of_table,
    read_mechanism,
    record_of,
)
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.seeds import generator

T = TypeVar("T")
Table = dict[str, Any]


class Dice:
    """Draws from a stream of its own."""

    def __init__(self, seed: int, number: int) -> None:
        self._rng = generator(seed, f"swarm/{number}")

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._rng.integers(len(options)))]

    def whole(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high + 1))


KINDS: dict[str, Table] = examples()
"""Small mechanisms of every kind, by a name."""
_CLOCKS: tuple[Any, ...] = (
    "poisson",
    {"kind": "synchronous", "period": 1.0},
    {"kind": "periodic", "period": 1.0, "jitter": 0.3, "drift": 0.05},
    {"kind": "barrier", "timeout": 2.0},
)
_LATENCIES: tuple[Any, ...] = (0.0, 0.2, 1.5, {"kind": "exponential", "mean": 0.5})


def small_world(luck: Luck, faults: int = 3) -> Table:
    """Return a scenario of at most six agents, sixty updates and four dimensions, with at most `faults` faults."""
    name = luck.pick(tuple(KINDS))
    mechanism = read_mechanism(KINDS[name])
    family = family_of_table(mechanism)
    server, budgeted, pooled = family == "server", False, False
    if isinstance(mechanism, MechanismTable):
        kind = record_of(mechanism)
        budgeted, pooled = kind.needs_budget(mechanism), kind.pooled
    count = 1 if pooled else luck.whole(2, 6)
    horizon = luck.whole(4, 60 // count)
    clock = luck.pick(_CLOCKS[:3] if family in {"pairs", "alone"} else _CLOCKS)
    node: Table = {"name": "peers", "count": count, "clock": clock}
    if budgeted:
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
    elif budgeted and not server and luck.whole(0, 5) == 0:
        ends["stop"] = "spent"
    tree: Table = {
        "schema": 1,
        "name": "small-world",
        "run": {"seed": luck.whole(0, 10**6), "sample_every": 2.0} | ends,
        "data": {
            "source": "blobs",
            "dimension": luck.whole(1, 4),
            "points": luck.whole(8, 16),
            "test_points": 0,
        },
        "task": {} if family == "consensus" else {"l2": 0.1},
        "network": network,
        "nodes": nodes,
        "mechanism": KINDS[name],
    }
    if server:
        tree["server"] = {"deadline": 2.0, "quorum": luck.pick((0.5, 1.0))}
    return tree | {"fault": random_faults(luck, tree, luck.whole(0, faults))}


def random_faults(luck: Luck, tree: Table, count: int) -> list[Table]:
    """Return `count` random faults that fit a scenario: random kinds, windows and parameters."""
    run = tree.get("run") or {}
    horizon = run.get("horizon")
    end = 20.0 if horizon is None else number_of_seconds(horizon)
    size = sum(group.get("count", 1) for group in tree["nodes"])
    family = family_of_table(read_mechanism(tree["mechanism"]))
    clocks = {
        c if isinstance(c, str) else c["kind"]
        for c in (g.get("clock", "poisson") for g in tree["nodes"])
    }
    world = RandomWorld(
        family,
        has_barrier="barrier" in clocks,
        computes=any(group.get("compute") for group in tree["nodes"]),
    )
    fitting = {
        example.name: (kind, example)
        for kind in fault_kinds()
        for example in kind.examples
        if example.fits(world)
    }
    faults = []
    for _ in range(count):
        kind, example = fitting[luck.pick(sorted(fitting))]
        fault = example.make(luck, size)
        if family == "server" or not _joins(tree, 0, 1):
            fault = _without_pairs(fault)
        faults.append(_when(luck, kind, fault, end, endless=horizon is None) | fault)
    return faults


def _joins(tree: Table, one: int, other: int) -> bool:
    """Whether an edge surely joins the first two agents."""
    topology = (tree.get("network") or {}).get("topology", "ring")
    kind = topology if isinstance(topology, str) else topology.get("kind")
    return kind in {"ring", "complete", "path", "star"} and (one, other) == (0, 1)


def _without_pairs(fault: Table) -> Table:
    """Name an agent where a pair was named."""
    return {
        action: [0]
        if value == [[0, 1]]
        else value | {"on": [0]}
        if isinstance(value, dict) and value.get("on") == [[0, 1]]
        else value
        for action, value in fault.items()
    }


def _more(*keys: Table) -> tuple[Table, ...]:
    return {}, *keys


def _when(luck: Luck, kind: FaultKind[Any], fault: Table, end: float, *, endless: bool) -> Table:
    """Return when a fault begins, and for how long it lasts."""
    begin = round(luck.whole(0, 80) / 100 * end, 3)
    lasts = round(max(0.1, luck.whole(5, 60) / 100 * end), 3)
    value = kind.rule.read(fault[kind.name], (), Report({}, {}))
    once = bool(kind.done_once(value))
    window: Table = {} if once else {"for": lasts}
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
    if how == 2 and not endless and not once and kind.brings is not Brings.BY_ITSELF:
        return {"at": begin}  # it lasts
    return {"at": begin} | window


_CONDITIONS = (
    'kind == "released"',
    'kind == "woke" and node == 0',
    'kind == "sent" or kind == "delivered"',
    'kind == "sampled"',
    "updates.mean >= 3",
    'node == 1 and not kind == "lost"',
)
