"""Columns become frames of other packages: the same values, each column with its type, also where it holds none."""

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

from scenarios.api.columns import Columns, as_type, type_of
from scenarios.api.packages import MissingPackage
from scenarios.api.result import Result
from tests.support.builders import private
from tests.support.finished_runs import finished

FRAMES: dict[str, tuple[str, Callable[[Columns], Any], Callable[[Any], dict[str, list[Any]]]]] = {
    "pandas": (
        "pandas",
        Columns.to_pandas,
        lambda f: {n: f[n].astype(object).where(f[n].notna(), None).tolist() for n in f},
    ),
    "polars": ("polars", Columns.to_polars, lambda f: f.to_dict(as_series=False)),
    "arrow": ("pyarrow", Columns.to_arrow, lambda f: f.to_pydict()),
}


def holey() -> Columns:
    columns = Columns({"t": float, "node": int, "up": bool, "metric": str, "none": int})
    columns.add(0.1 + 0.2, 2**53 + 1, True, "loss", None)
    columns.add(math.inf, None, None, None, None)
    return columns


def same(one: Any, other: Any) -> bool:
    both = (one, other)
    return one == other or all(v is None or v != v for v in both)  # noqa: PLR0124 # NaN


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_holds_what_the_columns_hold(name: str) -> None:
    """A whole number above 2^53 is no float: it stays exact beside a missing one."""
    package, frame, back = FRAMES[name]
    pytest.importorskip(package)
    result = Result(finished(private()).outcome.folder)
    for columns in (holey(), result.metrics(), result.ledger_table()):
        read = back(frame(columns))
        assert list(read) == list(columns)
        for column, values in columns.items():
            assert all(same(*pair) for pair in zip(read[column], values, strict=True)), column


@pytest.mark.slow
def test_each_column_has_its_type_whatever_it_holds() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    wanted = {
        "pandas": ["Float64", "Int64", "boolean", "string", "Int64"],
        "polars": [polars.Float64, polars.Int64, polars.Boolean, polars.String, polars.Int64],
        "arrow": [arrow.float64(), arrow.int64(), arrow.bool_(), arrow.string(), arrow.int64()],
    }
    for columns in (holey(), Columns(holey().types)):
        kinds = [str(kind) for kind in columns.to_pandas().dtypes]
        assert [kind.capitalize() if kind == "float64" else kind for kind in kinds] == wanted[
            "pandas"
        ]
        assert columns.to_polars().dtypes == wanted["polars"]
        assert columns.to_arrow().schema.types == wanted["arrow"]
    assert pandas.DataFrame(holey()).shape == (2, 5)


@pytest.mark.slow
def test_polars_and_arrow_take_columns_as_they_are() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = Result(finished(private()).outcome.folder).metrics()
    assert polars.DataFrame(columns).equals(columns.to_polars())
    assert arrow.table(columns).equals(columns.to_arrow())
    assert arrow.RecordBatchReader.from_stream(columns).read_all().equals(columns.to_arrow())


@pytest.mark.parametrize("name", FRAMES)
def test_a_missing_package_is_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, frame, _ = FRAMES[name]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"needs {package}, .* pip install") as caught:
        frame(holey())
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("values", "kind", "column"),
    [
        ([1, 2], int, [1, 2]),
        ([0.5, 1], float, [0.5, 1.0]),
        (["cd", 1, True], str, ["cd", "1", "true"]),
        ([True, False], bool, [True, False]),
        ([True, 2], str, ["true", "2"]),
    ],
)
def test_a_column_has_the_type_that_holds_all_its_values(
    values: list[Any], kind: type, column: list[Any]
) -> None:
    assert type_of(values) is kind
    assert [as_type(value, type_of(values)) for value in values] == column
    assert all(type(as_type(value, type_of(values))) is kind for value in values)


def test_a_ledger_as_columns_names_the_unit_of_every_charge() -> None:
    result = Result(finished(private()).outcome.folder)
    table, lines = result.ledger_table(), result.ledger
    assert len(lines) == len(table["node"]) > 0
    assert table["charged"] == [line["charged"] for line in lines]
    assert table["t"] == [line["t"] / 1e9 for line in lines]
    assert set(table["unit"]) == {"epsilon"}
