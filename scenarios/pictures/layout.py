"""Places agents of a network on a plane: the same network always has the same places, without a random number."""

from collections.abc import Sequence

import numpy as np

from mechanisms.vectors import Matrix, Vector

_SPRINGS = 400
"""Up to so many agents are placed by springs, whose work grows with the square of the agents."""
_STEPS = 150
_GOLDEN = np.pi * (3 - np.sqrt(5))


def places(size: int, edges: Sequence[tuple[int, int]]) -> Matrix:
    """Return a place within the unit square for each agent, size × 2.

    A cycle through all agents is a circle; other small networks are placed by springs (Fruchterman and Reingold 1991)
    that start from a circle; large ones in a spiral, so that neighbours in breadth are near each other.
    """
    order = _breadth_first(size, edges)
    if size > _SPRINGS:
        return _spiral(order)
    start = _circle(order)
    if _is_ring(size, edges) or size < 3:
        return start
    return _springs(start, edges)


def _neighbours(size: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    near: list[list[int]] = [[] for _ in range(size)]
    for i, j in edges:
        near[i].append(j)
        near[j].append(i)
    return near


def _breadth_first(size: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the agents in the order in which a search in breadth finds them."""
    near = _neighbours(size, edges)
    seen, order = [False] * size, list[int]()
    for root in range(size):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for i in queue:
            for j in sorted(near[i]):
                if not seen[j]:
                    seen[j] = True
                    queue.append(j)
        order += queue
    return order


def _is_ring(size: int, edges: Sequence[tuple[int, int]]) -> bool:
    return len(edges) == size and all(abs(i - j) in {1, size - 1} for i, j in edges)


def _circle(order: Sequence[int]) -> Matrix:
    """Place agents on a circle by their ids."""
    angle = 2 * np.pi * np.arange(len(order)) / max(1, len(order)) + np.pi / 2
    return np.column_stack([np.cos(angle), np.sin(angle)]) / 2


def _spiral(order: Sequence[int]) -> Matrix:
    """Place agents evenly over a disc, in an order from the inside outwards."""
    rank = np.empty(len(order))
    rank[list(order)] = np.arange(len(order))
    radius, angle = 0.5 * np.sqrt((rank + 0.5) / len(order)), rank * _GOLDEN
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _springs(start: Matrix, edges: Sequence[tuple[int, int]]) -> Matrix:
    """Let all agents repel each other and edges pull, with steps that shrink to nothing."""
    size = len(start)
    at, best = start.copy(), 1 / np.sqrt(size)
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    for step in range(_STEPS):
        apart = at[:, None] - at[None]
        far: Vector = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        force = (apart * (best**2 / far**2)[..., None]).sum(axis=1)
        pull = at[ends[:, 0]] - at[ends[:, 1]]
        pull = pull * np.sqrt((pull**2).sum(axis=1, keepdims=True)) / best
        np.add.at(force, ends[:, 0], -pull)
        np.add.at(force, ends[:, 1], pull)
        force -= 0.5 * at  # parts without an edge between them stay near
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        heat = 0.1 * (1 - step / _STEPS)
        at += force / length * np.minimum(length, heat)
    at -= (at.max(axis=0) + at.min(axis=0)) / 2
    placed: Matrix = at / max(float(np.abs(at).max()) * 2, 1e-9)
    return placed
