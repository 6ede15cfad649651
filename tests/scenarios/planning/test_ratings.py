"""Ratings of items by users: alternating least squares, test ratings, centres."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.planning.delimited import TextTable
from scenarios.planning.files import BadData
from scenarios.planning.kept import Kept
from scenarios.planning.ratings import (
    Factorisation,
    Factors,
    Ratings,
    drawn_for_tests,
    read_ratings,
)
from scenarios.planning.seeds import generator
from tests.support.rating_files import Rows, some_ratings


def table(rows: Rows) -> TextTable:
    names = ("user", "item", "rating")
    columns = {name: [str(row[k]) for row in rows] for k, name in enumerate(names)}
    return TextTable("u.data", columns, range(1, len(rows) + 1))


def ratings(rows: Rows) -> Ratings:
    return read_ratings(table(rows))


def by_hand(made: Ratings, factors: Factors, weight: float) -> float:
    """Return Σ (r − u·φ)² + λ(Σ n_u‖u‖² + Σ n_φ‖φ‖²), user by user and item by item."""
    total = 0.0
    for user, item, value in zip(made.users, made.items, made.values, strict=True):
        total += float(value - factors.users[user] @ factors.items[item]) ** 2
    for group, features in ((made.users, factors.users), (made.items, factors.items)):
        for number, row in enumerate(features):
            total += weight * int((group == number).sum()) * float(row @ row)
    return total


@given(st.integers(1, 6), st.floats(1e-3, 10.0), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_every_half_step_lowers_the_objective(d: int, weight: float, seed: int) -> None:
    made, how = ratings(some_ratings(seed=seed)), Factorisation(d, weight, 6)
    values = [by_hand(made, half, weight) for half in how.halves(made, generator(seed, "als"))]
    assert len(values) == 12
    for before, after in pairwise(values):
        assert after <= before * (1 + 1e-10)


@given(st.integers(1, 4), st.floats(0.01, 2.0), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_a_half_step_ends_at_the_minimum_over_its_half(d: int, weight: float, seed: int) -> None:
    """The objective is quadratic in one half: where both neighbours of a point are as far above it, it is the minimum."""
    made, how = ratings(some_ratings(users=5, items=6, seed=seed)), Factorisation(d, weight, 2)
    luck, best = generator(seed, "way"), how.fit(made, generator(seed, "als"))
    way = luck.standard_normal(best.items.shape)
    there, back = (
        by_hand(made, Factors(best.users, best.items + side * way), weight) for side in (1, -1)
    )
    at = by_hand(made, best, weight)
    assert there - at == pytest.approx(back - at, rel=1e-6)
    assert there > at
    assert how.objective(made, best) == pytest.approx(at)


def test_a_matrix_of_rank_one_is_recovered() -> None:
    rows = [(u + 1, i + 1, (u + 1) * (i + 1)) for u in range(2) for i in range(2)]
    made = ratings(rows)
    fitted = Factorisation(1, 1e-6, 30).fit(made, generator(1, "als"))
    assert fitted.users @ fitted.items.T == pytest.approx(np.array([[1, 2], [2, 4]]), rel=1e-4)


def test_users_and_items_without_ratings_have_features_of_zero() -> None:
    made = ratings(some_ratings())
    some = made.take((made.users != 2) & (made.items != 3))
    fitted = Factorisation(3, 0.1, 4).fit(some, generator(1, "als"))
    assert (fitted.users[2] == 0).all()
    assert (fitted.items[3] == 0).all()
    assert (np.linalg.norm(np.delete(fitted.items, 3, axis=0), axis=1) > 0).all()


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(0, 100))
def test_each_user_gives_its_share_to_tests(share: float, seed: int) -> None:
    made = ratings(some_ratings(share=0.9))
    users = np.array([1, 4, 5])
    tested = drawn_for_tests(made, users, share, seed)
    for user in range(12):
        size = int((made.users == user).sum())
        count = int(tested[made.users == user].sum())
        assert count == (min(max(1, round(share * size)), size - 1) if user in users else 0)


def test_what_tests_a_user_does_not_depend_on_the_others() -> None:
    made = ratings(some_ratings())
    few, many = (drawn_for_tests(made, np.array(users), 0.2, 3) for users in ([2], [1, 2, 3]))
    assert few[made.users == 2].tolist() == many[made.users == 2].tolist()
    assert not drawn_for_tests(made, np.arange(12), 0.0, 3).any()


def test_means_are_of_each_user() -> None:
    made = ratings([(7, 1, 5), (2, 1, 1), (7, 3, 2), (7, 2, 2)])
    assert made.user_ids.tolist() == [2, 7]
    assert made.means().tolist() == [1.0, 3.0]
    assert made.take(made.users == 1).means().tolist() == [3.0, 3.0]  # none given: the midpoint
    assert made.minus(made.means()).values.tolist() == [2.0, 0.0, -1.0, -1.0]


def test_a_matrix_has_a_row_for_each_user_that_was_asked_for() -> None:
    made = ratings([(7, 1, 5), (2, 1, 1), (7, 3, 2), (9, 2, 4)])
    assert made.matrix(np.array([0, 2])).tolist() == [[1, 0, 0], [0, 4, 0]]
    assert made.matrix(np.array([1])).tolist() == [[5, 0, 2]]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((1, 2, 6), "u.data, line 3: rating must be a whole number from 1 to 5, got 6"),
        ((1, 2, 0), "rating must be a whole number from 1 to 5, got 0"),
        ((1, 2, 2.5), "rating must be a whole number from 1 to 5, got 2.5"),
        ((0, 2, 3), "user must be a whole number from 1, got 0"),
        ((1, -2, 3), "item must be a whole number from 1, got -2"),
        ((1, 1e300, 3), "item must be a whole number from 1, got 1e"),
        ((1, "nan", 3), 'item must be a finite number, got "nan"'),
        (("x", 2, 3), 'user must be a finite number, got "x"'),
        ((8, 2, 3), "u.data, line 3: user 8 rates item 2 a second time, after line 1"),
    ],
)
def test_ratings_that_are_none_are_named_by_their_line(row: Rows, said: str) -> None:
    with pytest.raises(BadData) as told:
        ratings([(8, 2, 4), (9, 2, 1), row])  # type: ignore[list-item] # it is wrong
    assert said in str(told.value)


def test_a_user_with_one_rating_is_named() -> None:
    made = ratings([(8, 2, 4), (9, 2, 1), (9, 3, 1)])
    with pytest.raises(BadData, match="user 8 gave one rating"):
        drawn_for_tests(made, np.array([0, 1]), 0.2, 1)


def test_as_many_results_are_kept_as_was_said() -> None:
    kept, made = Kept[int](2), list[int]()

    for number in (1, 2, 1, 3, 1, 2):

        def make(number: int = number) -> int:
            made.append(number)
            return number

        assert kept.get(number, make) == number
    assert made == [1, 2, 3, 2]  # 1 was asked for again before 3 came, so 2 went
