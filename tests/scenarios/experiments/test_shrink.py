"""Shrinking: what is left still fails, nothing simpler does, and it takes a bounded number of runs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scenarios.experiments.random_worlds import Dice, random_faults, small_world
from scenarios.experiments.shrink import shrink, size
from tests.support.builders import scenario

FAULTS: list[dict[str, Any]] = [{"at": float(i), "name": f"f{i}", "crash": [0]} for i in range(8)]


@given(st.sets(st.integers(0, 7), min_size=0, max_size=3))
def test_only_the_faults_that_matter_are_left(needed: set[int]) -> None:
    def fails(tree: dict[str, Any]) -> bool:
        return {f"f{i}" for i in needed} <= {fault["name"] for fault in tree["fault"]}

    smallest, _ = shrink(scenario(fault=FAULTS), fails)
    assert [fault["name"] for fault in smallest["fault"]] == [f"f{i}" for i in sorted(needed)]
    assert fails(smallest)


@given(st.integers(1, 6), st.floats(1.0, 19.0))
def test_agents_and_time_shrink_to_what_is_needed(agents: int, lasts: float) -> None:
    """To the very agents, and to within a tenth of the time: the last step tried is 0.9 of it."""

    def fails(tree: dict[str, Any]) -> bool:
        return size(tree)[1] >= agents and size(tree)[2] >= lasts

    smallest, _ = shrink(scenario(), fails)
    assert size(smallest)[1] == agents
    assert lasts <= size(smallest)[2] < lasts / 0.9 + 0.01


def test_windows_and_targets_shrink() -> None:
    fault = {"at": 1.0, "for": 8.0, "loss": {"on": "all", "p": 0.5}, "probability": 0.9}
    smallest, _ = shrink(scenario(fault=[fault]), lambda tree: bool(tree["fault"]))
    assert smallest["fault"] == [{"at": 1.0, "for": 0.062, "loss": {"on": [0], "p": 0.5}}]


def test_the_network_is_made_quiet() -> None:
    network = {"topology": "ring", "latency": 1.0, "loss": 0.3, "rate": 100}
    nodes = [{"count": 2, "compute": 1.0}]
    smallest, _ = shrink(scenario(network=network, nodes=nodes), lambda tree: True)  # noqa: ARG005
    assert smallest["network"] == {"topology": "ring", "latency": 0.0, "loss": 0.0}
    assert smallest["nodes"] == [{"count": 1}]


def test_it_stops_after_so_many_runs_and_changes_nothing_of_what_it_was_given() -> None:
    tried = []
    tree = scenario(fault=FAULTS)
    before = repr(tree)

    def fails(smaller: dict[str, Any]) -> bool:
        tried.append(smaller)
        return False

    smallest, runs = shrink(tree, fails, most=7)
    assert (smallest, runs, len(tried)) == (tree, 7, 7)
    assert repr(tree) == before


def test_what_does_not_fail_in_a_simpler_way_is_left_alone() -> None:
    tree = scenario(fault=FAULTS[:2])
    assert shrink(tree, lambda smaller: False)[0] == tree  # noqa: ARG005


def test_random_faults_fit_the_world_they_are_for() -> None:
    world = small_world(Dice(5, 1))
    assert random_faults(Dice(5, 2), world, 4) == random_faults(Dice(5, 2), world, 4)
    assert len(random_faults(Dice(5, 2), world, 4)) == 4
