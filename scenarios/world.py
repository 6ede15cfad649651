"""From a plan to agents, links and faults on a clock: everything that changes in a run."""

from collections.abc import Callable

import numpy as np

from actors.agent import Agent, Habits
from actors.events import Log
from actors.faults import strike
from actors.link import Fan
from actors.membership import Membership
from clocks.clock import Clock
from scenarios.plan import NodePlan, Plan
from scenarios.seeds import NoiseSource, draws, lanes


def build(plan: Plan, clock: Clock, log: Log, finish: Callable[[str], None]) -> Membership:
    """Make the world of a plan; `open_world` starts it."""
    members = Membership(
        clock,
        log,
        updates=plan.updates,
        until_spent=plan.stop == "spent",
        finish=finish,
    )
    noise = NoiseSource(plan.seeds["noise"])
    starts = plan.starts()
    members.agents = [_agent(node, plan, starts, clock, log, noise) for node in plan.nodes]
    return members


def open_world(plan: Plan, members: Membership, clock: Clock, log: Log) -> None:
    """Let faults and agents begin; faults come first at every instant."""
    members.pending = len(plan.faults)
    for fault in plan.faults:
        clock.spawn(strike(fault, members, clock, log))
    members.open(members.agents, [node.present for node in plan.nodes])


def _agent(
    node: NodePlan,
    plan: Plan,
    starts: np.ndarray,
    clock: Clock,
    log: Log,
    noise: NoiseSource,
) -> Agent:
    neighbours = list(node.neighbours)
    habits = Habits(
        node.activation,
        node.compute,
        node.cap,
        node.on_exhausted,
        node.start,
        node.adopt_neighbours,
        plan.rounds,
    )
    agent = Agent(
        node.id,
        node.mechanism,
        habits,
        node.neighbours,
        node.weights,
        starts[neighbours].reshape(len(neighbours), plan.dimension),
        clock,
        log,
        noise.of(node.id),
        draws(plan.seeds["clock"], f"clock/{node.id}"),
        draws(plan.seeds["clock"], f"compute/{node.id}"),
    )
    paths = [f"link/{node.id}→{j}" for j in neighbours]
    policies = [plan.policy_of(node.id, j) for j in neighbours]
    agent.links = Fan(neighbours, policies, lanes(plan.seeds["link"], paths))
    return agent
