"""From a scenario to a plan: numbers are fixed, names are looked up, and problems have a place in the file."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from actors.faults.schedule import Fault
from clocks.activation import Barrier
from clocks.clock import nanoseconds
from mechanisms.abilities import AddsRidge, HasCosts, HasSchedule
from mechanisms.accounting.compose import TIGHTEST
from mechanisms.accounting.views import OF_SERVERS, VIEWS
from mechanisms.joint import Graph, Joint
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.vectors import Matrix, Vector
from scenarios.language.json_numbers import self_declared
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.reader import beside, library_names
from scenarios.language.table_rules import OwnCode
from scenarios.planning.agents import AgentPlans
from scenarios.planning.blas_threads import OneThread
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.context import Options, PlanningContext
from scenarios.planning.data_and_links import DataAndLinks
from scenarios.planning.datasets import Shards
from scenarios.planning.expectations import ExpectTable, expectation_of, goal_of
from scenarios.planning.fault_planner import FaultPlanner
from scenarios.planning.graphs import EdgeArrays
from scenarios.planning.mechanism import (
    family_of,
    is_misprinted,
    is_printed,
    is_private,
    kind_of,
    learner,
    record_of,
    table_of,
    unit_of,
)
from scenarios.planning.mechanism_tables import ConsensusTable, DescentTable
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import metric_of
from scenarios.planning.packed_points import PackedPoints
from scenarios.planning.plan import NodePlan, Plan
from scenarios.planning.privacy_terms import Privacy
from scenarios.planning.provenance import resolved_tree
from scenarios.planning.run_size import extent, longest_s
from scenarios.planning.scenario import load
from scenarios.planning.splits import PoolSplitTable
from scenarios.planning.topologies import OfDataTable


@OneThread()
def resolve(scenario: CheckedScenario, options: Options) -> Plan:
    """Return the plan of a scenario. Raises ScenarioError with all problems of a step at once."""
    return _Planner(PlanningContext(scenario, options)).plan()


def _leaves_residual(node: NodePlan) -> bool:
    """Whether an agent releases minimisers of a perturbed objective without noise for the solver's tolerance (E20)."""
    mechanism, degree = node.mechanism, max(1, len(node.neighbours))
    spends = node.planned
    if spends is None and isinstance(mechanism, HasCosts):
        spends = mechanism.costs(degree, 1)
    return any(s.solve is not None and s.solve.smoothing is None for s in spends or ())


def _oracles(faults: tuple[Fault, ...]) -> list[str]:
    """Return why participation depends on data; empty where it does not."""
    numbers = ", ".join(str(fault.number) for fault in faults if fault.oracle)
    reason = f"fault {numbers} reads what only an oracle sees, so who takes part depends on data"
    own = [f"fault {f.number} {f.action.uncovered}" for f in faults if f.action.uncovered]
    return [*([reason] if numbers else []), *own]


