"""Compiled gradients are those of `mechanisms.objectives`, and a compiled exponential is e^x."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.objectives import (
    LocalObjective,
    Logistic,
    Loss,
    SmoothedHinge,
    Squared,
    Welsch,
)
from tests.support.arenas import needs_numba

pytestmark = needs_numba
LOSSES: list[Loss] = [Logistic(), SmoothedHinge(0.3), Squared(), Squared(0.7), Welsch()]


def compiled_gradient(objective: LocalObjective, theta: Any, clip: Any) -> Any:
    from actors.compiled import descent, enrolment

    loss, shape = enrolment.loss_of(objective.loss)
    columns = [np.zeros((objective.points, 0)), np.zeros((objective.points, 0))]
    for place, column in enumerate((objective.offsets, clip)):
        if column is not None:
            columns[place] = np.ascontiguousarray(column)[:, None]
    out = np.zeros(objective.dimension)
    descent.gradient(
        objective.rows,
        columns[0],
        columns[1],
        theta,
        loss,
        shape,
        objective.weight,
        objective.l2,
        np.zeros(8),
        out,
    )
    return out


@pytest.mark.slow
@given(
    st.sampled_from(LOSSES),
    st.integers(1, 40),
    st.integers(1, 33),
    st.integers(0, 2**31),
    st.sampled_from([0.1, 3.0, 300.0]),
    st.sampled_from([None, 0.5]),
)
@settings(max_examples=200, deadline=None)
def test_gradients_agree_to_rounding(
    loss: Loss, points: int, d: int, seed: int, size: float, clipped: float | None
) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    features, labels = rng.normal(size=(points, d)), rng.choice([-1.0, 1.0], points)
    objective = LocalObjective(features, labels, loss, 0.1)
    theta = size * rng.normal(size=d)
    clip = None if clipped is None else objective.clip_at(clipped, "l2")
    wanted = objective.gradient(theta, clip)
    terms = np.abs(objective.rows).sum(axis=0) * objective.weight * max(1.0, 2.0 * size * d)
    bound = 1e-13 * (terms + np.abs(theta))
    assert (np.abs(compiled_gradient(objective, theta, clip) - wanted) <= bound).all()


@pytest.mark.slow
@given(st.floats(-700.0, 700.0))
@settings(max_examples=500, deadline=None)
def test_the_exponential_is_exact_to_three_units_in_the_last_place(x: float) -> None:
    from actors.compiled import descent

    assert descent.exponential_of(x) == pytest.approx(np.exp(x), rel=6e-16)


def test_a_gradient_without_numbers_stays_without_numbers() -> None:
    objective = LocalObjective(np.ones((9, 2)), np.ones(9), Logistic(), 0.1)
    assert np.isnan(compiled_gradient(objective, np.array([np.nan, 1.0]), None)).all()
