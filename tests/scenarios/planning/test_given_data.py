"""Points that are handed over in Python: every container gives the same plan, and what is wrong is said in a sentence."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios import open_run
from scenarios.api.runs import check, make_plan
from scenarios.experiments.python_sweep import sweep
from scenarios.language.problems import ScenarioError
from scenarios.planning.data_sources import SourceInputs
from scenarios.planning.data_sources.given import read_handed_over
from scenarios.planning.datasets import Demands, Shards, held_out, tidy
from scenarios.planning.files import Folders
from scenarios.planning.given_data import shards_of
from scenarios.planning.packed_points import Points
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator
from tests.support.builders import scenario
from tests.support.kinds import split_table

N = 6
"""The agents of the world of these tests."""


def points(m: int = 60, d: int = 3, seed: int = 1) -> tuple[Any, Any]:
    """Points of norm at most 1, labelled 0 and 1 by their first feature."""
    rng = generator(seed, "test/given")
    x = rng.uniform(-0.5, 0.5, (m, d))
    return x, (x[:, 0] > 0).astype(int)


def planned(data: Any, **keys: Any) -> Plan:
    return make_plan(scenario(), data=data, set={f"data.{k}": v for k, v in keys.items()})


def same(one: Plan, other: Plan) -> bool:
    """Whether two plans have equal points, and say the same of them."""
    a, b = one.shards, other.shards
    held = [(a.train, b.train), (a.test, b.test), (a.validation, b.validation)]
    alike = all(
        len(mine) == len(theirs)
        and all(
            np.array_equal(p, q)
            for x, y in zip(mine, theirs, strict=True)
            for p, q in zip(x, y, strict=True)
        )
        for mine, theirs in held
    )
    both = zip(a.common_test or (), b.common_test or (), strict=True)
    return alike and all(np.array_equal(p, q) for p, q in both) and a.notes == b.notes


def _frame(x: Any, y: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(x, columns=list("abc")), pandas.Series(y)


def _labelled_frame(x: Any, y: Any) -> Any:
    return {"frame": _frame(x, y)[0].assign(label=y), "label": "label"}


def _polars(x: Any, y: Any) -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(x), polars.Series(y)


def _sparse(x: Any, y: Any) -> Any:
    from scipy import sparse

    return sparse.csr_matrix(x), y


class Bunch(dict[str, Any]):
    """As scikit-learn makes them: a dict whose keys are attributes, too."""

    __getattr__ = dict.__getitem__


def _like_a_bunch(x: Any, y: Any) -> Any:
    return Bunch(data=x, target=y, feature_names=list("abc"), frame=None, DESCR="")


def _bunch(x: Any, y: Any) -> Any:
    utils = pytest.importorskip("sklearn.utils")
    return utils.Bunch(data=x, target=y, feature_names=list("abc"), frame=None)


CONTAINERS: dict[str, Callable[[Any, Any], Any]] = {
    "lists": lambda x, y: (x.tolist(), y.tolist()),
    "a column of labels": lambda x, y: (x, y[:, None]),
    "Fortran order": lambda x, y: (np.asfortranarray(x), y),
    "booleans": lambda x, y: (x, y.astype(bool)),
    "Python objects": lambda x, y: (x, y.astype(object)),
    "a pool": lambda x, y: {"pool": (x, y)},
    "data frames": _frame,
    "a labelled frame": _labelled_frame,
    "polars": _polars,
    "sparse": _sparse,
    "like a bunch": _like_a_bunch,
    "a bunch": _bunch,
}


@pytest.mark.parametrize(
    "container",
    [pytest.param(c, marks=pytest.mark.slow if c == "a bunch" else ()) for c in CONTAINERS],
)
def test_every_container_gives_the_same_plan(container: str) -> None:
    x, y = points()
    assert same(planned((x, y)), planned(CONTAINERS[container](x, y)))


@pytest.mark.parametrize("split", [{"kind": "even"}, {"kind": "dirichlet", "alpha": 0.5}])
def test_one_pool_is_dealt_as_by_hand(split: dict[str, Any]) -> None:
    """Test points first, then the split; the streams have the names that pools of files have."""
    x, y = points()
    plan = planned((x, y), split=split, test=0.25)
    seed = plan.seeds["data"]
    order = generator(seed, "data/test").permutation(60)
    tests, rest = np.sort(order[:15]), np.sort(order[15:])
    from scenarios.planning.pool import Pool

    hands = split_table(split).deal(Pool(x[rest], y[rest]), N, generator(seed, "data/split"))
    signs = np.where(y == 1, 1.0, -1.0)
    assert plan.shards.common_test is not None
    assert np.array_equal(plan.shards.common_test[0], x[tests])
    for (mine, labels), hand in zip(plan.shards.train, hands, strict=True):
        assert np.array_equal(mine, x[rest][hand])
        assert np.array_equal(labels, signs[rest][hand])
    assert sum(plan.shards.sizes) + 15 == 60


def test_pairs_stay_with_their_agents_in_every_form() -> None:
    pairs = [points(10 + i, seed=i) for i in range(N)]
    plan = planned(pairs)
    for (x, y), (mine, labels) in zip(pairs, plan.shards.train, strict=True):
        assert np.array_equal(x, mine)
        assert np.array_equal(2 * y - 1, labels)
    for data in (
        tuple(pairs),
        [list(pair) for pair in pairs],
        {"nodes": pairs},
        {"nodes": iter(pairs)},
    ):
        assert same(plan, planned(data))
    assert same(plan, planned([_frame(x, y) for x, y in pairs]))


def test_test_points_are_each_agents_own_or_common() -> None:
    pairs, (x, y) = [points(10)] * N, points(7, seed=9)
    common = planned({"nodes": pairs, "test": (x, y)}).shards
    assert common.common_test is not None
    assert common.common_test[0].tolist() == x.tolist()
    assert [len(t) for _, t in planned({"nodes": pairs, "test": [(x, y)] * N}).shards.test] == [
        7
    ] * N
    pooled = planned({"pool": points(60), "test": (x, y)}).shards
    assert sum(pooled.sizes) == 60
    assert pooled.common_test is not None
    assert np.array_equal(pooled.common_test[1], 2 * y - 1)


def test_a_bias_is_appended_and_keeps_the_bound() -> None:
    x, y = points()
    plain, biased = planned((x, y)).shards, planned((x, y), bias=True).shards
    for (a, _), (b, _) in zip(plain.train, biased.train, strict=True):
        assert b == pytest.approx(np.hstack([a, np.ones((len(a), 1))]) / np.sqrt(2))


def test_long_rows_are_refused_with_what_to_write_and_scaled_on_request() -> None:
    x, y = points()
    bound = Demands(labelled=True, scale="refuse", bound="noise rests on it")
    inputs = SourceInputs(N, 1, Folders(Path()))
    long = shards_of((10 * x, y), read_handed_over(), inputs)
    with pytest.raises(ValueError, match=r'set=\{"data.scale": "row"\}'):
        tidy(long, bound)
    scaled = tidy(held_out(long, 0.3, 1), Demands(True, "row", "noise rests on it"))
    for own in (scaled.train, scaled.validation, (scaled.common_test,)):
        for pair in own:
            assert pair is not None
            assert np.linalg.norm(pair[0], axis=1).max() <= 1 + 1e-12
    above = int((np.linalg.norm(10 * x, axis=1) > 1).sum())
    assert f"{above} rows had a norm above 1 and were scaled to norm 1" in scaled.notes


@given(st.lists(st.floats(1e-6, 3.0), min_size=2, max_size=8))
def test_a_row_keeps_its_direction_and_is_shortened_to_norm_1_where_it_is_longer(
    norms: list[float],
) -> None:
    """Also a row that is hardly too long: noise is scaled for norms of at most 1."""
    ways = generator(4, "test/ways").standard_normal((len(norms), 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    x = ways * np.array(norms)[:, None]
    y = np.where(np.arange(len(norms)) % 2, 1.0, -1.0)
    long = shards_of([(x, y)], read_handed_over(), SourceInputs(1, 1, Folders(Path())))
    ((scaled, _),) = tidy(long, Demands(True, "row", "noise rests on it")).train
    assert scaled == pytest.approx(ways * np.minimum(norms, 1.0)[:, None], rel=1e-12)


def test_keys_of_the_scenarios_own_source_are_left_out_and_others_kept() -> None:
    x, y = points()
    own = {"source": "separators", "dimension": 9, "points": 3, "bias": True, "validation": 0.25}
    plan = make_plan(scenario(data=own), data=(x, y))
    assert plan.dimension == 4
    assert plan.resolved["data"]["source"] == "given"
    assert all(len(held) == 2 for _, held in plan.shards.validation)
    problems = check(scenario(data=own), data=(x, y), set={"data.tset": 0.1}).problems
    assert "unknown key" in problems[0]
    assert "did you mean 'test'" in problems[0]


# what cannot be used


class Raises:
    """A container of another package that fails at every touch."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}\nat all")


