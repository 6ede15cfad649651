"""What nobody was sent, heard or read: a closed form, and every fate by itself."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.language.json_numbers import number
from tests.support.builders import perform, scenario

ASKED = [
    {"metric": f"epsilon.{fate}.mean", "at_least": 0.0} for fate in ("unsent", "unheard", "unread")
]


def world(**sections: Any) -> dict[str, Any]:
    nodes = [{"name": "peers", "count": 6, "budget": {"epsilon": 4000.0, "delta": 1e-5}}]
    base: dict[str, Any] = {
        "nodes": nodes,
        "mechanism": {"kind": "cd", "noise": "laplace", "alpha": 1.0, "releases": 4000},
        "privacy": {"accountant": "basic", "calibrate": "basic"},
        "expect": ASKED,
    }
    return scenario(**(base | sections))


def last(ran: Any, name: str) -> Any:
    values = ran.run.observers.last.values[name]
    return np.array([number(v) for v in values])


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2, 4])
def test_one_in_k_plus_one_releases_is_read_by_nobody(degree: int, tmp_path: Path) -> None:
    """Equal Poisson rates, k-regular, no latency, no loss: overtaken before any of k neighbours wakes."""
    count = 20
    nodes = [{"name": "peers", "count": count, "budget": {"epsilon": 4000.0, "delta": 1e-5}}]
    run = {"seed": 3, "horizon": 200.0, "sample_every": 200.0}
    network = {"topology": {"kind": "regular", "degree": degree}}
    ran = perform(world(nodes=nodes, run=run, network=network), tmp_path)
    share = last(ran, "epsilon.unread").sum() / last(ran, "epsilon").sum()
    made = sum(len(agent.store.ledger) for agent in ran.run.agents)
    expected = 1 / (degree + 1)
    # neighbouring fates are dependent; four deviations of half as many independent ones
    assert abs(share - expected) < 4 * math.sqrt(2 * expected * (1 - expected) / made)
    assert last(ran, "epsilon.unsent").tolist() == [0.0] * count
    assert last(ran, "epsilon.unheard").tolist() == [0.0] * count


def test_lost_releases_are_unheard_and_each_fate_contains_the_one_before(tmp_path: Path) -> None:
    ran = perform(world(network={"topology": "ring", "loss": 0.5}), tmp_path)
    epsilon = last(ran, "epsilon")
    unsent, unheard, unread = (last(ran, f"epsilon.{f}") for f in ("unsent", "unheard", "unread"))
    assert (unsent == 0).all()
    assert (unheard >= unsent).all()
    assert (unread >= unheard).all()
    assert (unread <= epsilon).all()
    sent = {e["seq"]: e for e in ran.events("sent")}
    lost = [e for e in sent.values() if all(at < 0 for at in e["arrives"])]
    assert unheard.sum() == pytest.approx(len(lost))
    assert len(lost) / len(sent) == pytest.approx(0.25, abs=0.1)


def test_a_crash_between_charge_and_arrival_is_not_heard(tmp_path: Path) -> None:
    """Both neighbours of agent 0 are down: what it releases then is rejected, and read by nobody."""
    fault = [{"at": 5.0, "for": 10.0, "crash": [1, 5]}]
    ran = perform(world(fault=fault), tmp_path)
    times = [e["t"] / 1e9 for e in ran.events("charged") if e["node"] == 0]
    gone = sum(5.0 <= t < 15.0 for t in times)
    assert gone > 1
    assert (
        last(ran, "epsilon.unheard")[0] == gone - 1
    )  # the last one is in the greeting to who comes back
    assert last(ran, "epsilon.unheard")[3] == 0


def test_fates_told_by_the_files_are_those_of_the_run(tmp_path: Path) -> None:
    from scenarios.records.recomputed_privacy import fates_of

    ran = perform(world(network={"topology": "ring", "loss": 0.3}), tmp_path)
    assert ran.run.observers.fates is not None
    told = fates_of(ran.result)
    assert told.unread() == ran.run.observers.fates.unread()
    assert told.directly() == ran.run.observers.fates.directly()
    made = [len(agent.store.ledger) for agent in ran.run.agents]
    assert told.made == made
    for (node, listener), heard in told.directly().items():
        assert listener in ran.run.agents[node].neighbours
        assert 0 < heard <= made[node]


def test_a_greeting_after_a_join_is_the_release_that_it_was(tmp_path: Path) -> None:
    """Resent bits count as heard from them on."""
    nodes = [
        {"name": "early", "count": 1, "clock": {"kind": "trace", "wakes": [[1.0, 0]]}},
        {
            "name": "late",
            "count": 1,
            "clock": {"kind": "trace", "wakes": [[9.0, 1]]},
            "present": False,
        },
        {"name": "other", "count": 1, "clock": {"kind": "trace", "wakes": [[8.0, 2]]}},
    ]
    for node in nodes:
        node["budget"] = {"epsilon": 4000.0, "delta": 1e-5}
    edges = {"kind": "edges", "edges": [[0, 1], [0, 2]]}
    fault = [{"at": 5.0, "join": [1]}]
    ran = perform(world(nodes=nodes, network={"topology": edges}, fault=fault), tmp_path)
    assert ran.run.observers.fates is not None
    assert ran.run.observers.fates.directly()[0, 1] == 1
    assert ran.run.observers.fates.unread()[0] == []


def test_versions_that_are_no_releases_do_not_count_as_heard(tmp_path: Path) -> None:
    """Derived messages move versions on: what was delivered is counted by the release, not by its version."""
    nodes = [{"name": "peers", "count": 6, "budget": {"epsilon": 2.0, "delta": 1e-5}}]
    mechanism = {"kind": "warm-cd", "noise": "laplace", "releases": 3, "warm_wakes": 4}
    ran = perform(world(nodes=nodes, mechanism=mechanism, task={"l2": 0.1}), tmp_path)
    fates = ran.run.observers.fates
    assert fates is not None
    made = fates.made
    assert max(made) > 1
    for (node, _), heard in fates.directly().items():
        assert heard <= made[node]
    assert fates.unheard() == [[] for _ in made]
