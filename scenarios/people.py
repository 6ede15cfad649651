"""Who the agents are: their clocks, budgets, starts and mechanisms, and what happens to them."""

import math
from collections.abc import Callable

import numpy as np

from actors.faults import Fault
from clocks.activation import Activation, Barrier, Trace
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration
from mechanisms.objectives import LocalObjective
from mechanisms.solve import minimise
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios import catalog, topologies
from scenarios.datasets import UNREADABLE, BadData, Shards, real
from scenarios.grammar import ACTIONS
from scenarios.plan import NodePlan
from scenarios.provision import Terms, law_of, provide
from scenarios.seeds import generator
from scenarios.settling import Settling, Table


class People:
    """Makes one plan for each agent, group by group."""

    def __init__(self, at: Settling) -> None:
        self.at = at

    def nodes(
        self,
        shards: Shards,
        objectives: tuple[LocalObjective, ...],
        edges: tuple[topologies.Edge, ...],
    ) -> tuple[NodePlan, ...]:
        """Return everybody, in the order of their ids."""
        starts = self.at.attempt(("task", "start"), lambda: self._starts(shards, objectives))
        if starts is None:
            return ()
        around: list[list[tuple[int, float]]] = [[] for _ in range(self.at.size)]
        for i, j, w in edges:
            around[i].append((j, w))
            around[j].append((i, w))
        sizes, nodes = shards.sizes, list[NodePlan]()
        largest = max(sizes)
        for g, group in enumerate(self.at.groups):
            clock = self._clocks(g, group)
            compute = self._compute(g, group)
            terms = self._terms(group)
            for _ in range(group["count"]):
                i = len(nodes)
                self._judge_delta(g, group, terms, sizes[i])
                mechanism = self._mechanism(objectives[i], sizes[i] / largest, terms)
                neighbours = sorted(around[i])
                nodes.append(
                    NodePlan(
                        id=i,
                        group=group.get("name") or f"group{g}",
                        activation=clock(i),
                        compute=compute,
                        cap=terms.cap(law_of(self.at.read["mechanism"])),
                        delta=terms.delta,
                        on_exhausted=(group.get("budget") or {}).get("on_exhausted", "listen"),
                        present=group["present"],
                        start=self._start_of(g, group, starts[i]),
                        adopt_neighbours=group.get("start") == "neighbours",
                        mechanism=mechanism,
                        neighbours=tuple(j for j, _ in neighbours),
                        weights=np.array([w for _, w in neighbours], dtype=np.float64),
                    )
                )
                if self.at.report.problems:
                    return ()
        return tuple(nodes)

    def _starts(self, shards: Shards, objectives: tuple[LocalObjective, ...]) -> Matrix | None:
        start, shape = self.at.read["task"]["start"], (self.at.size, shards.dimension)
        match start["kind"]:
            case "random":
                drawn: Matrix = generator(self.at.seeds["network"], "start").standard_normal(shape)
                return drawn / math.sqrt(shards.dimension)
            case "file":
                return self._file_start(start["path"], shape)
            case "local":
                found: Matrix = np.array([minimise(o).theta for o in objectives])
                return found
            case _:
                return np.zeros(shape)

    def _file_start(self, path: str, shape: tuple[int, int]) -> Matrix:
        found = self.at.folders.find(path)
        try:
            with np.load(found, allow_pickle=False) as archive:
                theta: Matrix = real(archive["theta"])
        except UNREADABLE as error:
            raise BadData(
                f"{found.name} must hold an array theta of numbers ({type(error).__name__})"
            ) from None
        if theta.shape != shape or not np.isfinite(theta).all():
            raise BadData(f"theta must be {shape[0]} × {shape[1]} and finite, got {theta.shape}")
        return theta

    def _start_of(self, g: int, group: Table, start: Vector) -> Vector:
        chosen = group.get("start")
        if chosen == "zeros":
            return np.zeros_like(start)
        if chosen == "file" and self.at.read["task"]["start"]["kind"] != "file":
            self.at.report.value(
                ("nodes", g, "start"), 'needs task.start = { kind = "file", path = … }'
            )
        return start

    def _terms(self, group: Table) -> Terms:
        budget, privacy = group.get("budget") or {}, self.at.read["privacy"]
        return Terms(
            budget.get("epsilon"), budget.get("delta", 1e-5), privacy["calibrate"],
            privacy["filter"], self.at.read["run"].get("rounds"),
        )  # fmt: skip

    def _mechanism(self, objective: LocalObjective, confidence: float, terms: Terms) -> Mechanism:
        table, grid = self.at.read["mechanism"], self.at.read["privacy"]["grid"] or None
        if "parameters" not in table:
            made: Mechanism = self.at.attempt(
                ("mechanism",), lambda: provide(table, objective, confidence, terms, grid)
            )
            return made
        own: Mechanism = self.at.attempt(
            ("mechanism", "kind"),
            lambda: self.at.code(table["kind"])(
                objective=objective, confidence=confidence, **table["parameters"]
            ),
        )
        return own

    def _judge_delta(self, g: int, group: Table, terms: Terms, points: int) -> None:
        if group.get("budget") is None or law_of(self.at.read["mechanism"]) is None:
            return
        if terms.delta >= 1.0 / points:
            self.at.report.value(
                ("nodes", g, "budget"),
                f"delta = {terms.delta:g} is at least 1/m for an agent with {points} points: it would allow publishing one of them",
            )
        elif terms.delta > 0.1 / points:
            said = f"delta = {terms.delta:g} is above 1/(10 m) for an agent with {points} points"
            if said not in self.at.warnings:
                self.at.warnings.append(said)

    def _clocks(self, g: int, group: Table) -> Callable[[int], Activation | Barrier]:
        table, path = group["clock"], ("nodes", g, "clock")
        if table["kind"] == "trace":
            wakes = self.at.attempt(path, lambda: catalog.wakes(table, self.at.folders)) or {}
            if any(not 0 <= node < self.at.size for node in wakes):
                self.at.report.value(
                    path, f"no agent {max(wakes)}: ids run from 0 to {self.at.size - 1}"
                )
            return lambda i: Trace(wakes.get(i, ()))
        made = self.at.attempt(path, lambda: catalog.clock(table, self.at.code))
        return lambda _: made

    def _compute(self, g: int, group: Table) -> Duration | None:
        law: Duration | None = self.at.attempt(
            ("nodes", g, "compute"), lambda: catalog.duration(group["compute"], self.at.folders)
        )
        return None if isinstance(law, Constant) and law.value_s == 0 else law

    def faults(self) -> tuple[Fault, ...]:
        """Return what the scenario does to whom, and when."""
        ids: dict[str, tuple[int, ...]] = {"all": tuple(range(self.at.size))}
        first = 0
        for g, group in enumerate(self.at.groups):
            ids[group.get("name") or f"group{g}"] = tuple(range(first, first + group["count"]))
            first += group["count"]
        faults = []
        for number, fault in enumerate(self.at.read["fault"]):
            action = next(a for a in ACTIONS if a in fault)
            target = fault[action]
            nodes = ids[target] if isinstance(target, str) else tuple(dict.fromkeys(target))
            lasts = nanoseconds(fault["for"]) if "for" in fault else None
            lose = fault.get("lose", "volatile")
            faults.append(Fault(number, action, nodes, nanoseconds(fault["at"]), lasts, lose))
        return tuple(faults)
