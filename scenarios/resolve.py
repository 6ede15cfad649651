"""From a scenario to a plan: every number settled, every name looked up, every refusal located."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actors.faults import Fault
from actors.link import Policy
from clocks.activation import Activation, Barrier, Trace
from clocks.clock import nanoseconds
from clocks.durations import Constant, Duration
from mechanisms.joint import Apart, Graph, Joint, Personalised, Propagating
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.solve import NoMinimiser, minimise
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Matrix, Vector
from scenarios import catalog, topologies
from scenarios.datasets import BadData, Folders, Shards, load, tidy
from scenarios.grammar import ACTIONS, SEEDS
from scenarios.judge import judge
from scenarios.plan import NodePlan, Plan, Privacy
from scenarios.provision import CannotProvide, Terms, law_of, provide
from scenarios.read import Scenario
from scenarios.seeds import fresh_seed, generator
from scenarios.splits import NoSplit

Table = dict[str, Any]
MOST = {"nodes": 50_000, "edges": 2_000_000, "updates": 50_000_000, "bytes": 8 << 30}
"""What a scenario may ask for without --allow-large."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command or the caller adds to a scenario."""

    seed: int | None = None
    until: float | None = None
    engine: str | None = None
    folders: tuple[Path, ...] = ()
    allow_code: bool = False
    allow_large: bool = False
    data: Mapping[str, Any] | None = None
    graph: Any = None


def resolve(scenario: Scenario, options: Options) -> Plan:
    """Settle everything; raise all problems at once."""
    judge(scenario.read, scenario.report)
    scenario.report.stop_if_any()
    return _Resolver(scenario, options).plan()


