"""What an agent holds of its neighbours, and how it averages it."""

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector


def mean_of(shares: Matrix, values: NDArray[np.float64]) -> Matrix:
    """Return Σ_j shares_rj · values_rj for each row r: the bits of a row do not depend on how many there are.

    Nor do they on neighbours without a share behind the others, where a value has more than one number. A product of
    matrices would have neither.
    """
    mean: Matrix = np.einsum("ij,ijd->id", shares, values)
    return mean


class Heard:
    """The neighbours' last known messages, a row each, and the weights of those that are present.

    Mechanisms with duals read three things more: `ticks`, the time; `own`, what the agent itself
    published last; and `offsets`, where each edge began (mechanisms.duals). Pairwise ones read `partner`,
    the row of the one neighbour that a step is for.
    """

    __slots__ = (
        "_are_weighed",
        "_raw",
        "_shares",
        "_total",
        "acknowledged",
        "degree",
        "missed",
        "offsets",
        "own",
        "partner",
        "present",
        "slot",
        "standing",
        "ticks",
        "values",
    )

    def __init__(self, values: Matrix, weights: Vector) -> None:
        self.values = values
        self._raw = weights
        self._shares = weights
        self._total = 0.0
        self.ticks = 0.0
        self.own: Vector | None = None
        self.partner = -1
        self.offsets: Matrix | None = None
        self.slot = 0
        """The number of the agent's wake, missed ones counted, where its mechanism asks for that."""
        self.missed: tuple[int, ...] = ()
        """The numbers of its earlier wakes at which nothing was charged."""
        self.acknowledged = False
        """Whether a neighbour said that it merged the agent's last release."""
        self.standing: tuple[Vector | None, float, Vector] | None = None
        """What `own` had added up to at a time, as `mechanisms.duals` found it last: `own`, the time, the integral."""
        self.attend(np.ones(len(weights), dtype=bool))

    def attend(self, present: NDArray[np.bool_]) -> None:
        """Mix only the neighbours that are present; the array is not written to afterwards."""
        self.present = present
        self.degree = int(np.count_nonzero(present))
        self._are_weighed = False

    def _weigh(self) -> None:
        # asked for at a wake: under churn neighbours come and go several times between two of them
        kept = self._raw * self.present
        self._total = float(np.add.reduce(kept))
        self._shares = kept / self._total if self._total > 0 else kept
        self._are_weighed = True

    @property
    def total(self) -> float:
        """The sum of the weights of neighbours that are present: D_ii."""
        if not self._are_weighed:
            self._weigh()
        return self._total

    @property
    def shares(self) -> Vector:
        """W_ij / D_ii with the current D_ii, 0 for a neighbour that is not present."""
        if not self._are_weighed:
            self._weigh()
        return self._shares

    def mean(self) -> Vector:
        """Return Σ_j (W_ij / D_ii) Θ̂_j."""
        mean: Vector = mean_of(self.shares[None], self.values[None])[0]
        return mean

    def frozen(self) -> "Heard":
        """Return a copy that later messages do not change."""
        copy = Heard(self.values.copy(), self._raw)
        copy.attend(self.present)
        copy.ticks, copy.own, copy.partner = self.ticks, self.own, self.partner
        copy.slot, copy.missed, copy.acknowledged = self.slot, self.missed, self.acknowledged
        copy.offsets = None if self.offsets is None else self.offsets.copy()
        return copy
