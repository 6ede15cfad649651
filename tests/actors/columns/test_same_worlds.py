"""Wakes in columns do what single events do: the same events with the same numbers and causes, the same ends, the same bits."""

import dataclasses
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.columns.agent import ColumnAgent
from actors.events import Woke
from clocks.virtual import VirtualClock
from scenarios.api.runs import make_plan
from scenarios.running.simulation import Simulation
from tests.support.builders import private, scenario
from tests.support.column_worlds import assert_same, passed

BUDGET = {"epsilon": 4.0, "delta": 1e-5}
SETTLED = (2.0, 5.0, 7.5, 7.5, 11.0)


def group(clock: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "peers", "count": 6, "clock": clock, "budget": BUDGET} | more]


SYNCHRONOUS = {"kind": "synchronous", "period": 1.0}
DRIFTING = {"kind": "periodic", "period": 1.0, "jitter": 0.3, "drift": 0.05}
WORLDS: dict[str, dict[str, Any]] = {
    "losses": private(network={"loss": 0.2, "latency": {"kind": "exponential", "mean": 0.7}}),
    "complete, slow links": private(network={"topology": "complete", "latency": 1.5}),
    "long latency": private(network={"latency": {"kind": "pareto", "min": 2.0, "alpha": 1.1}}),
    "no noise": scenario(),
    "squared": scenario(task={"loss": "squared", "l2": 0.1}),
    "synchronous": private(nodes=group(SYNCHRONOUS), network={"latency": 1.0}),
    "rounds": private(nodes=group(SYNCHRONOUS), run={"seed": 3, "rounds": 7}),
    "drifting": private(nodes=group(DRIFTING), network={"latency": 2.3, "loss": 0.3}),
    "updates": private(run={"seed": 3, "updates": 70}),
    "updates, all at once": private(nodes=group(SYNCHRONOUS), run={"seed": 3, "updates": 21}),
    "until spent": private(run={"seed": 3, "horizon": 60.0, "stop": "spent"}),
    "listens": private(
        mechanism={
            "kind": "cd",
            "mu": 1.0,
            "noise": "norm-gamma",
            "releases": 4,
            "smooth_after": False,
        }
    ),
    "laplace": private(
        mechanism={"kind": "cd", "noise": "laplace", "releases": 8, "schedule": "growing"}
    ),
    "gaussian": private(mechanism={"kind": "cd", "noise": "gaussian", "releases": 8}),
    "no neighbours": scenario(nodes=[{"count": 1}], network={"topology": "complete"}),
    "crash": private(fault=[{"at": 3.0, "crash": [2], "for": 4.0}], network={"loss": 0.1}),
    "crash, all lost": private(
        fault=[{"at": 3.0, "crash": [1, 4], "lose": "all", "for": 2.5}],
        network={"latency": 0.8},
    ),
    "leave": private(fault=[{"at": 3.0, "leave": [2], "for": 4.0}], network={"latency": 0.4}),
    "pause": private(fault=[{"at": 3.0, "pause": [0, 3], "for": 4.0}], network={"latency": 0.4}),
    "partition": private(
        fault=[{"at": 3.0, "partition": {"groups": [[0, 1, 2]]}, "for": 5.0}],
        network={"latency": 0.4},
    ),
    "duplicates": private(fault=[{"at": 2.0, "duplicate": {"on": "all", "p": 0.5}, "for": 9.0}]),
    "corrupt": private(fault=[{"at": 2.0, "corrupt": {"on": "all", "p": 0.5}, "for": 9.0}]),
    "corrupt on some links": private(
        network={"latency": {"kind": "exponential", "mean": 0.7}},
        fault=[
            {"at": 2.0, "corrupt": {"on": [0], "p": 0.5}, "direction": "from", "for": 9.0},
            {"at": 4.0, "crash": [1, 2, 5], "for": 1.0},
        ],
    ),
    "one agent computes": private(
        nodes=[
            {"count": 4, "budget": BUDGET},
            {"name": "slow", "count": 2, "compute": 0.4, "budget": BUDGET},
        ],
        network={"latency": 0.3},
    ),
    "one number, a star": private(
        nodes=[*group("poisson"), {"name": "more", "count": 2, "budget": BUDGET}],
        data={"source": "blobs", "dimension": 1, "points": 24},
        network={"topology": "star", "latency": 0.3},
    ),
    "bursts, delays, a rate": private(
        network={"latency": {"kind": "exponential", "mean": 0.3}, "rate": 100.0},
        fault=[
            {
                "at": 2.0,
                "loss": {"on": "all", "kind": "gilbert-elliott", "enter": 0.3, "leave": 0.5},
            },
            {"at": 3.0, "for": 6.0, "delay": {"on": [0, 1], "latency": 0.7, "correlation": 0.5}},
            {"every": 2.0, "until": 12.0, "for": 1.0, "loss": {"on": [2], "p": 0.5}},
            {"at": 5.0, "for": 4.0, "leave": [4]},
        ],
    ),
    "diverging under loss": scenario(
        mechanism={"kind": "cd", "mu": 1e12, "smoothness": 1e-12},
        task={"loss": "squared", "l2": 0.1},
        fault=[{"at": 0.0, "loss": {"on": "all", "p": 0.5}}],
    ),
    "more faults than fit a row": private(
        fault=[{"at": 1.0, "delay": {"on": "all", "latency": 0.01}, "for": 6.0}] * 64,
        run={"seed": 1, "horizon": 4.0},
    ),
    "set back after an absence": private(
        fault=[
            {"at": 2.0, "crash": [0, 1, 2], "for": 2.0},
            {"at": 4.3, "clock": {"on": [0, 1, 2], "jump": -4.0}},
        ],
    ),
    "spent at a crash": private(
        mechanism={"kind": "cd", "noise": "norm-gamma", "releases": 1},
        fault=[
            {"at": 0.0, "privacy": {"on": [1], "kind": "crash-after-charge"}, "for": 4.0},
            {"at": 3.0, "leave": [0, 2, 3, 4, 5], "for": 3.5},
        ],
    ),
    "late, in a warm start": private(
        mechanism={"kind": "warm-cd", "noise": "norm-gamma", "releases": 4, "warm_wakes": 3},
        fault=[{"at": 4.0, "crash": [1], "lose": "all", "for": 1.0}],
    ),
    "a warm start that falls silent": private(
        mechanism={
            "kind": "warm-cd",
            "noise": "norm-gamma",
            "releases": 3,
            "warm_wakes": 4,
            "smooth_after": False,
        }
    ),
    "a warm start without neighbours": private(
        nodes=group(SYNCHRONOUS, count=3),
        network={"topology": "path"},
        mechanism={"kind": "warm-cd", "noise": "norm-gamma", "releases": 4, "warm_wakes": 6},
        fault=[{"at": 2.5, "leave": [1], "for": 2.0}],
    ),
    "two conditions on one wake": private(
        fault=[
            {"when": 'kind == "sent"', "nth": 4, "crash": [1], "for": 2.0},
            {"when": 'kind == "released"', "nth": 4, "pause": [2], "for": 2.0},
        ]
    ),
    "condition on a metric": private(
        fault=[{"when": "releases.mean >= 2", "nth": 5, "crash": [1], "for": 2.0}]
    ),
    "condition": private(
        fault=[{"when": 'kind == "released" and k >= 3', "crash": [1], "for": 2.0}]
    ),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_events_and_ends_are_the_same(world: dict[str, Any]) -> None:
    assert_same(world, settled_at=SETTLED)


@pytest.mark.parametrize("stride", [1, 2, 7])
@pytest.mark.parametrize("name", ["losses", "rounds", "updates", "until spent"])
def test_where_calls_end_changes_nothing(name: str, stride: int) -> None:
    plan = make_plan(WORLDS[name])
    whole, cut = passed(plan, "columns"), passed(plan, "columns", stride=stride)
    assert cut.events == whole.events
    assert (cut.models == whole.models).all()


@pytest.mark.parametrize("name", ["losses", "complete, slow links", "synchronous", "leave"])
def test_rows_are_those_of_wakes_that_are_taken_one_by_one(name: str) -> None:
    plan = make_plan(WORLDS[name])
    alone = passed(plan, "events", settled_at=SETTLED)
    assert not isinstance(alone.simulation.agents[0], ColumnAgent)
    assert passed(plan, "columns", settled_at=SETTLED).rows == alone.rows


def luck(draw: Any) -> dict[str, Any]:
    """Return a random world of agents that wake by clocks of their own."""
    latencies = [0.0, 0.2, 1.0, 3.0, {"kind": "exponential", "mean": 0.5}]
    clocks = ["poisson", SYNCHRONOUS, DRIFTING]
    mechanisms: list[dict[str, Any]] = [{"kind": "cd"}]
    mechanisms += [
        {"kind": "cd", "noise": noise, "releases": releases, "schedule": schedule}
        for noise in ("norm-gamma", "laplace", "gaussian")
        for releases in (1, 5, 30)
        for schedule in ("uniform", "growing")
    ]
    warm = {"kind": "warm-cd", "noise": "gaussian", "releases": 5}
    mechanisms += [warm | {"warm_wakes": wakes} for wakes in (1, 3, 7)]
    mechanisms += [{"kind": "propagation", "noise": "output"}, {"kind": "warm-cd"}]
    mechanisms += [{"kind": "local-dp", "epsilon_features": 2.0, "epsilon_label": 1.0}]
    mechanism = draw(st.sampled_from(mechanisms))
    if mechanism["kind"] in {"cd", "warm-cd"} and draw(st.booleans()):
        mechanism = mechanism | {"smooth_after": False}
    count = draw(st.integers(2, 7))
    node = {"count": count, "clock": draw(st.sampled_from(clocks))}
    if "noise" in mechanism:
        node["budget"] = {"epsilon": draw(st.sampled_from([0.5, 8.0])), "delta": 1e-5}
    end: dict[str, Any] = {"horizon": float(draw(st.integers(3, 15)))}
    if draw(st.integers(0, 4)) == 0:
        end = {"updates": draw(st.integers(5, 60))}
    faults = [
        {"at": 2.5, "crash": [0], "for": 2.0},
        {"at": 3.0, "leave": [1], "for": 3.0},
        {"at": 2.0, "leave": [0, 1], "for": 2.5},
        {"at": 2.5, "crash": [0, 1], "lose": "volatile", "for": 2.0},
        {"at": 1.5, "pause": [0, 1], "for": 2.0},
        {"every": 2.0, "until": 9.0, "crash": [1], "for": 0.7},
        {"at": 2.0, "loss": {"on": "all", "p": 0.4}, "for": 4.0},
        {"at": 2.0, "delay": {"on": "all", "latency": 1.2}, "for": 4.0},
        {"at": 1.0, "corrupt": {"on": [0], "p": 0.5}, "direction": "from", "for": 5.0},
        {
            "every": 1.7,
            "until": 9.0,
            "duplicate": {"on": [1], "p": 0.5},
            "direction": "to",
            "for": 0.8,
        },
        {"every": 2.3, "until": 9.0, "hold": [0], "direction": "from", "for": 0.9},
        {"at": 2.0, "reorder": {"on": [0], "p": 0.6}, "direction": "from", "for": 4.0},
    ]
    losses: list[Any] = ["logistic", "smoothed-hinge"]
    if mechanism["kind"] != "local-dp":  # it flips labels, which this loss does not have
        losses.append({"kind": "squared", "clip": 2.0})
    return scenario(
        run={"seed": draw(st.integers(0, 10**6))} | end,
        data={"source": "blobs", "dimension": draw(st.integers(1, 9)), "points": 24},
        task={"loss": draw(st.sampled_from(losses)), "l2": 0.1},
        network={
            "topology": draw(st.sampled_from(["ring", "complete", "path", "star"])),
            "latency": draw(st.sampled_from(latencies)),
            "loss": draw(st.sampled_from([0.0, 0.3])),
        },
        nodes=[node],
        mechanism=mechanism,
        fault=draw(st.lists(st.sampled_from(faults), max_size=2, unique_by=str)),
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=int(os.environ.get("HUSH_COLUMNS", "40")), deadline=None, derandomize=True)
def test_random_worlds_are_the_same(data: Any) -> None:
    world = luck(data.draw)
    instants = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 2.7, 4.0]), max_size=3))
    stride = data.draw(st.sampled_from([0, 1, 3]))
    assert_same(world, settled_at=tuple(instants), stride=stride)