X, Y = points()
HOLED = np.where(X[4, 1] == X, np.nan, X)
MASKED = np.ma.MaskedArray(X, mask=X > 0.4)
BAD: dict[str, tuple[Any, str]] = {
    "three": ((X, Y, Y), "got a tuple of 3"),
    "one": ((X,), "got a tuple of 1"),
    "a number": (5, "got a int"),
    "a word": ("hello", "got a str"),
    "an array": (X, r"got a ndarray of shape \(60, 3\)"),
    "a set": ({1, 2}, "entry 0 is a int"),
    "no name": ({"x": X, "y": Y}, 'got a dict with "x", "y"'),
    "a wrong name": ({"nodes": [(X, Y)] * N, "tests": []}, "did you mean 'test'"),
    "too few": ([(X, Y)] * 2, "data must be points for 6 agents, got 2"),
    "too many": ([(X, Y)] * 7, "data must be points for 6 agents, got 7"),
    "tests of few": ({"nodes": [(X, Y)] * N, "test": [(X, Y)]}, "test points for 6 agents, got 1"),
    "no pairs": ([X] * N, "entry 0 is a ndarray"),
    "lengths": ((X, Y[:9]), "X has 60 rows and y 9 labels"),
    "one dimension": ((X[:, 0], Y), r"X must have a row for each point .* X.reshape\(-1, 1\)"),
    "pictures": ((X.reshape(60, 3, 1), Y), r"X.reshape\(len\(X\), -1\)"),
    "no columns": ((X[:, :0], Y), "X has no columns"),
    "exchanged": ((Y, X), "seem exchanged"),
    "two labels each": ((X, np.stack([Y, Y], 1)), "y must be one label for each point"),
    "complex": ((X * 1j, Y), "X holds complex numbers"),
    "words": ((X.astype(str), Y), "X holds words: give numbers, or a data frame"),
    "objects": (
        (np.array([[1, None], [2, 3]], dtype=object), [0, 1]),
        "row 0, column 1 is a NoneType",
    ),
    "ragged": (([[1, 2], [3]], [0, 1]), "row 1 has 1 values, and row 0 has 2"),
    "times": ((X.astype("M8[s]"), Y), "X holds times"),
    "records": ((np.zeros(60, dtype=[("a", "f8")]).reshape(-1, 1), Y), "structured array"),
    "a hole": (
        (HOLED, Y),
        r"X, row 4: column 1 is missing \(NaN\), and 1 of 60 rows have gaps; data.missing",
    ),
    "no label": ((X, np.where(Y[2] == Y, np.nan, 1.0)), "row .*: the label is missing"),
    "infinite": ((np.where(X[4, 1] == X, np.inf, X), Y), "X, row 4: column 1 is infinite"),
    "masked": ((MASKED, Y), "X masks values"),
    "huge": ((np.broadcast_to(X[:1, :1], (10**6, 10**5)), Y), "would take 800 GB"),
    "huge numbers": (([[10**400]] * 60, Y), "X holds Python objects|cannot be read"),
    "no container": ((Raises(), Y), "data cannot be read: RuntimeError: no shape"),
    "nothing": ([], "data must be points for 6 agents, got 0"),
    "three labels": ((X, np.arange(60) % 3), r"labels take 3 values \(0, 1, 2\).*data.positive"),
    "many labels": ((X, X[:, 0]), "labels take 60 values .* and 55 more"),
    "one label": ((X, np.zeros(60)), "every label is 0, and the loss is of two labels"),
    "mixed labels": ((X, ["a", 1] * 30), "y: row 1 is a int; give numbers, or words only"),
    "mixed agents": (
        [(X, Y)] * 5 + [(X, ["a", "b"] * 30)],
        "words for one agent and numbers for another",
    ),
    "widths": ([(X, Y)] * 5 + [(X[:, :2], Y)], r"one dimension, got \[2, 3\]"),
    "rows of few": ({"nodes": [(X, Y)] * N, "rows": [[1]]}, "data has rows for 1 of 6 agents"),
    "rows of words": (
        {"nodes": [(X, Y)] * N, "rows": [["a"] * 60] * N},
        "rows must be 60 whole numbers",
    ),
    "no frame": ({"frame": X, "label": "y"}, r"data\['frame'\] must be a data frame"),
}