class _Resolver:
    def __init__(self, scenario: Scenario, options: Options) -> None:
        self.scenario = scenario
        self.read = scenario.read
        self.report = scenario.report
        self.options = options
        self.folders = Folders(scenario.folder, options.folders)
        self.seed, self.seeds = self._seeds()
        self.groups = self.read["nodes"]
        self.size = sum(group["count"] for group in self.groups)
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def plan(self) -> Plan:
        self._refuse_large()
        shards = self._shards()
        edges = self._edges(shards)
        policy, exceptions = self._policies(edges)
        loss = self._attempt(("task", "loss"), lambda: catalog.loss(self.read["task"]["loss"], self._code))
        self.report.stop_if_any()
        objectives = self._objectives(shards, loss)
        graph = Graph(
            self.size,
            np.array([i for i, _, _ in edges], dtype=np.int64),
            np.array([j for _, j, _ in edges], dtype=np.int64),
            np.array([w for _, _, w in edges], dtype=np.float64),
        )
        nodes = self._nodes(shards, objectives, edges)
        self.report.stop_if_any()
        run, horizon = self.read["run"], self._horizon()
        plan = Plan(
            name=self.scenario.name,
            kind=self.read["mechanism"]["kind"],
            seed=self.seed,
            seeds=self.seeds,
            engine=self.options.engine or run["engine"],
            horizon=horizon,
            rounds=run.get("rounds"),
            updates=run.get("updates"),
            stop=run["stop"],
            sample_every=nanoseconds(run["sample_every"]),
            nodes=nodes,
            graph=graph,
            policy=policy,
            exceptions=exceptions,
            faults=self._faults(),
            expects=tuple(self.read["expect"]),
            targets=self.read["targets"],
            privacy=self._privacy(),
            loss=loss,
            shards=shards,
            objectives=objectives,
            joint=self._joint(graph, objectives),
            resolved=self._resolved(),
            text=self.scenario.text,
            folder=self.scenario.folder,
            notes=(*shards.notes, *self.notes),
            warnings=tuple(self.warnings),
            in_memory=self.options.data is not None or self.options.graph is not None,
        )
        self.report.stop_if_any()
        if plan.expected_updates() > MOST["updates"] and not self.options.allow_large:
            self.report.key(("run",), f"about {plan.expected_updates():.3g} updates; above {MOST['updates']:,} needs --allow-large")
            self.report.stop_if_any()
        return plan

    def _attempt(self, path: tuple[str | int, ...], make: Callable[[], Any]) -> Any:
        """Make something; what goes wrong is reported at the key that asked for it."""
        try:
            return make()
        except (BadData, NoSplit, topologies.NoGraph, catalog.Forbidden, NoMinimiser) as error:
            self.report.value(path, str(error))
        except CannotProvide as error:
            self.report.value(tuple(error.key.split(".")), str(error))
        return None

    def _code(self, kind: str) -> Any:
        return catalog.own(kind, allow_code=self.options.allow_code, folder=self.scenario.folder)

    def _seeds(self) -> tuple[int, dict[str, int]]:
        seed = self.options.seed
        if seed is None:
            seed = self.read["run"].get("seed")
        if seed is None:
            seed = fresh_seed()
        given = self.read["seeds"]
        return seed, {purpose: given.get(purpose, seed) for purpose in SEEDS}

    def _horizon(self) -> int | None:
        run = self.read["run"]
        if self.options.until is not None:
            return nanoseconds(self.options.until)
        if run.get("horizon") is not None:
            return nanoseconds(run["horizon"])
        return None if run.get("rounds") or run.get("updates") else nanoseconds(60.0)

    def _refuse_large(self) -> None:
        if self.options.allow_large:
            return
        data = self.read["data"]
        points = data.get("points", 100)
        most = points["max"] if isinstance(points, dict) else points
        needed = self.size * (most + data.get("test_points", 0)) * data.get("dimension", 1) * 8
        for what, amount in (("nodes", self.size), ("bytes", needed)):
            if amount > MOST[what]:
                self.report.key(("nodes",), f"{amount:,} {what}; above {MOST[what]:,} needs --allow-large")
        self.report.stop_if_any()

    def _shards(self) -> Shards:
        data, loss = self.read["data"], self.read["task"]["loss"]
        labelled = loss["kind"] in {"logistic", "smoothed-hinge"}
        if self.options.data is not None:
            made = self._attempt(("data",), lambda: self._given(self.options.data, labelled=labelled))
        elif "parameters" in data:
            made = self._attempt(("data", "source"), lambda: self._own_source(data, labelled=labelled))
        else:
            made = self._attempt(
                ("data",),
                lambda: load(data, self.size, self.seeds["data"], self.folders, labelled=labelled),
            )
        self.report.stop_if_any()
        assert isinstance(made, Shards), "a failure was reported"  # noqa: S101
        return made

    def _given(self, data: Mapping[str, Any] | None, *, labelled: bool) -> Shards:
        nodes = (data or {}).get("nodes")
        if nodes is None or len(nodes) != self.size:
            raise BadData(f"data must be {{'nodes': [(x, y), …]}} for {self.size} agents")
        train = tuple((np.asarray(x, float), np.asarray(y, float)) for x, y in nodes)
        tests = tuple(
            (np.asarray(x, float), np.asarray(y, float)) for x, y in (data or {}).get("test", ())
        )
        if tests and len(tests) != self.size:
            raise BadData(f"data has test points for {len(tests)} of {self.size} agents")
        if len({x.shape[1] for x, _ in (*train, *tests) if x.ndim == 2}) > 1:
            raise BadData("all agents need one dimension")
        scale = self.read["data"].get("scale", "refuse")
        return tidy(Shards(train, tests, None, None, ()), scale, labelled=labelled)

    def _own_source(self, data: Table, *, labelled: bool) -> Shards:
        thing = self._code(data["source"])(**data["parameters"])
        points = thing(self.size, generator(self.seeds["data"], "data/own"))
        train = tuple((np.asarray(x, float), np.asarray(y, float)) for x, y in points)
        if len(train) != self.size:
            raise BadData(f"{data['source']} made points for {len(train)} of {self.size} agents")
        return tidy(Shards(train, (), None, None, ()), "refuse", labelled=labelled)

    def _edges(self, shards: Shards) -> tuple[topologies.Edge, ...]:
        topology, graph = self.read["network"]["topology"], self.options.graph
        rng = generator(self.seeds["network"], "network/topology")
        path = ("network", "topology")

        def make() -> tuple[topologies.Edge, ...]:
            if graph is not None:
                return topologies.from_graph(graph, self.size)
            if "parameters" in topology:
                thing = self._code(topology["kind"])(**topology["parameters"])
                return topologies.build({"kind": "edges", "edges": list(thing(self.size, rng))}, self.size, rng, None)
            if topology["kind"] == "file":
                rows = catalog.numbers(self.folders.find(topology["path"])).tolist()
                return topologies.build({"kind": "edges", "edges": rows}, self.size, rng, None)
            return topologies.build(topology, self.size, rng, shards.targets)

        edges: tuple[topologies.Edge, ...] = self._attempt(path, make) or ()
        if len(edges) > MOST["edges"] and not self.options.allow_large:
            self.report.value(path, f"{len(edges):,} edges; above {MOST['edges']:,} needs --allow-large")
        alone = self.size - len({end for i, j, _ in edges for end in (i, j)})
        if alone and not self.report.problems:
            self.warnings.append(f"{alone} of {self.size} agents have no neighbour: they release nothing")
        return edges

    def _policies(
        self, edges: tuple[topologies.Edge, ...]
    ) -> tuple[Policy, dict[tuple[int, int], Policy]]:
        network = self.read["network"]
        exceptions: dict[tuple[int, int], Policy] = {}
        base = Policy(Constant(0.0), network["loss"])
        if network["latency"]["kind"] == "matrix":
            matrix = self._attempt(("network", "latency"), lambda: catalog.latency_matrix(network["latency"], self.size, self.folders))
            if matrix is not None:
                pairs = [(i, j) for i, j, _ in edges] + [(j, i) for i, j, _ in edges]
                exceptions = {p: Policy(Constant(float(matrix[p])), network["loss"]) for p in pairs}
        else:
            law = self._attempt(("network", "latency"), lambda: catalog.duration(network["latency"], self.folders))
            base = Policy(law or Constant(0.0), network["loss"])
        joined = {(i, j) for i, j, _ in edges}
        for k, link in enumerate(self.read["link"]):
            pairs = [(a, b) for x, y in link.get("between", []) for a, b in ((x, y), (y, x))]
            if "from" in link:
                pairs.append((link["from"], link["to"]))
            for a, b in pairs:
                if (min(a, b), max(a, b)) not in joined:
                    self.report.value(("link", k), f"no edge joins {a} and {b}")
                    continue
                old = exceptions.get((a, b), base)
                exceptions[a, b] = Policy(self._link_latency(k, link, old.latency), link.get("loss", old.loss))
        return base, exceptions

    def _link_latency(self, k: int, link: Table, otherwise: Duration) -> Duration:
        if "latency" not in link:
            return otherwise
        if link["latency"]["kind"] == "matrix":
            self.report.value(("link", k, "latency"), "a matrix belongs to [network]: one link has one distribution")
            return otherwise
        made: Duration | None = self._attempt(("link", k, "latency"), lambda: catalog.duration(link["latency"], self.folders))
        return made or otherwise

    def _objectives(self, shards: Shards, loss: Loss) -> tuple[LocalObjective, ...]:
        task = self.read["task"]
        mean = task["reduction"] == "mean"
        return tuple(
            LocalObjective(x, y, loss, 1.0 / len(y) if task["l2"] == "1/m" else task["l2"], mean=mean)
            for x, y in shards.train
        )

    def _starts(self, shards: Shards, objectives: tuple[LocalObjective, ...]) -> Matrix | None:
        start, shape = self.read["task"]["start"], (self.size, shards.dimension)
        match start["kind"]:
            case "random":
                drawn: Matrix = generator(self.seeds["network"], "start").standard_normal(shape)
                return drawn / math.sqrt(shards.dimension)
            case "file":
                return self._file_start(start["path"], shape)
            case "local":
                found: Matrix = np.array([minimise(o).theta for o in objectives])
                return found
            case _:
                return np.zeros(shape)

    def _file_start(self, path: str, shape: tuple[int, int]) -> Matrix:
        found = self.folders.find(path)
        try:
            with np.load(found, allow_pickle=False) as archive:
                theta: Matrix = archive["theta"].astype(np.float64)
        except (OSError, ValueError, KeyError) as error:
            raise BadData(f"{found.name} must hold an array theta: {error}") from None
        if theta.shape != shape or not np.isfinite(theta).all():
            raise BadData(f"theta must be {shape[0]} × {shape[1]} and finite, got {theta.shape}")
        return theta

    def _nodes(
        self,
        shards: Shards,
        objectives: tuple[LocalObjective, ...],
        edges: tuple[topologies.Edge, ...],
    ) -> tuple[NodePlan, ...]:
        starts = self._attempt(("task", "start"), lambda: self._starts(shards, objectives))
        if starts is None:
            return ()
        around: list[list[tuple[int, float]]] = [[] for _ in range(self.size)]
        for i, j, w in edges:
            around[i].append((j, w))
            around[j].append((i, w))
        sizes, nodes = shards.sizes, list[NodePlan]()
        largest = max(sizes)
        for g, group in enumerate(self.groups):
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
                        cap=terms.cap(law_of(self.read["mechanism"])),
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
                if self.report.problems:
                    return ()
        return tuple(nodes)

    def _start_of(self, g: int, group: Table, start: Vector) -> Vector:
        chosen = group.get("start")
        if chosen == "zeros":
            return np.zeros_like(start)
        if chosen == "file" and self.read["task"]["start"]["kind"] != "file":
            self.report.value(("nodes", g, "start"), 'needs task.start = { kind = "file", path = … }')
        return start

    def _terms(self, group: Table) -> Terms:
        budget, privacy = group.get("budget") or {}, self.read["privacy"]
        return Terms(
            budget.get("epsilon"), budget.get("delta", 1e-5), privacy["calibrate"],
            privacy["filter"], self.read["run"].get("rounds"),
        )  # fmt: skip

    def _mechanism(
        self, objective: LocalObjective, confidence: float, terms: Terms
    ) -> Mechanism:
        table, grid = self.read["mechanism"], self.read["privacy"]["grid"]
        if "parameters" not in table:
            made: Mechanism = self._attempt(("mechanism",), lambda: provide(table, objective, confidence, terms, grid))
            return made
        own: Mechanism = self._attempt(
            ("mechanism", "kind"),
            lambda: self._code(table["kind"])(objective=objective, confidence=confidence, **table["parameters"]),
        )
        return own

    def _judge_delta(self, g: int, group: Table, terms: Terms, points: int) -> None:
        if group.get("budget") is None or law_of(self.read["mechanism"]) is None:
            return
        if terms.delta >= 1.0 / points:
            self.report.value(("nodes", g, "budget"), f"delta = {terms.delta:g} is at least 1/m for an agent with {points} points: it would allow publishing one of them")
        elif terms.delta > 0.1 / points:
            said = f"delta = {terms.delta:g} is above 1/(10 m) for an agent with {points} points"
            if said not in self.warnings:
                self.warnings.append(said)

    def _clocks(self, g: int, group: Table) -> Callable[[int], Activation | Barrier]:
        table, path = group["clock"], ("nodes", g, "clock")
        if table["kind"] == "trace":
            wakes = self._attempt(path, lambda: catalog.wakes(table, self.folders)) or {}
            if any(not 0 <= node < self.size for node in wakes):
                self.report.value(path, f"no agent {max(wakes)}: ids run from 0 to {self.size - 1}")
            return lambda i: Trace(wakes.get(i, ()))
        made = self._attempt(path, lambda: catalog.clock(table, self._code))
        return lambda _: made

    def _compute(self, g: int, group: Table) -> Duration | None:
        law: Duration | None = self._attempt(("nodes", g, "compute"), lambda: catalog.duration(group["compute"], self.folders))
        return None if isinstance(law, Constant) and law.value_s == 0 else law

    def _faults(self) -> tuple[Fault, ...]:
        ids: dict[str, tuple[int, ...]] = {"all": tuple(range(self.size))}
        first = 0
        for g, group in enumerate(self.groups):
            ids[group.get("name") or f"group{g}"] = tuple(range(first, first + group["count"]))
            first += group["count"]
        faults = []
        for number, fault in enumerate(self.read["fault"]):
            action = next(a for a in ACTIONS if a in fault)
            target = fault[action]
            nodes = ids[target] if isinstance(target, str) else tuple(dict.fromkeys(target))
            lasts = nanoseconds(fault["for"]) if "for" in fault else None
            lose = fault.get("lose", "volatile")
            faults.append(Fault(number, action, nodes, nanoseconds(fault["at"]), lasts, lose))
        return tuple(faults)

    def _privacy(self) -> Privacy:
        privacy = self.read["privacy"]
        silent = self.read["mechanism"]["kind"] == "local"
        return Privacy(tuple(privacy["views"]), privacy["accountant"], shows_unreleased_model=silent)

    def _joint(self, graph: Graph, objectives: tuple[LocalObjective, ...]) -> Joint | None:
        mechanism = self.read["mechanism"]
        sizes = np.array([o.points for o in objectives], dtype=np.float64)
        confidences = sizes / sizes.max()
        match mechanism["kind"]:
            case "cd":
                return Personalised(graph, objectives, confidences, mechanism["mu"])
            case "propagation":
                anchors = self._attempt(("task", "l2"), lambda: [minimise(o).theta for o in objectives])
                return None if anchors is None else Propagating(graph, np.array(anchors), confidences, mechanism["mu"])
            case "local":
                self._attempt(("task", "l2"), lambda: [minimise(o) for o in objectives])
                return Apart(objectives)
            case _:
                return None

    def _resolved(self) -> Table:
        """The scenario in full: runnable again, with the same seed and the same data."""
        resolved = {k: v for k, v in self.scenario.raw.items() if k != "extends"}
        resolved["name"] = self.scenario.name
        run = dict(resolved["run"])
        run["seed"] = self.seed
        if self.options.until is not None:
            run = {k: v for k, v in run.items() if k not in {"rounds", "updates"}}
            run["horizon"] = self.options.until
        elif not {"horizon", "rounds", "updates"} & set(run):
            run["horizon"] = "60s"
        run["engine"] = self.options.engine or run["engine"]
        resolved["run"] = run
        resolved["seeds"] = dict(self.seeds)
        hashes = self._hashes()
        origin = resolved.pop("origin", None) or {}
        for path, known in (origin.get("sha256") or {}).items():
            if hashes.get(path, known) != known:
                self.report.key(("origin",), f"{path} has changed since the run that wrote this file")
        resolved["origin"] = {"folder": str(self.scenario.folder), "sha256": hashes}
        return resolved

    def _hashes(self) -> dict[str, str]:
        """Hash every file that the scenario names."""
        hashes: dict[str, str] = {}

        def walk(tree: Any) -> None:
            if isinstance(tree, dict):
                for key, value in tree.items():
                    if key == "path" and isinstance(value, str):
                        self._hash(value, hashes)
                    else:
                        walk(value)
            elif isinstance(tree, list):
                for value in tree:
                    walk(value)

        walk({k: v for k, v in self.read.items() if k != "origin"})
        return hashes

    def _hash(self, name: str, hashes: dict[str, str]) -> None:
        found = self.folders.find(name)
        files = sorted(found.rglob("*.npz")) if found.is_dir() else [found]
        for file in files:
            key = name if file == found else f"{name}/{file.relative_to(found).as_posix()}"
            hashes[key] = hashlib.sha256(file.read_bytes()).hexdigest()
