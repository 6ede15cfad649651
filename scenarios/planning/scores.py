"""Losses, accuracies and errors of given models on the agents' points, all agents at once."""

from collections.abc import Callable
from typing import Literal, assert_never

import numpy as np

from mechanisms.objectives import Loss
from mechanisms.packed import PackedObjectives, PackedRows
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.datasets import Shards
from scenarios.planning.packed_points import PackedPoints

On = Literal["train", "test", "validation"]
"""On which points a model is judged."""
_AT_ONCE = 1 << 16
"""So many scores are held at once where every model is judged on the same points."""


class _Points:
    """Points of agents that were held out: each of these agents has at least one."""

    def __init__(self, points: PackedPoints, agents: list[int]) -> None:
        assert not points.signed, "only points that are learnt from are kept with their labels"  # noqa: S101
        kept = [points.kept(i) for i in agents]
        self.rows = PackedRows([x for x, _ in kept])
        self.labels = np.concatenate([y for _, y in kept])


class Scores:
    """Computes losses and scores from models and points.

    `name` is "accuracy" where labels are ±1, else "rmse". Models are matrices with a row for each agent. `trained` are the
    objectives on the points that agents learn from.
    """

    def __init__(self, shards: Shards, trained: PackedObjectives) -> None:
        loss: Loss = trained.loss
        self._loss = loss
        self._trained = trained
        self._shards = shards
        test, held = PackedPoints.of(shards.test), PackedPoints.of(shards.validation)
        self._test = _Points(test, list(range(len(test)))) if len(test) else None
        validating = [i for i, size in enumerate(held.sizes) if size]
        self._validating = np.array(validating, dtype=np.int64)
        self._validation = _Points(held, validating) if validating else None
        self._common = shards.common_test
        self.name = "accuracy" if loss.margin else "rmse"
        self.has_test = self._test is not None or self._common is not None

    def loss(self, theta: Matrix) -> Vector:
        """Return the mean unregularised loss of each model on its agent's own points."""
        return self._trained.rows.means(self._trained.losses(theta))

    def pooled(self, theta: Matrix) -> Vector:
        """Return the mean unregularised loss of each model on the points of all agents."""
        x, y = np.concatenate([x for x, _ in self._shards.train]), self._trained.labels
        return _means_on(x, theta, lambda scores: self._values(scores, y))

    def _values(self, scores: Vector, labels: Vector) -> Vector:
        return self._loss.value(labels * scores if self._loss.margin else scores - labels)

    def score(self, theta: Matrix, on: On) -> Vector:
        """Return each model's accuracy, or root mean squared error, on points of its agent.

        NaN stands for a model with infinite or NaN entries, and for an agent without validation points. Test points are
        the agent's own, else the common ones: asked only where `has_test`.
        """
        match on:
            case "train":
                products, labels = self._trained.products(theta), self._trained.labels
                scores = products * labels if self._loss.margin else products
                means = self._trained.rows.means(self._right(scores, labels))
            case "test" if self._test is not None:
                means = self._mean(self._test, theta)
            case "test":
                assert self._common is not None, "asked only where there are test points"  # noqa: S101
                x, y = self._common
                means = _means_on(x, theta, lambda scores: self._right(scores, y))
            case "validation":
                means = np.full(len(theta), np.nan)
                if self._validation is not None:
                    means[self._validating] = self._mean(self._validation, theta[self._validating])
            case _:
                assert_never(on)
        means[~np.isfinite(theta).all(axis=1)] = np.nan
        return means if self._loss.margin else np.sqrt(means)

    def _mean(self, points: _Points, theta: Matrix) -> Vector:
        return points.rows.means(self._right(points.rows.products(theta), points.labels))

    def _right(self, scores: Vector, labels: Vector) -> Vector:
        if self._loss.margin:
            right: Vector = (np.where(scores >= 0, 1.0, -1.0) == labels).astype(np.float64)
            return right
        return (scores - labels) ** 2


def _means_on(x: Matrix, theta: Matrix, judge: Callable[[Vector], Vector]) -> Vector:
    """Return, of each model, the mean of what is made of its scores on the same points."""
    means, together = np.empty(len(theta)), 1 + _AT_ONCE // len(x)
    for first in range(0, len(theta), together):
        some = slice(first, first + together)
        means[some] = judge(np.matmul(x, theta[some, :, None])[:, :, 0]).mean(axis=1)
    return means
