"""From a plan to agents, links and faults on a clock: everything that changes in a run."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from actors.agent import Agent
from actors.behaviours.attend import attend
from actors.behaviours.broadcast import broadcast
from actors.behaviours.exchange import exchange
from actors.behaviours.serve import serve
from actors.behaviours.wake import Life
from actors.conditions import Metrics
from actors.faults.context import PREPARATIONS, FaultContext
from actors.faults.link_effects import RateLimit
from actors.faults.schedule import Fault, FaultSchedule
from actors.faults.targets import Measure
from actors.link import Fan
from actors.log import Log
from actors.membership import Behaviour, Membership
from actors.settings import Habits
from clocks.activation import Barrier
from clocks.clock import Clock
from scenarios.planning.plan import NodePlan, Plan, ServerPlan
from scenarios.planning.seeds import NoiseSource, draws, lanes

_NO_FAULT = -1
"""Whose trouble a link has that is merely slow."""


def build(plan: Plan, clock: Clock, log: Log, finish: Callable[[str], None]) -> Membership:
    """Make the world of a plan; `open_world` starts it."""
    members = Membership(
        clock,
        log,
        _behaviours(plan),
        updates=plan.updates,
        until_spent=plan.stop == "spent",
        finish=finish,
    )
    noise = NoiseSource(plan.seeds["noise"])
    starts = plan.starts()
    members.agents = [_agent(node, plan, starts, clock, log, noise) for node in plan.nodes]
    if plan.server is not None:
        members.agents.append(_server(plan, plan.server, clock, log, noise))
    return members


def _behaviours(plan: Plan) -> Behaviour:
    """Return who does what: the family decides, and the server serves."""
    usual = {
        "server": attend,
        "pairs": exchange,
        "consensus": broadcast,
        "personalised": broadcast,
        "alone": broadcast,
    }[plan.family]

    def behave(agent: Agent, log: Log, members: Membership) -> tuple[Life, ...]:
        return (serve if agent.habits.hall is not None else usual)(agent, log, members)

    return behave


def unmeasured(name: str) -> Sequence[float]:
    """No oracle looks at this world."""
    raise RuntimeError(f"nobody measures {name} here")


def unsampled(name: str, node: int | None) -> float:  # noqa: ARG001
    """No sample has been taken: a condition on a metric does not hold."""
    return math.nan


def open_world(
    plan: Plan,
    members: Membership,
    clock: Clock,
    log: Log,
    measure: Measure = unmeasured,
    metrics: Metrics = unsampled,
    *,
    steerable: bool = False,
) -> FaultSchedule:
    """Let faults and agents begin; faults come first at every instant.

    Who can be steered by hand is made ready for whatever a hand may do.
    """
    script = FaultSchedule(
        FaultContext(members, clock, log, partial(draws, plan.seeds["fault"]), measure), metrics
    )
    if steerable:
        for agent in members.agents[: plan.size]:
            for preparation in PREPARATIONS:
                preparation.prepare(agent, clock)
    for fault in plan.faults:
        if fault.action.needs is not None:
            for i in fault.action.target.among:
                fault.action.needs.prepare(members.agents[i], clock)
        script.begin(fault)
    here = [node.present for node in plan.nodes] + [True] * (plan.seats - plan.size)
    members.open(members.agents, here)
    return script


def is_prepared(agent: Agent, fault: Fault) -> bool:
    """Whether an agent has what a fault will need of it."""
    needs = fault.action.needs
    return needs is None or needs.is_prepared(agent)


def _agent(
    node: NodePlan,
    plan: Plan,
    starts: np.ndarray,
    clock: Clock,
    log: Log,
    noise: NoiseSource,
) -> Agent:
    neighbours = list(node.neighbours)
    serves = plan.server is not None
    habits = Habits(
        node.activation,
        node.start,
        node.compute,
        node.cap,
        node.on_exhausted,
        node.adopt_neighbours,
        None if serves else plan.rounds,
        silence=plan.silence,
    )
    around = np.array([plan.server.start]) if plan.server is not None else starts[neighbours]
    opening = getattr(node.mechanism, "opening", None)
    first = around.reshape(len(neighbours), plan.dimension)
    if opening is not None:
        width = len(opening(node.start))
        first = np.array([opening(row) for row in first]).reshape(len(neighbours), width)
    agent = Agent(
        node.id,
        node.mechanism,
        habits,
        node.neighbours,
        node.weights,
        first,
        clock,
        log,
        noise.of(node.id),
        draws(plan.seeds["clock"], f"clock/{node.id}"),
        draws(plan.seeds["clock"], f"compute/{node.id}"),
        draws(plan.seeds["network"], f"partner/{node.id}"),
        plan.tick_ns,
    )
    _link(agent, plan)
    return agent


def _server(plan: Plan, server: ServerPlan, clock: Clock, log: Log, noise: NoiseSource) -> Agent:
    """Make the agent beyond the nodes: no data, no budget."""
    id_, everybody = plan.size, tuple(range(plan.size))
    habits = Habits(Barrier(), start=server.start, rounds=plan.rounds, hall=server.hall)
    agent = Agent(
        id_,
        server.mechanism,
        habits,
        everybody,
        np.ones(plan.size),
        np.zeros((plan.size, plan.dimension)),
        clock,
        log,
        noise.of(id_),
        draws(plan.seeds["clock"], "clock/server"),
        draws(plan.seeds["clock"], "compute/server"),
        draws(plan.seeds["network"], "sample/server"),
    )
    _link(agent, plan)
    return agent


def _link(agent: Agent, plan: Plan) -> None:
    """Lay an agent's outgoing links."""
    paths = [f"link/{agent.id}→{j}" for j in agent.neighbours]
    policies = [plan.policy_of(agent.id, j) for j in agent.neighbours]
    agent.outbox.links = Fan(agent.neighbours, policies, lanes(plan.seeds["link"], paths))
    for slot, policy in enumerate(policies):
        if policy.rate is not None:
            agent.outbox.links.add_effect(slot, RateLimit(_NO_FAULT, policy.rate))
    strangers = {j for j in agent.neighbours if (min(agent.id, j), max(agent.id, j)) in plan.apart}
    agent.plight.strangers, agent.plight.apart = frozenset(strangers), strangers