@pytest.mark.parametrize("name", ["crash", "leave", "pause", "partition", "corrupt"])
def test_agents_come_back_into_columns_when_a_fault_is_over(name: str) -> None:
    agents = passed(make_plan(WORLDS[name]), "columns").simulation.agents
    assert all(isinstance(agent, ColumnAgent) and agent.in_columns for agent in agents)


def test_an_observer_of_single_events_is_told_of_each() -> None:
    """Wakes in columns end where one begins to listen, and go on when none listens any more."""
    plan = make_plan(WORLDS["losses"])
    heard = list[Woke]()
    simulation = Simulation(dataclasses.replace(plan, path="columns"), VirtualClock())
    log, clock = simulation.log, simulation.clock
    clock.at(5 * 10**9, 0, lambda: log.watch(heard.append, (Woke,)))
    simulation.complete()
    detailed = [
        e for e in passed(plan, "events").events if isinstance(e, Woke) and e.t >= 5 * 10**9
    ]
    assert heard == detailed


def test_an_agent_that_comes_back_knows_whose_noise_was_drawn() -> None:
    """A stream tells of noise that is drawn twice, also where a wake in columns drew it first."""
    plan = make_plan(WORLDS["losses"])
    detailed, fast = (passed(plan, by).simulation.agents for by in ("events", "columns"))
    for agent, other in zip(fast, detailed, strict=True):
        agent.leave_columns()
        assert agent.noise_stream.last == other.noise_stream.last >= 0
        assert agent.noise_stream.reused is None
        last = agent.noise_stream.last
        agent.noise(last)
        assert agent.noise_stream.reused == (last, last)


def test_an_agent_that_acts_by_hand_draws_no_noise_twice() -> None:
    """It leaves the columns for that: every release has noise and a charge of its own."""
    simulation = Simulation(
        dataclasses.replace(make_plan(WORLDS["losses"]), path="columns"), VirtualClock()
    )
    agent, log = simulation.agents[2], simulation.log

    def act() -> None:
        agent.act(agent.state, agent.heard_now(), log.seq)

    for second in (1, 4, 6):
        simulation.clock.at(second * 10**9 + 7, 2, act)
    simulation.complete()
    agent.leave_columns()
    assert agent.noise_stream.reused is None
    assert agent.noise_stream.last == len(agent.store.ledger) - 1 > 0
