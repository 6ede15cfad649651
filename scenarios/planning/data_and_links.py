"""The data, the graph and the link policies of a plan."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from actors.links import Policy
from clocks.durations import Constant, Duration
from scenarios.language.table_rules import OwnCode
from scenarios.planning.context import PlanningContext
from scenarios.planning.data_sources import SourceInputs
from scenarios.planning.data_sources.given import GivenTable, read_handed_over
from scenarios.planning.datasets import Demands, Shards, held_out, tidy
from scenarios.planning.files import BadData
from scenarios.planning.given_data import shards_of
from scenarios.planning.graphs import Edge, EdgeArrays, from_graph, listed
from scenarios.planning.mechanism import rests_on_norms
from scenarios.planning.pair_latency import PairLatencyTable
from scenarios.planning.regions import cities_of, in_words, seats_of
from scenarios.planning.scenario_tables import LinkTable
from scenarios.planning.seeds import generator
from scenarios.planning.topologies import TopologyInputs


class DataAndLinks:
    """Builds the data, the topology and the link policies of a plan; what does not fit is in the report."""

    def __init__(self, context: PlanningContext) -> None:
        self.context = context
        self.read = context.read
        self.report = context.report

    def shards(self, *, labelled: bool) -> Shards:
        """Return the points of every agent; with `labelled`, two labels become ±1."""
        data, given = self.read.data, self.context.options.data
        scale = "refuse" if isinstance(data, OwnCode) else data.scale
        demands = Demands(labelled, scale, rests_on_norms(self.read), data.precision)
        seed = self.context.seeds["data"]
        inputs = SourceInputs(self.context.size, seed, self.context.folders)

        def source() -> Shards:
            if isinstance(data, OwnCode):
                return self._own_source(data, inputs)
            if given is None:
                return data.build(inputs)
            if not isinstance(data, GivenTable):
                raise BadData(f'points are handed over: source must be "given", got "{data.kind}"')
            return shards_of(given, data, inputs)

        path = ("data", "source") if isinstance(data, OwnCode) else ("data",)
        shards = self.context.attempt(
            path, lambda: tidy(held_out(source(), data.validation, seed), demands)
        )
        self.report.stop_if_any()
        assert isinstance(shards, Shards), "a failure was reported"  # noqa: S101
        return shards

    def _own_source(self, data: OwnCode, inputs: SourceInputs) -> Shards:
        """Ask code of the scenario's own for points: what `run(data=…)` takes."""
        thing = self.context.code(data.kind)(**data.parameters)
        points = thing(self.context.size, generator(self.context.seeds["data"], "data/own"))
        try:
            return shards_of(points, read_handed_over(), inputs)
        except BadData as error:
            raise BadData(f"{data.kind}: {error}") from None

    def edges(self, shards: Shards) -> EdgeArrays:
        """Return the weighted edges."""
        topology, graph = self.read.network.topology, self.context.options.graph
        rng = generator(self.context.seeds["network"], "network/topology")
        path = ("network", "topology")

        def make() -> Sequence[Edge]:
            if graph is not None:
                return from_graph(graph, self.context.size)
            if isinstance(topology, OwnCode):
                thing = self.context.code(topology.kind)(**topology.parameters)
                return listed(thing(self.context.size, rng), self.context.size)
            inputs = TopologyInputs(self.context.size, rng, shards.targets, self.context.folders)
            return topology.join(inputs)

        edges = EdgeArrays.of(self.context.attempt(path, make) or ())
        self.context.limit("edges", len(edges), path, f"{len(edges):,} edges")
        joined = np.zeros(self.context.size, dtype=np.bool_)
        joined[edges.heads] = joined[edges.tails] = True
        alone = self.context.size - int(joined.sum())
        if alone and not self.report.problems:
            self.context.warnings.append(
                f"{alone} of {self.context.size} agents have no neighbour: they release nothing"
            )
        return edges

    def policies(self, edges: EdgeArrays) -> tuple[Policy, dict[tuple[int, int], Policy]]:
        """Return the policy of most links, and those of the others."""
        network = self.read.network
        exceptions: dict[tuple[int, int], Policy] = {}
        base = Policy(Constant(0.0), network.loss, network.rate)
        table = network.latency
        if isinstance(table, PairLatencyTable):
            exceptions = self._by_pairs(table, base, edges)
        else:
            law = self.context.attempt(
                ("network", "latency"), lambda: table.law(self.context.folders)
            )
            base = replace(base, latency=law or base.latency)
        joined = {(i, j) for i, j, _ in edges} if self.read.link else set[tuple[int, int]]()
        for k, link in enumerate(self.read.link):
            pairs = [(a, b) for x, y in link.between or [] for a, b in ((x, y), (y, x))]
            if link.from_ is not None and link.to is not None:
                pairs.append((link.from_, link.to))
            for a, b in pairs:
                if (min(a, b), max(a, b)) not in joined:
                    self.report.value(("link", k), f"no edge joins {a} and {b}")
                    continue
                old = exceptions.get((a, b), base)
                exceptions[a, b] = Policy(
                    self._link_latency(link, old.latency),
                    old.loss if link.loss is None else link.loss,
                    old.rate if link.rate is None else link.rate,
                )
        return base, exceptions

    def _by_pairs(
        self, table: PairLatencyTable, base: Policy, edges: EdgeArrays
    ) -> dict[tuple[int, int], Policy]:
        """Return the policy of each ordered pair; pairs of one distribution share one policy, so that they are drawn together."""
        path, seats = ("network", "latency"), seats_of(self.context)
        law = self.context.attempt(path, lambda: table.laws(seats))
        if law is None:
            return {}
        joined = [(i, j) for i, j, _ in edges]
        if seats.server is not None:
            joined = [(i, seats.server) for i in range(seats.agents)]
        known, policies = dict[int, Policy](), dict[tuple[int, int], Policy]()
        for pair in [*joined, *((j, i) for i, j in joined)]:
            own = law(*pair)
            if id(own) not in known:
                known[id(own)] = replace(base, latency=own)
            policies[pair] = known[id(own)]
        cities = cities_of(self.context)
        if cities is not None:
            self.context.notes.append(in_words(cities))
        return policies

    def _link_latency(self, link: LinkTable, otherwise: Duration) -> Duration:
        table = link.latency
        if table is None:
            return otherwise
        if isinstance(table, PairLatencyTable):
            self.report.value(
                link.path_to("latency"),
                f"{table.kind} belongs to [network]: one link has one distribution",
            )
            return otherwise
        law: Duration | None = self.context.attempt(
            link.path_to("latency"), lambda: table.law(self.context.folders)
        )
        return law or otherwise
