"""The same work with nothing around it: SimPy and NumPy, without ledger, record, checks, samples and seeds of hush."""

import heapq
import math
from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from benchmarks.problem import Problem
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.plan import Plan

SEED = 1
Message = tuple[float, int, int, Vector]
"""When it arrives, its number (equal instants are served in the order of sending), its sender, its vector."""


class Descent:
    """Coordinate descent: lazy mailboxes, one generator, norm-gamma noise; no more than a wake needs.

    It merges, descends, adds noise of the same law and scale, and sends to the same neighbours with the same latency and
    loss. It leaves out: a stream of noise for each agent and release, the order of draws that makes runs repeatable, the
    planned number of releases, the grid that noise is rounded to, versions, every account.
    """

    def __init__(self, problem: Problem, latency_s: float, loss: float) -> None:
        self.rng = np.random.Generator(np.random.PCG64(SEED))
        self.agents, self.latency_s, self.loss = problem.agents, latency_s, loss
        self.theta = list(problem.start)
        self.coming: list[list[Message]] = [[] for _ in problem.agents]
        self.slot = [{j: k for k, j in enumerate(agent.neighbours)} for agent in problem.agents]
        self.heard = [problem.start[list(agent.neighbours)] for agent in problem.agents]
        self.order = self.updates = self.delivered = 0

    def wake(self, i: int, now: float) -> None:
        """Merge, descend with noise, broadcast."""
        self.updates += 1
        coming, heard, slot = self.coming[i], self.heard[i], self.slot[i]
        while coming and coming[0][0] < now:
            _, _, sender, vector = heapq.heappop(coming)
            heard[slot[sender]] = vector
            self.delivered += 1
        agent, theta, rng = self.agents[i], self.theta[i], self.rng
        slopes = 0.5 * np.tanh(0.5 * (agent.rows @ theta)) - 0.5
        gradient = slopes @ agent.rows
        gradient /= len(agent.rows)
        gradient += 2 * agent.l2 * theta
        if agent.scale < math.inf:
            noise = rng.standard_normal(len(theta))
            noise *= rng.standard_gamma(len(theta)) / agent.scale / math.sqrt(noise @ noise)
            gradient += noise
        gradient *= -agent.pull
        gradient += agent.shares @ heard
        gradient *= agent.step
        gradient += (1 - agent.step) * theta
        self.theta[i] = gradient
        targets = agent.neighbours
        delays = rng.exponential(self.latency_s, len(targets)).tolist()
        kept = (rng.random(len(targets)) >= self.loss).tolist()
        for j, delay, keep in zip(targets, delays, kept, strict=True):
            if keep:
                self.order += 1
                heapq.heappush(self.coming[j], (now + delay, self.order, i, gradient))


def descent(problem: Problem, ticks: float, latency_s: float, loss: float) -> Descent:
    """Let a process for each agent wake at rate 1, each wake a timeout; return the world at the end."""
    world, env = Descent(problem, latency_s, loss), simpy.Environment()

    def agent(i: int) -> Generator[Any, Any, None]:
        while True:
            yield env.timeout(world.rng.exponential(1.0))
            world.wake(i, env.now)

    for i in range(problem.size):
        env.process(agent(i))
    env.run(until=ticks)
    return world


class Messages:
    """Ticks and messages alone: what hush's clocks and links are compared with."""

    def __init__(self, plan: Plan, latency_s: float, loss: float) -> None:
        self.rng = np.random.Generator(np.random.PCG64(SEED))
        self.neighbours = [node.neighbours for node in plan.nodes]
        self.latency_s, self.loss = latency_s, loss
        self.coming: list[list[tuple[float, int]]] = [[] for _ in plan.nodes]
        self.updates = self.delivered = 0

    def wake(self, i: int, now: float) -> None:
        """Take what has arrived, and send to all neighbours."""
        self.updates += 1
        coming, rng, targets = self.coming[i], self.rng, self.neighbours[i]
        while coming and coming[0][0] < now:
            heapq.heappop(coming)
            self.delivered += 1
        delays = rng.exponential(self.latency_s, len(targets)).tolist()
        kept = (rng.random(len(targets)) >= self.loss).tolist()
        for j, delay, keep in zip(targets, delays, kept, strict=True):
            if keep:
                heapq.heappush(self.coming[j], (now + delay, i))


def messages(plan: Plan, ticks: float, latency_s: float, loss: float) -> Messages:
    """Let a process for each agent wake at rate 1, and send messages that say nothing."""
    world, env = Messages(plan, latency_s, loss), simpy.Environment()

    def agent(i: int) -> Generator[Any, Any, None]:
        while True:
            yield env.timeout(world.rng.exponential(1.0))
            world.wake(i, env.now)

    for i in range(plan.size):
        env.process(agent(i))
    env.run(until=ticks)
    return world


def rounds(
    rows: Matrix, sigmas: Vector, weights: Vector, l2: float, rate: float, count: int
) -> Vector:
    """Return the server's model after `count` rounds of noisy gradients: all parties at once, as arrays.

    `rows` are points times labels, of shape (parties, points, dimension). It leaves out: messages, a party's own stream of
    noise, the grid, the ledger, every record.
    """
    rng = np.random.Generator(np.random.PCG64(SEED))
    parties, points, d = rows.shape
    flat, shares = rows.reshape(-1, d), weights / weights.sum()
    noisy = bool(sigmas.any())
    theta = np.zeros(d)
    for _ in range(count):
        slopes = 0.5 * np.tanh(0.5 * (flat @ theta)) - 0.5
        gradients = np.matmul(slopes.reshape(parties, 1, points), rows)[:, 0] / points
        if noisy:
            gradients += rng.standard_normal((parties, d)) * sigmas[:, None]
        theta = theta - rate * (shares @ gradients + 2.0 * l2 * theta)
    return theta
