"""Losses, accuracies and errors of given models on everybody's points, all nodes at once."""

from collections.abc import Sequence

import numpy as np

from actors.agent import UP, Agent
from mechanisms.objectives import Loss
from mechanisms.vectors import Matrix, Vector
from scenarios.planning.datasets import Points, Shards


class _Held:
    """Points of every node, end to end."""

    def __init__(self, points: Sequence[Points]) -> None:
        self._features = [x for x, _ in points]
        self.labels = np.concatenate([y for _, y in points])
        self._sizes = np.array([len(y) for _, y in points])
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]])
        self._models: Matrix | None = None
        self._scores: Vector = np.empty(0)

    def scores(self, theta: Matrix) -> Vector:
        """Each node's scores of its own points; asked twice for the same models, it answers once."""
        if theta is not self._models:
            pairs = zip(self._features, theta, strict=True)
            self._models, self._scores = theta, np.concatenate([x @ row for x, row in pairs])
        return self._scores

    def mean(self, values: Vector) -> Vector:
        """Mean over each node's points."""
        sums: Vector = np.add.reduceat(values, self._starts)
        means: Vector = sums / self._sizes
        return means

    def pool(self) -> Matrix:
        """Everybody's points."""
        return np.concatenate(self._features)


def dual_health(agents: Sequence[Agent]) -> tuple[float, float]:
    """Return ‖Σ_i λ_i‖, and the largest ‖λ_ij + λ_ji‖ over edges whose ends are both up; NaN without duals."""
    duals = {agent.id: _duals(agent) for agent in agents if agent.balanced and agent.status == UP}
    if not duals:
        return np.nan, np.nan
    total = sum(rows.sum(axis=0) for rows in duals.values())
    worst = 0.0
    for i, rows in duals.items():
        for j, slot in agents[i].slots.items():
            if i < j and j in duals:
                worst = max(worst, float(np.linalg.norm(rows[slot] + duals[j][agents[j].slots[i]])))
    return float(np.linalg.norm(total)), worst


def _duals(agent: Agent) -> Matrix:
    """An agent's duals as it would solve with them now."""
    accounted = getattr(agent.mechanism, "accounted", None)
    if accounted is not None:
        held: Matrix = accounted(agent.state, agent.look())
        return held
    found: Matrix = agent.mechanism.duals(agent.look())  # type: ignore[attr-defined]
    return found


def why_untested(shards: Shards) -> str:
    """Say why no metric of test points has a value; empty where there are some."""
    tested = bool(shards.test) or shards.common_test is not None
    return "" if tested else "no agent has test points: give data.test_points"


class Scores:
    """What an oracle computes from models and points."""

    def __init__(self, shards: Shards, loss: Loss) -> None:
        self._loss = loss
        self._train = _Held(shards.train)
        self._test = _Held(shards.test) if shards.test else None
        self._common = shards.common_test
        self.name = "accuracy" if loss.margin else "rmse"
        self.has_test = not why_untested(shards)

    def _values(self, scores: Vector, labels: Vector) -> Vector:
        return self._loss.value(labels * scores if self._loss.margin else scores - labels)

    def loss(self, theta: Matrix) -> Vector:
        """Mean unregularised loss of each model on its node's own points."""
        return self._train.mean(self._values(self._train.scores(theta), self._train.labels))

    def pooled(self, theta: Matrix) -> Vector:
        """Mean unregularised loss of each model on everybody's points."""
        x, y = self._train.pool(), self._train.labels
        return np.array([float(self._values(x @ row, y).mean()) for row in theta])

    def score(self, theta: Matrix, *, test: bool) -> Vector:
        """Each model's accuracy, or root mean squared error; test points are its own, else common."""
        held = self._test if test else self._train
        if held is not None:
            found = held.mean(self._right(held.scores(theta), held.labels))
        else:
            assert self._common is not None, "asked only where there are test points"  # noqa: S101
            x, y = self._common
            found = np.array([float(self._right(x @ row, y).mean()) for row in theta])
        found[~np.isfinite(theta).all(axis=1)] = np.nan
        return found if self._loss.margin else np.sqrt(found)

    def _right(self, scores: Vector, labels: Vector) -> Vector:
        if self._loss.margin:
            right: Vector = (np.where(scores >= 0, 1.0, -1.0) == labels).astype(np.float64)
            return right
        return (scores - labels) ** 2
