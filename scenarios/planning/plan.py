"""A plan: frozen and complete. A run needs nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.conditions import Condition
from actors.links import Policy
from actors.settings import RoundRules
from clocks.activation import Activation, Barrier
from clocks.durations import Duration
from mechanisms.abilities import scheduled
from mechanisms.accounting.filter import Cap
from mechanisms.accounting.spend import Spend
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.datasets import Shards
from scenarios.planning.expectations import Expectation, Goal
from scenarios.planning.metric import Need
from scenarios.planning.metric_names import metrics_of
from scenarios.planning.privacy_terms import Privacy

if TYPE_CHECKING:
    from actors.faults.schedule import Fault
    from mechanisms.federated import Coordinator
    from mechanisms.joint import Graph, Joint


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One agent: its group, clock, mechanism, budget and neighbours."""

    id: int
    group: str
    activation: Activation | Barrier
    compute: Duration | None
    cap: Cap | None
    delta: float
    on_exhausted: str
    present: bool
    start: Vector
    adopt_neighbours: bool
    mechanism: Mechanism
    neighbours: tuple[int, ...]
    weights: Vector

    @property
    def planned(self) -> tuple[Spend, ...] | None:
        """All planned releases; None where there is no plan."""
        return scheduled(self.mechanism, len(self.neighbours))


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """The agent beyond the nodes: what it makes of answers, from which model, and how it holds a round."""

    mechanism: Coordinator
    start: Vector
    round_rules: RoundRules


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run needs, and all that it depends on."""

    name: str
    kind: str
    family: str
    seed: int
    seeds: dict[str, int]
    engine: str
    horizon: int | None
    rounds: int | None
    updates: int | None
    stop: str
    sample_every: int
    nodes: tuple[NodePlan, ...]
    server: ServerPlan | None
    tick_ns: float | None
    graph: Graph
    policy: Policy
    exceptions: dict[tuple[int, int], Policy]
    silence: int | None
    apart: frozenset[tuple[int, int]]
    """Pairs whose edge begins only when a joiner names it."""
    faults: tuple[Fault, ...]
    expects: tuple[Expectation, ...]
    targets: dict[str, Goal]
    privacy: Privacy
    loss: Loss
    shards: Shards
    objectives: tuple[LocalObjective, ...]
    joint: Joint | None
    resolved: dict[str, Any]
    text: str
    folder: Path
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    """Why ε does not cover the run, known before it starts; empty where it does."""
    columns: frozenset[str] = frozenset()
    """Metrics that the caller wants to have at the end, as they are written."""
    curves: bool = False
    """Whether these are wanted at every sample."""
    path: str = "auto"
    """How wakes are computed, one of `wake_paths.PATHS`; what a run does and costs is the same on each."""

    @property
    def size(self) -> int:
        return len(self.nodes)

    @property
    def seats(self) -> int:
        """The nodes, and the server where there is one: its id is the first after theirs."""
        return self.size + (self.server is not None)

    @property
    def dimension(self) -> int:
        return self.shards.dimension

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The ids of each group, in file order."""
        ids_of: dict[str, list[int]] = {}
        for node in self.nodes:
            ids_of.setdefault(node.group, []).append(node.id)
        return {name: tuple(ids) for name, ids in ids_of.items()}

    def policy_of(self, sender: int, receiver: int) -> Policy:
        """Return the policy of one directed link."""
        return self.exceptions.get((sender, receiver), self.policy)

    @property
    def latencies(self) -> tuple[tuple[Duration, int], ...]:
        """The distributions of delays, each with the number of directed links that have it; one at least."""
        links = len(self.graph.heads) if self.server is None else self.size
        if not self.exceptions or not links:
            return ((self.policy.latency, 2 * links),)
        pairs = list(zip(self.graph.heads.tolist(), self.graph.tails.tolist(), strict=True))
        if self.server is not None:
            pairs = [(i, self.size) for i in range(self.size)]
        laws = [self.policy_of(*ends).latency for i, j in pairs for ends in ((i, j), (j, i))]
        times = Counter(map(id, laws))
        return tuple((law, times[id(law)]) for law in {id(law): law for law in laws}.values())

    @property
    def covered(self) -> bool:
        """Whether ε covers the run, as far as that is known before it starts."""
        return not self.uncovered

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that faults and expectations wait for."""
        conditions = [fault.timing.when for fault in self.faults]
        conditions += [expect.sometimes for expect in self.expects]
        return tuple(condition for condition in conditions if condition is not None)

    @property
    def asked(self) -> frozenset[str]:
        """Every metric that expectations, targets and conditions ask for, as it is written there."""
        names = {goal.selection.metric for goal in self.targets.values()}
        names |= {expect.selection.metric for expect in self.expects if expect.selection}
        return frozenset(names.union(*(condition.metrics for condition in self.conditions)))

    @property
    def wanted(self) -> frozenset[str]:
        """Every metric that the scenario or the caller asks for."""
        return self.asked | self.columns

    def has_need(self, need: Need) -> bool:
        """Whether a metric that is asked for, or that agents are chosen by, has a need."""
        chosen = {fault.action.target.metric for fault in self.faults}
        return any(need in metric.needs for metric in metrics_of(self.wanted | chosen).values())

    @property
    def sampled(self) -> bool:
        """Whether what happens depends on samples: runs without an oracle are then other runs."""
        return any(
            fault.action.target.reads_metric
            or (fault.timing.when is not None and fault.timing.when.reads_samples)
            for fault in self.faults
        )

    def starts(self) -> Matrix:
        """Return the public start of every agent, a row for each."""
        return np.array([node.start for node in self.nodes])

    def expected_updates(self) -> float:
        """Return how many wakes to expect; NaN where only the run can tell."""
        if self.updates is not None:
            return float(self.updates)
        if self.rounds is not None:
            return float(self.rounds * self.size)
        if any(isinstance(node.activation, Barrier) for node in self.nodes):
            return float("nan")
        assert self.horizon is not None, "a plan has an end"  # noqa: S101
        return sum(node.activation.rate for node in self.nodes) * self.horizon / 1e9
