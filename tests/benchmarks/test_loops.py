"""The loops beside hush do the same work: the same fixed points, the same numbers of messages, the same laws of noise."""

import math
from typing import Any

import numpy as np
import pytest

from benchmarks import admm, asynchronous, bare_loops, hush_runs, messages, rooms, server_rounds
from benchmarks.problem import Agent, Problem, problem

LATENCY_S, LOSS = asynchronous.LATENCY_S, asynchronous.LOSS


def quiet_world(ticks: float) -> dict[str, Any]:
    """Return world A, small, without noise."""
    world = asynchronous.world(12, 3, ticks, (5, 9))
    world["nodes"][0].pop("budget")
    return world | {"mechanism": {"kind": "cd", "noise": "none", "mu": 0.5}}


@pytest.mark.slow
def test_hush_and_the_bare_loop_find_the_same_models_without_noise() -> None:
    ticks = 400
    plan = hush_runs.plan_of(quiet_world(ticks))
    arrays = problem(plan)
    theirs = np.array([agent.model for agent in hush_runs.execute(plan).run.agents])
    bare = np.array(bare_loops.descent(arrays, ticks, LATENCY_S, LOSS).theta)
    assert np.abs(theirs).max() > 0.1
    assert bare == pytest.approx(theirs, abs=1e-8)


@pytest.mark.slow
def test_every_loop_wakes_at_rate_one_and_loses_one_message_in_twenty() -> None:
    n, ticks, degree = 60, 50, asynchronous.DEGREE
    plan = hush_runs.plan_of(asynchronous.world(n, 2, ticks, (3, 4)))
    arrays = problem(plan)
    wakes = n * ticks
    bare = bare_loops.descent(arrays, ticks, LATENCY_S, LOSS)
    alone = bare_loops.messages(plan, ticks, LATENCY_S, LOSS)
    for updates in (bare.updates, alone.updates):
        assert abs(updates - wakes) < 5 * math.sqrt(wakes)  # Poisson
    for loop in (bare, alone):
        sent = loop.updates * degree
        unread = n * degree * 3  # what nobody has looked at by the end: about a wake's worth
        kept = (1 - LOSS) * sent
        spread = 5 * math.sqrt(sent * LOSS * (1 - LOSS))
        assert kept - unread - spread < loop.delivered < kept + spread


@pytest.mark.slow
def test_the_bare_loop_adds_norm_gamma_noise_of_its_scale() -> None:
    d, scale, count = 5, 0.7, 60_000
    alone = Agent((), np.zeros(0), np.zeros((1, d)), 0.0, 1.0, 1.0, scale)
    world = bare_loops.Descent(Problem(d, (alone,), np.zeros((1, d))), LATENCY_S, LOSS)
    lengths = []
    for k in range(count):
        world.wake(0, float(k))  # there is no gradient, and nothing to merge: the model is −noise
        lengths.append(float(np.linalg.norm(world.theta[0])))
    # a length is Gamma(d) over the rate: its mean is d/rate, its standard deviation √d/rate
    spread = math.sqrt(d) / scale / math.sqrt(count)
    assert np.mean(lengths) == pytest.approx(d / scale, abs=5 * spread)


@pytest.mark.slow
def test_server_rounds_as_arrays_add_gaussian_noise_of_their_scales() -> None:
    d, rate = 400_000, 0.3
    sigmas, weights = np.array([0.5, 2.0]), np.array([3.0, 1.0])
    theta = bare_loops.rounds(np.zeros((2, 1, d)), sigmas, weights, 0.0, rate, 1)
    # one round without gradients: a weighted mean of both noises
    sigma = rate * math.hypot(0.75 * 0.5, 0.25 * 2.0)
    assert float((theta**2).mean()) == pytest.approx(sigma**2, rel=5 * math.sqrt(2 / d))


@pytest.mark.slow
def test_server_rounds_as_arrays_are_server_rounds_of_agents() -> None:
    plan = hush_runs.plan_of(server_rounds.world(3, 7, "none"))
    rows, sigmas, weights = server_rounds.arrays(plan)
    assert not sigmas.any()
    loop = bare_loops.rounds(rows, sigmas, weights, 0.01, server_rounds.RATE, 7)
    server = hush_runs.execute(plan).run.server
    assert server is not None
    assert np.abs(loop).max() > 1e-3
    assert loop == pytest.approx(server.model, abs=1e-12)


def test_admm_as_one_loop_is_admm_of_agents() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    x = rng.standard_normal((300, 4)) / 4.0
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    y = np.where(x[:, 0] > 0, 1.0, -1.0)
    data = {"nodes": [(x[part], y[part]) for part in np.array_split(np.arange(300), 3)]}
    plan = hush_runs.plan_of(admm.world(3, 1.0, 5), data=data)
    models = np.array([agent.model for agent in hush_runs.execute(plan).run.agents])
    assert np.abs(models).max() > 1e-3
    assert admm.bare(plan, 1.0, 5) == pytest.approx(models, abs=1e-9)


def test_messages_alone_say_one_number() -> None:
    plan = hush_runs.plan_of(messages.world(20, 3))
    assert plan.shards.dimension == 1
    assert all(len(node.neighbours) == asynchronous.DEGREE for node in plan.nodes)
    assert all(node.planned is None for node in plan.nodes)


def test_noise_of_the_loops_has_the_scale_of_the_plan() -> None:
    plan = hush_runs.plan_of(asynchronous.world(12, 3, 2))
    scales = [agent.scale for agent in problem(plan).agents]
    assert scales == [node.planned[0].scale for node in plan.nodes if node.planned]
    quiet = problem(hush_runs.plan_of(quiet_world(2)))
    assert all(agent.scale == math.inf for agent in quiet.agents)


def test_every_room_of_a_loop_is_one_of_the_profile() -> None:
    from scenarios.running.profile_rooms import ORDER

    assert set(rooms.ROOMS) - {"other"} <= set(ORDER)


@pytest.mark.slow
def test_the_shares_of_all_rooms_add_up_to_the_whole() -> None:
    plan = hush_runs.plan_of(asynchronous.world(30, 3, 30, (3, 9)), "events")
    shares, took, looks = rooms.shares_of(plan)
    assert looks > 3
    assert took > 0
    assert set(shares) == set(rooms.ROOMS)
    assert sum(shares.values()) == pytest.approx(1.0)
