"""What many agents compute from their own records, all at once: to the last bit what each computes alone."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechanisms.objectives import GradientBound, LocalObjective, Loss
from mechanisms.vectors import Matrix, Vector

Places = NDArray[np.int64]
_AT_ONCE = 1 << 16
"""So many agents or records are worked on at once: what is computed of them needs little memory beside them."""


class PackedRows:
    """The rows of agents, one agent after the other, each with at least one. They are not copied."""

    def __init__(self, rows: Sequence[Matrix]) -> None:
        self._rows = rows
        self.sizes: NDArray[np.int64] = np.fromiter(map(len, rows), np.int64, len(rows))
        """How many rows each agent has."""
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._total = int(self.sizes.sum())

    def products(self, theta: Matrix) -> Vector:
        """Return the product of every row with its agent's model: `theta` has a row for each agent."""
        products, ends = np.empty(self._total), (self._starts + self.sizes).tolist()
        parts = [products[a:b] for a, b in zip(self._starts.tolist(), ends, strict=True)]
        for rows, model, part in zip(self._rows, theta, parts, strict=True):
            np.dot(rows, model, part)
        return products

    def sums(self, values: Vector) -> Vector:
        """Return the sum over each agent's rows, as NumPy adds up a vector."""
        sums = np.empty(len(self.sizes))
        for agents, places in self._by_size if self._total <= _AT_ONCE else self._of_sizes():
            sums[agents] = values[places].sum(axis=1)
        return sums

    @cached_property
    def _by_size(self) -> list[tuple[Places, Places]]:
        return list(self._of_sizes())

    def _of_sizes(self) -> Iterator[tuple[Places, Places]]:
        """Yield agents with equally many rows, and where the rows of each stand."""
        by_size = np.argsort(self.sizes, kind="stable")
        sizes, firsts = np.unique(self.sizes[by_size], return_index=True)
        for size, agents in zip(sizes.tolist(), np.split(by_size, firsts[1:]), strict=True):
            parts = 1 + len(agents) * size // _AT_ONCE
            for some in (agents,) if parts == 1 else np.array_split(agents, parts):
                yield some, self._starts[some, None] + np.arange(size)

    def largest(self, values: Vector) -> Vector:
        """Return the largest over each agent's rows."""
        largest: Vector = np.maximum.reduceat(values, self._starts)
        return largest

    def means(self, values: Vector) -> Vector:
        """Return the mean over each agent's rows; its sum begins with the first of them (`np.add.reduceat`)."""
        sums: Vector = np.add.reduceat(values, self._starts)
        means: Vector = sums / self.sizes
        return means


class PackedBounds:
    """The bounds of gradients of agents with one loss, and what of their records stays the same."""

    def __init__(self, bounds: Sequence[GradientBound]) -> None:
        """Take the bounds of at least one agent.

        Raises ValueError for objectives of several losses, TypeError for one that is not of an agent's own records.
        """
        objectives = list[LocalObjective]()
        for bounded in bounds:
            if not isinstance(bounded.objective, LocalObjective):
                raise TypeError("only objectives of agents' own records are computed together")
            objectives.append(bounded.objective)
        self._loss = _loss_of(objectives)
        self._rows = PackedRows([objective.rows for objective in objectives])
        self.bounds: Vector = np.array([bounded.bound for bounded in bounds])
        """The bound of each agent."""
        lengths = [each.objective.lengths(each.norm) for each in bounds]  # type: ignore[attr-defined] # a LocalObjective
        self._lengths: Vector = np.concatenate(lengths)
        self._labels: Vector | None = None
        if not self._loss.margin:
            self._labels = np.concatenate([objective.labels for objective in objectives])
        self._clips: Vector | None = None
        if any(bounded.clip is not None for bounded in bounds):
            self._clips = np.concatenate(
                [
                    np.full(len(own), np.inf) if bounded.clip is None else bounded.clip
                    for bounded, own in zip(bounds, lengths, strict=True)
                ]
            )

    def longest(self, theta: Matrix) -> Vector:
        """Return the longest gradient of one record of each agent at its model, as `GradientBound.longest` does."""
        t = self._rows.products(theta)
        if self._labels is not None:
            t -= self._labels
        slopes = np.abs(self._loss.slope(t))
        if self._clips is not None:
            np.minimum(slopes, self._clips, out=slopes)
        slopes *= self._lengths
        return self._rows.largest(slopes)


def _loss_of(objectives: Sequence[LocalObjective]) -> Loss:
    """Return the loss of all objectives. Raises ValueError where one has another."""
    loss = objectives[0].loss
    if any(objective.loss is not loss and objective.loss != loss for objective in objectives):
        raise ValueError("objectives that are computed together have one loss")
    return loss


class PackedObjectives:
    """The objectives of agents with one loss."""

    def __init__(self, objectives: Sequence[LocalObjective], labels: Vector | None = None) -> None:
        """Take the objectives, and the labels of all of them in one array where there is one already.

        Raises ValueError where one has another loss than the others.
        """
        self.loss = _loss_of(objectives)
        self.rows = PackedRows([objective.rows for objective in objectives])
        each = (objective.labels for objective in objectives)
        self.labels: Vector = np.concatenate(list(each)) if labels is None else labels
        self._weights = np.array([objective.weight for objective in objectives])
        self._l2 = np.array([objective.l2 for objective in objectives])
        self._theta: Matrix | None = None
        self._products: Vector = np.empty(0)
        self._losses: Vector | None = None
        """The losses at the models whose products are kept, once they were asked for."""

    def products(self, theta: Matrix) -> Vector:
        """Return row·θ of every record: y·x·θ for a margin loss, else x·θ; computed once for the same models."""
        if theta is not self._theta:
            self._theta, self._products = theta, self.rows.products(theta)
            self._losses = None
        return self._products

    def losses(self, theta: Matrix) -> Vector:
        """Return the loss of every record at its agent's model: computed once for the same models, and not to be changed."""
        products = self.products(theta)
        if self._losses is None:
            self._losses = self.loss.value(products if self.loss.margin else products - self.labels)
        return self._losses

    def values(self, theta: Matrix) -> Vector:
        """Return the value of each objective at its agent's model."""
        squares = np.matmul(theta[:, None, :], theta[:, :, None])[:, 0, 0]
        values: Vector = self._weights * self.rows.sums(self.losses(theta)) + self._l2 * squares
        return values
