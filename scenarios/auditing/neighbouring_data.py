"""Two data sets that differ in one record, as far apart as a mechanism can be made to show (theory.md, section 6)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mechanisms.abilities import scheduled
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Vector
from scenarios.language.problems import ScenarioError
from scenarios.planning.check_scenario import checked
from scenarios.planning.context import Options
from scenarios.planning.mechanism import rests_on_norms
from scenarios.planning.mechanism_tables import DescentTable
from scenarios.planning.packed_points import Points
from scenarios.planning.plan import Plan
from scenarios.planning.planner import resolve
from scenarios.planning.scenario import load

_TILT = 1.4
_FAR = 20.0
_NEARLY = 0.99


@dataclass(frozen=True, slots=True)
class Recipe:
    """A scenario in full and other data for it: what another process needs to make the same plan."""

    tree: dict[str, Any]
    folder: Path
    more: Options
    test: tuple[Points, ...]

    def make(self, train: Sequence[Points]) -> Plan:
        """Resolve the scenario on these data."""
        options = replace(self.more, data={"nodes": train, "test": self.test})
        return resolve(checked(replace(load(self.tree), folder=self.folder)), options)


def recipe(plan: Plan, more: Options) -> Recipe:
    """Write a plan down without its data: the graph, the sizes and the seed stay."""
    tree: dict[str, Any] = {k: v for k, v in plan.resolved.items() if k != "origin"}
    # points are handed over as they are: dealt, held out and scaled, with a bias
    tree["data"] = {"source": "given", "scale": tree["data"].get("scale", "refuse")}
    graph = plan.graph
    edges = [
        [int(i), int(j), float(w)]
        for i, j, w in zip(graph.heads, graph.tails, graph.weights, strict=True)
    ]
    if plan.server is None:
        tree["network"] = tree["network"] | {"topology": {"kind": "edges", "edges": edges}}
    tree["expect"], tree["targets"] = [], {}
    return Recipe(tree, plan.folder, replace(more, seed=plan.seed), tuple(plan.shards.test))


@dataclass(frozen=True, slots=True)
class Setting:
    """Data D and D′, the agent whose record differs, the start of all agents (None: their own), and the data in words."""

    recipe: Recipe
    one: tuple[Points, ...]
    other: tuple[Points, ...]
    start: Vector | None
    node: int
    words: str

    def plans(self) -> "Neighbours":
        """Make both plans."""
        one, other = (_begun_at(self.recipe.make(d), self.start) for d in (self.one, self.other))
        return Neighbours(one, other, self.node)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A plan on D, the same on D′, and the agent whose record differs."""

    one: Plan
    other: Plan
    node: int

    @property
    def pair(self) -> tuple[Mechanism, Mechanism]:
        """The agent's mechanism on D, and on D′."""
        return self.one.nodes[self.node].mechanism, self.other.nodes[self.node].mechanism


def watched(plan: Plan, node: int | None) -> int:
    """Return the agent whose record differs: `node`, or the one with the fewest points among those that can release.

    Raises `ScenarioError` where there is no such agent.
    """
    if node is not None:
        if not 0 <= node < plan.size:
            raise ScenarioError.of("--node", f"no agent {node}: ids run from 0 to {plan.size - 1}")
        return node
    able = [node.id for node in plan.nodes if node.neighbours] or [0]
    return min(able, key=lambda i: (plan.shards.sizes[i], i))


def neighbours(plan: Plan, *, how: str, node: int | None = None, more: Options) -> Setting:
    """Return D and D′: the worst that is known for the loss, or the scenario's own data with a canary in it."""
    target, made = watched(plan, node), recipe(plan, more)
    pair, start, words = _records(plan, _clip(made))
    data = []
    for record in pair:
        if how == "worst":
            # records of gradient zero, as many as there were: sizes are public
            train = [(np.zeros_like(x), np.ones_like(y)) for x, y in plan.shards.train]
        else:
            train = [(x.copy(), y.copy()) for x, y in plan.shards.train]
        x, y = train[target]
        x[0], y[0] = record
        data.append(tuple(train))
    if how != "worst":
        start = None
        words = f"its own data and starts, its first record replaced by {words.split(', start')[0]}"
    return Setting(made, data[0], data[1], start, target, words)


class _Clip(NamedTuple):
    """Where the gradient of one record is clipped, and whether its features may be of any length."""

    bound: float
    any_length: bool


def _clip(made: Recipe) -> _Clip | None:
    """Return where a scenario clips gradients; None where it does not."""
    read = load(made.tree).read
    table = read.mechanism
    if not isinstance(table, DescentTable) or table.clip is None:
        return None
    refuses = made.tree["data"]["scale"] == "refuse"
    return _Clip(float(table.clip), refuses and not rests_on_norms(read))


def _records(
    plan: Plan, clip: _Clip | None
) -> tuple[tuple[tuple[Vector, float], ...], Vector | None, str]:
    """Return two records whose gradients are far apart, and the start at which they are."""
    d, loss = plan.dimension, plan.loss
    law = _norm(plan)
    across = np.zeros(d)
    across[1 if d > 1 else 0] = 1.0
    if law == "l1" and d > 1:  # as many coordinates as there are: the L1 norm is √ of it (E7)
        across[:] = 1.0
        across[0] = 0.0
        across /= np.sqrt(d - 1)
    at_zero = abs(float(loss.slope(np.zeros(1))[0]))
    if not loss.margin:
        steep = min(loss.lipschitz, math.inf if clip is None else clip.bound)
        size = 10.0 * max(1.0, steep) if loss.convex else 1.0
        return ((across, size), (across, -size)), None, "opposite labels of one record, saturated"
    if (
        clip is not None
    ):  # twice as long as clipping needs: later releases begin elsewhere than at 0
        length = max(1.0, 2.0 * clip.bound / at_zero) if clip.any_length else 1.0
        if at_zero * length >= clip.bound:
            long = np.full(d, length / np.sqrt(d)) if law == "l1" else length * across
            words = "opposite labels of one record, its gradient clipped, start at 0"
            return ((long, 1.0), (long, -1.0)), np.zeros(d), words
    if at_zero >= _NEARLY * loss.lipschitz or d == 1:
        if law == "l1":
            across = np.full(d, 1.0 / np.sqrt(d))
        return ((across, 1.0), (across, -1.0)), None, "opposite labels of one record, start at 0"
    along = np.zeros(d)
    along[0] = 1.0
    one, other = (-np.cos(_TILT) * along + s * np.sin(_TILT) * across for s in (1.0, -1.0))
    start = _FAR * along
    return ((one, 1.0), (other, 1.0)), start, f"two nearly opposite records, start at {_FAR:g} e₁"


def _norm(plan: Plan) -> str:
    """Return the norm in which the noise of a plan is scaled."""
    for node in plan.nodes:
        spends = scheduled(node.mechanism, max(1, len(node.neighbours)))
        if spends:
            return "l1" if any(spend.law == "laplace" for spend in spends) else "l2"
    return "l2"


def _begun_at(plan: Plan, start: Vector | None) -> Plan:
    """Return the plan with all agents starting at a public point of the adversary's choice; as it is where that is None."""
    if start is None:
        return plan
    nodes = tuple(replace(node, start=start) for node in plan.nodes)
    server = None if plan.server is None else replace(plan.server, start=start)
    return replace(plan, nodes=nodes, server=server)