@pytest.mark.parametrize("how", BAD)
def test_what_cannot_be_used_is_refused_in_one_sentence(how: str) -> None:
    data, said = BAD[how]
    problems = check(scenario(), data=data).problems
    assert len(problems) == 1
    assert "\n" not in problems[0]
    assert re.search(said, problems[0]), problems


FRAMES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no column": ({"label": "incom"}, {}, "no column \"incom\"; did you mean 'income'"),
    "no label": ({}, {}, "must name the column of the labels"),
    "nothing to drop": ({"label": "income"}, {"drop": ["agee"]}, "data.drop: .*did you mean 'age'"),
    "a gap": ({"label": "income"}, {}, "row 2: job is missing, and 1 of 12 rows have gaps"),
    "words as numbers": (
        {"label": "income"},
        {"drop": ["job"], "categorical": []},
        'town is a word, "x"',
    ),
    "above its maximum": (
        {"label": "income"},
        {"drop": ["job"], "maximum": {"age": 30}},
        "row 2: age is 40, above its declared maximum 30",
    ),
    "maximum of words": (
        {"label": "income"},
        {"drop": ["job"], "maximum": {"town": 30}},
        "town is a word",
    ),
    "a dropped category": (
        {"label": "income"},
        {"drop": ["job"], "categorical": ["job"]},
        "is dropped by data.drop",
    ),
    "no such category": (
        {"label": "income"},
        {"drop": ["job"], "categories": {"town": ["y"]}},
        'town has no category "x"',
    ),
    "no such label": (
        {"label": "income"},
        {"drop": ["job"], "positive": "hi!"},
        "no point has the label 'hi!'; did you mean 'hi'",
    ),
    "nothing left": (
        {"label": "income"},
        {"drop": ["job", "age", "town"]},
        "no column that could be a feature",
    ),
}


