"""Faults at inconvenient instants: while somebody computes, twice in one instant, beside a live question."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import perform
from tests.support.catalogue import world

SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}


@pytest.mark.parametrize("engine", ["virtual", "wall"])
@pytest.mark.parametrize("name", ["cd", "propagation output", "dvp", "pvp", "admm", "local-dp cd"])
def test_nothing_is_released_when_everybody_left_during_the_computation(
    tmp_path: Path, name: str, engine: str
) -> None:
    """Inputs are frozen, receivers are not: with nobody to receive there is no release, and no charge."""
    network = {"topology": "path"}
    for back in ({"for": 2.0}, {}):
        fault = [{"at": 3.5, "leave": [1], **back}]
        scenario = world(name, SYNCHRONOUS, network=network, fault=fault)
        scenario["nodes"][0] |= {"count": 2, "compute": "800ms"}
        ran = perform(scenario, tmp_path, engine=engine)
        assert ran.outcome.code == 0, ran.outcome.message
        sent = [e for e in ran.events("sent") if not e.get("resent")]
        causes = {e["cause"] for e in sent}
        assert all(e["seq"] in causes for e in ran.events("released"))


@pytest.mark.parametrize("engine", ["virtual", "wall"])
@pytest.mark.parametrize("name", ["fedavg", "wddp rounds", "wddp sum", "jayaraman-output", "cd"])
def test_who_comes_and_crashes_in_one_instant_does_nothing(
    tmp_path: Path, name: str, engine: str
) -> None:
    fault = [
        {"at": 5.0, "join": [0]},
        {"at": 4.0, "leave": [0]},
        {"at": 5.0, "crash": [0], "lose": "nothing"},
    ]
    clock = {"kind": "barrier", "timeout": 1.5}
    scenario = world(name, clock, network={"topology": "ring"}, fault=fault)
    scenario["nodes"][0]["compute"] = "500ms"
    if "server" in scenario:
        scenario["server"] = {"deadline": 0.5, "quorum": 1.0}
    ran = perform(scenario, tmp_path, engine=engine)
    assert ran.outcome.code == 0, ran.outcome.message
    assert not [e for e in ran.events("woke") if e["node"] == 0 and e["t"] >= 5e9]


@pytest.mark.slow
def test_a_greeting_is_no_answer(tmp_path: Path) -> None:
    """Pairs: what was said to one neighbour is never said again to another, or to the same."""
    for seed in range(12):
        fault: list[dict[str, Any]] = [
            {"at": 2.0 + 0.37 * seed, "for": 1.1, "crash": [0, 4]},
            {"at": 4.0, "for": 2.0, "leave": [2]},
            {"at": 6.5, "for": 0.7, "crash": [1], "lose": "nothing"},
        ]
        network = {"topology": "path", "latency": "1s"}
        scenario = world("collaborative-admm", SYNCHRONOUS, network=network, fault=fault)
        ran = perform(scenario, tmp_path, seed=seed)
        assert ran.outcome.code == 0
        assert not [e for e in ran.events("sent") if e.get("resent")]


@pytest.mark.slow
def test_what_was_on_its_way_before_a_total_loss_is_not_read_after_it(tmp_path: Path) -> None:
    """Its integral began anew: an old row would stand against the new beginning of the edge."""
    fault = [{"at": 6.5, "for": 1.0, "crash": [1], "lose": "all"}]
    network = {"topology": "complete", "latency": "1700ms"}
    scenario = world("admm", SYNCHRONOUS, network=network, fault=fault)
    ran = perform(scenario, tmp_path, until=7.95)
    for agent in ran.run.agents:
        if agent.id != 1:
            assert np.isposinf(agent.heard.values[agent.slots[1], -1])
            assert not agent.mechanism.duals(agent.heard_now())[agent.slots[1]].any()  # type: ignore[attr-defined]
    later = perform(world("admm", SYNCHRONOUS, network=network, fault=fault), tmp_path, until=200.0)
    assert later.outcome.summary["gap"] < 0.1


def test_a_start_comes_before_a_fault_of_its_instant() -> None:
    from clocks.clock import DELIVERY, FAULT, WAKE

    assert 0 < FAULT < WAKE < DELIVERY