class _Planner:
    def __init__(self, context: PlanningContext) -> None:
        self.context = context
        self.read = context.read
        self.report = context.report

    def plan(self) -> Plan:
        context, run, silence = self.context, self.read.run, self.read.network.silence
        self._refuse_large()  # first: what follows lists every agent
        data, agents, planner = DataAndLinks(context), AgentPlans(context), FaultPlanner(context)
        self._find_compared()
        loss: Loss = context.attempt(("task", "loss"), self._loss)
        self.report.stop_if_any()
        shards = data.shards(labelled=loss.margin)
        serves = family_of(self.read) == "server"
        edges = EdgeArrays.of(())
        apart = set[tuple[int, int]]()
        if serves:
            self._note_server()
        else:
            edges = data.edges(shards)
            brought = planner.edges()
            if brought:
                apart = set(brought) - {(i, j) for i, j, _ in edges}
                edges = EdgeArrays.of((*edges, *((i, j, 1.0) for i, j in sorted(apart))))
        policy, exceptions = data.policies(edges)
        self.report.stop_if_any()
        make, points = self._maker(loss), PackedPoints.of(shards.train)
        objectives = tuple(make(*points.kept(i)) for i in range(context.size))
        graph = Graph(context.size, edges.heads, edges.tails, edges.weights)
        nodes = agents.nodes(shards, objectives, edges)
        faults = planner.faults(shards)
        self.report.stop_if_any()
        planner.check(faults, self._linked(edges, serves=serves))
        self.report.stop_if_any()
        if any(map(_leaves_residual, nodes)):
            context.notes.append(
                "solver residual not covered: as printed, nothing hides where a solver stops, and no ε is charged for it"
            )
        uncovered = self._uncovered(shards, faults, serves=serves)  # before notes: it adds some
        plan = Plan(
            name=context.scenario.name,
            kind=self.read.mechanism.kind,
            family=family_of(self.read),
            seed=context.seed,
            seeds=context.seeds,
            engine=context.options.engine or run.engine,
            horizon=self._horizon(),
            rounds=run.rounds,
            updates=run.updates,
            stop=run.stop,
            sample_every=nanoseconds(run.sample_every),
            nodes=nodes,
            server=agents.server,
            tick_ns=self._ticks(nodes),
            graph=graph,
            policy=policy,
            exceptions=exceptions,
            silence=None if silence is None else nanoseconds(silence),
            apart=frozenset(apart),
            faults=faults,
            expects=tuple(map(expectation_of, self.read.expect)),
            targets={name: goal_of(goal) for name, goal in self.read.targets.items()},
            privacy=self._privacy(nodes, serves=serves),
            loss=loss,
            shards=shards,
            objectives=objectives,
            joint=self._joint(graph, objectives, nodes),
            resolved=resolved_tree(context),
            text=context.scenario.text,
            folder=context.scenario.folder,
            notes=(*shards.notes, *context.notes),
            warnings=tuple(context.warnings),
            uncovered=uncovered,
            columns=frozenset(context.options.columns),
            curves=context.options.curves,
            path=context.path,
        )
        self._check_sampled(plan)
        self._refuse_long(plan)
        self.report.stop_if_any()
        return plan

    def _linked(self, edges: EdgeArrays, *, serves: bool) -> Callable[[int, int], bool]:
        """Return what says whether an agent has a link to another; the edges are looked through when it is first asked."""
        size = self.context.size

        @cache
        def joined() -> set[tuple[int, int]]:
            return {(i, j) for i, j, _ in edges}

        def is_link(a: int, b: int) -> bool:
            low, high = min(a, b), max(a, b)
            return (0 <= low < high == size) if serves else (low, high) in joined()

        return is_link

    def _loss(self) -> Loss:
        table = self.read.task.loss
        if isinstance(table, OwnCode):
            own: Loss = self.context.code(table.kind)(**table.parameters)
            return own
        return table.build()

    def _refuse_long(self, plan: Plan) -> None:
        """Refuse more wakes and more samples than a run may have, whatever ends it."""
        if self.context.options.allow_large:
            return
        limit, updates = self.context.limit, extent(plan).updates
        limit("updates", updates, ("run",), f"about {updates:.3g} updates", of_key=True)
        self._refuse_skipped(plan)
        samples = longest_s(plan) * 1e9 / plan.sample_every
        limit("samples", samples, ("run", "sample_every"), f"gives up to {samples:.3g} samples")

    def _refuse_skipped(self, plan: Plan) -> None:
        """Refuse clocks that miss too many wakes at one instant: they are skipped one by one."""
        first, busy_s, rates = dict[str, NodePlan](), dict[str, float](), [0.0]
        for node in plan.nodes:
            first.setdefault(node.group, node)
            if node.compute is not None and math.isfinite(node.compute.mean_s):
                slowest_s = max(node.compute.mean_s, busy_s.get(node.group, 0.0))
                busy_s[node.group] = slowest_s
        places: list[tuple[tuple[str | int, ...], float]] = []
        for g, node in enumerate(first.values()):
            if isinstance(node.activation, Barrier):
                continue
            rates.append(float(node.activation.rate))
            places.append((("nodes", g, "compute"), busy_s.get(node.group, 0.0) * rates[-1]))
        for fault in plan.faults:
            skipped = fault.action.shifts_s * max(rates)
            places.append((("fault", fault.number, fault.name), skipped))
        for path, skipped in places:
            message = f"skips about {skipped:.3g} wakes at one instant"
            self.context.limit("skipped", skipped, path, message)

    def _horizon(self) -> int | None:
        horizon = self.context.horizon
        return None if horizon is None else nanoseconds(horizon)

    def _check_sampled(self, plan: Plan) -> None:
        """Report metrics that run the plan again without samples, where a fault depends on samples."""
        for expect in self.read.expect if plan.sampled else ():
            metric = metric_of(expect.metric or "")
            if metric is not None and metric.taken is Taken.AGAIN:
                message = f"{expect.metric} runs the plan without an oracle, and a fault goes by metrics or samples"
                self.report.value(expect.path_to("metric"), message)

    def _find_compared(self) -> None:
        """Resolve what expectations compare with: a file of this folder, or a scenario of the library."""
        if self.context.options.nested:
            return
        for expect in self.read.expect:
            if expect.compared_to:
                self._resolve_other(expect, expect.compared_to)

    def _resolve_other(self, expect: ExpectTable, name: str) -> None:
        """Plan the scenario that an expectation compares with; report what hinders the comparison."""
        path = expect.path_to("compared_to")
        file = beside(self.context.scenario.folder, name)
        if file is None and name not in library_names():
            hint = nearest(name, library_names())
            message = f"no scenario '{name}' in the library, and no such file in this folder"
            self.report.value(path, f"{message}; {hint}")
            return
        options = replace(self.context.options, nested=True, data=None, graph=None, until=None)
        try:
            read = load(name if file is None else str(file), named=file is None)
            other = resolve(checked(read), options)
            group, node = expect.group, expect.node
            if group is not None and group not in other.groups:
                message = f"{name} has no group '{group}'; {nearest(group, other.groups)}"
                self.report.value(path, message)
            if node is not None and node >= other.size:
                self.report.value(path, f"{name} has no agent {node}")
        except ScenarioError as error:
            self.report.value(path, f"{name} cannot run: {error.problems[0]}")

    def _refuse_large(self) -> None:
        """Refuse what is too large before data are drawn or noise is calibrated."""
        data = self.read.data
        size, needed = self.context.size, 0
        amount = None if isinstance(data, OwnCode) else data.amount(size)
        if amount is not None:
            points, tests, dimension = amount
            needed = (points + tests) * dimension * 8
        self._refuse_many_steps()
        run = self.read.run
        # also counted later; here it keeps a mechanism from planning as many releases
        updates = run.updates or (run.rounds or 0) * size
        path = ("run", "updates" if run.updates else "rounds")
        limit = self.context.limit
        limit("updates", updates, path, f"about {updates:.3g} updates", of_key=True)
        limit("nodes", size, ("nodes",), f"{size:,} nodes", of_key=True)
        limit("bytes", needed, ("nodes",), f"{needed:,} bytes", of_key=True)
        self.report.stop_if_any()

    def _refuse_many_steps(self) -> None:
        """Refuse more local steps at one instant than a run may have."""
        table = learner(self.read)
        counts = None if table is None else record_of(table).steps
        if table is None or counts is None:
            return
        for key, steps in counts(table).items():
            if steps is not None:
                message = f"{steps:,} steps at one instant"
                self.context.limit("steps", steps, table.path_to(key), message)

    def _maker(self, loss: Loss) -> Callable[[Matrix, Vector], LocalObjective]:
        """Return what makes an agent's objective of its records, as its loss reads them: C/m Σ + ½ρ‖f‖² in the ADMM family."""
        task, table = self.read.task, learner(self.read)

        @cache
        def of(points: int) -> tuple[float, float]:
            """Return the weight of a record and λ of an agent with so many points."""
            if isinstance(table, ConsensusTable):
                return table.C / points, 0.5 * table.rho
            weight = {"mean": 1.0 / points, "sum": 1.0}[task.reduction]
            return weight, 1.0 / points if isinstance(task.l2, str) else task.l2

        def make(rows: Matrix, labels: Vector) -> LocalObjective:
            weight, l2 = of(len(labels))
            return LocalObjective.of_rows(rows, labels, loss, l2, weight=weight)

        return make

    def _privacy(self, nodes: tuple[NodePlan, ...], *, serves: bool) -> Privacy:
        privacy = self.read.privacy
        kind = kind_of(self.read)
        return Privacy(
            tuple(privacy.views),
            privacy.accountant,
            shows_unreleased_model=kind is not None and not kind.releases,
            misprinted=is_misprinted(self.read),
            calibrated=self._calibrated(),
            adaptive=isinstance(self.read.mechanism, OwnCode)
            and not isinstance(nodes[0].mechanism, HasSchedule),
            seen=tuple(view for view in VIEWS if serves or view not in OF_SERVERS),
        )

    def _uncovered(
        self, shards: Shards, faults: tuple[Fault, ...], *, serves: bool
    ) -> tuple[str, ...]:
        """Return why the ε of this run does not cover it; empty where nothing is private, for then ε is infinite."""
        if not is_private(self.read) and not isinstance(self.read.mechanism, OwnCode):
            return tuple(_oracles(faults))
        reasons, topology = list(shards.uncovered), self.read.network.topology
        if isinstance(self.read.mechanism, OwnCode):
            reasons.insert(0, self_declared(self.read.mechanism.kind))
        by = self.context.options.chosen_by
        if by is not None:
            reasons.append(
                f"the run is a candidate of a choice by {by}, which reads data, and no ε pays for that"
            )
        if isinstance(topology, OfDataTable) and self.context.options.graph is None and not serves:
            if topology.public:
                self.context.notes.append(
                    f"the {topology.kind} graph was made of what agents learn, and is declared public "
                    "(topology.public): ε covers the run for an adversary that knew it before"
                )
            else:
                reasons.append(
                    f"the {topology.kind} graph is made of what agents learn, and is no release: "
                    "topology.public = true declares that it was public before"
                )
        if (
            isinstance(self.read.mechanism, DescentTable)
            and self.read.mechanism.smoothness == "data"
        ):
            reasons.append(
                'smoothness = "data" makes the step of every release of the agent\'s data, and is no release'
            )
        split = None if isinstance(self.read.data, OwnCode) else self.read.data.split
        if isinstance(split, PoolSplitTable) and split.moves_records:
            self.context.notes.append(
                f"points were dealt by {split.by} ({split.kind}): ε takes it as public which agent holds which record"
            )
        if shards.shared:
            reasons.append(
                f"{shards.shared:,} source rows are held by several agents, or several times by one: for such a record ε adds up"
            )
        return (*reasons, *_oracles(faults))

    def _calibrated(self) -> str | None:
        """Return the accountant that calibrated, where that was left open; None where a file names it, or nothing was to calibrate."""
        read = self.read
        if read.privacy.calibrate != TIGHTEST or not is_private(read) or is_printed(read):
            return None
        return self.context.calibrated or ("gaussian" if unit_of(read) == "mu" else None)

    def _joint(
        self, graph: Graph, objectives: tuple[LocalObjective, ...], nodes: Sequence[NodePlan]
    ) -> Joint | None:
        """Return what all agents together minimise; None for code of the scenario's own: nothing is known of it.

        Where l2 = 0 leaves an objective without a modulus and a mechanism adds Φ, the objective is taken with that: its
        modulus is Φ, as in the charge.
        """
        table = table_of(self.read)
        if table is None:
            return None
        if not any(objective.l2 for objective in objectives):
            ridges = [
                (node.mechanism.ridge or 0.0) if isinstance(node.mechanism, AddsRidge) else 0.0
                for node in nodes
            ]
            if any(ridges):
                objectives = tuple(o.with_ridge(r) for o, r in zip(objectives, ridges, strict=True))
                self.context.notes.append(
                    f"task.l2 = 0: local objectives are strongly convex by Φ = {min(ridges):.4g} to {max(ridges):.4g} of the "
                    "objective noise alone; their minimum, and what is compared with it, is that with Φ"
                )
        joint: Joint | None = self.context.attempt(
            ("task", "l2"), lambda: record_of(table).joint(table, graph, objectives)
        )
        return joint

    def _note_server(self) -> None:
        """Note what a scenario asks for that a server does not use; add the warnings of its mechanism."""
        read, table = self.read, learner(self.read)
        topology = read.network.topology.kind
        if table is None:
            return
        if topology not in {"ring", "star"}:
            self.context.notes.append(
                f"{table.kind} talks to its server: network.topology = {topology} is not used"
            )
        warnings = record_of(table).warnings
        if warnings is not None:
            self.context.warnings += warnings(table, read)

    def _ticks(self, nodes: tuple[NodePlan, ...]) -> float | None:
        """One tick is the mean time between wakes; barriers count rounds (theory.md, section 4)."""
        rates = [n.activation.rate for n in nodes if not isinstance(n.activation, Barrier)]
        if not rates:
            return None
        mean = float(np.mean(rates))
        return 1e9 / mean if mean > 0 else 1e9