def people() -> Any:
    pandas = pytest.importorskip("pandas")
    job = ["a", "b", None, *"abababab", "a"]
    table = {
        "age": [20, 30, 40] * 4,
        "job": job,
        "town": ["x", "y"] * 6,
        "income": ["hi", "lo"] * 6,
    }
    return pandas.DataFrame(table)


@pytest.mark.parametrize("how", FRAMES)
def test_what_a_frame_lacks_is_named(how: str) -> None:
    label, keys, said = FRAMES[how]
    problems = check(
        scenario(), data={"frame": people()} | label, set={f"data.{k}": v for k, v in keys.items()}
    ).problems
    assert re.search(said, problems[0]), problems


def frame_of(**keys: Any) -> Shards:
    return planned({"frame": people(), "label": "income"}, drop=["job"], test=0.0, **keys).shards


def everything(shards: Shards) -> Points:
    return np.concatenate([x for x, _ in shards.train]), np.concatenate(
        [y for _, y in shards.train]
    )


def test_words_become_one_feature_each_and_that_is_said_to_be_uncovered() -> None:
    x, _ = everything(shards := frame_of())
    assert x.shape == (12, 3)  # age, town=x, town=y
    assert (x[:, 1:].sum(axis=1) == 1).all()
    assert "categories of town were read off the data" in shards.uncovered[0]
    declared = frame_of(categories={"town": ["x", "y", "z"]})
    assert everything(declared)[0].shape == (12, 4)
    assert declared.uncovered == ()


def test_columns_are_scaled_by_what_is_declared_or_by_the_data() -> None:
    """A maximum from the data is no public constant."""
    towns = {"categories": {"town": ["x", "y"]}}
    by_data = frame_of(columns="max", **towns)
    assert sorted(set(everything(by_data)[0][:, 0])) == [0.5, 0.75, 1.0]
    assert "largest magnitudes of age" in by_data.uncovered[0]
    declared = frame_of(columns="max", maximum={"age": 80.0}, **towns)
    assert sorted(set(everything(declared)[0][:, 0])) == [0.25, 0.375, 0.5]
    assert declared.uncovered == ()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_declared_maximum_is_one_of_magnitudes(sign: float) -> None:
    x, y = points()
    x[7, 1] = sign * 0.75
    shards = planned((x, y), maximum={"1": 0.75}, test=0.0).shards
    assert np.abs(everything(shards)[0][:, 1]).max() == 1.0
    said = rf"1 is {sign * 0.75:g}, above its declared maximum 0.7"
    with pytest.raises(ScenarioError, match=said):
        planned((x, y), maximum={"1": 0.7})


