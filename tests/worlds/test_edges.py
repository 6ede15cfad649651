"""Edges of the ADMM family as agents come and go: begun anew, unknown until heard, equal and opposite at both ends."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.duals import standing
from tests.support.builders import Ran, perform
from tests.support.consensus import world

SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}


def until(tmp_path: Path, horizon: float, fault: list[dict[str, Any]], **sections: Any) -> Ran:
    """Synchronous wakes at whole seconds on a complete graph without latency."""
    base: dict[str, Any] = {
        "run": {"seed": 5, "horizon": horizon, "sample_every": 1.0},
        "nodes": [{"count": 4, "clock": SYNCHRONOUS}],
        "network": {"topology": "complete"},
        "fault": fault,
    }
    return perform(world({"kind": "admm", "eta": 0.5}, **(base | sections)), tmp_path)


def edge(ran: Ran, i: int, j: int) -> Any:
    agent: Any = ran.run.agents[i]
    return agent.mechanism.duals(agent.heard_now())[agent.slots[j]]


def test_an_edge_begins_at_nothing_when_somebody_comes_back(tmp_path: Path) -> None:
    fault = [{"at": 6.5, "for": 4.0, "leave": [1]}]
    before = until(tmp_path, 6.2, [])
    assert np.linalg.norm(edge(before, 0, 1)) > 1e-4
    gone = until(tmp_path, 8.2, fault)
    assert not edge(gone, 0, 1).any()
    back = until(tmp_path, 10.7, fault)
    first, second = back.run.agents[0], back.run.agents[1]
    assert not edge(back, 0, 1).any()
    assert not edge(back, 1, 0).any()
    offsets = first.heard.offsets, second.heard.offsets
    assert offsets[0] is not None
    assert offsets[1] is not None
    assert offsets[0][first.slots[1]] == pytest.approx(-offsets[1][second.slots[0]])
    assert np.linalg.norm(offsets[0][first.slots[1]]) > 1e-4
    assert np.isposinf(first.heard.values[first.slots[1], -1])
    later = until(tmp_path, 14.0, fault)
    assert np.linalg.norm(edge(later, 0, 1)) > 1e-6
    assert edge(later, 0, 1) == pytest.approx(-edge(later, 1, 0), abs=1e-12)
    grown = [standing_of(later, i, 14.0) - standing_of(back, i, 10.5) for i in (0, 1)]
    assert edge(later, 0, 1) == pytest.approx(0.25 * (grown[0] - grown[1]), abs=1e-12)


def standing_of(ran: Ran, i: int, ticks: float) -> Any:
    return standing(ran.run.agents[i].store.published, 3, ticks)


def test_the_health_of_duals_is_told(tmp_path: Path) -> None:
    """Between a publication and its arrival both ends disagree: the metrics are not zero by construction."""
    network = {"topology": "complete", "latency": "300ms"}
    run = {"seed": 5, "horizon": 5.2, "sample_every": 0.2}
    expect = [{"metric": name, "below": 1e9} for name in ("duals.sum", "duals.antisymmetry")]
    ran = until(tmp_path, 5.2, [], network=network, run=run, expect=expect)
    told = {round(e["t"] / 1e9, 1): e["values"] for e in ran.events("sampled")}
    assert told[4.0]["duals.antisymmetry"] < 1e-12
    assert told[4.2]["duals.antisymmetry"] > 1e-6
    agents, worst, total = ran.run.agents, 0.0, np.zeros(3)
    for i in range(4):
        for j in range(4):
            if i != j:
                total = total + edge(ran, i, j)
                worst = max(worst, float(np.linalg.norm(edge(ran, i, j) + edge(ran, j, i))))
    assert len(agents) == 4
    assert ran.events("sampled")[-1]["values"]["duals.antisymmetry"] == pytest.approx(worst)
    assert ran.events("sampled")[-1]["values"]["duals.sum"] == pytest.approx(np.linalg.norm(total))


@pytest.mark.parametrize("lose", ["volatile", "all", "nothing"])
def test_a_crash_loses_what_it_says_and_the_edge_heals(tmp_path: Path, lose: str) -> None:
    fault = [{"at": 6.5, "for": 2.1, "crash": [1], "lose": lose}]
    down = until(tmp_path, 7.2, fault)
    agent = down.run.agents[1]
    assert (agent.store.published is None) == (lose == "all")
    assert bool(np.isposinf(agent.heard.values[:, -1]).all()) == (lose != "nothing")
    back = until(tmp_path, 8.7, fault)
    other = back.run.agents[0]
    begun_anew = other.heard.offsets is not None and bool(other.heard.offsets.any())
    assert begun_anew == (lose == "all")
    if lose == "all":
        assert not edge(back, 0, 1).any()
    healed = until(tmp_path, 12.0, fault)
    for j in (0, 2, 3):
        assert edge(healed, 1, j) == pytest.approx(-edge(healed, j, 1), abs=1e-12)
        assert np.linalg.norm(edge(healed, 1, j)) > 1e-7
    values = [e["values"]["duals.antisymmetry"] for e in healed.events("sampled")[-1:]]
    assert values[0] < 1e-12


@pytest.mark.slow
def test_who_joins_at_a_barrier_takes_part_in_the_newest_round(tmp_path: Path) -> None:
    """Not in all that were missed: its first value would count for each of them."""
    gaps = []
    for joins in (10.0, 160.0):
        nodes = [
            {"name": "first", "count": 5, "clock": {"kind": "barrier", "timeout": 1.0}},
            {
                "name": "late",
                "count": 1,
                "present": False,
                "clock": {"kind": "barrier", "timeout": 1.0},
            },
        ]
        sections: dict[str, Any] = {
            "nodes": nodes,
            "network": {"topology": "complete", "latency": "100ms"},
            "expect": [{"metric": "gap.present", "below": 1e9}],
        }
        ran = until(tmp_path, joins + 30, [{"at": joins, "join": "late"}], **sections)
        after = [
            abs(e["values"]["gap.present"]) for e in ran.events("sampled") if e["t"] > joins * 1e9
        ]
        gaps.append(max(after))
        rounds = [agent.rounds for agent in ran.run.agents]
        assert max(rounds) - min(rounds) <= 1
    assert gaps[1] < 3 * gaps[0] + 1e-9


def test_a_start_from_neighbours_does_not_undo_a_release(tmp_path: Path) -> None:
    """What arrives after the first release does not begin the agent again."""
    from tests.support.builders import scenario

    nodes = [
        {
            "count": 6,
            "clock": SYNCHRONOUS,
            "start": "neighbours",
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    network = {"topology": "ring", "latency": "100ms"}
    for kind in (
        {"kind": "propagation", "noise": "output"},
        {"kind": "warm-cd", "noise": "laplace", "releases": 3},
    ):
        ran = perform(scenario(mechanism=kind, nodes=nodes, network=network), tmp_path)
        for agent in ran.run.agents:
            warm = agent.state if kind["kind"] == "propagation" else agent.state.warm
            assert warm.anchor is not None
