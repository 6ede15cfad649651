"""A separator for each agent, and labels of points drawn in the unit ball (Bellet et al. 2018, section 5.1)."""

from typing import TYPE_CHECKING

from scenarios.planning.data_sources import DrawnSourceTable, SourceInputs, SourceKind

if TYPE_CHECKING:
    from scenarios.planning.datasets import Points, Shards


class SeparatorsTable(DrawnSourceTable):
    """A separator for each agent, and labels of points drawn in the unit ball (Bellet et al. 2018, section 5.1)."""

    def build(self, inputs: SourceInputs) -> "Shards":
        """Make points around targets in the plane of the first two coordinates.

        Targets are normal, as in Vanhaesebrouck et al. 2017.
        """
        import numpy as np

        from scenarios.planning.datasets import Shards, amounts, ball, labels, with_bias
        from scenarios.planning.seeds import generator

        d, n, tests = self.dimension, inputs.agents, self.test_points
        counts = amounts(self, inputs)
        targets = np.zeros((n, d))
        train: list[Points] = []
        test: list[Points] = []
        for i in range(n):
            rng = generator(inputs.seed, f"data/{i}")
            targets[i, : min(2, d)] = rng.standard_normal(min(2, d))
            for kept, count, flip in ((train, int(counts[i]), self.flip), (test, tests, 0.0)):
                x = ball(rng, count, d)
                kept.append((with_bias(x, bias=self.bias), labels(rng, x @ targets[i], flip)))
        return Shards(tuple(train), tuple(test) if tests else (), None, targets, ())


KIND = SourceKind("separators", SeparatorsTable, example={"dimension": 5, "points": 20})
