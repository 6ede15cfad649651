"""Losses, accuracies and errors of given models on the agents' points, all agents at once."""

from collections.abc import Sequence
from typing import Literal, assert_never

import numpy as np

from mechanisms.objectives import Loss
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.datasets import Points, Shards

On = Literal["train", "test", "validation"]
"""On which points a model is judged."""


class _Joined:
    """The points of every agent, end to end: each has at least one."""

    def __init__(self, points: Sequence[Points]) -> None:
        self._features = [x for x, _ in points]
        self.labels = np.concatenate([y for _, y in points])
        self._sizes = np.array([len(y) for _, y in points])
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]])
        self._models: Matrix | None = None
        self._scores: Vector = np.empty(0)

    def scores(self, theta: Matrix) -> Vector:
        """Return θ·x of every point, by its agent's model; computed once for the same models."""
        if theta is not self._models:
            pairs = zip(self._features, theta, strict=True)
            self._models, self._scores = theta, np.concatenate([x @ row for x, row in pairs])
        return self._scores

    def mean(self, values: Vector) -> Vector:
        """Return the mean over each agent's points."""
        sums: Vector = np.add.reduceat(values, self._starts)
        means: Vector = sums / self._sizes
        return means

    def pool(self) -> Matrix:
        """Return the points of all agents."""
        return np.concatenate(self._features)


class Scores:
    """Computes losses and scores from models and points.

    `name` is "accuracy" where labels are ±1, else "rmse". Models are matrices with a row for each agent.
    """

    def __init__(self, shards: Shards, loss: Loss) -> None:
        self._loss = loss
        self._train = _Joined(shards.train)
        self._test = _Joined(shards.test) if shards.test else None
        validating = [i for i, (_, y) in enumerate(shards.validation) if len(y)]
        self._validating = np.array(validating, dtype=np.int64)
        self._validation = (
            _Joined([shards.validation[i] for i in validating]) if validating else None
        )
        self._common = shards.common_test
        self.name = "accuracy" if loss.margin else "rmse"
        self.has_test = self._test is not None or self._common is not None

    def _values(self, scores: Vector, labels: Vector) -> Vector:
        return self._loss.value(labels * scores if self._loss.margin else scores - labels)

    def loss(self, theta: Matrix) -> Vector:
        """Return the mean unregularised loss of each model on its agent's own points."""
        return self._train.mean(self._values(self._train.scores(theta), self._train.labels))

    def pooled(self, theta: Matrix) -> Vector:
        """Return the mean unregularised loss of each model on the points of all agents."""
        x, y = self._train.pool(), self._train.labels
        return np.array([float(self._values(x @ row, y).mean()) for row in theta])

    def score(self, theta: Matrix, on: On) -> Vector:
        """Return each model's accuracy, or root mean squared error, on points of its agent.

        NaN stands for a model with infinite or NaN entries, and for an agent without validation points. Test points are
        the agent's own, else the common ones: asked only where `has_test`.
        """
        match on:
            case "train":
                means = self._mean(self._train, theta)
            case "test" if self._test is not None:
                means = self._mean(self._test, theta)
            case "test":
                assert self._common is not None, "asked only where there are test points"  # noqa: S101
                x, y = self._common
                means = np.array([float(self._right(x @ row, y).mean()) for row in theta])
            case "validation":
                means = np.full(len(theta), np.nan)
                if self._validation is not None:
                    means[self._validating] = self._mean(self._validation, theta[self._validating])
            case _:
                assert_never(on)
        means[~np.isfinite(theta).all(axis=1)] = np.nan
        return means if self._loss.margin else np.sqrt(means)

    def _mean(self, points: _Joined, theta: Matrix) -> Vector:
        return points.mean(self._right(points.scores(theta), points.labels))

    def _right(self, scores: Vector, labels: Vector) -> Vector:
        if self._loss.margin:
            right: Vector = (np.where(scores >= 0, 1.0, -1.0) == labels).astype(np.float64)
            return right
        return (scores - labels) ** 2
