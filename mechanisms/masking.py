"""Secure aggregation, simulated: what leaves a client is uniform, and only the sum over survivors can be read.

Vectors are whole multiples of a grid, modulo 2⁵²: a pad from the client's stream is added before it leaves, and
the aggregator is given the sum of the survivors' pads and nothing else, as key recovery would give it. Addition
modulo 2⁵² is exact, so the sum is the plain sum, to the last bit. A pad is used for one release: its number goes
with it in clear, behind the vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector

MODULUS = 1 << 52
Pads = Callable[[int, int, int], NDArray[np.uint64]]
"""`(client, release, d)` → d random words that only the client knows."""


@dataclass(frozen=True, slots=True)
class Seal:
    """Hides vectors until they are added up."""

    pads: Pads
    grid: float
    parties: int
    """How many may be added up: their sum must not wrap."""

    def _pad(self, client: int, release: int, d: int) -> NDArray[np.int64]:
        return (self.pads(client, release, d) >> np.uint64(12)).astype(np.int64)

    def hide(self, vector: Vector, client: int, release: int) -> Vector:
        """Return what leaves the client: uniform over the multiples of the grid, and the release's number."""
        steps = np.rint(vector / self.grid)
        if not (np.abs(steps) < MODULUS // (2 * self.parties)).all():  # the sum could wrap
            return np.full_like(vector, np.inf)
        whole = (steps.astype(np.int64) + self._pad(client, release, len(vector))) % MODULUS
        return np.append(whole.astype(np.float64) * self.grid, float(release))

    def hide_all(self, vectors: Matrix, clients: Sequence[int], releases: Sequence[int]) -> Matrix:
        """Return what leaves several clients, a row for each: the very bits of `hide`; rows that could wrap are infinite."""
        n, d = vectors.shape
        steps = np.rint(vectors / self.grid)
        fits: NDArray[np.bool_] = np.all(np.abs(steps) < MODULUS // (2 * self.parties), axis=1)
        pads = self._pads(clients, releases, d)
        whole = (np.where(fits[:, None], steps, 0.0).astype(np.int64) + pads) % MODULUS
        hidden = np.empty((n, d + 1))
        np.multiply(whole, self.grid, out=hidden[:, :d])
        hidden[:, d] = releases
        hidden[~fits] = np.inf
        return hidden

    def _pads(self, clients: Sequence[int], releases: Sequence[int], d: int) -> NDArray[np.int64]:
        pads = np.empty((len(clients), d), dtype=np.uint64)
        for row, client, release in zip(pads, clients, releases, strict=True):
            row[:] = self.pads(client, release, d)
        return (pads >> np.uint64(12)).astype(np.int64)

    def total(self, hidden: Sequence[Vector] | Matrix, clients: Sequence[int]) -> Vector:
        """Return the sum of what was hidden, and of nothing less."""
        rows = np.array(hidden)
        d = rows.shape[1] - 1
        pads = self._pads(clients, [int(release) for release in rows[:, d]], d)
        parts = (np.rint(rows[:, :d] / self.grid).astype(np.int64) - pads) % MODULUS
        whole = parts.sum(axis=0) % MODULUS
        signed = np.where(whole >= MODULUS // 2, whole - MODULUS, whole)
        total: Vector = signed.astype(np.float64) * self.grid
        return total
