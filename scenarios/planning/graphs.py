"""Named graphs. The plan keeps plain edges, so only this file needs networkx.

Loading networkx takes 0.1 s, so it is loaded where a graph is made, and not for servers and listed edges.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mechanisms.vectors import Matrix

Edge = tuple[int, int, float]
OF_DATA = frozenset({"similarity", "knn"})
"""Graphs that are made of what agents are to learn."""
NEGLIGIBLE = 1e-2
"""Similarities below this are left out, as Bellet et al. 2018 leave out negligible weights."""


class NoGraph(ValueError):
    """The numbers do not add up to a graph."""


def build(
    topology: dict[str, Any], n: int, rng: np.random.Generator, targets: Matrix | None
) -> tuple[Edge, ...]:
    """Return the weighted edges (i < j) of a topology over n agents."""
    kind = topology["kind"]
    if kind in OF_DATA:
        if targets is None:
            raise NoGraph(f"{kind} needs a data source with target models, such as separators")
        similarity = _similarity(targets, topology.get("gamma", 0.1))
        if kind == "similarity":
            return _dense(similarity, similarity >= NEGLIGIBLE)
        return _nearest(similarity, topology["k"])
    if kind == "edges":
        return _listed(topology["edges"], n)
    graph = _graph(kind, topology, n, rng)
    return tuple(sorted((min(i, j), max(i, j), 1.0) for i, j in graph.edges if i != j))


def from_graph(graph: Any, n: int) -> tuple[Edge, ...]:
    """Return the edges of a networkx graph whose nodes are 0 … n−1."""
    try:
        edges = [
            [int(i), int(j), float(d.get("weight", 1.0))] for i, j, d in graph.edges(data=True)
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise NoGraph(
            f"the graph must have nodes 0 … {n - 1} and numbers as weights: {error}"
        ) from None
    return _listed(edges, n)


def _grid(nx: Any, topology: dict[str, Any], n: int) -> Any:
    rows, columns = topology["rows"], topology["columns"]
    if rows * columns != n:
        raise NoGraph(f"a {rows} × {columns} grid has {rows * columns} agents, not {n}")
    return nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))


_GRAPHS: dict[str, Callable[[Any, dict[str, Any], int, np.random.Generator], Any]] = {
    "complete": lambda nx, _, n, __: nx.complete_graph(n),
    "ring": lambda nx, _, n, __: nx.cycle_graph(n),
    "path": lambda nx, _, n, __: nx.path_graph(n),
    "star": lambda nx, _, n, __: nx.star_graph(n - 1),
    "grid": lambda nx, t, n, _: _grid(nx, t, n),
    "regular": lambda nx, t, n, rng: nx.random_regular_graph(t["degree"], n, seed=rng),
    "erdos-renyi": lambda nx, t, n, rng: nx.fast_gnp_random_graph(n, t["p"], seed=rng),
    "small-world": lambda nx, t, n, rng: nx.watts_strogatz_graph(
        n, t["degree"], t["rewire"], seed=rng
    ),
    "scale-free": lambda nx, t, n, rng: nx.barabasi_albert_graph(n, t["attach"], seed=rng),
}


def _graph(kind: str, topology: dict[str, Any], n: int, rng: np.random.Generator) -> Any:
    import networkx as nx

    try:
        return _GRAPHS[kind](nx, topology, n, rng)
    except nx.NetworkXException as error:
        raise NoGraph(f"{kind} over {n} agents: {error}") from None


def _similarity(targets: Matrix, gamma: float) -> Matrix:
    """W_ij = exp((cos φ_ij − 1)/γ), φ the angle between target models (Bellet et al. 2018, 5.1)."""
    unit = targets / np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-300)
    similarity: Matrix = np.exp((np.clip(unit @ unit.T, -1.0, 1.0) - 1.0) / gamma)
    np.fill_diagonal(similarity, 0.0)
    return similarity


def _dense(weights: Matrix, kept: Any) -> tuple[Edge, ...]:
    heads, tails = np.nonzero(np.triu(kept, 1))
    return tuple((int(i), int(j), float(weights[i, j])) for i, j in zip(heads, tails, strict=True))


def _nearest(similarity: Matrix, k: int) -> tuple[Edge, ...]:
    n = len(similarity)
    if not k < n:
        raise NoGraph(f"knn needs k below the number of agents {n}, got {k}")
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    pairs = {(min(i, int(j)), max(i, int(j))) for i in range(n) for j in order[i]}
    return tuple((i, j, 1.0) for i, j in sorted(pairs))


def _listed(edges: Iterable[Any], n: int) -> tuple[Edge, ...]:
    found: dict[tuple[int, int], float] = {}
    for edge in edges:
        if not 2 <= len(edge) <= 3 or not all(abs(v) < 2**53 for v in edge):
            raise NoGraph(f"an edge is [a, b] or [a, b, weight], got {[*edge]!r}")
        i, j = int(edge[0]), int(edge[1])
        weight = float(edge[2]) if len(edge) > 2 else 1.0
        pair = (min(i, j), max(i, j))
        named = f"edge [{edge[0]:g}, {edge[1]:g}]"
        if i != edge[0] or j != edge[1] or i == j or not pair[0] >= 0 or pair[1] >= n:
            raise NoGraph(f"{named} must join two different agents of 0 … {n - 1}")
        if not 0 < weight < float("inf"):
            raise NoGraph(f"{named}: a weight must be > 0")
        if found.setdefault(pair, weight) != weight:
            raise NoGraph(f"{named} is given twice with different weights")
    return tuple((i, j, w) for (i, j), w in sorted(found.items()))
