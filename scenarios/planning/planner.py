"""From a scenario to a plan: every number settled, every name looked up, every refusal located."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from actors.faults.schedule import Fault
from clocks.activation import Barrier
from clocks.clock import nanoseconds
from mechanisms.abilities import HasCosts, HasSchedule
from mechanisms.accounting.compose import TIGHTEST
from mechanisms.accounting.views import OF_SERVERS, VIEWS
from mechanisms.joint import Graph, Joint
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.vectors import Matrix, Vector
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.reader import beside, library_names
from scenarios.language.table_rules import OwnCode
from scenarios.planning.agents import People
from scenarios.planning.blas_threads import OneThread
from scenarios.planning.check_scenario import JudgedScenario, judged
from scenarios.planning.context import MOST, Options, Settling
from scenarios.planning.data_and_links import Ground
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.datasets import Shards
from scenarios.planning.expectations import ExpectTable, expectation_of, goal_of
from scenarios.planning.fault_planner import FaultPlanner
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
from scenarios.planning.mechanism_tables import ConsensusTable
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import metric_of
from scenarios.planning.plan import NodePlan, Plan, Privacy
from scenarios.planning.provenance import Origin
from scenarios.planning.run_size import extent, longest_s
from scenarios.planning.scenario import load
from scenarios.planning.topologies import OfDataTable


@OneThread()
def resolve(scenario: JudgedScenario, options: Options) -> Plan:
    """Settle everything; raise all problems at once."""
    return _Resolver(Settling(scenario, options)).plan()


def _leaves_residual(node: NodePlan) -> bool:
    """Whether an agent releases minimisers of a perturbed objective without noise for the solver's tolerance (E20)."""
    mechanism, degree = node.mechanism, max(1, len(node.neighbours))
    spends = node.planned
    if spends is None and isinstance(mechanism, HasCosts):
        spends = mechanism.costs(degree, 1)
    return any(s.solve is not None and s.solve.smoothing is None for s in set(spends or ()))


def _oracles(faults: tuple[Fault, ...]) -> list[str]:
    """Say that participation depends on data, where it does."""
    numbers = ", ".join(str(fault.number) for fault in faults if fault.oracle)
    said = f"fault {numbers} reads what only an oracle sees, so who takes part depends on data"
    return [said] if numbers else []


