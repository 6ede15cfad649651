"""Edges of graphs: from networkx, from lists, from similarities. The plan keeps plain edges.

Loading networkx takes 0.1 s, so it is loaded where a graph is drawn, and not for servers, listed edges and graphs of one form.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector

Edge = tuple[int, int, float]
"""Two agents, the smaller id first, and the weight of their edge."""


class NoGraph(ValueError):
    """The numbers do not add up to a graph."""


class EdgeArrays(Sequence[Edge]):
    """Edges as three arrays: an edge of a large graph has no object of its own. Read as a sequence of `Edge`."""

    __slots__ = ("heads", "tails", "weights")

    def __init__(
        self,
        heads: NDArray[np.int64],
        tails: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        """Make edges of their smaller ids, their larger ids, and their weights."""
        self.heads, self.tails, self.weights = heads, tails, weights

    @classmethod
    def of(cls, edges: Sequence[Edge]) -> "EdgeArrays":
        """Return edges as arrays."""
        if isinstance(edges, EdgeArrays):
            return edges
        heads, tails = (np.array([edge[end] for edge in edges], dtype=np.int64) for end in (0, 1))
        return cls(heads, tails, np.array([weight for _, _, weight in edges], dtype=np.float64))

    def __len__(self) -> int:
        return len(self.heads)

    @overload
    def __getitem__(self, at: int) -> Edge: ...

    @overload
    def __getitem__(self, at: slice) -> "EdgeArrays": ...

    def __getitem__(self, at: "int | slice") -> "Edge | EdgeArrays":
        if isinstance(at, slice):
            return EdgeArrays(self.heads[at], self.tails[at], self.weights[at])
        return int(self.heads[at]), int(self.tails[at]), float(self.weights[at])

    def __iter__(self) -> Iterator[Edge]:
        columns = (self.heads.tolist(), self.tails.tolist(), self.weights.tolist())
        return zip(*columns, strict=True)


class Adjacency:
    """The neighbours of every agent, in the order of their ids, with the weights of their edges."""

    __slots__ = ("_ends", "_ids", "_names", "_ones", "_weights")

    def __init__(self, edges: EdgeArrays, n: int) -> None:
        """Take edges between n agents, each pair once."""
        sources = np.concatenate([edges.heads, edges.tails])
        ids = np.concatenate([edges.tails, edges.heads])
        order = np.argsort(sources * n + ids)
        self._ids = ids[order]
        self._weights = np.concatenate([edges.weights, edges.weights])[order]
        self._ends: list[int] = np.searchsorted(sources[order], np.arange(n + 1)).tolist()
        self._names = list(range(n))
        """One number for each agent: the neighbours of all agents are these objects."""
        self._ones: dict[int, Vector] | None = {} if (edges.weights == 1.0).all() else None
        """Where all weights are 1, those of an agent of each degree."""

    def degree(self, i: int) -> int:
        """Return how many neighbours an agent has."""
        return self._ends[i + 1] - self._ends[i]

    def ids_of(self, i: int) -> NDArray[np.int64]:
        """Return the neighbours of an agent."""
        return self._ids[self._ends[i] : self._ends[i + 1]]

    def neighbours(self, i: int) -> tuple[int, ...]:
        """Return them as numbers of Python."""
        return tuple(map(self._names.__getitem__, self.ids_of(i).tolist()))

    def weights_of(self, i: int) -> Vector:
        """Return the weights of an agent's edges, which are not to be changed: agents may share them."""
        if self._ones is not None:
            degree = self.degree(i)
            if degree not in self._ones:
                self._ones[degree] = np.ones(degree)
            return self._ones[degree]
        return self._weights[self._ends[i] : self._ends[i + 1]]


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
