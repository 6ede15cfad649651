"""MovieLens: users are agents, films are features. Small files made here; the published ones where they are."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.joint import local_models
from scenarios.api.runs import check, make_plan
from scenarios.planning.data_sources import SOURCES, SourceInputs
from scenarios.planning.data_sources.movielens import FEATURES, FeaturesTable
from scenarios.planning.datasets import Shards
from scenarios.planning.files import BadData, Folders
from scenarios.planning.kinds import Tables
from scenarios.planning.seeds import generator
from scenarios.planning.splits import NoSplit
from tests.support.builders import perform, private, scenario
from tests.support.kinds import edges_of, read_kind
from tests.support.paths import PUBLISHED, ROOT, needs_data
from tests.support.rating_files import (
    GENRES,
    Rows,
    item_line,
    movielens,
    points,
    some_ratings,
    write,
)

SMALL = {"kind": "als", "dimension": 3, "iterations": 4}
published = needs_data("ml-100k/u.data")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("movielens"), some_ratings())


def small(kind: str) -> Any:
    return {**SMALL, "kind": kind} if kind != "genres" else kind


def counts(rows: Rows) -> dict[int, int]:
    """Return how many ratings each user gave, in the order of users."""
    users = [user for user, _, _ in rows]
    return {user: users.count(user) for user in sorted(set(users))}


def test_each_agent_gets_80_percent_of_one_users_ratings_and_is_tested_by_the_others(
    folder: Path,
) -> None:
    shards = movielens(folder, features=SMALL)
    for (_, y), (_, test), count in zip(
        shards.train, shards.test, counts(some_ratings()).values(), strict=True
    ):
        assert len(test) == round(0.2 * count)
        assert len(y) == count - len(test)


@pytest.mark.parametrize("kind", FEATURES)
def test_no_rating_is_learnt_from_and_tested_by(kind: str, folder: Path) -> None:
    """Each agent's points, train and test, are its ratings: one for each film, with the film's features."""
    shards = movielens(folder, agents=9, features=small(kind), centre="midpoint")
    whole = movielens(folder, agents=9, features=small("genres"), centre="midpoint", test=0.0)
    assert whole.test == ()
    assert whole.sizes == tuple(
        len(y) + len(test) for (_, y), (_, test) in zip(shards.train, shards.test, strict=True)
    )
    for (x, y), (tx, ty), (_, all_y) in zip(shards.train, shards.test, whole.train, strict=True):
        assert sorted([*y, *ty]) == sorted(all_y)
        films = [row for row in np.vstack([x, tx]).round(12).tolist() if any(row)]
        if kind != "genres":  # two films may have the same genres
            assert len(films) == len(set(map(tuple, films)))


def test_training_means_are_zero_where_they_are_subtracted(folder: Path) -> None:
    shards = movielens(folder, features=SMALL)
    assert [y.mean() for _, y in shards.train] == pytest.approx([0.0] * 12, abs=1e-12)
    shards = movielens(folder, features=SMALL, centre="all")
    means = [
        np.concatenate([y, test]).mean()
        for (_, y), (_, test) in zip(shards.train, shards.test, strict=True)
    ]
    assert means == pytest.approx([0.0] * 12, abs=1e-12)
    shards = movielens(folder, features=SMALL, centre="midpoint")
    assert {*np.concatenate([y for _, y in shards.train])} <= {-2.0, -1.0, 0.0, 1.0, 2.0}


def test_test_ratings_have_the_centre_of_training_ratings_subtracted(folder: Path) -> None:
    own, apart = (movielens(folder, features=SMALL, centre=c) for c in ("training", "midpoint"))
    for (_, y), (_, test), (_, raw), (_, raw_test) in zip(
        own.train, own.test, apart.train, apart.test, strict=True
    ):
        assert y == pytest.approx(raw - raw.mean())
        assert test == pytest.approx(raw_test - raw.mean())


def neighbours(rows: Any, k: int) -> set[tuple[int, int]]:
    """Return who is among the k nearest of whom by the cosine of rows: every pair, one after another."""
    n, edges = len(rows), set()
    for i in range(n):
        cosines = [
            (float(rows[i] @ rows[j] / np.linalg.norm(rows[i]) / np.linalg.norm(rows[j])), j)
            for j in range(n)
            if j != i
        ]
        edges |= {(min(i, j), max(i, j)) for _, j in sorted(cosines, reverse=True)[:k]}
    return edges


@pytest.mark.parametrize("cosine", ["raw", "centred"])
def test_the_graph_joins_the_nearest_by_training_ratings(cosine: str, folder: Path) -> None:
    """Rows of training ratings are built again from one-hot films: features of dimension 1 cannot tell them apart."""
    shards = movielens(folder, features=SMALL, cosine=cosine)
    rows = np.zeros((12, 15))
    raw = movielens(folder, features=SMALL, centre="midpoint")
    films = {tuple(row): None for x, _ in (*raw.train, *raw.test) for row in x.tolist()}
    place = {film: number for number, film in enumerate(films)}
    for i, (x, y) in enumerate(raw.train):
        for row, label in zip(x.tolist(), y.tolist(), strict=True):
            rows[i, place[tuple(row)]] = label + 3.0
    if cosine == "centred":
        given = rows > 0
        rows = np.where(given, rows - (rows.sum(axis=1) / given.sum(axis=1))[:, None], 0.0)
    made = edges_of({"kind": "knn", "k": 3}, 12, generator(1, "unused"), shards.targets)
    assert {(i, j) for i, j, _ in made} == neighbours(rows, 3)
    assert {w for _, _, w in made} == {1.0}


def altered(rows: Rows, users: set[int], *, but: set[tuple[int, int]] = frozenset()) -> Rows:  # type: ignore[assignment] # an empty set
    """Return ratings of which those of some users are others, but for some pairs of a user and an item."""
    return [
        (user, item, rating % 5 + 1 if user in users and (user, item) not in but else rating)
        for user, item, rating in rows
    ]


def agents_of(folder: Path, rows: Rows, agents: int) -> set[int]:
    """Return the users who are agents: those whose ratings change the labels."""
    mine = set[int]()
    keys: dict[str, Any] = {"features": "genres", "centre": "midpoint", "test": 0.0}
    before = movielens(write(folder, rows), agents, **keys)
    for user in counts(rows):
        after = movielens(write(folder, altered(rows, {user})), agents, **keys)
        if labels_of(after) != labels_of(before):
            mine.add(user)
    return mine


def labels_of(shards: Shards) -> list[list[float]]:
    return [y.tolist() for _, y in shards.train]


def features_of(shards: Shards) -> list[list[float]]:
    return [row for x, _ in (*shards.train, *shards.test) for row in x.tolist()]


@pytest.mark.parametrize(
    ("kind", "own", "foreign"),
    [
        ("others", False, True),
        ("als", True, False),
        ("als-unit", True, False),
        ("genres", False, False),
    ],
)
def test_features_read_the_ratings_that_they_say(
    kind: str,
    own: bool,  # noqa: FBT001
    foreign: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Ratings of agents, and of other users, are changed in turn: features move, or not by one bit."""
    rows = some_ratings()
    mine = agents_of(tmp_path, rows, 5)
    assert len(mine) == 5
    keys = {"features": small(kind)}
    before = features_of(movielens(write(tmp_path, rows), 5, **keys))
    for users, moves in ((mine, own), (set(counts(rows)) - mine, foreign)):
        after = features_of(movielens(write(tmp_path, altered(rows, users)), 5, **keys))
        assert (after != before) == moves


