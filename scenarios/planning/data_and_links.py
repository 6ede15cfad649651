"""What agents stand on: points, graph and links."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from actors.link import Policy
from clocks.durations import Constant, Duration
from scenarios.planning import graphs, registry, shared_rows
from scenarios.planning.context import MOST, Settling, Table
from scenarios.planning.datasets import BadData, Demands, Points, Shards, load, tidy
from scenarios.planning.mechanism_tables import rests_on_norms
from scenarios.planning.seeds import generator


class Ground:
    """Draws and reads them, and reports what does not fit."""

    def __init__(self, at: Settling) -> None:
        self.at = at

    def shards(self, *, labelled: bool) -> Shards:
        """Return everybody's points."""
        data, given = self.at.read["data"], self.at.options.data
        demands = Demands(labelled, data.get("scale", "refuse"), rests_on_norms(self.at.read))
        if given is not None:
            made = self.at.attempt(("data",), lambda: tidy(self._given(given), demands))
        elif "parameters" in data:
            made = self.at.attempt(
                ("data", "source"), lambda: tidy(self._own_source(data), demands)
            )
        else:
            seed, folders = self.at.seeds["data"], self.at.folders
            made = self.at.attempt(
                ("data",), lambda: load(data, self.at.size, seed, folders, demands)
            )
        self.at.report.stop_if_any()
        assert isinstance(made, Shards), "a failure was reported"  # noqa: S101
        return made

    def _given(self, data: Mapping[str, Any]) -> Shards:
        try:
            train = self._pairs(data["nodes"])
            tests = self._pairs(data.get("test", ()))
            shared = shared_rows.by_memory([x for x, *_ in data["nodes"]])
            declared = list(data.get("rows", ()))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = f"data must be {{'nodes': [(x, y), …], 'test': [(x, y), …], 'rows': [[…], …]}}, test and rows or not: {type(error).__name__}: {error}"
            raise BadData(said) from None
        if len(train) != self.at.size:
            raise BadData(f"data must be points for {self.at.size} agents, got {len(train)}")
        if tests and len(tests) != self.at.size:
            raise BadData(f"data has test points for {len(tests)} of {self.at.size} agents")
        if len({x.shape[1] for x, _ in (*train, *tests) if x.ndim == 2}) > 1:
            raise BadData("all agents need one dimension")
        if declared and len(declared) != self.at.size:
            raise BadData(f"data has rows for {len(declared)} of {self.at.size} agents")
        for i, (rows, (x, _)) in enumerate(zip(declared, train, strict=False)):
            try:
                declared[i] = shared_rows.numbered(rows, len(x))
            except ValueError as error:
                raise BadData(f"node {i}: {error}") from None
        shared = max(shared, shared_rows.by_number(declared))
        return Shards(train, tests, None, None, (), shared)

    @staticmethod
    def _pairs(points: Any) -> tuple[Points, ...]:
        return tuple((np.asarray(x, float), np.asarray(y, float)) for x, y in points)

    def _own_source(self, data: Table) -> Shards:
        """Ask code of the scenario's own for points: a pair (x, y) for each agent, or what `run(data=…)` takes."""
        thing = self.at.code(data["source"])(**data["parameters"])
        points = thing(self.at.size, generator(self.at.seeds["data"], "data/own"))
        if not isinstance(points, Mapping):
            points = {"nodes": points}
        try:
            return self._given(points)
        except BadData as error:
            raise BadData(f"{data['source']}: {error}") from None

    def edges(self, shards: Shards) -> tuple[graphs.Edge, ...]:
        """Return the weighted edges."""
        topology, graph = self.at.read["network"]["topology"], self.at.options.graph
        rng = generator(self.at.seeds["network"], "network/topology")
        path = ("network", "topology")

        def make() -> tuple[graphs.Edge, ...]:
            if graph is not None:
                return graphs.from_graph(graph, self.at.size)
            if "parameters" in topology:
                thing = self.at.code(topology["kind"])(**topology["parameters"])
                return graphs.build(
                    {"kind": "edges", "edges": list(thing(self.at.size, rng))},
                    self.at.size,
                    rng,
                    None,
                )
            if topology["kind"] == "file":
                rows = registry.numbers(self.at.folders.find(topology["path"])).tolist()
                return graphs.build({"kind": "edges", "edges": rows}, self.at.size, rng, None)
            return graphs.build(topology, self.at.size, rng, shards.targets)

        edges: tuple[graphs.Edge, ...] = self.at.attempt(path, make) or ()
        if len(edges) > MOST["edges"] and not self.at.options.allow_large:
            self.at.report.value(
                path, f"{len(edges):,} edges; above {MOST['edges']:,} needs --allow-large"
            )
        alone = self.at.size - len({end for i, j, _ in edges for end in (i, j)})
        if alone and not self.at.report.problems:
            self.at.warnings.append(
                f"{alone} of {self.at.size} agents have no neighbour: they release nothing"
            )
        return edges

    def policies(
        self, edges: tuple[graphs.Edge, ...]
    ) -> tuple[Policy, dict[tuple[int, int], Policy]]:
        """Return the policy of most links, and those of the others."""
        network = self.at.read["network"]
        exceptions: dict[tuple[int, int], Policy] = {}
        rate = network.get("rate")
        base = Policy(Constant(0.0), network["loss"], rate)
        if network["latency"]["kind"] == "matrix":
            matrix = self.at.attempt(
                ("network", "latency"),
                lambda: registry.latency_matrix(network["latency"], self.at.size, self.at.folders),
            )
            if matrix is not None:
                pairs = [(i, j) for i, j, _ in edges] + [(j, i) for i, j, _ in edges]
                exceptions = {
                    p: Policy(Constant(float(matrix[p])), network["loss"], rate) for p in pairs
                }
        else:
            law = self.at.attempt(
                ("network", "latency"),
                lambda: registry.duration(network["latency"], self.at.folders),
            )
            base = Policy(law or Constant(0.0), network["loss"], rate)
        joined = {(i, j) for i, j, _ in edges}
        for k, link in enumerate(self.at.read["link"]):
            pairs = [(a, b) for x, y in link.get("between", []) for a, b in ((x, y), (y, x))]
            if "from" in link:
                pairs.append((link["from"], link["to"]))
            for a, b in pairs:
                if (min(a, b), max(a, b)) not in joined:
                    self.at.report.value(("link", k), f"no edge joins {a} and {b}")
                    continue
                old = exceptions.get((a, b), base)
                exceptions[a, b] = Policy(
                    self._link_latency(k, link, old.latency),
                    link.get("loss", old.loss),
                    link.get("rate", old.rate),
                )
        return base, exceptions

    def _link_latency(self, k: int, link: Table, otherwise: Duration) -> Duration:
        if "latency" not in link:
            return otherwise
        if link["latency"]["kind"] == "matrix":
            self.at.report.value(
                ("link", k, "latency"),
                "a matrix belongs to [network]: one link has one distribution",
            )
            return otherwise
        made: Duration | None = self.at.attempt(
            ("link", k, "latency"), lambda: registry.duration(link["latency"], self.at.folders)
        )
        return made or otherwise
