"""Settings of a grid: how many there are, what they are called, and what is no grid."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.experiments.grid import MOST_CELLS, grid_of, labels_of, words_as_values
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import inline
from scenarios.records.sweep_record import in_table


@given(st.lists(st.integers(1, 4), max_size=4), st.integers(1, 3), st.integers(1, 3))
def test_a_grid_is_the_product_of_its_axes(sizes: list[int], seeds: int, scenarios: int) -> None:
    values = {f"a.k{i}": list(range(size)) for i, size in enumerate(sizes)}
    grid = grid_of(values, [], range(seeds), scenarios)
    wanted = [
        (s, dict(zip(values, combination, strict=True)))
        for s in range(scenarios)
        for combination in product(*values.values())
    ]
    assert [(setting.scenario, setting.values) for setting in grid.settings()] == wanted
    assert [setting.number for setting in grid.settings()] == list(range(grid.size))


def test_keys_of_a_group_vary_together() -> None:
    values: dict[str, list[Any]] = {"a.x": [1, 2, 3], "b.y": ["u", "v"], "c.z": [7, 8, 9]}
    grid = grid_of(values, [["a.x", "c.z"]], [0])
    assert grid.size == 3 * 2
    pairs = {(s.values["a.x"], s.values["c.z"]) for s in grid.settings()}
    assert pairs == {(1, 7), (2, 8), (3, 9)}
    assert [axis.axis.columns for axis in grid.axes] == [["a.x", "c.z"], ["b.y"]]


@pytest.mark.parametrize("first", ["a.x", "c.z"])
def test_a_group_is_called_by_the_key_that_tells_its_members_apart(first: str) -> None:
    values = {"a.x": [1, 1, 2], "c.z": [7, 8, 9]}
    ordered = {key: values[key] for key in sorted(values, key=lambda k: k != first)}
    (axis,) = grid_of(ordered, [["a.x", "c.z"]], [0]).axes
    assert axis.axis.name == "c.z"
    assert axis.axis.beside == {"a.x": [1, 1, 2]}
    assert [axis.axis.columns_at(i) for i in (0, 2)] == [
        {"c.z": 7, "a.x": 1},
        {"c.z": 9, "a.x": 2},
    ]


def test_a_group_without_such_a_key_is_called_by_all_of_them() -> None:
    (axis,) = grid_of({"a.x": [1, 1, 2], "c.z": [7, 8, 8]}, [["a.x", "c.z"]], [0]).axes
    assert (axis.axis.name, axis.axis.labels) == ("a.x & c.z", ["1 & 7", "1 & 8", "2 & 8"])


toml_values = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text("abc\"'\n,1", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "x", "y"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(toml_values, min_size=1, max_size=6, unique_by=inline))
def test_different_values_have_different_labels_and_numbers_stay_numbers(values: list[Any]) -> None:
    labels = labels_of(values)
    assert len(set(map(in_table, labels))) == len(values)
    for value, label in zip(values, labels, strict=True):
        assert in_table(label).isprintable()
        if isinstance(value, (bool, int, float)) and isinstance(label, (bool, int, float)):
            assert (label, type(label)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"kind": "cd", "mu": 1.5}, "cd(mu=1.5)"),
        ({"kind": "dvp"}, "dvp"),
        ({"source": "blobs", "points": {"min": 1}}, "blobs(points={min=1})"),
        ([1, "a", [2]], "[1, a, [2]]"),
        (True, True),
        (0.5, 0.5),
        ("", '""'),
        ("x\x1b[2J", "x\\u001b[2J"),
        ("y" * 99, "y" * 59 + "…"),
    ],
)
def test_a_label_is_short_and_can_be_read(value: Any, label: Any) -> None:
    assert labels_of([value]) == [label]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("0,0.1,1e-3", [0, 0.1, 0.001]),
        ("cd,dvp", ["cd", "dvp"]),
        ("true, false", [True, False]),
        ('"a,b",c', ["a,b", "c"]),
        ('\'a,b\',"c\\",d"', ["a,b", 'c",d']),
        ("[1,2],[3]", [[1, 2], [3]]),
        (
            '{kind="constant",value=1},{kind="uniform",min=0,max=[1,2]}',
            [{"kind": "constant", "value": 1}, {"kind": "uniform", "min": 0, "max": [1, 2]}],
        ),
        ("250ms", ["250ms"]),
        ("x = 1\ny", ["x = 1\ny"]),
        ("", [""]),
    ],
)
def test_commas_inside_of_brackets_and_quotes_stay(words: str, values: list[Any]) -> None:
    assert words_as_values(words) == values


@given(st.lists(toml_values.filter(lambda v: "\n" not in inline(v)), min_size=1, max_size=5))
def test_values_that_are_written_as_toml_are_read_back(values: list[Any]) -> None:
    assert words_as_values(",".join(map(inline, values))) == values


@pytest.mark.parametrize(
    ("values", "zips", "wanted"),
    [
        ({"run": [1]}, [], "run: is a column of every table"),
        ({"seed": [1]}, [], "seed: is a column of every table"),
        ({"run.seed": [1]}, [], "run.seed: seeds are no axis"),
        ({"name": ["a"]}, [], "name: does not change a run"),
        ({"sweep.seeds": ["0"]}, [], "sweep.seeds: does not change a run"),
        ({"a.x": []}, [], "a.x: needs at least one value"),
        ({"a.x": [0, 0]}, [], "a.x: 0 is given twice"),
        ({"a.x": [{"k": 1}, {"k": 1}]}, [], "given twice"),
        (
            {"a.x": [1, 2], "b.y": [1]},
            [["a.x", "b.y"]],
            "equally many values: a.x has 2, b.y has 1",
        ),
        ({"a.x": [1, 2]}, [["a.x", "a.z"]], "'a.z' does not vary; did you mean 'a.x'?"),
        (
            {"a.x": [1], "b.y": [1], "c.z": [1]},
            [["a.x", "b.y"], ["a.x", "c.z"]],
            "'a.x' is in two groups",
        ),
        ({"a.x": list(range(1000)), "b.y": list(range(101))}, [], "has 101,000 cells"),
    ],
)
def test_what_is_no_grid_is_refused(
    values: dict[str, list[Any]], zips: list[list[str]], wanted: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        grid_of(values, zips, [0])
    assert wanted in str(caught.value)


def test_the_largest_grid_is_no_error() -> None:
    assert grid_of({"a.x": list(range(10))}, [], range(MOST_CELLS // 10)).size == 10


def test_true_is_not_one() -> None:
    assert grid_of({"a.x": [True, 1, 1.0]}, [], [0]).size == 3