@pytest.mark.parametrize("kind", FEATURES)
def test_features_read_no_test_rating(kind: str, tmp_path: Path) -> None:
    """Every rating of one agent is changed, one at a time: its features move where it is learnt from, else not."""
    rows = some_ratings(users=6, items=8, share=1.0)
    user = min(agents_of(tmp_path, rows, 5))
    keys: dict[str, Any] = {"features": small(kind), "centre": "midpoint"}
    before = movielens(write(tmp_path, rows), 5, **keys)
    moved = learnt = 0
    for one in (row for row in rows if row[0] == user):
        others = {(user, item) for _, item, _ in rows} - {one[:2]}
        after = movielens(write(tmp_path, altered(rows, {user}, but=others)), 5, **keys)
        moved += features_of(after) != features_of(before)
        learnt += labels_of(after) != labels_of(before)
    assert learnt == 6  # of 8
    assert moved == (learnt if kind.startswith("als") else 0)


def test_unit_features_have_norm_1_and_point_where_the_others_do(folder: Path) -> None:
    long, unit = (movielens(folder, features=small(kind)) for kind in ("als", "als-unit"))
    for (x, _), (u, _) in zip(long.train, unit.train, strict=True):
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        assert u == pytest.approx(x / norms)
        assert x.shape[1] == 3


