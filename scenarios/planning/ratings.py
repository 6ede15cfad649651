"""Ratings of items by users: read from a text, parted for tests, centred, and turned into features of items."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechanisms.vectors import Matrix, Vector
from scenarios.planning.columns import finite
from scenarios.planning.delimited import TextTable
from scenarios.planning.files import BadData
from scenarios.planning.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

Indices = NDArray[np.int64]
_LARGEST_ID = 2**53
"""Whole numbers up to here are read from text without rounding."""
LOWEST, HIGHEST = 1.0, 5.0
"""The scale of the ratings."""
MIDPOINT = (LOWEST + HIGHEST) / 2


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings, one for each pair of a user and an item: user `users[k]` gave `values[k]` to item `items[k]`.

    Users and items are places in `user_ids` and `item_ids`, which hold the numbers of the file in rising order.
    """

    users: Indices
    items: Indices
    values: Vector
    user_ids: Indices
    item_ids: Indices

    def __len__(self) -> int:
        return len(self.values)

    def take(self, chosen: NDArray[np.bool_]) -> "Ratings":
        """Return some of the ratings; users and items keep their places."""
        return replace(
            self, users=self.users[chosen], items=self.items[chosen], values=self.values[chosen]
        )

    @cached_property
    def by_user(self) -> "Sequence[Indices]":
        """Which ratings each user gave, in the order of the file."""
        return _grouped(self.users, len(self.user_ids))

    @cached_property
    def by_item(self) -> "Sequence[Indices]":
        """Which ratings each item got, in the order of the file."""
        return _grouped(self.items, len(self.item_ids))

    def means(self) -> Vector:
        """Return the mean rating of each user; the midpoint of the scale where a user gave none."""
        counts = np.bincount(self.users, minlength=len(self.user_ids))
        sums = np.bincount(self.users, self.values, minlength=len(self.user_ids))
        return np.where(counts > 0, sums / np.maximum(counts, 1), MIDPOINT)

    def minus(self, centres: Vector) -> "Ratings":
        """Return the ratings with a number of each user subtracted from its own."""
        return replace(self, values=self.values - centres[self.users])

    def matrix(self, users: Indices) -> Matrix:
        """Return a row for each of some users: their ratings of every item, 0 where they gave none."""
        rows = np.full(len(self.user_ids), -1, dtype=np.int64)
        rows[users] = np.arange(len(users))
        mine = rows[self.users] >= 0
        made = np.zeros((len(users), len(self.item_ids)))
        made[rows[self.users[mine]], self.items[mine]] = self.values[mine]
        return made


def _grouped(of: Indices, count: int) -> list[Indices]:
    """Return the places of 0, of 1 and so on in a list of numbers, each in order."""
    order = np.argsort(of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of, minlength=count))[:-1])


def read_ratings(table: TextTable) -> Ratings:
    """Return the ratings of a text with columns `user`, `item` and `rating`. Raises BadData, which names the line.

    Users and items are whole numbers from 1, ratings 1, 2, 3, 4 or 5; no pair of a user and an item is there twice.
    """
    users, items = (_numbers(table, name, 1, _LARGEST_ID) for name in ("user", "item"))
    values = _numbers(table, "rating", LOWEST, HIGHEST).astype(np.float64)
    order = np.lexsort((items, users))
    again = (np.diff(users[order]) == 0) & (np.diff(items[order]) == 0)
    if again.any():
        first, second = order[np.flatnonzero(again)[0] :][:2]
        raise BadData(
            f"{table.place(int(second))}: user {users[second]} rates item {items[second]} a second time, "
            f"after line {table.lines[int(first)]:,}"
        )
    user_ids, user_places = np.unique(users, return_inverse=True)
    item_ids, item_places = np.unique(items, return_inverse=True)
    return Ratings(user_places, item_places, values, user_ids, item_ids)


def _numbers(table: TextTable, name: str, low: float, high: float) -> Indices:
    """Return a column of whole numbers between bounds. Raises BadData."""
    values = finite(table, name)
    wrong = (values != np.floor(values)) | (values < low) | (values > high)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        wanted = f"a whole number from {low:.0f}" + (
            f" to {high:.0f}" if high < _LARGEST_ID else ""
        )
        raise BadData(f"{table.place(row)}: {name} must be {wanted}, got {values[row]:.15g}")
    return values.astype(np.int64)


def drawn_for_tests(ratings: Ratings, users: Indices, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which ratings test the models of some users: a share of each one's ratings, drawn for each apart.

    A user with m ratings gives round(share·m), at least one and at most m − 1; none with the share 0. What is drawn for a
    user depends on its number in the file, not on who else takes part. Raises BadData where a user has one rating.
    """
    tests = np.zeros(len(ratings), dtype=bool)
    for user in users.tolist() if share else ():
        mine = ratings.by_user[user]
        if len(mine) < 2:
            raise BadData(
                f"user {ratings.user_ids[user]} gave one rating: an agent needs one to learn from and one to be tested by"
            )
        count = min(max(1, round(share * len(mine))), len(mine) - 1)
        luck = generator(seed, f"data/test/user {ratings.user_ids[user]}")
        tests[luck.permutation(mine)[:count]] = True
    return tests


@dataclass(frozen=True, slots=True)
class Factors:
    """Features of users and of items, a row each; of one without ratings they are zeros."""

    users: Matrix
    items: Matrix


@dataclass(frozen=True, slots=True)
class Factorisation:
    """Alternating least squares with weighted λ-regularisation (Zhou, Wilkinson, Schreiber, Pan 2008).

    It minimises Σ (r − u·φ)² + λ(Σ n_u‖u‖² + Σ n_φ‖φ‖²) over all ratings r, where n counts the ratings of a user or an item.
    """

    dimension: int
    regularisation: float
    iterations: int

    def objective(self, ratings: Ratings, factors: Factors) -> float:
        """Return what is minimised."""
        users, items = factors.users[ratings.users], factors.items[ratings.items]
        errors = ratings.values - (users * items).sum(axis=1)
        # a feature's norm counts once for each of its ratings: that is the weight
        return float(
            (errors**2).sum() + self.regularisation * ((users**2).sum() + (items**2).sum())
        )

    def halves(self, ratings: Ratings, rng: np.random.Generator) -> Iterator[Factors]:
        """Yield the features after each half step: of users first, then of items, from normal features of items."""
        items = rng.standard_normal((len(ratings.item_ids), self.dimension))
        users = np.zeros((len(ratings.user_ids), self.dimension))
        for _ in range(self.iterations):
            users = self._solved(ratings.by_user, items[ratings.items], ratings.values)
            yield Factors(users, items)
            items = self._solved(ratings.by_item, users[ratings.users], ratings.values)
            yield Factors(users, items)

    def fit(self, ratings: Ratings, rng: np.random.Generator) -> Factors:
        """Return the features after the last step."""
        *_, last = self.halves(ratings, rng)
        return last

    def _solved(self, groups: "Sequence[Indices]", others: Matrix, values: Vector) -> Matrix:
        """Return the best features of each user or item, given those of what it shares each rating with."""
        n, d = len(groups), self.dimension
        grams, sides = np.tile(np.eye(d), (n, 1, 1)), np.zeros((n, d))
        ridge = self.regularisation * np.eye(d)
        for i, mine in enumerate(groups):
            if len(mine):
                x = others[mine]
                grams[i] = x.T @ x + len(mine) * ridge
                sides[i] = x.T @ values[mine]
        return np.asarray(np.linalg.solve(grams, sides[:, :, None])[:, :, 0], dtype=np.float64)
