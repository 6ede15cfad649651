"""Edges of graphs: from networkx, from lists, from similarities. The plan keeps plain edges.

Loading networkx takes 0.1 s, so it is loaded where a graph is made, and not for servers and listed edges.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mechanisms.vectors import Matrix

Edge = tuple[int, int, float]
"""Two agents, the smaller id first, and the weight of their edge."""


class NoGraph(ValueError):
    """The numbers do not add up to a graph."""


def from_networkx(kind: str, n: int, make: Callable[[Any], Any]) -> tuple[Edge, ...]:
    """Return the edges of a graph over n agents that `make` builds with networkx, which it is given; all weights are 1.

    Raises `NoGraph`, naming the kind, where networkx refuses.
    """
    import networkx as nx

    try:
        graph = make(nx)
    except nx.NetworkXException as error:
        raise NoGraph(f"{kind} over {n} agents: {error}") from None
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
    return listed(edges, n)


def similarity(kind: str, targets: Matrix | None, gamma: float) -> Matrix:
    """W_ij = exp((cos φ_ij − 1)/γ), φ the angle between target models (Bellet et al. 2018, 5.1)."""
    if targets is None:
        raise NoGraph(f"{kind} needs a data source with target models, such as separators")
    unit = targets / np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-300)
    weights: Matrix = np.exp((np.clip(unit @ unit.T, -1.0, 1.0) - 1.0) / gamma)
    np.fill_diagonal(weights, 0.0)
    return weights


def dense(weights: Matrix, kept: Any) -> tuple[Edge, ...]:
    """Return an edge for each pair that a matrix of flags keeps, with its weight."""
    heads, tails = np.nonzero(np.triu(kept, 1))
    return tuple((int(i), int(j), float(weights[i, j])) for i, j in zip(heads, tails, strict=True))


def nearest_agents(likeness: Matrix, k: int) -> tuple[Edge, ...]:
    """Join each agent with the k agents most like it; all weights are 1. Raises `NoGraph` where k is too large."""
    n = len(likeness)
    if not k < n:
        raise NoGraph(f"knn needs k below the number of agents {n}, got {k}")
    order = np.argsort(-likeness, axis=1, kind="stable")[:, :k]
    pairs = {(min(i, int(j)), max(i, int(j))) for i in range(n) for j in order[i]}
    return tuple((i, j, 1.0) for i, j in sorted(pairs))


def listed(edges: Iterable[Any], n: int) -> tuple[Edge, ...]:
    """Return the edges of a list of [a, b] or [a, b, weight], in order. Raises `NoGraph` for what is no edge."""
    weights: dict[tuple[int, int], float] = {}
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
        if weights.setdefault(pair, weight) != weight:
            raise NoGraph(f"{named} is given twice with different weights")
    return tuple((i, j, w) for (i, j), w in sorted(weights.items()))