def test_genres_are_those_of_the_film_over_the_root_of_their_number(folder: Path) -> None:
    shards = movielens(folder, features="genres", centre="midpoint", test=0.0)
    wanted = set()
    for _, item, rating in some_ratings():
        flags = np.array([float(f) for f in item_line(item).split("|")[-GENRES:]])
        wanted.add((*np.round(flags / np.sqrt(flags.sum()), 12).tolist(), rating - 3.0))
    assert {point for mine in shards.train for point in points(mine)} == wanted


@pytest.mark.parametrize(
    ("kind", "centre", "said"),
    [
        ("als", "training", ["features of items were fitted", "mean rating was subtracted"]),
        ("als-unit", "midpoint", ["features of items were fitted"]),
        ("others", "all", ["mean rating was subtracted"]),
        ("others", "midpoint", []),
        ("genres", "midpoint", []),
    ],
)
def test_what_was_computed_from_agents_ratings_is_not_covered(
    kind: str, centre: str, said: list[str], folder: Path
) -> None:
    data = {"source": "movielens", "checksum": "any", "features": small(kind), "centre": centre}
    world = private(
        data=data | {"scale": "row"},
        task={"loss": {"kind": "squared", "clip": 2.0}, "l2": 0.1},
        nodes=[{"count": 6, "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    )
    plan = make_plan(world, folders=(folder,))
    assert len(plan.uncovered) == len(said)
    for reason, part in zip(plan.uncovered, said, strict=True):
        assert part in reason


def test_every_set_of_features_says_whether_it_is_covered() -> None:
    """A new one that leaves it out is an error, and is not taken for one that reads no rating."""
    assert {name for name, table in FEATURES.items() if table.uncovered} == {"als", "als-unit"}
    assert not hasattr(FeaturesTable, "uncovered")
    for part in ("of_items", "width"):
        assert all(
            getattr(table, part) is not getattr(FeaturesTable, part) for table in FEATURES.values()
        )
    with pytest.raises(NotImplementedError, match="new"):
        FeaturesTable(kind="new").of_items(None)  # type: ignore[arg-type] # it reads nothing


def test_one_seed_gives_the_same_points_and_another_others(folder: Path) -> None:
    one, again, other = (movielens(folder, seed=s, features=SMALL) for s in (1, 1, 2))
    assert [points(mine) for mine in one.train] == [points(mine) for mine in again.train]
    assert [points(mine) for mine in one.train] != [points(mine) for mine in other.train]


@pytest.mark.parametrize(
    ("keys", "error", "said"),
    [
        ({"agents": 13}, NoSplit, "there are 12 users for 13 agents"),
        ({"features": "others"}, BadData, "all 12 users are, so take fewer agents"),
        ({"checksum": "published"}, BadData, "it is shorter"),
        (
            {"path": "elsewhere"},
            BadData,
            "; MovieLens 100K is published by",
        ),
    ],
)
def test_what_does_not_fit_is_said(
    keys: dict[str, Any], error: type[Exception], said: str, folder: Path
) -> None:
    with pytest.raises(error) as told:
        movielens(folder, **keys)
    assert said in str(told.value)


def test_only_by_user_fits(folder: Path) -> None:
    world = scenario(data={"source": "movielens", "split": "even"}, task={"loss": "squared"})
    (problem,) = check(world, folders=(folder,)).problems
    assert "each agent of movielens is one user: only by-user fits, got even" in problem


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("u.data", b"", "u.data has no rows"),
        ("u.data", b"1\t2\t3\n", "u.data, line 1: expected 4 values, found 3"),
        ("u.data", b"1\t2\t3\t4\t5\n", "u.data, line 1: expected 4 values, found 5"),
        ("u.data", b"1\t2\t3\t\0\n", "u.data, line 1: a NUL byte"),
        ("u.data", b"\xff\xfe1\t2\t3\t4\n", "UTF-16"),
        ("u.data", b"1\t2\t9\t4\n", "rating must be a whole number from 1 to 5, got 9"),
        ("u.data", b"1\t2\t3\t4\n1\t2\t3\t4\n", "user 1 rates item 2 a second time"),
        ("u.data", b"1\t2\t3\t4\n", "user 1 gave one rating"),
        ("u.data", b'"1\t2\t3\t4\n', "u.data, line 1: user must be a finite number"),
        ("u.item", b"1|a\n", "u.item, line 1: expected 24 values, found 2"),
        ("u.item", item_line(1).encode("latin-1"), "u.item has no item 3, which was rated"),
        ("u.item", 2 * item_line(3).encode("latin-1"), "line 2: item 3 is there a second time"),
        ("u.item", item_line(3).replace("|1", "|2").encode("latin-1"), "must be 0 or 1"),
    ],
)
def test_hostile_files_are_named(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    folder = write(tmp_path, some_ratings())
    (folder / "ml-100k" / name).write_bytes(content)
    with pytest.raises(BadData) as told:
        movielens(folder, agents=1, features="genres")
    assert said in str(told.value)
    assert "\x1b" not in str(told.value)


def test_more_than_may_be_held_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """About 99 users and 100 items: each takes a matrix of d × d while features are fitted."""
    folder = write(tmp_path, some_ratings(users=100, items=100, share=0.05))
    features = {"kind": "als", "dimension": 1000}
    data = {"source": "movielens", "checksum": "any", "features": features}
    table = read_kind(Tables(SOURCES), data, "source")
    with pytest.raises(
        BadData, match=r"99 users and \d+ items would take 1\.6\d GB; above 1\.07 GB"
    ):
        table.build(SourceInputs(5, 1, Folders(folder, most=1 << 30)))


def test_a_run_on_ratings_is_judged_by_errors_of_each_user(folder: Path, tmp_path: Path) -> None:
    world = scenario(
        data={"source": "movielens", "checksum": "any", "features": SMALL},
        task={"loss": "squared", "l2": "1/m"},
        network={"topology": {"kind": "knn", "k": 2}},
        nodes=[{"count": 12}],
    )
    ran = perform(world, tmp_path, folders=(folder,))
    *_, last = ran.result.samples()
    for theta, (x, y), got in zip(
        ran.theta, ran.run.plan.shards.test, last["values"]["rmse.test"], strict=True
    ):
        assert got == pytest.approx(np.sqrt(np.mean((x @ theta - y) ** 2)))


@published
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cosine", "edges", "least", "mean", "most"),
    [("raw", 8026, 10, 17.0, 114), ("centred", 7055, 10, 15.0, 79)],
)
def test_the_graph_of_all_ratings_is_the_known_one(
    cosine: str, edges: int, least: int, mean: float, most: int
) -> None:
    """The counts stand beside the published files."""
    shards = movielens(
        PUBLISHED, 943, checksum="published", features="genres", test=0.0, cosine=cosine
    )
    made = edges_of({"kind": "knn", "k": 10}, 943, generator(1, "unused"), shards.targets)
    ends = np.bincount([end for i, j, _ in made for end in (i, j)])
    assert (len(made), ends.min(), ends.max()) == (edges, least, most)
    assert round(ends.mean(), 1) == mean


@published
@pytest.mark.slow
def test_the_published_ratings_are_what_is_known_of_them() -> None:
    shards = movielens(PUBLISHED, 943, checksum="published", centre="midpoint", features="als-unit")
    labels = np.concatenate([y for _, y in (*shards.train, *shards.test)])
    assert [int((labels == rating - 3).sum()) for rating in range(1, 6)] == [
        6_110,
        11_370,
        27_145,
        34_174,
        21_201,
    ]
    sizes = np.array(shards.sizes) + [len(y) for _, y in shards.test]
    assert (sizes.min(), sizes.max(), round(sizes.mean())) == (20, 737, 106)
    assert sum(len(y) for _, y in shards.test) == sum(round(0.2 * size) for size in sizes)
    norms = np.concatenate([np.linalg.norm(x, axis=1) for x, _ in shards.train])
    assert np.sort(norms)[100:] == pytest.approx(np.ones(len(norms) - 100))
    assert norms == pytest.approx(np.round(norms))  # 0 where an item got nothing but the midpoint
    assert shards.targets is not None
    assert shards.targets.shape == (943, 1682)


@published
@pytest.mark.slow
def test_the_scenario_of_the_page_comes_near_the_papers_table(tmp_path: Path) -> None:
    """Bellet et al. 2018, Table 1: 1.2834 purely local, 0.9502 without noise. Both within 5 %."""
    page = (ROOT / "docs/data.md").read_text("utf-8")
    (text,) = (
        part for part in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if '"movielens"' in part
    )
    ran = perform(tomllib.loads(text), tmp_path, folders=(PUBLISHED,))
    summary = ran.outcome.summary
    assert summary["rmse"]["test"] == pytest.approx(0.9502, rel=0.05)
    local = local_models(ran.run.plan.objectives)
    assert local is not None
    errors = [
        np.sqrt(np.mean((x @ theta - y) ** 2))
        for theta, (x, y) in zip(local, ran.run.plan.shards.test, strict=True)
    ]
    assert np.mean(errors) == pytest.approx(1.2834, rel=0.05)
