"""Plans grow with the number of agents, and no faster: in calls, in time, and in what they keep."""

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import make_plan
from scenarios.planning.packed_points import PackedPoints
from scenarios.planning.plan import Plan
from tests.support.builders import private, scenario
from tests.support.catalogue import EVERY, world
from tests.support.marks import one_in

FIRST = 80
"""More agents than are calibrated one by one."""


def of_size(world: dict[str, Any], n: int) -> dict[str, Any]:
    """Return a world with so many agents in its one group."""
    (group,) = world["nodes"]
    return world | {"nodes": [group | {"count": n}]}


def calls(world: dict[str, Any]) -> int:
    """Count the calls of Python and of C that it takes to make a plan."""
    counted = 0

    def count(_: object, kind: str, __: object) -> None:
        nonlocal counted
        counted += kind in {"call", "c_call"}

    gc.disable()  # what is called when rubbish is collected is no part of it
    sys.setprofile(count)
    try:
        make_plan(world)
    finally:
        sys.setprofile(None)
        gc.enable()
    return counted


def assert_linear(made: Callable[[int], dict[str, Any]]) -> None:
    """Twice as many agents more cost twice as many calls more; solvers take a few steps more or less."""
    make_plan(made(FIRST))  # what is computed once for all plans
    few, some, many = (calls(made(FIRST * times)) for times in (1, 2, 4))
    assert many - some == pytest.approx(2 * (some - few), rel=0.15)


MANY = [name for name in EVERY if world(name)["nodes"][0]["count"] > 1]


@pytest.mark.parametrize("name", one_in(100, MANY))
def test_calls_of_a_plan_grow_with_its_agents(name: str) -> None:
    assert_linear(lambda n: of_size(world(name), n))


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {"network": {"topology": {"kind": "small-world", "degree": 4}}},
        {"data": {"source": "separators", "dimension": 3, "points": 30, "validation": 0.2}},
        {
            "network": {
                "topology": "ring",
                "latency": {"kind": "lognormal", "median": 0.1, "sigma": 1.0},
            }
        },
        {"fault": [{"at": 1.0, "crash": [1]}]},
        {"mechanism": {"kind": "cd", "noise": "laplace", "releases": 8, "schedule": "growing"}},
        {"task": {"l2": 0.1, "start": "random"}},
    ],
    ids=lambda more: next(iter(more)),
)
def test_calls_grow_so_whatever_else_a_scenario_has(more: dict[str, Any]) -> None:
    assert_linear(lambda n: of_size(private(**more), n))


@pytest.mark.slow
def test_the_time_of_a_plan_grows_with_its_agents() -> None:
    """Calls do not tell of arrays over all agents that are made for each: CPU time does, at eight times the agents."""

    def per_agent(n: int) -> float:
        made, best = of_size(private(), n), float("inf")
        for _ in range(3):
            begun = time.process_time()
            make_plan(made)
            best = min(best, time.process_time() - begun)
        return best / n

    per_agent(100)
    assert per_agent(12_000) < 1.8 * per_agent(1_500)


def planned(n: int, **more: Any) -> Plan:
    return make_plan(of_size(private(**more), n))


def test_agents_of_equal_terms_share_what_is_equal() -> None:
    plan = planned(6)
    one, *others = plan.nodes
    assert one.cap is not None
    for other in others:
        assert other.cap is one.cap
        assert other.activation is one.activation
        assert other.group is one.group
        assert other.start is one.start
        assert other.weights is one.weights
        assert other.planned is one.planned
    ids = {id(j) for node in plan.nodes for j in node.neighbours}
    assert len(ids) == plan.size


def test_agents_with_other_starts_or_weights_have_their_own() -> None:
    own = planned(6, task={"l2": 0.1, "start": "random"})
    assert len({node.start.tobytes() for node in own.nodes}) == 6
    edges = [[0, 1, 2.0], [1, 2], [2, 3], [3, 4], [4, 5]]
    weighed = planned(6, network={"topology": {"kind": "edges", "edges": edges}})
    assert [node.weights.tolist() for node in weighed.nodes] == [
        [2.0],
        [2.0, 1.0],
        *[[1.0, 1.0]] * 3,
        [1.0],
    ]
    assert weighed.nodes[1].neighbours == (0, 2)


def test_budgets_of_two_groups_have_caps_of_their_own() -> None:
    groups = [
        {"name": name, "count": 3, "budget": {"epsilon": epsilon, "delta": 1e-5}}
        for name, epsilon in (("low", 1.0), ("high", 4.0))
    ]
    plan = make_plan(private(nodes=groups))
    caps = {node.group: node.cap for node in plan.nodes}
    assert {name: cap.epsilon for name, cap in caps.items() if cap} == {"low": 1.0, "high": 4.0}
    assert len({id(node.cap) for node in plan.nodes}) == 2


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_points_are_held_once(loss: str) -> None:
    """What an objective reads is the very memory of the points; a plan with points twice as wide grows by that alone."""
    plan = make_plan(scenario(task={"l2": 0.1, "loss": loss}))
    train = plan.shards.train
    assert isinstance(train, PackedPoints)
    assert train.signed == (loss == "logistic")
    for i, objective in enumerate(plan.objectives):
        x, y = train[i]
        assert np.shares_memory(objective.rows, train.rows)
        assert np.shares_memory(objective.labels, train.labels)
        assert objective.features.tobytes() == x.tobytes()
        assert objective.rows.tobytes() == (x * y[:, None] if train.signed else x).tobytes()


@pytest.mark.slow
def test_a_plan_keeps_little_beside_its_points() -> None:
    n, d = 2_000, 20
    data = {"source": "separators", "dimension": d, "points": {"min": 10, "max": 30}}
    data["test_points"] = 0
    more = {"data": data, "network": {"topology": {"kind": "regular", "degree": 10}}}
    planned(n, **more)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        plan = planned(n, **more)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    points = sum(plan.shards.sizes) * (d + 1) * 8
    assert (kept - points) / n < 2_000
