"""Points of all agents in one array: each agent's part is what it was, to the last bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mechanisms.objectives import LocalObjective, Logistic, Squared
from scenarios.planning.datasets import Demands, Shards, tidy
from scenarios.planning.files import BadData
from scenarios.planning.packed_points import PackedPoints, Points

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def points(draw: Any) -> list[Points]:
    width = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    return [
        (
            draw(arrays.arrays(np.float64, (m, width), elements=FINITE)),
            draw(arrays.arrays(np.float64, m, elements=st.sampled_from([-1.0, 1.0]))),
        )
        for m in sizes
    ]


def bits(pair: Points) -> tuple[bytes, bytes]:
    return pair[0].tobytes(), pair[1].tobytes()


@given(points())
def test_features_come_back_from_signed_rows_to_the_last_bit(given_points: list[Points]) -> None:
    """y·(y·x) is x for y = ±1: also of −0, of the smallest number and of the largest."""
    packed = PackedPoints.of(given_points)
    assert list(map(bits, packed)) == list(map(bits, given_points))
    packed.sign()
    packed.sign()  # twice is once
    assert list(map(bits, packed)) == list(map(bits, given_points))
    for i, (x, y) in enumerate(given_points):
        assert packed.kept(i)[0].tobytes() == (x * y[:, None]).tobytes()
    assert packed.features().tobytes() == b"".join(x.tobytes() for x, _ in given_points)


@given(points())
def test_packed_points_are_a_sequence_of_the_points_of_agents(given_points: list[Points]) -> None:
    packed = PackedPoints.of(given_points)
    assert PackedPoints.of(packed) is packed
    assert len(packed) == len(given_points)
    assert packed.sizes == tuple(len(y) for _, y in given_points)
    assert bits(packed[-1]) == bits(given_points[-1])
    assert list(map(bits, packed[1:])) == list(map(bits, given_points[1:]))
    owners = [i for i, size in enumerate(packed.sizes) for _ in range(size)]
    assert [packed.owner(row) for row in range(len(owners))] == owners
    for wrong in (len(packed), -len(packed) - 1):
        with pytest.raises(IndexError):
            _ = packed[wrong]


@given(points())
def test_norms_are_those_of_each_agents_features(given_points: list[Points]) -> None:
    packed = PackedPoints.of(given_points)
    with np.errstate(over="ignore"):
        norms = np.concatenate([np.linalg.norm(x, axis=1) for x, _ in given_points])
    assert packed.norms().tobytes() == norms.tobytes()


@given(points(), st.sampled_from([Logistic(), Squared()]))
def test_an_objective_of_rows_is_that_of_its_points(
    given_points: list[Points], loss: Logistic | Squared
) -> None:
    packed = PackedPoints.of(given_points)
    if loss.margin:
        packed.sign()
    theta = np.linspace(-1.0, 1.0, given_points[0][0].shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        for i, (x, y) in enumerate(given_points):
            mine, plain = (
                LocalObjective.of_rows(*packed.kept(i), loss, 0.1),
                LocalObjective(x, y, loss, 0.1),
            )
            assert mine.features.tobytes() == plain.features.tobytes() == x.tobytes()
            assert mine.gradient(theta).tobytes() == plain.gradient(theta).tobytes()
            assert mine.weight == plain.weight == 1.0 / len(y)


def test_a_margin_loss_refuses_labels_that_give_no_features_back() -> None:
    with pytest.raises(ValueError, match="−1 and \\+1"):
        LocalObjective(np.ones((2, 1)), np.array([1.0, 2.0]), Logistic(), 0.1)


def test_agents_with_other_widths_are_refused() -> None:
    pairs = [(np.zeros((2, 3)), np.ones(2)), (np.zeros((1, 2)), np.ones(1))]
    with pytest.raises(BadData, match="node 1 has 2 features, and node 0 has 3"):
        tidy(Shards(tuple(pairs), (), None, None, ()), Demands(labelled=True))


def test_a_value_that_is_no_number_is_named_with_its_agent_and_row() -> None:
    pairs = [(np.zeros((2, 3)), np.ones(2)), (np.zeros((4, 3)), np.ones(4))]
    pairs[1][0][2, 1] = np.inf
    with pytest.raises(BadData, match=r"node 1: a value is NaN or infinite \(row 2, column 1\)"):
        tidy(Shards(tuple(pairs), (), None, None, ()), Demands(labelled=True))


def test_points_that_were_handed_over_are_left_as_they_are() -> None:
    x, y = np.full((2, 2), 3.0), np.array([-1.0, 1.0])
    tidy(Shards(((x, y),), (), None, None, ()), Demands(labelled=True, scale="row"))
    assert x.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert y.tolist() == [-1.0, 1.0]
