"""Splits: which points each agent gets, and how skewed that is."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mechanisms.vectors import Matrix, Vector
from scenarios.api.runs import check, make_plan
from scenarios.planning.data_sources import PooledTable, SourceInputs
from scenarios.planning.datasets import Shards, dealt
from scenarios.planning.files import Folders
from scenarios.planning.kinds import Tables
from scenarios.planning.pool import Pool
from scenarios.planning.seeds import generator
from scenarios.planning.splits import SPLITS, NoSplit, PoolSplitTable
from tests.support.builders import private, scenario
from tests.support.kinds import split_table

WHOLE = {"even", "uneven", "dirichlet", "sizes-dirichlet", "shards", "by-column"}
"""Splits that give every point away, however many agents there are."""


def rng(seed: int = 3) -> np.random.Generator:
    return generator(seed, "test")


def pool_of(labels: Vector, groups: int = 12) -> Pool:
    """A pool whose points are their own numbers; users and values of a column are drawn, and each has a point."""
    n, luck = len(labels), generator(1, "pool")
    users, values = (luck.permutation(np.arange(n) % groups) for _ in range(2))
    words = np.array([f"group {value}" for value in values])
    return Pool(np.arange(n, dtype=float)[:, None], labels, {"group": words}, users)


def two_labels(total: int) -> Vector:
    return np.where(np.arange(total) % 3 == 0, 1.0, -1.0)


def example(name: str) -> dict[str, Any]:
    return {"kind": name} | dict(SPLITS[name].example)


@pytest.mark.parametrize("name", SPLITS)
@given(total=st.integers(30, 300), seed=st.integers(0, 50))
def test_every_agent_gets_points_and_none_is_given_twice(name: str, total: int, seed: int) -> None:
    pool = pool_of(two_labels(total))
    hands = split_table(example(name)).deal(pool, 6, generator(seed, "deal"))
    again = split_table(example(name)).deal(pool, 6, generator(seed, "deal"))
    assert len(hands) == 6
    assert min(map(len, hands)) >= 1
    given_away = np.concatenate(hands).tolist()
    assert len(given_away) == len(set(given_away))
    assert set(given_away) <= set(range(total))
    assert [hand.tolist() for hand in hands] == [hand.tolist() for hand in again]
    assert (len(given_away) == total) >= (name in WHOLE)


@pytest.mark.parametrize("name", sorted(WHOLE - {"by-column"}))
@given(n=st.integers(1, 12), total=st.integers(24, 300), seed=st.integers(0, 50))
def test_every_point_is_given_away(name: str, n: int, total: int, seed: int) -> None:
    hands = split_table(example(name)).deal(pool_of(two_labels(total)), n, generator(seed, "deal"))
    assert sorted(np.concatenate(hands).tolist()) == list(range(total))


@pytest.mark.parametrize(
    "name", [n for n in SPLITS if not issubclass(SPLITS[n].table, PoolSplitTable)]
)
def test_hands_are_of_the_sizes_that_the_split_says(name: str) -> None:
    table = split_table(example(name))
    hands = table.deal(pool_of(two_labels(100)), 6, rng())
    assert [len(hand) for hand in hands] == table.sizes(100, 6, rng()).tolist()


@pytest.mark.parametrize("name", [n for n in SPLITS if issubclass(SPLITS[n].table, PoolSplitTable)])
def test_separators_have_no_pool_to_deal(name: str) -> None:
    data = {"source": "separators", "dimension": 3, "points": 9, "split": example(name)}
    (problem,) = check(scenario(data=data)).problems
    assert f"{name} deals a pool of points by " in problem
    assert "separators draw points for each agent and have no pool" in problem


def test_a_split_of_a_pool_that_says_nothing_itself_is_no_other_split() -> None:
    with pytest.raises(NotImplementedError, match="new"):
        PoolSplitTable(kind="new").deal(pool_of(two_labels(9)), 2, rng())


@pytest.mark.parametrize("name", SPLITS)
def test_hands_depend_on_the_seed_but_for_the_groups_of_a_column(name: str) -> None:
    pool = pool_of(two_labels(200))
    hands = [
        [hand.tolist() for hand in split_table(example(name)).deal(pool, 6, rng(seed))]
        for seed in range(5)
    ]
    assert (hands.count(hands[0]) == 5) == (name == "by-column")


def test_sizes_follow_their_rule() -> None:
    assert split_table({"kind": "even"}).sizes(10, 4, rng()).tolist() == [3, 3, 2, 2]
    uneven = split_table({"kind": "uneven", "ratio": 8.0}).sizes(100_000, 4, rng())
    assert uneven[0] / uneven[-1] == pytest.approx(8.0, rel=1e-3)
    assert (uneven[:-1] / uneven[1:]) == pytest.approx([2.0] * 3, rel=1e-3)
    drawn = split_table({"kind": "uniform", "min": 2, "max": 5}).sizes(1000, 200, rng())
    assert set(drawn.tolist()) == {2, 3, 4, 5}
    assert split_table({"kind": "sizes", "of": [3, 1]}).sizes(5, 2, rng()).tolist() == [3, 1]


@pytest.mark.parametrize("alpha", [0.1, 1.0, 20.0])
def test_dirichlet_sizes_have_the_moments_of_their_law(alpha: float) -> None:
    """A share of n is Beta(α, (n − 1)α): mean 1/n, variance (1/n)(1 − 1/n)/(nα + 1). One point each comes on top."""
    n, total, draws = 5, 100_000, 1500
    table, luck = split_table({"kind": "sizes-dirichlet", "alpha": alpha}), rng()
    shares = (np.array([table.sizes(total, n, luck) for _ in range(draws)]) - 1) / (total - n)
    assert_law(shares, alpha)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 20.0])
def test_dirichlet_shares_of_a_label_have_the_moments_of_their_law(alpha: float) -> None:
    """The same law for each label, and no correlation between labels."""
    n, draws, each = 5, 700, 1000
    labels = np.repeat([-1.0, 1.0], each)
    table, luck, pool = split_table({"kind": "dirichlet", "alpha": alpha}), rng(), pool_of(labels)
    hands = [table.deal(pool, n, luck) for _ in range(draws)]
    positive = np.array([[np.sum(labels[hand] > 0) for hand in dealt] for dealt in hands]) / each
    negative = np.array([[np.sum(labels[hand] < 0) for hand in dealt] for dealt in hands]) / each
    for of_label in (negative, positive):
        assert_law(of_label, alpha)
    together = stats.pearsonr(negative[:, 0], positive[:, 0]).statistic
    assert abs(together) < 5 / math.sqrt(draws)


def assert_law(shares: Matrix, alpha: float) -> None:
    """Compare the shares of n agents, a row for each draw, with their law: mean, median, and the sum of squares.

    Of all agents together, Σ (s − 1/n)² of a draw has the mean (1 − 1/n)/(nα + 1). An α of 1.3 times as much is told apart.
    """
    draws, n = shares.shape
    law = stats.beta(alpha, (n - 1) * alpha)
    squares = ((shares - 1 / n) ** 2).sum(axis=1)
    error = 4 * float(squares.std()) / math.sqrt(draws)
    assert squares.mean() == pytest.approx((1 - 1 / n) / (n * alpha + 1), abs=error)
    assert error < abs(1 / (n * alpha + 1) - 1 / (1.3 * n * alpha + 1))
    assert shares.mean(axis=0) - 1 / n == pytest.approx(0, abs=5 * law.std() / math.sqrt(draws))
    assert np.mean(shares[:, 0] <= law.median()) == pytest.approx(0.5, abs=2.5 / math.sqrt(draws))


def test_shards_are_runs_of_sorted_labels_of_one_size() -> None:
    """60,000 points, 100 agents, 2 shards each: 300 points in a shard, and of ten even labels at most two an agent."""
    labels = generator(1, "labels").permutation(np.repeat(np.arange(10.0), 6000))
    hands = split_table({"kind": "shards"}).deal(pool_of(labels), 100, rng())
    assert {len(hand) for hand in hands} == {600}
    for hand in hands:
        assert {len(set(labels[shard])) for shard in np.split(hand, 2)} == {1}
    assert max(len(np.unique(labels[hand])) for hand in hands) == 2


def test_points_of_one_label_are_in_random_order() -> None:
    """Of 20 points of one label in shards of 5, the first two share a shard with probability 4/19."""
    labels, seeds = np.repeat([-1.0, 1.0], 20), 2000
    table, luck, pool = (
        split_table({"kind": "shards", "per_agent": 1}),
        rng(),
        pool_of(labels),
    )
    together = [
        any({0, 1} <= set(hand.tolist()) for hand in table.deal(pool, 8, luck))
        for _ in range(seeds)
    ]
    error = 5 * math.sqrt(4 / 19 * 15 / 19 / seeds)
    assert np.mean(together) == pytest.approx(4 / 19, abs=error)


def test_how_many_agents_get_one_label_is_what_counting_says() -> None:
    """Of 2n shards, n of each label, an agent draws two of one label with probability (n − 1)/(2n − 1)."""
    n, seeds = 10, 400
    labels = np.repeat([-1.0, 1.0], 40)
    table, luck, pool = split_table({"kind": "shards"}), rng(), pool_of(labels)
    pure = [
        np.mean([len(np.unique(labels[hand])) == 1 for hand in table.deal(pool, n, luck)])
        for _ in range(seeds)
    ]
    wanted = (n - 1) / (2 * n - 1)
    assert np.mean(pure) == pytest.approx(wanted, abs=5 * np.std(pure) / math.sqrt(seeds))


def test_a_shard_has_at_most_one_point_more_than_another() -> None:
    hands = split_table({"kind": "shards", "per_agent": 1}).deal(pool_of(two_labels(20)), 6, rng())
    assert sorted(map(len, hands)) == [3, 3, 3, 3, 4, 4]


def by_column(words: list[str], agents: int, column: str = "group") -> list[list[str]]:
    """Return the values that each agent gets."""
    pool = Pool(np.zeros((len(words), 1)), np.ones(len(words)), {"group": np.array(words)})
    hands = split_table({"kind": "by-column", "column": column}).deal(pool, agents, rng())
    return [[words[row] for row in hand] for hand in hands]


def test_values_of_a_column_stay_whole_and_go_to_the_agent_with_the_fewest_points() -> None:
    words = ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"] * 3 + ["e"] * 1
    assert by_column(words, 3) == [["a"] * 5, ["b"] * 4 + ["e"], ["c"] * 3 + ["d"] * 3]
    assert by_column(words, 5) == [["a"] * 5, ["b"] * 4, ["c"] * 3, ["d"] * 3, ["e"]]
    assert by_column(words[::-1], 5)[2:] == [["c"] * 3, ["d"] * 3, ["e"]]


def test_columns_that_do_not_fit_are_named() -> None:
    with pytest.raises(NoSplit, match="'group' has 2 different values for 3 agents"):
        by_column(["a", "b", "a", "b"], 3)
    with pytest.raises(NoSplit, match=r"no column 'gruop' to split by; did you mean 'group'\?"):
        by_column(["a", "b"], 2, "gruop")
    blobs = {"source": "blobs", "dimension": 3, "split": example("by-column")}
    (problem,) = check(scenario(data=blobs)).problems
    assert "by-column needs a source with columns, and this one has no 'group'" in problem


def test_what_a_file_calls_a_column_does_not_reach_a_terminal_raw() -> None:
    pool = Pool(np.zeros((1, 1)), np.ones(1), {"\x1b[31mgroup": np.array(["a"])})
    with pytest.raises(NoSplit) as told:
        split_table(example("by-column")).deal(pool, 1, rng())
    assert "\x1b" not in str(told.value)


def test_each_agent_gets_every_point_of_one_user() -> None:
    users = np.array([7, 3, 7, 9, 3, 7])
    pool = Pool(np.zeros((6, 1)), np.ones(6), users=users)
    table = split_table({"kind": "by-user"})
    assert [hand.tolist() for hand in table.deal(pool, 3, rng())] == [[1, 4], [0, 2, 5], [3]]
    pairs = {tuple(int(users[hand[0]]) for hand in table.deal(pool, 2, rng(s))) for s in range(40)}
    assert pairs == {(3, 7), (3, 9), (7, 9)}
    with pytest.raises(NoSplit, match="there are 3 users for 4 agents"):
        table.deal(pool, 4, rng())


def test_by_user_needs_users() -> None:
    blobs = {"source": "blobs", "dimension": 3, "split": "by-user"}
    (problem,) = check(scenario(data=blobs)).problems
    assert "by-user needs a data source that knows its users, such as movielens" in problem


@pytest.mark.parametrize(
    ("split", "total"),
    [
        ({"kind": "even"}, 3),
        ({"kind": "sizes", "of": [9, 9, 9, 9]}, 20),
        ({"kind": "sizes", "of": [1, 1]}, 20),
        ({"kind": "uniform", "min": 9, "max": 9}, 20),
        ({"kind": "uniform", "min": 9, "max": 2}, 20),
        ({"kind": "shards"}, 7),
        ({"kind": "dirichlet", "alpha": 1.0}, 3),
        ({"kind": "sizes-dirichlet", "alpha": 1.0}, 3),
    ],
)
def test_numbers_that_do_not_add_up(split: dict[str, Any], total: int) -> None:
    with pytest.raises(NoSplit):
        split_table(split).deal(pool_of(two_labels(total)), 4, rng())


class Read(PooledTable):
    """A source of sixty points in twelve groups."""

    def pool(self, inputs: SourceInputs) -> Pool:
        del inputs
        return pool_of(two_labels(60))


@pytest.mark.parametrize("name", SPLITS)
def test_no_point_is_both_dealt_and_a_test_point(name: str) -> None:
    inputs = SourceInputs(6, 5, Folders(Path()))
    split = split_table(example(name))
    table = Read(
        split=split, test=0.2, points=None, scale="refuse", validation=0.0, precision="double"
    )
    made: Shards = dealt(table, table.pool(inputs), inputs)
    assert made.common_test is not None
    tests = made.common_test[0][:, 0].tolist()
    trained = [point for x, _ in made.train for point in x[:, 0].tolist()]
    assert len(tests) == 12
    assert not set(tests) & set(trained)
    assert len(trained) == len(set(trained))


@pytest.mark.parametrize(
    ("share", "tests"), [(0.0, 0), (0.2, 12), (0.33, 20), (0.34, 20), (0.99, 59)]
)
def test_the_share_of_test_points_is_rounded(share: float, tests: int) -> None:
    """Of 60 points 0.33 are 19.8 and 0.34 are 20.4: 20."""
    inputs = SourceInputs(1, 5, Folders(Path()))
    table = Read(
        split=None, test=share, points=None, scale="refuse", validation=0.0, precision="double"
    )
    made = dealt(table, table.pool(inputs), inputs)
    assert (0 if made.common_test is None else len(made.common_test[1])) == tests
    assert made.sizes == (60 - tests,)


def test_every_example_is_a_table() -> None:
    assert Tables(SPLITS).keys() == SPLITS.keys()
    assert all(split_table(example(name)).kind == name for name in SPLITS)


@pytest.mark.parametrize(("kind", "says"), [("even", False), ("dirichlet", True), ("shards", True)])
def test_a_private_run_says_where_labels_decided_who_holds_which_record(
    kind: str, *, says: bool
) -> None:
    split = {"kind": kind, "alpha": 1.0} if kind == "dirichlet" else {"kind": kind}
    data = {"source": "blobs", "dimension": 3, "points": 20, "split": split}
    notes = make_plan(private(data=data)).notes
    assert [f"points were dealt by label ({kind})" in note for note in notes].count(True) == says
