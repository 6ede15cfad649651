"""Builds the world of a plan: agents, links and faults on a clock, everything that changes in a run."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

import numpy as np

from actors.agent import Agent, Streams, Surroundings
from actors.behaviours.broadcast import broadcast
from actors.behaviours.client import run_client
from actors.behaviours.exchange import exchange
from actors.behaviours.server import run_server
from actors.behaviours.together import Together
from actors.behaviours.wake import Life
from actors.conditions import Metrics
from actors.faults.context import PREPARATIONS, FaultContext
from actors.faults.link_effects import RateLimit
from actors.faults.schedule import Fault, FaultSchedule
from actors.faults.targets import Measure
from actors.links import Links, Policy
from actors.log import Log
from actors.mailbox import Mailbox
from actors.membership import Behaviour, Membership
from actors.settings import Settings
from clocks.activation import Barrier
from clocks.clock import Clock
from mechanisms.abilities import HasOpening, offers, openings_of
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.plan import NodePlan, Plan, ServerPlan
from scenarios.planning.seeds import NoiseSource, draws, keys
from scenarios.planning.wake_paths import EVENTS
from scenarios.running.columns_world import InColumns, in_columns

_NO_FAULT = -1
"""The number of the fault behind the throttling of a link that is slow by its plan."""


def build(plan: Plan, clock: Clock, log: Log, finish: Callable[[str], None]) -> Membership:
    """Make the world of a plan; `open_world` starts it."""
    # an agent outside columns looks after each of its wakes whether it may enter: it takes none together with others
    columns = in_columns(plan, clock, log, _behaviours(plan, None))
    agents = _agents(plan, clock, log, columns)
    members = Membership(
        agents,
        clock,
        log,
        _behaviours(plan, (clock, log)) if columns is None else columns.behave,
        updates=plan.updates,
        until_spent=plan.stop == "spent",
        finish=finish,
    )
    if columns is not None:
        columns.lay_out(agents, members)
    return members


def _behaviours(plan: Plan, together: tuple[Clock, Log] | None) -> Behaviour:
    """Return what each agent does, by the family of its kind; the server serves.

    With a clock and a log, agents of one instant act together wherever they can, unless the path is `events`.
    """
    if plan.path == EVENTS:
        together = None
    if plan.family == "server":
        return _serving(None if together is None else Together(*together))
    behaviours: dict[str, Behaviour] = {
        "pairs": exchange,
        "consensus": broadcast,
        "personalised": broadcast,
        "alone": broadcast,
    }
    return behaviours[plan.family]


def _serving(together: Together | None) -> Behaviour:
    """Return what a server does, and what its clients do."""

    def behave(agent: Agent, log: Log, members: Membership) -> tuple[Life, ...]:
        serves = agent.settings.round_rules is not None
        return (run_server if serves else run_client)(agent, log, members, together)

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


def _agents(plan: Plan, clock: Clock, log: Log, columns: InColumns | None) -> list[Agent]:
    """Make the agents of a plan, and the server behind them, each with its links, random streams and settings."""
    make_box = Mailbox if columns is None else columns.make_mailbox
    make = Agent if columns is None else columns.make_agent
    mailboxes = [make_box(i, clock, log) for i in range(plan.seats)]
    links, openings = _Wiring(plan, mailboxes), _Openings(plan)
    streams, settings = _streams(plan), _SharedSettings(plan)

    def agent(node: NodePlan) -> Agent:
        one = make(
            node.id,
            node.mechanism,
            settings.of(node),
            Surroundings(
                node.neighbours,
                node.weights,
                *openings.of(node),
                links.of(node.id, node.neighbours),
            ),
            mailboxes[node.id],
            streams[node.id],
            clock,
            log,
            tick_ns=plan.tick_ns,
        )
        if plan.apart:
            ends = ((min(node.id, j), max(node.id, j)) for j in node.neighbours)
            pairs = zip(node.neighbours, ends, strict=True)
            named = frozenset(j for j, edge in pairs if edge in plan.apart)
            one.fault_state.named_neighbours = one.fault_state.without_edge = named
        return one

    def server(of: ServerPlan) -> Agent:
        i, clients = plan.size, tuple(range(plan.size))
        first = np.zeros((plan.size, plan.dimension))
        return Agent(
            i,
            of.mechanism,
            Settings(Barrier(), start=of.start, rounds=plan.rounds, round_rules=of.round_rules),
            Surroundings(clients, np.ones(plan.size), first, first.copy(), links.of(i, clients)),
            mailboxes[i],
            streams[i],
            clock,
            log,
        )

    agents = [agent(node) for node in plan.nodes]
    return agents if plan.server is None else [*agents, server(plan.server)]


class _Wiring:
    """Makes the outgoing links of agents; the keys of all of them lie in one array."""

    def __init__(self, plan: Plan, mailboxes: list[Mailbox]) -> None:
        self._plan = plan
        self._mailboxes = mailboxes
        around: list[Sequence[int]] = [node.neighbours for node in plan.nodes]
        if plan.server is not None:
            around.append(range(plan.size))
        paths = (f"link/{i}→{j}" for i, near in enumerate(around) for j in near)
        self._keys = keys(plan.seeds["link"], paths)
        self._ends = list(accumulate(map(len, around), initial=0))

    def of(self, i: int, neighbours: Sequence[int]) -> Links:
        """Return the links of one agent."""
        plan = self._plan
        policies: Sequence[Policy] | Policy = plan.policy
        if plan.exceptions:
            policies = [plan.policy_of(i, j) for j in neighbours]
        links = Links(
            neighbours,
            policies,
            self._keys[self._ends[i] : self._ends[i + 1]],
            [self._mailboxes[j] for j in neighbours],
        )
        if plan.exceptions or plan.policy.rate is not None:
            for slot in range(len(neighbours)):
                rate = links.policy_of(slot).rate
                if rate is not None:
                    links.add_effect(slot, RateLimit(_NO_FAULT, rate))
        return links


def _streams(plan: Plan) -> list[Streams]:
    """Return the random streams of all agents, and of the server behind them; their keys lie in one array."""
    names = [(str(i), "partner") for i in range(plan.size)]
    if plan.server is not None:
        names.append(("server", "sample"))
    columns = (
        keys(plan.seeds["clock"], (f"clock/{name}" for name, _ in names)),
        keys(plan.seeds["clock"], (f"compute/{name}" for name, _ in names)),
        keys(plan.seeds["network"], (f"{choices}/{name}" for name, choices in names)),
    )
    noise = NoiseSource(plan.seeds["noise"]).of_all(range(plan.seats))
    return list(map(Streams, noise, np.column_stack(columns)))


class _SharedSettings:
    """The settings of agents: one object for all agents of equal plans."""

    def __init__(self, plan: Plan) -> None:
        self._silence = plan.silence
        self._rounds = None if plan.server is not None else plan.rounds
        self._known: dict[tuple[object, ...], Settings] = {}

    def of(self, node: NodePlan) -> Settings:
        """Return the settings of one agent."""
        same = (
            *map(id, (node.activation, node.start, node.compute, node.cap)),
            node.on_exhausted,
            node.adopt_neighbours,
        )
        if same not in self._known:
            self._known[same] = Settings(
                node.activation,
                node.start,
                node.compute,
                node.cap,
                node.on_exhausted,
                node.adopt_neighbours,
                self._rounds,
                silence=self._silence,
            )
        return self._known[same]


class _Openings:
    """What agents hold of their neighbours before these have sent anything: a row each, of shared memory where rows are equal."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        nodes, server = plan.nodes, plan.server
        first = nodes[0].start if server is None else server.start
        others = (node.start for node in nodes) if server is None else ()
        self._common: Vector | None = first
        """What all agents start from; None where they start from different models."""
        if any(start is not first for start in others):
            self._common = None
        self._starts = None if self._common is not None else plan.starts()
        self._known: dict[int, Matrix] = {}
        rows = sum(len(node.neighbours) for node in nodes)
        blank = self._common is not None and not self._common.view(np.uint64).any()
        # the memory of zeros is taken when it is first written to
        self._blank = np.zeros((rows, plan.dimension)) if blank else None
        self._taken = 0

    def of(self, node: NodePlan) -> tuple[Matrix, Matrix]:
        """Return the rows of an agent, and a copy of them for it to write into."""
        degree, d = len(node.neighbours), self._plan.dimension
        if self._common is None or offers(node.mechanism, HasOpening):
            first = openings_of(node.mechanism, self._around(node))
            return first, first.copy()
        if degree not in self._known:
            self._known[degree] = np.broadcast_to(self._common, (degree, d))
        first = self._known[degree]
        if self._blank is None:
            return first, first.copy()
        own = self._blank[self._taken : self._taken + degree]
        self._taken += degree
        return first, own

    def _around(self, node: NodePlan) -> Matrix:
        """Return the starts of an agent's neighbours."""
        shape = (len(node.neighbours), self._plan.dimension)
        if self._starts is None:
            assert self._common is not None, "all have one start, or each has its own"  # noqa: S101
            return np.broadcast_to(self._common, shape)
        return self._starts[list(node.neighbours)].reshape(shape)