class _Resolver:
    def __init__(self, at: Settling) -> None:
        self.at = at

    def plan(self) -> Plan:
        ground, people = Ground(self.at), People(self.at)
        self._refuse_large()
        self._find_compared()
        loss: Loss = self.at.attempt(("task", "loss"), self._loss)
        self.at.report.stop_if_any()
        shards = ground.shards(labelled=loss.margin)
        serves = family_of(self.at.read) == "server"
        planner = FaultPlanner(self.at)
        edges = () if serves else ground.edges(shards)
        chosen = () if serves else planner.edges()
        given = {(i, j) for i, j, _ in edges}
        edges += tuple((i, j, 1.0) for i, j in chosen if (i, j) not in given)
        if serves:
            self._note_server()
        policy, exceptions = ground.policies(edges)
        self.at.report.stop_if_any()
        make = self._maker(loss)
        objectives = tuple(make(x, y) for x, y in shards.train)
        graph = Graph(
            self.at.size,
            np.array([i for i, _, _ in edges], dtype=np.int64),
            np.array([j for _, j, _ in edges], dtype=np.int64),
            np.array([w for _, _, w in edges], dtype=np.float64),
        )
        nodes = people.nodes(shards, objectives, edges)
        faults = planner.faults(shards.dimension)
        self.at.report.stop_if_any()
        joined = (
            {(i, j) for i, j, _ in edges}
            if not serves
            else {(i, self.at.size) for i in range(self.at.size)}
        )
        planner.check(faults, joined | {(j, i) for i, j in joined})
        self.at.report.stop_if_any()
        run, horizon = self.at.read.run, self._horizon()
        if any(map(_leaves_residual, nodes)):
            self.at.notes.append(
                "solver residual not covered: as printed, nothing hides where a solver stops, and no ε is charged for it"
            )
        uncovered = self._uncovered(shards, faults, serves=serves)
        plan = Plan(
            name=self.at.scenario.name,
            kind=self.at.read.mechanism.kind,
            family=family_of(self.at.read),
            seed=self.at.seed,
            seeds=self.at.seeds,
            engine=self.at.options.engine or run.engine,
            horizon=horizon,
            rounds=run.rounds,
            updates=run.updates,
            stop=run.stop,
            sample_every=nanoseconds(run.sample_every),
            nodes=nodes,
            server=people.server,
            tick_ns=self._ticks(nodes),
            graph=graph,
            policy=policy,
            exceptions=exceptions,
            silence=self._silence(),
            apart=frozenset(pair for pair in chosen if pair not in given),
            faults=faults,
            expects=tuple(map(expectation_of, self.at.read.expect)),
            targets={name: goal_of(goal) for name, goal in self.at.read.targets.items()},
            privacy=self._privacy(nodes, serves=serves),
            loss=loss,
            shards=shards,
            objectives=objectives,
            joint=self._joint(graph, objectives),
            resolved=Origin(self.at).resolved(),
            text=self.at.scenario.text,
            folder=self.at.scenario.folder,
            notes=(*shards.notes, *self.at.notes),
            warnings=tuple(self.at.warnings),
            uncovered=uncovered,
        )
        self._judge_sampled(plan)
        self._refuse_long(plan)
        self.at.report.stop_if_any()
        return plan

    def _loss(self) -> Loss:
        table = self.at.read.task.loss
        if isinstance(table, OwnCode):
            own: Loss = self.at.code(table.kind)(**table.parameters)
            return own
        return table.build()

    def _refuse_long(self, plan: Plan) -> None:
        """Refuse more wakes and more samples than a run may have, whatever ends it."""
        if self.at.options.allow_large:
            return
        updates = extent(plan).updates
        if updates > MOST["updates"]:
            said = f"about {updates:.3g} updates; above {MOST['updates']:,} needs --allow-large"
            self.at.report.key(("run",), said)
        self._refuse_skipped(plan)
        samples = longest_s(plan) * 1e9 / plan.sample_every
        if samples > MOST["samples"]:
            self.at.report.value(
                ("run", "sample_every"),
                f"gives up to {samples:.3g} samples; above {MOST['samples']:,} needs --allow-large",
            )

    def _refuse_skipped(self, plan: Plan) -> None:
        """Refuse clocks that miss too many wakes at one instant: they are skipped one by one."""
        first, rates = dict[str, NodePlan](), [0.0]
        for node in plan.nodes:
            first.setdefault(node.group, node)
        places: list[tuple[tuple[str | int, ...], float]] = []
        for g, node in enumerate(first.values()):
            if isinstance(node.activation, Barrier):
                continue
            rates.append(float(node.activation.rate))
            if node.compute is not None and math.isfinite(node.compute.mean_s):
                places.append((("nodes", g, "compute"), node.compute.mean_s * rates[-1]))
        for fault in plan.faults:
            skipped = fault.action.shifts_s * max(rates)
            places.append((("fault", fault.number, fault.name), skipped))
        for path, skipped in places:
            if skipped > MOST["skipped"]:
                said = f"skips about {skipped:.3g} wakes at one instant"
                limit = f"above {MOST['skipped']:,} needs --allow-large"
                self.at.report.value(path, f"{said}; {limit}")

    def _horizon(self) -> int | None:
        run = self.at.read.run
        if self.at.until is not None:
            return nanoseconds(self.at.until)
        if run.horizon is not None:
            return nanoseconds(run.horizon)
        return None if run.rounds or run.updates else nanoseconds(60.0)

    def _judge_sampled(self, plan: Plan) -> None:
        """What is found by running the plan without an oracle needs faults that do without one."""
        for expect in self.at.read.expect if plan.sampled else ():
            metric = metric_of(expect.metric or "")
            if metric is not None and metric.taken is Taken.AGAIN:
                said = f"{expect.metric} runs the plan without an oracle, and a fault goes by metrics or samples"
                self.at.report.value(expect.path_to("metric"), said)

    def _silence(self) -> int | None:
        silence = self.at.read.network.silence
        return None if silence is None else nanoseconds(silence)

    def _find_compared(self) -> None:
        """Resolve what expectations compare with: a file of this folder, or a scenario of the library."""
        if self.at.options.nested:
            return
        for expect in self.at.read.expect:
            if expect.compared_to:
                self._resolve_other(expect, expect.compared_to)

    def _resolve_other(self, expect: ExpectTable, name: str) -> None:
        path = expect.path_to("compared_to")
        found = beside(self.at.scenario.folder, name)
        if found is None and name not in library_names():
            hint = nearest(name, library_names())
            said = f"no scenario '{name}' in the library, and no such file in this folder; {hint}"
            self.at.report.value(path, said)
            return
        options = replace(self.at.options, nested=True, data=None, graph=None, until=None)
        try:
            read = load(name if found is None else str(found), named=found is None)
            other = resolve(judged(read), options)
            group, node = expect.group, expect.node
            if group is not None and group not in other.groups:
                said = f"{name} has no group '{group}'; {nearest(group, other.groups)}"
                self.at.report.value(path, said)
            if node is not None and node >= other.size:
                self.at.report.value(path, f"{name} has no agent {node}")
        except ScenarioError as error:
            self.at.report.value(path, f"{name} cannot run: {error.problems[0]}")

    def _refuse_large(self) -> None:
        if self.at.options.allow_large:
            return
        data = self.at.read.data
        amount = None if isinstance(data, OwnCode) else SOURCES[data.kind].amount
        needed = 0
        if amount is not None:
            points, tests, dimension = amount(data, self.at.size)
            needed = (points + tests) * dimension * 8
        self._refuse_many_steps()
        run = self.at.read.run
        updates = run.updates or (run.rounds or 0) * self.at.size
        if updates > MOST["updates"]:  # before a mechanism plans as many releases
            self.at.report.key(
                ("run", "updates" if run.updates else "rounds"),
                f"about {updates:.3g} updates; above {MOST['updates']:,} needs --allow-large",
            )
        for what, asked in (("nodes", self.at.size), ("bytes", needed)):
            if asked > MOST[what]:
                self.at.report.key(
                    ("nodes",), f"{asked:,} {what}; above {MOST[what]:,} needs --allow-large"
                )
        self.at.report.stop_if_any()

    def _refuse_many_steps(self) -> None:
        """Refuse more local steps at one instant than a run may have."""
        table = learner(self.at.read)
        counts = None if table is None else record_of(table).steps
        if table is None or counts is None:
            return
        for key, steps in counts(table).items():
            if steps is not None and steps > MOST["steps"]:
                said = f"{steps:,} steps at one instant"
                limit = f"above {MOST['steps']:,} needs --allow-large"
                self.at.report.value(table.path_to(key), f"{said}; {limit}")

    def _maker(self, loss: Loss) -> Callable[[Matrix, Vector], LocalObjective]:
        """Return what makes an agent's objective of its records: C/m Σ + ½ρ‖f‖² in the ADMM family."""
        task, table = self.at.read.task, learner(self.at.read)
        if isinstance(table, ConsensusTable):
            half, weighed = 0.5 * table.rho, table.C
            return lambda x, y: LocalObjective(x, y, loss, half, weight=weighed / len(y))
        weight = {"mean": None, "sum": 1.0}[task.reduction]
        l2 = task.l2
        return lambda x, y: LocalObjective(
            x, y, loss, 1.0 / len(y) if isinstance(l2, str) else l2, weight=weight
        )

    def _privacy(self, nodes: tuple[NodePlan, ...], *, serves: bool) -> Privacy:
        privacy = self.at.read.privacy
        kind = kind_of(self.at.read)
        return Privacy(
            tuple(privacy.views),
            privacy.accountant,
            shows_unreleased_model=kind is not None and not kind.releases,
            misprinted=is_misprinted(self.at.read),
            calibrated=self._calibrated(),
            adaptive=isinstance(self.at.read.mechanism, OwnCode)
            and not isinstance(nodes[0].mechanism, HasSchedule),
            seen=tuple(view for view in VIEWS if serves or view not in OF_SERVERS),
        )

    def _uncovered(
        self, shards: Shards, faults: tuple[Fault, ...], *, serves: bool
    ) -> tuple[str, ...]:
        """Say why the ε of this run does not cover it; nothing where nothing is private, for then it is infinite."""
        if not is_private(self.at.read) and not isinstance(self.at.read.mechanism, OwnCode):
            return tuple(_oracles(faults))
        found, topology = [], self.at.read.network.topology
        if isinstance(topology, OfDataTable) and self.at.options.graph is None and not serves:
            if topology.public:
                self.at.notes.append(
                    f"the {topology.kind} graph was made of what agents learn, and is declared public "
                    "(topology.public): ε covers the run for an adversary that knew it before"
                )
            else:
                found.append(
                    f"the {topology.kind} graph is made of what agents learn, and is no release: "
                    "topology.public = true declares that it was public before"
                )
        if shards.shared:
            found.append(
                f"{shards.shared:,} source rows are held by several agents, or several times by one: for such a record ε adds up"
            )
        return (*found, *_oracles(faults))

    def _calibrated(self) -> str | None:
        """Return who calibrated, where that was left open; None where a file names it, or nothing was to calibrate."""
        read = self.at.read
        if read.privacy.calibrate != TIGHTEST or not is_private(read) or is_printed(read):
            return None
        return self.at.calibrated or ("gaussian" if unit_of(read) == "mu" else None)

    def _joint(self, graph: Graph, objectives: tuple[LocalObjective, ...]) -> Joint | None:
        """Return what all agents together minimise; None for code of the scenario's own: nothing is known of it."""
        table = table_of(self.at.read)
        if table is None:
            return None
        joint: Joint | None = self.at.attempt(
            ("task", "l2"), lambda: record_of(table).joint(table, graph, objectives)
        )
        return joint

    def _note_server(self) -> None:
        """Say what a scenario asks for that a server makes no use of, or cannot bear."""
        read, table = self.at.read, learner(self.at.read)
        topology = read.network.topology.kind
        if table is None:
            return
        if topology not in {"ring", "star"}:
            self.at.notes.append(
                f"{table.kind} talks to its server: network.topology = {topology} is not used"
            )
        warnings = record_of(table).warnings
        if warnings is not None:
            self.at.warnings += warnings(table, read)

    def _ticks(self, nodes: tuple[NodePlan, ...]) -> float | None:
        """One tick is the mean time between wakes; barriers count rounds (theory.md, section 4)."""
        rates = [n.activation.rate for n in nodes if not isinstance(n.activation, Barrier)]
        if not rates:
            return None
        mean = float(np.mean(rates))
        return 1e9 / mean if mean > 0 else 1e9
