"""What is done to vectors alone."""

import numpy as np
import pytest

from mechanisms.vectors import distinct, median


@pytest.mark.parametrize(
    "values",
    [
        [],
        [3.0],
        [2.0, 1.0, 2.0],
        [0.0, -0.0, 1.0],
        [np.inf, -np.inf, np.inf],
        list(range(9, -9, -1)),
    ],
    ids=str,
)
def test_distinct_numbers_stand_in_order_once(values: list[float]) -> None:
    found = distinct(np.array(values, dtype=float))
    assert found.tolist() == sorted(set(values)) == np.unique(np.array(values)).tolist()


@pytest.mark.parametrize(
    "values",
    [[3.0], [2.0, 1.0], [5.0, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0], [1.0, np.nan]],
)
def test_the_median_has_as_many_numbers_below_it_as_above(values: list[float]) -> None:
    found = median(np.array(values))
    assert found == pytest.approx(np.median(values), nan_ok=True, rel=0, abs=0)
    if not np.isnan(values).any():
        assert sum(v < found for v in values) == sum(v > found for v in values)
