"""Two clouds of points around ±½ of one direction: a pool to be split."""

from typing import TYPE_CHECKING

from scenarios.planning.data_sources import DrawnSourceTable, SourceInputs, SourceKind
from scenarios.planning.splits.sizes import SizesTable

if TYPE_CHECKING:
    from scenarios.planning.datasets import Shards
    from scenarios.planning.packed_points import Points


class BlobsTable(DrawnSourceTable):
    """Two clouds of points around ±½ of one direction: a pool to be split."""

    def build(self, inputs: SourceInputs) -> "Shards":
        """Make two normal clouds in the unit ball, and deal them out."""
        import numpy as np

        from scenarios.planning import shared_rows
        from scenarios.planning.datasets import Shards, amounts, with_bias
        from scenarios.planning.pool import Pool
        from scenarios.planning.seeds import generator

        d, n, rng = self.dimension, inputs.agents, generator(inputs.seed, "data/pool")
        split = self.split or SizesTable(kind="sizes", of=amounts(self, inputs).tolist())
        total = split.total(n * (sum(self.bounds) // 2), n)
        centre = rng.standard_normal(d)
        centre *= 0.5 / np.linalg.norm(centre)

        def cloud(count: int) -> "Points":
            y = np.where(rng.random(count) < 0.5, 1.0, -1.0)
            x = y[:, None] * centre + 0.25 * rng.standard_normal((count, d)) / np.sqrt(d) * 2.0
            x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
            return with_bias(x, bias=self.bias), y

        x, y = cloud(total)
        common = cloud(self.test_points) if self.test_points else None
        y = np.where(rng.random(len(y)) < self.flip, -y, y)
        hands = split.deal(Pool(x, y), n, generator(inputs.seed, "data/split"))
        train = tuple((x[hand], y[hand]) for hand in hands)
        return Shards(train, (), common, None, (), shared_rows.by_number(hands))


KIND = SourceKind("blobs", BlobsTable, example={"dimension": 5, "points": 20})