def test_rows_with_gaps_are_left_out_on_request_and_counted() -> None:
    shards = planned({"frame": people(), "label": "income"}, missing="drop", test=0.0).shards
    assert sum(shards.sizes) == 11
    assert (
        "1 rows with missing values were left out; ε takes it as public which ones" in shards.notes
    )
    holed = planned((HOLED, Y), missing="drop", test=0.0).shards
    assert sum(holed.sizes) == 59


# labels


@settings(max_examples=12)
@given(
    pair=st.sampled_from([(0, 1), (1, 2), ("no", "yes"), (False, True), (-3.5, 0.25), ("1", "2")]),
    order=st.permutations(range(60)),
)
def test_the_smaller_label_is_minus_one_in_any_order(
    pair: tuple[Any, Any], order: list[int]
) -> None:
    y = np.array([pair[int(label)] for label in Y], dtype=object)
    straight, mixed = (
        planned((X[rows], y[rows]), test=0.0) for rows in (np.arange(60), np.array(order))
    )
    for plan in (straight, mixed):
        x, labels = everything(plan.shards)
        assert ((x[:, 0] > 0) == (labels == 1)).all()
        (said,) = (note for note in plan.notes if note.startswith("labels: "))
        assert said.endswith("→ +1")
    assert straight.notes == mixed.notes


def test_minus_one_and_one_stay_without_a_word() -> None:
    for y in (2 * Y - 1, np.ones(60)):
        plan = planned((X, y), test=0.0)
        assert sorted(everything(plan.shards)[1]) == sorted(y)
        assert plan.notes == ()


def test_an_agent_may_have_one_label_and_test_points_the_other() -> None:
    pairs = [(X, np.zeros(60, int))] * 5 + [(X, np.ones(60, int))]
    shards = planned(pairs).shards
    assert [set(y) for _, y in shards.train] == [{-1.0}] * 5 + [{1.0}]
    tested = planned({"nodes": [(X, np.zeros(60))] * N, "test": (X, np.ones(60))}).shards
    assert {*np.concatenate([y for _, y in tested.train])} == {-1.0}


def test_the_labels_of_a_source_count_where_few_of_its_points_are_drawn() -> None:
    """Of 1 and 2, 1 is −1, also where no drawn point is a 2."""
    y = np.ones(60)
    y[17] = 2
    for seed in range(3):
        plan = make_plan(
            scenario(), seed=seed, data=(X, y), set={"data.points": 6, "data.test": 0.0}
        )
        x, labels = everything(plan.shards)
        assert ((labels == 1) == (x[:, 0] == X[17, 0])).all()


@pytest.mark.parametrize("names", [["a", "b", "c"], [3, 5, 7]])
def test_one_label_against_the_rest(names: list[Any]) -> None:
    y = np.array([names[i % 3] for i in range(60)], dtype=object)
    plan = planned((X, y), positive=names[1], test=0.0)
    x, labels = everything(plan.shards)
    assert labels.sum() == 20 - 40
    assert {*x[labels == 1][:, 0]} == {*X[1::3, 0]}
    assert f"labels: not {names[1]} → −1, {names[1]} → +1" in plan.notes


def test_numbers_to_be_predicted_are_not_mapped() -> None:
    world = scenario(task={"loss": "squared", "l2": 0.1})
    plan = make_plan(world, data=(X, Y), set={"data.test": 0.0})
    assert sorted(everything(plan.shards)[1]) == sorted(Y)
    words = check(world, data=(X, np.where(Y == 1, "a", "b"))).problems
    assert "labels are words, and the loss predicts numbers" in words[0]


def test_a_scenario_that_wants_points_from_python_says_so_without_them() -> None:
    (problem,) = check(scenario(data={"source": "given"})).problems
    assert "needs points from Python: run_sync(…, data=(X, y))" in problem


@pytest.mark.slow
def test_a_sweep_varies_what_is_made_of_one_pool(tmp_path: Path) -> None:
    made = sweep(
        scenario(run={"seed": 1, "horizon": 0.5}),
        data=(X, Y),
        grid={"data.test": [0.1, 0.5]},
        seeds=[1],
        jobs=1,
        out=tmp_path / "s",
    )
    cards = [open_run(tmp_path / "s" / row.run).data_card for row in made.rows]
    assert [card.common_test_points for card in cards] == [6, 30]
