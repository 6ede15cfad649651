"""Builds the world of a plan: agents, links and faults on a clock, everything that changes in a run."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from actors.agent import Agent, Streams, Surroundings
from actors.behaviours.broadcast import broadcast
from actors.behaviours.client import run_client
from actors.behaviours.exchange import exchange
from actors.behaviours.server import run_server
from actors.behaviours.wake import Life
from actors.conditions import Metrics
from actors.faults.context import PREPARATIONS, FaultContext
from actors.faults.link_effects import RateLimit
from actors.faults.schedule import Fault, FaultSchedule
from actors.faults.targets import Measure
from actors.links import Links
from actors.log import Log
from actors.mailbox import Mailbox
from actors.membership import Behaviour, Membership
from actors.settings import Settings
from clocks.activation import Barrier
from clocks.clock import Clock
from mechanisms.abilities import openings_of
from mechanisms.vectors import Matrix
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.plan import NodePlan, Plan, ServerPlan
from scenarios.planning.seeds import NoiseSource, draws, lanes

_NO_FAULT = -1
"""The number of the fault behind the throttling of a link that is slow by its plan."""


def build(plan: Plan, clock: Clock, log: Log, finish: Callable[[str], None]) -> Membership:
    """Make the world of a plan; `open_world` starts it."""
    return Membership(
        _agents(plan, clock, log),
        clock,
        log,
        _behaviours(plan),
        updates=plan.updates,
        until_spent=plan.stop == "spent",
        finish=finish,
    )


def _behaviours(plan: Plan) -> Behaviour:
    """Return what each agent does: the fastest steps that its kind offers, else those of its family; the server serves."""
    detailed: Behaviour = {
        "server": run_client,
        "pairs": exchange,
        "consensus": broadcast,
        "personalised": broadcast,
        "alone": broadcast,
    }[plan.family]
    kind = MECHANISMS.get(plan.kind)  # None for code of the scenario's own
    fastest = detailed if kind is None else kind.compiled or kind.fused or detailed

    def behave(agent: Agent, log: Log, members: Membership) -> tuple[Life, ...]:
        serves = agent.settings.round_rules is not None
        return (run_server if serves else fastest)(agent, log, members)

    return behave


def unmeasured(name: str) -> Sequence[float]:
    """Raise: a world without an oracle has no metrics."""
    raise RuntimeError(f"{name} is not measured in a world without an oracle")


def unsampled(name: str, node: int | None) -> float:  # noqa: ARG001
    """Return NaN: without a sample no condition on a metric holds."""
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

    With `steerable`, every agent is prepared for each fault that a person may add.
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
    members.open(here)
    return script


def is_prepared(agent: Agent, fault: Fault) -> bool:
    """Whether an agent has what a fault will need of it."""
    needs = fault.action.needs
    return needs is None or needs.is_prepared(agent)


def _agents(plan: Plan, clock: Clock, log: Log) -> list[Agent]:
    """Make the agents of a plan, and the server behind them, each with its links, random streams and settings."""
    mailboxes = [Mailbox(i, clock, log) for i in range(plan.seats)]
    noise, starts = NoiseSource(plan.seeds["noise"]), plan.starts()

    def links(i: int, neighbours: Sequence[int]) -> Links:
        paths = [f"link/{i}→{j}" for j in neighbours]
        policies = [plan.policy_of(i, j) for j in neighbours]
        ends = Links(
            neighbours,
            policies,
            lanes(plan.seeds["link"], paths),
            [mailboxes[j] for j in neighbours],
        )
        for slot, policy in enumerate(policies):
            if policy.rate is not None:
                ends.add_effect(slot, RateLimit(_NO_FAULT, policy.rate))
        return ends

    def streams(i: int, name: str, choices: str) -> Streams:
        return Streams(
            noise.of(i),
            draws(plan.seeds["clock"], f"clock/{name}"),
            draws(plan.seeds["clock"], f"compute/{name}"),
            draws(plan.seeds["network"], f"{choices}/{name}"),
        )

    def agent(node: NodePlan) -> Agent:
        one = Agent(
            node.id,
            node.mechanism,
            _settings(node, plan),
            Surroundings(
                node.neighbours,
                node.weights,
                _first_rows(node, plan, starts),
                links(node.id, node.neighbours),
            ),
            mailboxes[node.id],
            streams(node.id, str(node.id), "partner"),
            clock,
            log,
            tick_ns=plan.tick_ns,
        )
        named = {j for j in node.neighbours if (min(node.id, j), max(node.id, j)) in plan.apart}
        one.fault_state.named_neighbours, one.fault_state.without_edge = frozenset(named), named
        return one

    def server(of: ServerPlan) -> Agent:
        i, clients = plan.size, tuple(range(plan.size))
        first = np.zeros((plan.size, plan.dimension))
        return Agent(
            i,
            of.mechanism,
            Settings(Barrier(), start=of.start, rounds=plan.rounds, round_rules=of.round_rules),
            Surroundings(clients, np.ones(plan.size), first, links(i, clients)),
            mailboxes[i],
            streams(i, "server", "sample"),
            clock,
            log,
        )

    agents = [agent(node) for node in plan.nodes]
    return agents if plan.server is None else [*agents, server(plan.server)]


def _settings(node: NodePlan, plan: Plan) -> Settings:
    return Settings(
        node.activation,
        node.start,
        node.compute,
        node.cap,
        node.on_exhausted,
        node.adopt_neighbours,
        None if plan.server is not None else plan.rounds,
        silence=plan.silence,
    )


def _first_rows(node: NodePlan, plan: Plan, starts: Matrix) -> Matrix:
    """Return what an agent holds of each neighbour before that has sent anything: a row each."""
    around = starts[list(node.neighbours)] if plan.server is None else plan.server.start[None]
    return openings_of(node.mechanism, around.reshape(len(node.neighbours), plan.dimension))
