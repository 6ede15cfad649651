"""A separator for each agent, and labels of points drawn in the unit ball (Bellet et al. 2018, section 5.1)."""

from typing import TYPE_CHECKING

from scenarios.planning.data_sources import DrawnSourceTable, SourceInputs, SourceKind

if TYPE_CHECKING:
    from scenarios.planning.datasets import Shards
    from scenarios.planning.packed_points import Points


class SeparatorsTable(DrawnSourceTable):
    """A separator for each agent, and labels of points drawn in the unit ball (Bellet et al. 2018, section 5.1)."""

    def build(self, inputs: SourceInputs) -> "Shards":
        """Make points around targets in the plane of the first two coordinates.

        Targets are normal, as in Vanhaesebrouck et al. 2017.
        """
        import numpy as np

        from scenarios.planning.datasets import Shards, amounts, ball, labels, with_bias
        from scenarios.planning.packed_points import PackedPoints
        from scenarios.planning.seeds import generator

        d, n, tests = self.dimension, inputs.agents, self.test_points
        ends = np.concatenate([[0], np.cumsum(amounts(self, inputs))])
        targets = np.zeros((n, d))
        rows, signs = np.empty((int(ends[-1]), d + self.bias)), np.empty(int(ends[-1]))
        train = PackedPoints(rows, signs, ends)
        test: list[Points] = []
        for i in range(n):
            rng = generator(inputs.seed, f"data/{i}")
            targets[i, : min(2, d)] = rng.standard_normal(min(2, d))
            part = train.part(i)
            x = ball(rng, part.stop - part.start, d)
            rows[part] = with_bias(x, bias=self.bias)
            signs[part] = labels(rng, x @ targets[i], self.flip)
            if tests:  # last of all in the agent's stream
                x = ball(rng, tests, d)
                test.append((with_bias(x, bias=self.bias), labels(rng, x @ targets[i], 0.0)))
        return Shards(train, tuple(test), None, targets, ())


KIND = SourceKind("separators", SeparatorsTable, example={"dimension": 5, "points": 20})
