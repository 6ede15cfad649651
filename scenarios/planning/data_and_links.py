"""What agents stand on: points, graph and links."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from actors.links import Policy
from clocks.durations import Constant, Duration
from mechanisms.vectors import Matrix
from scenarios.language.table_rules import OwnCode
from scenarios.planning import shared_rows
from scenarios.planning.context import MOST, Settling
from scenarios.planning.data_sources import SOURCES, SourceInputs
from scenarios.planning.datasets import Demands, Points, Shards, tidy
from scenarios.planning.files import BadData, numbers
from scenarios.planning.graphs import Edge, from_graph, listed
from scenarios.planning.mechanism import rests_on_norms
from scenarios.planning.scenario_tables import LatencyMatrixTable, LinkTable
from scenarios.planning.seeds import generator
from scenarios.planning.topologies import TopologyInputs


class Ground:
    """Draws and reads them, and reports what does not fit."""

    def __init__(self, at: Settling) -> None:
        self.at = at

    def shards(self, *, labelled: bool) -> Shards:
        """Return everybody's points."""
        data, given = self.at.read.data, self.at.options.data
        scale = "refuse" if isinstance(data, OwnCode) else data.scale
        demands = Demands(labelled, scale, rests_on_norms(self.at.read))
        if given is not None:
            made = self.at.attempt(("data",), lambda: tidy(self._given(given), demands))
        elif isinstance(data, OwnCode):
            made = self.at.attempt(
                ("data", "source"), lambda: tidy(self._own_source(data), demands)
            )
        else:
            inputs = SourceInputs(self.at.size, self.at.seeds["data"], self.at.folders)
            made = self.at.attempt(
                ("data",), lambda: tidy(SOURCES[data.kind].build(data, inputs), demands)
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

    def _own_source(self, data: OwnCode) -> Shards:
        """Ask code of the scenario's own for points: a pair (x, y) for each agent, or what `run(data=…)` takes."""
        thing = self.at.code(data.kind)(**data.parameters)
        points = thing(self.at.size, generator(self.at.seeds["data"], "data/own"))
        if not isinstance(points, Mapping):
            points = {"nodes": points}
        try:
            return self._given(points)
        except BadData as error:
            raise BadData(f"{data.kind}: {error}") from None

    def edges(self, shards: Shards) -> tuple[Edge, ...]:
        """Return the weighted edges."""
        topology, graph = self.at.read.network.topology, self.at.options.graph
        rng = generator(self.at.seeds["network"], "network/topology")
        path = ("network", "topology")

        def make() -> tuple[Edge, ...]:
            if graph is not None:
                return from_graph(graph, self.at.size)
            if isinstance(topology, OwnCode):
                thing = self.at.code(topology.kind)(**topology.parameters)
                return listed(thing(self.at.size, rng), self.at.size)
            inputs = TopologyInputs(self.at.size, rng, shards.targets, self.at.folders)
            return topology.join(inputs)

        edges: tuple[Edge, ...] = self.at.attempt(path, make) or ()
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

    def policies(self, edges: tuple[Edge, ...]) -> tuple[Policy, dict[tuple[int, int], Policy]]:
        """Return the policy of most links, and those of the others."""
        network = self.at.read.network
        exceptions: dict[tuple[int, int], Policy] = {}
        base = Policy(Constant(0.0), network.loss, network.rate)
        table = network.latency
        if isinstance(table, LatencyMatrixTable):
            matrix = self.at.attempt(("network", "latency"), lambda: self._latency_matrix(table))
            if matrix is not None:
                pairs = [(i, j) for i, j, _ in edges] + [(j, i) for i, j, _ in edges]
                exceptions = {
                    pair: replace(base, latency=Constant(float(matrix[pair]))) for pair in pairs
                }
        else:
            law = self.at.attempt(("network", "latency"), lambda: table.law(self.at.folders))
            base = replace(base, latency=law or base.latency)
        joined = {(i, j) for i, j, _ in edges}
        for k, link in enumerate(self.at.read.link):
            pairs = [(a, b) for x, y in link.between or [] for a, b in ((x, y), (y, x))]
            if link.from_ is not None and link.to is not None:
                pairs.append((link.from_, link.to))
            for a, b in pairs:
                if (min(a, b), max(a, b)) not in joined:
                    self.at.report.value(("link", k), f"no edge joins {a} and {b}")
                    continue
                old = exceptions.get((a, b), base)
                exceptions[a, b] = Policy(
                    self._link_latency(link, old.latency),
                    old.loss if link.loss is None else link.loss,
                    old.rate if link.rate is None else link.rate,
                )
        return base, exceptions

    def _latency_matrix(self, table: LatencyMatrixTable) -> Matrix:
        """Read one delay in seconds for each ordered pair of agents."""
        n, path = self.at.size, self.at.folders.find(table.path)
        matrix = numbers(path)
        if matrix.shape != (n, n) or not (matrix >= 0).all() or not (matrix < 9e9).all():
            raise BadData(
                f"{path.name} must hold {n} × {n} delays in seconds, none negative, got {matrix.shape}"
            )
        return matrix

    def _link_latency(self, link: LinkTable, otherwise: Duration) -> Duration:
        table = link.latency
        if table is None:
            return otherwise
        if isinstance(table, LatencyMatrixTable):
            self.at.report.value(
                link.path_to("latency"),
                "a matrix belongs to [network]: one link has one distribution",
            )
            return otherwise
        law: Duration | None = self.at.attempt(
            link.path_to("latency"), lambda: table.law(self.at.folders)
        )
        return law or otherwise
