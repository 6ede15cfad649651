"""What an agent holds of its neighbours, and how it averages it."""

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector


class Heard:
    """The neighbours' last known vectors, a row each, and the weights of those that are present."""

    __slots__ = ("_raw", "shares", "total", "values")

    def __init__(self, values: Matrix, weights: Vector) -> None:
        self.values = values
        self._raw = weights
        self.shares = np.zeros_like(weights)
        self.total = 0.0
        self.attend(np.ones(len(weights), dtype=bool))

    def attend(self, present: NDArray[np.bool_]) -> None:
        """Mix only the neighbours that are present: shares W_ij / D_ii with the current D_ii."""
        kept = np.where(present, self._raw, 0.0)
        self.total = float(kept.sum())
        self.shares = kept / self.total if self.total > 0 else kept

    def mean(self) -> Vector:
        """Return Σ_j (W_ij / D_ii) Θ̂_j."""
        mean: Vector = self.shares @ self.values
        return mean

    def frozen(self) -> "Heard":
        """Return a copy that later messages do not change."""
        copy = Heard(self.values.copy(), self._raw)
        copy.shares, copy.total = self.shares, self.total
        return copy
