"""The plans of agents: their clocks, budgets, starts and mechanisms."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from actors.settings import RoundRules
from clocks.activation import Activation, Barrier, Trace
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration
from mechanisms.abilities import scheduled
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.loss import Key, tally
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.own_mechanism import ClosedObjective, OwnMechanism
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.language.table_rules import OwnCode, read_table
from scenarios.planning.clocks import ClockInputs
from scenarios.planning.clocks.poisson import PoissonTable
from scenarios.planning.context import PlanningContext
from scenarios.planning.datasets import Shards
from scenarios.planning.graphs import Adjacency, EdgeArrays
from scenarios.planning.mechanism import (
    Builder,
    family_of,
    is_misprinted,
    is_printed,
    is_private,
    kind_of,
    unit_of,
)
from scenarios.planning.mechanism_builder import builder, calibrator
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.places.devices import DevicesTable
from scenarios.planning.plan import NodePlan, ServerPlan
from scenarios.planning.public_facts import Places, Public
from scenarios.planning.release_charges import Terms
from scenarios.planning.scenario_tables import DELTA, GroupTable, ServerTable
from scenarios.planning.seeds import generator, pads
from scenarios.planning.starts import StartInputs

_Compute = Callable[[int], Duration | None]
"""The computing time of each agent; None for none."""


class _Group(NamedTuple):
    """What the agents of a group have in common."""

    name: str
    clock: Callable[[int], Activation | Barrier]
    compute: _Compute
    server: tuple[int, ...] | None
    """The one neighbour of each agent, where agents talk to a server; None where they talk to each other."""
    weights: Vector
    """The weight of the edge to the server."""


class AgentPlans:
    """Makes one plan for each agent, group by group."""

    def __init__(self, context: PlanningContext) -> None:
        self.context = context
        self.read = context.read
        self.report = context.report
        self.server: ServerPlan | None = None
        self._made: dict[int, _Group] = {}
        self._caps: dict[tuple[Terms, Key], Cap] = {}

    def nodes(
        self,
        shards: Shards,
        objectives: tuple[LocalObjective, ...],
        edges: EdgeArrays,
    ) -> tuple[NodePlan, ...]:
        """Return the plans of all agents, in the order of their ids.

        What equal agents have in common is one object: their clock, their cap, a start that all begin from, numbers.
        """
        starts: Matrix | None = self.context.attempt(
            ("task", "start"), lambda: self._starts(shards, objectives)
        )
        if starts is None:
            return ()
        of = [g for g, group in enumerate(self.context.groups) for _ in range(group.count)]
        terms = [self._terms(group) for group in self.context.groups]
        sizes, first = shards.sizes, 0
        for g, group in enumerate(self.context.groups):
            mine = slice(first, first + group.count)
            first = mine.stop
            self._check_delta(g, group, terms[g], max(sizes[mine]))
            starts[mine] = self._starts_of(g, group, starts[mine])
        if self.report.problems:
            return ()
        around = Adjacency(edges, self.context.size)
        table, maker = self.read.mechanism, None
        if isinstance(table, MechanismTable):
            places = Places(around, starts)
            public = self._public(sizes, terms, of, places, objectives[0].loss)
            maker = self.context.attempt(("mechanism",), lambda: self._builder(table, public))
            terms = [replace(t, calibrate=self.context.calibrated or t.calibrate) for t in terms]
        most = max(sizes)
        confidences = {m: m / most for m in set(sizes)}
        common = starts[0] if _are_equal(starts) else None
        nodes = list[NodePlan]()
        for i, g in enumerate(of):
            if self.report.problems:
                return ()
            mechanism = self._mechanism(i, objectives[i], confidences, maker)
            start = starts[i] if common is None else common
            nodes.append(self._node(i, g, terms[g], start, around, mechanism))
        self.server = self._server(maker, shards)
        return () if self.report.problems else tuple(nodes)

    def _builder(self, table: MechanismTable, public: Public) -> Builder:
        """Return what makes mechanisms, calibrated by the accountant that is named or best."""
        self.context.calibrated = calibrator(table, public)
        return builder(table, public, self.context.calibrated)

    def _node(
        self,
        i: int,
        g: int,
        terms: Terms,
        start: Vector,
        around: Adjacency,
        mechanism: Mechanism,
    ) -> NodePlan:
        group, known = self.context.groups[g], self._group(g)
        neighbours = known.server if known.server is not None else around.neighbours(i)
        return NodePlan(
            id=i,
            group=known.name,
            activation=known.clock(i),
            compute=known.compute(i),
            cap=self._cap(terms, mechanism, len(neighbours)),
            delta=terms.delta,
            on_exhausted="listen" if group.budget is None else group.budget.on_exhausted,
            present=group.present,
            start=start,
            adopt_neighbours=group.start == "neighbours",
            mechanism=mechanism,
            neighbours=neighbours,
            weights=known.weights if known.server is not None else around.weights_of(i),
        )

    def _cap(self, terms: Terms, mechanism: Mechanism, degree: int) -> Cap | None:
        """Return what holds the budget; where that is costly to ask, with the schedule that is known to fit."""
        if isinstance(self.read.mechanism, OwnCode):
            return terms.cap_of_its_own_code()
        cap = terms.cap(unit_of(self.read))
        spends = None if cap is None else scheduled(mechanism, degree)
        if cap is None or spends is None:
            return cap
        planned = tally(spends)
        known = (terms, planned.key)
        if known not in self._caps:
            self._caps[known] = cap.planning(planned)
        return self._caps[known]

    def _group(self, g: int) -> "_Group":
        """Return what a group's agents have in common, made once."""
        if g not in self._made:
            group = self.context.groups[g]
            served = family_of(self.read) == "server"
            self._made[g] = _Group(
                group.name or f"group{g}",
                self._clocks(g, group),
                self._compute(g, group),
                (self.context.size,) if served else None,
                np.ones(1),
            )
        return self._made[g]

    def _public(
        self,
        sizes: tuple[int, ...],
        terms: list[Terms],
        of: list[int],
        places: Places,
        loss: Loss,
    ) -> Public:
        """Return the public facts; `terms` are of groups, and `of` says which group each agent is in."""
        read, l2 = self.read, self.read.task.l2
        wakes = [self._expected_wakes(group) for group in self.context.groups]
        return Public(
            sizes=sizes,
            dimension=places.dimension,
            loss=loss,
            l2=lambda m: 1.0 / m if isinstance(l2, str) else l2,
            terms=tuple(terms[g] for g in of),
            places=places,
            rounds=read.run.rounds,
            server=self._round_rules(),
            grid=read.privacy.grid or None,
            pads=pads(self.context.seeds["noise"]),
            expected_wakes=tuple(wakes[g] for g in of),
        )

    def _expected_wakes(self, group: GroupTable) -> float | None:
        """Return how many wakes a Poisson clock brings in the mean until the horizon; None where that does not end the run."""
        horizon = self.context.horizon
        if not isinstance(group.clock, PoissonTable) or horizon is None:
            return None
        return group.clock.rate * horizon

    def _round_rules(self) -> ServerTable:
        given: ServerTable | None = self.read.server
        return read_table(ServerTable, {}, (), self.report) if given is None else given

    def _server(self, maker: Builder | None, shards: Shards) -> ServerPlan | None:
        coordinator = None if maker is None else maker.coordinator
        if coordinator is None:
            return None
        round_rules = self._round_rules()
        start = np.zeros(shards.dimension)
        if self.read.task.start.kind == "random":
            start = generator(self.context.seeds["network"], "start/server").standard_normal(
                len(start)
            )
            start /= math.sqrt(len(start))
        return ServerPlan(
            coordinator,
            start,
            RoundRules(nanoseconds(round_rules.deadline), round_rules.quorum, round_rules.sample),
        )

    def _starts(self, shards: Shards, objectives: tuple[LocalObjective, ...]) -> Matrix:
        table, shape = self.read.task.start, (self.context.size, shards.dimension)
        kind = kind_of(self.read)
        inputs = StartInputs(
            shape,
            self.context.seeds["network"],
            self.context.folders,
            objectives,
            warm=kind is not None and kind.warm_start,
        )
        return table.models(inputs)

    def _starts_of(self, g: int, group: GroupTable, starts: Matrix) -> Matrix:
        """Return the starts of a group's agents, a row each."""
        match group.start:
            case "zeros":
                return np.zeros_like(starts)
            case "file":
                if self.read.task.start.kind != "file":
                    message = 'needs task.start = { kind = "file", path = … }'
                    self.report.value(("nodes", g, "start"), message)
                return starts
            case "neighbours" | None:
                return starts
            case chosen:
                raise NotImplementedError(
                    f"no model of a group is written to start from {chosen!r}"
                )

    def _terms(self, group: GroupTable) -> Terms:
        budget, privacy, read = group.budget, self.read.privacy, self.read
        printed = is_private(read) and is_printed(read)
        return Terms(
            None if budget is None else budget.epsilon,
            DELTA if budget is None else budget.delta,
            privacy.calibrate,
            privacy.filter,
            read.run.rounds,
            printed,
            is_misprinted(read),
        )

    def _mechanism(
        self,
        i: int,
        objective: LocalObjective,
        confidences: Mapping[int, float],
        maker: Builder | None,
    ) -> Mechanism:
        """Return one agent's mechanism: of its kind, or of code of the scenario's own, which is told m_i / max m."""
        table = self.read.mechanism

        def make() -> Mechanism:
            if maker is not None:
                return maker.agent(i)(objective)
            assert isinstance(table, OwnCode), "kinds are built by their records"  # noqa: S101
            view = ClosedObjective(objective, i)
            own = self.context.code(table.kind)(
                objective=view, confidence=confidences[objective.points], **table.parameters
            )
            return OwnMechanism(own, view, objective, i)

        path = ("mechanism",) if maker is not None else ("mechanism", "kind")
        mechanism: Mechanism = self.context.attempt(path, make)
        return mechanism

    def _check_delta(self, g: int, group: GroupTable, terms: Terms, points: int) -> None:
        """Check a group's δ by its largest agent, which has so many points.

        With δ ≥ 1/m a mechanism that publishes one of m records whole keeps its promise.
        """
        budget = group.budget
        if budget is None or not is_private(self.read):
            return
        name = group.name or f"group{g}"
        has = f"the largest agent of {name} has m = {points:,} points"
        if terms.delta >= 1.0 / points:
            message = f"delta = {terms.delta:g} allows publishing a record whole: {has}, and delta must be below 1/m"
            if not terms.printed and not budget.delta_may_exceed:
                passes = f"give at most {_below(1.0 / points):g}, or budget.delta_may_exceed = true"
                self.report.value(("nodes", g, "budget", "delta"), f"{message}; {passes}")
            else:
                why = "as printed" if terms.printed else "delta_may_exceed = true"
                self.context.warn(f"{message}; it stands, {why}")
        elif terms.delta > 0.1 / points:
            self.context.warn(f"delta = {terms.delta:g} is above 1/(10 m): {has}")
        if terms.printed:
            self.context.warn(
                "as printed, budgets set the noise and hold nothing: every planned release is made"
            )

    def _clocks(self, g: int, group: GroupTable) -> Callable[[int], Activation | Barrier]:
        table, path = group.clock, ("nodes", g, "clock")
        if isinstance(table, OwnCode):
            own = self.context.attempt(
                path, lambda: self.context.code(table.kind)(**table.parameters)
            )
            return lambda _: own
        inputs = ClockInputs(self.context.size, self.context.folders)
        clock: Callable[[int], Activation | Barrier] | None = self.context.attempt(
            path, lambda: table.clocks(inputs)
        )
        return clock or (lambda _: Trace(()))  # the failure is in the report

    def _compute(self, g: int, group: GroupTable) -> _Compute:
        table = group.compute
        if isinstance(table, DevicesTable):
            return table.laws(self.context.seeds["network"])
        law: Duration | None = self.context.attempt(
            ("nodes", g, "compute"), lambda: table.law(self.context.folders)
        )
        at_once = isinstance(law, Constant) and law.value_s == 0
        return lambda _: None if at_once else law


def _are_equal(rows: Matrix) -> bool:
    """Whether all rows are equal to the last bit."""
    words = np.ascontiguousarray(rows).view(np.uint64)
    return bool((words == words[0]).all())


def _below(bound: float) -> float:
    """Return the largest number of three digits that is below a positive bound."""
    unit = 10.0 ** (math.floor(math.log10(bound)) - 3)
    steps = math.ceil(bound / unit)
    while (number := float(f"{steps * unit:.3g}")) >= bound:
        steps -= 1
    return number
