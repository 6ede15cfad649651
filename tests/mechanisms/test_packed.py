"""What is computed of many agents at once is, to the last bit, what each computes alone."""

from typing import Any

import numpy as np
import pytest

from mechanisms.objectives import (
    GradientBound,
    LocalObjective,
    Logistic,
    Loss,
    SmoothedHinge,
    Squared,
    Welsch,
)
from mechanisms.packed import PackedBounds, PackedObjectives, PackedRows
from mechanisms.vectors import Matrix
from scenarios.planning.seeds import generator

LOSSES: list[Any] = [Logistic(), SmoothedHinge(0.3), Squared(), Squared(0.7), Welsch()]
SIZES = [1, 2, 3, 4, 7, 8, 9, 16, 17, 30, 31, 100, 129, 1, 9, 300]


def rows_of(d: int) -> list[Matrix]:
    rng = generator(d, "data/packed")
    return [rng.standard_normal((m, d)) for m in SIZES]


def objectives(
    loss: Loss, d: int, bits: type[np.floating[Any]] = np.float64
) -> tuple[list[LocalObjective], Matrix]:
    """Agents of many sizes, one with a model of zeros and one without numbers, and their models."""
    rng = generator(d, "data/packed/models")
    made = []
    for i, x in enumerate(rows_of(d)):
        y = np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)
        whole = LocalObjective(x, y, loss, 0.1 * i)
        made.append(LocalObjective.of_rows(whole.rows.astype(bits), y, loss, 0.1 * i))
    theta = rng.standard_normal((len(made), d))
    theta[3], theta[5] = 0.0, np.nan
    return made, theta


@np.errstate(invalid="ignore")
@pytest.mark.parametrize("d", [1, 2, 3, 8, 20, 33])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bits", [np.float64, np.float32])
def test_objectives_and_losses_are_those_of_each_agent(
    loss: Loss, d: int, bits: type[np.floating[Any]]
) -> None:
    each, theta = objectives(loss, d, bits)
    together = PackedObjectives(each)
    values = np.array([o.value(row) for o, row in zip(each, theta, strict=True)])
    np.testing.assert_array_equal(together.values(theta), values)
    alone = [
        loss.value(o.labels * (o.features @ row) if loss.margin else o.features @ row - o.labels)
        for o, row in zip(each, theta, strict=True)
    ]
    np.testing.assert_array_equal(together.losses(theta), np.concatenate(alone))
    np.testing.assert_allclose(
        together.rows.means(together.losses(theta)), [one.mean() for one in alone], rtol=1e-14
    )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_longest_gradients_are_those_of_each_agent(loss: Loss) -> None:
    """With a clip for some agents and none for others, in either norm."""
    each, theta = objectives(loss, 5)
    theta[5] = 1.0
    bounds = [
        GradientBound(o, o.clip_at(0.4, "l2") if i % 3 == 0 else None, "l1" if i % 2 else "l2", 1.0)
        for i, o in enumerate(each)
    ]
    longest = PackedBounds(bounds).longest(theta)
    alone = [b.longest(row)[0] for b, row in zip(bounds, theta, strict=True)]
    np.testing.assert_array_equal(longest, alone)


@pytest.mark.parametrize("m", [1, 2, 7, 8, 9, 127, 128, 129, 1000])
@pytest.mark.parametrize("agents", [1, 2, 37])
def test_sums_are_those_of_numpy(m: int, agents: int) -> None:
    rows = PackedRows([np.ones((m, 2))] * agents)
    values = generator(m, "data/packed/sums").standard_normal(m * agents)
    sums = [values[i * m : (i + 1) * m].copy().sum() for i in range(agents)]
    np.testing.assert_array_equal(rows.sums(values), sums)


def test_sums_of_many_agents_are_taken_in_parts() -> None:
    """More than 65,536 rows of one size: no agent is left out, and none is counted twice."""
    rows = PackedRows([np.ones((3, 1))] * 50_000)
    values = np.arange(150_000, dtype=np.float64)
    np.testing.assert_array_equal(rows.sums(values), values.reshape(-1, 3).sum(axis=1))


def test_what_cannot_be_computed_together_is_refused() -> None:
    one, other = objectives(Logistic(), 3)[0][0], objectives(SmoothedHinge(), 3)[0][0]
    with pytest.raises(ValueError, match="one loss"):
        PackedObjectives([one, other])

    class Foreign:
        """An objective that hush does not know."""

    bounds: list[Any] = [GradientBound(Foreign(), None, "l2", 1.0)]  # type: ignore[arg-type] # that is the test
    with pytest.raises(TypeError, match="own records"):
        PackedBounds(bounds)
