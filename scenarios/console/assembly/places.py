"""Where dots of a network stand: a spectral start, then springs for a fixed number of steps. Nothing is drawn by chance."""

from collections.abc import Sequence

import numpy as np

from mechanisms.vectors import Matrix

_STEPS = 80


def places(size: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return a place for each of `size` dots, across and down, each between 0 and 1.

    Joined dots attract each other, all others repel each other, as springs do. The same graph has the same places.
    """
    if size == 1:
        return [(0.5, 0.5)]
    joined = np.zeros((size, size))
    for i, j in edges:
        joined[i, j] = joined[j, i] = 1.0
    points = _start(joined)
    ideal = 1.0 / np.sqrt(size)
    for step in range(_STEPS):
        away = points[:, None, :] - points[None, :, :]
        distance = np.maximum(np.sqrt((away**2).sum(axis=2)), 1e-3 * ideal)
        np.fill_diagonal(distance, 1.0)
        strength = ideal**2 / distance**2 - joined * distance / ideal
        np.fill_diagonal(strength, 0.0)
        force = (strength[:, :, None] * away).sum(axis=1) - 0.3 * (points - 0.5)
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-12)
        warmth = 0.1 * (1.0 - step / _STEPS)
        points = points + force / length * np.minimum(length, warmth)
    across, down = (_even(points[:, axis]) for axis in (0, 1))
    return list(zip(across, down, strict=True))


def _start(joined: Matrix) -> Matrix:
    """Return the second and third eigenvector of the Laplacian, mixed with a circle in the order of the second."""
    size = len(joined)
    laplacian = np.diag(joined.sum(axis=1)) - joined
    _, vectors = np.linalg.eigh(laplacian)
    order = np.argsort(np.argsort(np.round(vectors[:, 1], 9), kind="stable"), kind="stable")
    angle = 2 * np.pi * order / size
    circle = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    third = vectors[:, min(2, size - 1)]
    spectral = np.stack([_scaled(vectors[:, 1]), _scaled(third)], axis=1)
    return np.asarray(0.6 * spectral + 0.4 * circle)


def _scaled(values: Matrix) -> Matrix:
    spread = float(values.max() - values.min())
    return (values - values.min()) / spread if spread > 1e-9 else np.full(len(values), 0.5)


def _even(values: Matrix) -> list[float]:
    """Return values between 0 and 1, by their size and a little by their rank, so that crowded parts open up."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    even = 0.7 * _scaled(values) + 0.3 * ranks / max(1, len(values) - 1)
    return [float(v) for v in even]
